#include "covary/models/compress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "covary/error.hpp"
#include "covary/features/selection.hpp"
#include "covary/inference/compression.hpp"
#include "covary/training/trainer.hpp"

namespace covary {
namespace {

struct Trained {
  FeaturesPtr features;
  Vector z;
  Jitter jitter;
  double divergence = 0.0;
};

class Compressor {
 public:
  Compressor(const Posterior& given, double rows, const CompressOptions& options)
      : options_(options), target_(given), rows_(rows), outputs_(given.functions()) {}

  const CompressionTarget& target() const { return target_; }
  double loss(const Trained& t) const { return t.divergence / rows_; }

  // M variables of a kind, trained to come close; fewer where the points are.
  Trained train(const FeatureChoice& kind, Index M) const {
    Trained out;
    out.features = start_features(kind, {.kernel = target_.kernel(),
                                         .theta = target_.theta(),
                                         .X = target_.points(),
                                         .M = M,
                                         .seed = options_.seed});
    Parameters p;
    out.features->declare(p);
    TrainingOptions training;
    training.max_iterations = options_.iterations;
    if (p.free_size() > 0)
      Trainer(training).minimise(
          {&p, &out.jitter, [&](ConstVector z, Vector* bar) -> std::optional<double> {
             const double value = target_.divergence(*out.features, z, out.jitter, bar);
             if (bar) *bar *= -1.0;
             return -value;
           }});
    out.z = p.values();
    out.divergence = target_.divergence(*out.features, out.z, out.jitter);
    return out;
  }

  // The fewest variables of a kind that do, and that are a smaller posterior than `limit` numbers:
  // twice as many until they do, then by halving the bracket.
  std::optional<Trained> smallest(const FeatureChoice& kind, double limit) const {
    Index low = 0, high = 1, most = options_.most_inducing;
    std::optional<Trained> best;
    for (;;) {
      high = std::min(high, most);
      Trained t = train(kind, high);
      say(kind, t);
      if (numbers(t) >= limit) {
        most = std::min(high - 1, affordable(t, limit));
        if (most <= low) return std::nullopt;
        high = most;
        continue;
      }
      if (loss(t) <= options_.loss) {
        best = std::move(t);
        break;
      }
      // The points have no more to say, or that was all that is allowed.
      if (t.features->size() < high - 1 || high == most) return std::nullopt;
      low = high;
      high *= 2;
    }
    while (high - low > 1) {
      const Index middle = (low + high) / 2;
      Trained t = train(kind, middle);
      say(kind, t);
      if (loss(t) <= options_.loss) {
        best = std::move(t);
        high = middle;
      } else {
        low = middle;
      }
    }
    return best;
  }

  double numbers(const Trained& t) const { return stored_numbers(*t.features, outputs_); }

 private:
  // The most variables like these whose posterior has fewer than `limit` numbers: M² + each·M.
  Index affordable(const Trained& t, double limit) const {
    const double each =
        static_cast<double>(outputs_) + static_cast<double>(t.features->parameter_count()) /
                                            static_cast<double>(t.features->size());
    const double root = 0.5 * (std::sqrt(each * each + 4.0 * limit) - each);
    return static_cast<Index>(std::ceil(root)) - 1;
  }
  void say(const FeatureChoice& kind, const Trained& t) const {
    if (options_.tell)
      options_.tell(fmt::format("{} {} features: {:.3g} nats per row, {:.0f} numbers",
                                t.features->size(), kind.print(), loss(t), numbers(t)));
  }

