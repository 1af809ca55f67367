// How many eigenfunctions: from the spectrum of the kernel, before and after it is trained.
#include <fmt/format.h>

#include <algorithm>

#include "covary/error.hpp"
#include "covary/features/planner.hpp"
#include "models/sparse_regression_impl.hpp"

namespace covary {

SparseRegression::Planned SparseRegression::Impl::plan() const {
  const SparseValues v = unpack(parameters_.values());
  const std::optional<Spectrum> known = features_->spectrum(v.theta.data(), v.z.data());
  if (!known)
    throw InputError(
        fmt::format("only eigenfunctions can be planned, the features are {}", features_->name()));
  const Spectrum& spectrum = *known;
  const Sweep sweep = Sweep::for_features(*rows_, features_->size());
  Jitter jitter{options_.jitter};
  const SparseEvaluation e = evaluate_sparse(vfe_problem(sweep), v, jitter);

  Planned out;
  PlanRequest& r = out.request;
  r.rows = static_cast<double>(rows_->rows());
  r.outputs = static_cast<double>(Y_.cols());
  r.noise = v.noise;
  for (const SparseFactors& g : e.factors) r.energy += g.rr;
  r.kl = options_.planned_kl;
  r.most = options_.most_inducing;
  out.here = plan_of(spectrum, r, features_->size());
  out.needed = plan_features(spectrum, r);
  out.tail = spectrum.tail(features_->size());
  const double white =
      std::max(0.0, diagonal(options_.kernel, v.theta, X_.topRows(1))(0) - spectrum.variance());
  out.trace = std::max(0.0, e.terms.residual / r.outputs - r.rows * white);
  return out;
}

// At the parameters of the start, and again at those that training finds; inputs that are not
// normal leave more than the spectrum says, which is measured and asked of the next plan.
Minimum SparseRegression::Impl::grow_by_plan(Trainer& trainer, Jitter& jitter) {
  constexpr int most_plans = 6;
  const Parameters given = parameters_;
  if (options_.subset > 0) start_from_subset(trainer);
  Planned p = plan();
  Index next = p.needed.inducing;
  say("plan: " + p.needed.print(p.request));
  choose_features(next);
  Minimum best;
  std::string reason;
  for (int round = 1;; ++round) {
    jitter = Jitter{options_.jitter};
    best = trainer.minimise(problem(jitter));
    p = plan();
    const Index M = features_->size();
    const double kl = p.request.outputs * expected_kl(p.trace, p.request.noise).second;
    reason =
        fmt::format("M = {}: the mean KL over data from the model is at most {:.2g} nats", M, kl);
    if (kl <= p.request.kl) break;
    const bool stopped = trainer.wants_to_stop();
    if (M == options_.most_inducing || round == most_plans || stopped) {
      reason += M == options_.most_inducing ? ", at the limit of features"
                : stopped                   ? ", stopped"
                                            : ", the plan was made anew too often";
      break;
    }
    PlanRequest again = p.request;
    again.domination = std::max(1.0, p.trace / (p.request.rows * p.tail));
    const SparseValues v = unpack(parameters_.values());
    const FeaturePlan needed =
        plan_features(*features_->spectrum(v.theta.data(), v.z.data()), again);
    next =
        std::min(options_.most_inducing, std::max(needed.inducing, M + std::max<Index>(1, M / 4)));
    say(fmt::format(
        "the trained kernel and these inputs need more than {} eigenfunctions: {} leave a mean KL "
        "of up to {:.2g} nats; trained again with {}",
        M, M, kl, next));
    const Vector mean = parameters_.at("features.mean").value,
                 sd = parameters_.at("features.sd").value;
    choose_features(next);
    parameters_.set("features.mean", mean);
    parameters_.set("features.sd", sd);
  }
  best.summary.reason = reason + "; " + best.summary.reason;
  second_opinion(given, brief(), trainer, best);
  return best;
}

// What the trace says of KL over data from the model, whatever the features; of eigenfunctions what
// their spectrum said before any input was seen.
void SparseRegression::Impl::add_plan(
    const SparseEvaluation& e, std::vector<std::pair<std::string, double>>& diagnostics) const {
  if (options_.approximation.kind != Approximation::Kind::vfe) return;
  diagnostics.emplace_back("expected_kl_low", e.terms.trace);
  diagnostics.emplace_back("expected_kl_high", 2.0 * e.terms.trace);
  const SparseValues v = unpack(parameters_.values());
  if (!features_->spectrum(v.theta.data(), v.z.data())) return;
  const Planned p = plan();
  diagnostics.emplace_back("planned_inducing", static_cast<double>(p.needed.inducing));
  diagnostics.emplace_back("planned_kl_low", p.here.low);
  diagnostics.emplace_back("planned_kl_high", p.here.high);
}

}  // namespace covary