  const CompressOptions& options_;
  CompressionTarget target_;
  double rows_;
  Index outputs_;
};

}  // namespace

void CompressOptions::check() const {
  if (!(loss > 0.0)) throw InputError(fmt::format("loss must be positive, got {}", loss));
  if (most_inducing < 1 || iterations < 0)
    throw InputError("most_inducing ≥ 1, iterations ≥ 0 required");
  for (const auto& kind : features)
    if (kind.is_parametric())
      throw InputError(
          fmt::format("{} features define their own model; compress takes others, such as points",
                      kind.print()));
}

namespace {

struct Smallest {
  SparsePosterior posterior;
  Parameters parameters;
  Summary summary;
  std::vector<std::pair<std::string, double>> diagnostics;
  std::string features;
  Index inducing;
  double divergence, loss, numbers, numbers_before;
};

// `value` is the given one's, on which that of the smaller is a bound: it lies as far below as KL
// says.
Smallest smallest_of(const Posterior& given, const std::string& model, double rows, double value,
                     const Parameters& parameters, const CompressOptions& options) {
  options.check();
  const auto began = std::chrono::steady_clock::now();
  const Compressor compressor(given, rows, options);
  std::vector<FeatureChoice> kinds = options.features;
  if (kinds.empty()) kinds = {"points", "basis(2)", "basis(4)", "basis(8)"};
  const double before = given.stored_numbers();
  std::optional<Trained> best;
  std::string name;
  for (const FeatureChoice& kind : kinds) {
    std::optional<Trained> found =
        compressor.smallest(kind, best ? compressor.numbers(*best) : before);
    if (!found) continue;
    best = std::move(found);
    name = kind.print();
  }
  if (!best)
    throw NumericalError(fmt::format(
        "no posterior with fewer than {:.0f} numbers and at most {} inducing variables is "
        "within {:.3g} nats per row; allow a larger loss or other features",
        before, options.most_inducing, options.loss));

  Smallest out{compressor.target().posterior(best->features, best->z, best->jitter),
               {},
               {},
               {},
               name,
               best->features->size(),
               best->divergence,
               compressor.loss(*best),
               compressor.numbers(*best),
               before};
  for (Parameter p : parameters.all())
    if (!p.path.starts_with("features.")) {
      p.tied_to.clear();
      out.parameters.add(std::move(p));
    }
  for (const Parameter& p : parameters.all())
    if (!p.tied_to.empty() && !p.path.starts_with("features."))
      out.parameters.tie(p.path, p.tied_to, p.ratio);
  Parameters own;
  best->features->declare(own);
  own.set_values(best->z);
  for (const Parameter& p : own.all()) out.parameters.add(p);

  Summary& s = out.summary;
  s.objective = "elbo";
  s.value = value - out.divergence;
  s.converged = true;
  s.stop = Stop::converged;
  s.reason = fmt::format("compressed from {} to {} features: {:.3g} nats a row from it", model,
                         name, out.loss);
  s.jitter = out.posterior.jitter();
  s.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  out.diagnostics = {{"inducing", static_cast<double>(out.inducing)},
                     {"compression_loss", out.loss},
                     {"numbers", out.numbers},
                     {"numbers_before", before}};
  return out;
}

template <class Fit>
CompressedFit<Fit> compressed(Fit fit, Smallest small) {
  small.summary.warnings = fit.summary.warnings;
  fit.posterior = std::move(small.posterior);
  fit.parameters = std::move(small.parameters);
  fit.value = small.summary.value;
  fit.summary = std::move(small.summary);
  fit.diagnostics = std::move(small.diagnostics);
  return {std::move(fit), small.features, small.inducing,
          small.loss,     small.numbers,  small.numbers_before};
}

template <class OneFit>
FitNode::Smaller as_smaller(CompressedFit<OneFit> small) {
  return {Fit(std::move(small.fit)),
          std::move(small.features),
          small.inducing,
          small.loss,
          small.numbers,
          small.numbers_before};
}

}  // namespace

FitNode::Smaller RegressionFit::compressed(const CompressOptions& options) const {
  return as_smaller(compress(*this, options));
}
FitNode::Smaller GeneralisedFit::compressed(const CompressOptions& options) const {
  return as_smaller(compress(*this, options));
}

Compressed compress(const RegressionFit& fit, const CompressOptions& options) {
  Compressed out = compressed(fit, smallest_of(fit.posterior, fit.posterior.name(),
                                               static_cast<double>(fit.posterior.rows()), fit.value,
                                               fit.parameters, options));
  out.fit.model = out.fit.posterior.name();
  out.fit.standard_errors.resize(0);
  return out;
}

CompressedFit<GeneralisedFit> compress(const GeneralisedFit& fit, const CompressOptions& options) {
  return compressed(fit, smallest_of(fit.posterior, fit.model, static_cast<double>(fit.rows),
                                     fit.value, fit.parameters, options));
}

}  // namespace covary
