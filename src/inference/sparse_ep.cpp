#include "inference/sparse_ep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/sparse_sites.hpp"

namespace covary {
namespace {

void check(const FunctionModel& model, const FeaturesPtr& features, const FunctionParameters& at,
           const Vector& z, const EpOptions& options) {
  const Index D = model.X.cols();
  model.likelihood.require(Inference::sparse_ep);
  refuse_weights(model);
  if (!(options.power > 0.0 && options.power <= 1.0))
    throw InputError(fmt::format("the power of EP is {}; it must lie in (0, 1]", options.power));
  if (!(options.damping > 0.0 && options.damping <= 1.0))
    throw InputError(
        fmt::format("the damping factor is {}; it must lie in (0, 1]", options.damping));
  if (!features || features->dims() != D)
    throw InputError(fmt::format("the inducing variables do not fit inputs of {} columns", D));
  expect_size("the vector of kernel parameters", model.kernel.parameter_count(D), at.kernel.size());
  expect_size("the vector of likelihood parameters", model.likelihood.parameter_count(),
              at.likelihood.size());
  expect_size("the vector of mean weights", model.mean.basis_count(D), at.mean_weights.size());
  expect_size("the vector of the features' parameters", features->parameter_count(), z.size());
}

struct Settled {
  GaussianSites sites;
  WhitenedState q;
  double value = 0.0;
  int iterations = 0;
};

Settled settle(const SparseSiteProblem& problem, const EpOptions& options) {
  const Vector zero = Vector::Zero(problem.y.size());
  Settled at{{zero, zero}, {}};
  gather_sites(problem, at.sites, at.q);
  double step = options.damping, last = std::numeric_limits<double>::infinity(), best = last;
  int since_best = 0;
  for (; at.iterations < options.max_iterations; ++at.iterations) {
    const SiteMatch match = match_sites(problem, at.sites, at.q);
    at.value = at.q.phi + match.value;
    if (match.improper == 0 &&
        (match.change <= options.tolerance || (match.change <= settled && since_best >= 10)))
      return at;
    if (match.change > last) step = std::max(0.5 * step, 0.02);
    since_best = match.change < 0.9 * best ? 0 : since_best + 1;
    best = std::min(best, match.change);
    last = match.change;
    for (double fraction = step;; fraction *= 0.5) {
      const GaussianSites next{at.sites.nu + fraction * (match.sites.nu - at.sites.nu),
                               at.sites.tau + fraction * (match.sites.tau - at.sites.tau)};
      if (gather_sites(problem, next, at.q)) {
        at.sites = next;
        break;
      }
      if (fraction < 1e-6 * step)
        throw NumericalError(
            fmt::format("sparse EP for {} left the densities after {} sweeps; use svgp",
                        problem.model.likelihood.print(), at.iterations));
    }
  }
  throw NumericalError(fmt::format(
      "sparse EP for {} did not settle in {} sweeps (the sites still change by {:.2g}); lower the "
      "damping factor or the power, or use svgp",
      problem.model.likelihood.print(), at.iterations, last));
}

}  // namespace

SparseEpApproximation sparse_expectation_propagation(
    const FunctionModel& model, const FeaturesPtr& features, const FunctionParameters& parameters,
    const Vector& z, Jitter& jitter, SparseEpGradient* gradient, const EpOptions& options) {
  check(model, features, parameters, z, options);
  const ObservedRows rows = observed_rows(model.likelihood, model.X, model.y, model.aux);
  const Mean zero;  // the sweep sees h = f − m
  const RowMatrix Y = rows.y;
  const MemoryRows source(rows.X, Y, Vector());
  const Sweep sweep = Sweep::for_features(source, features->size());
  Cholesky Kuu = factor_Kuu(*features, parameters.kernel, z, jitter, options.guard_eigenvalue);
  const SparseSiteProblem problem{model,
                                  parameters,
                                  options.power,
                                  rows.y,
                                  rows.aux,
                                  model.mean.is_zero()
                                      ? Vector::Zero(rows.y.size())
                                      : multiply(model.mean.basis(rows.X), parameters.mean_weights),
                                  {features.get(),
                                   &model.kernel.node(),
                                   parameters.kernel.data(),
                                   z.data(),
                                   0.0,
                                   &zero,
                                   {},
                                   std::move(Kuu.L)},
                                  &sweep};
  Settled at = settle(problem, options);

  const Matrix& Luu = problem.context.Luu;
  const Matrix B_inverse = Cholesky{at.q.LB}.inverse();
  SparseEpApproximation out{
      at.value,
      at.sites.nu,
      at.sites.tau,
      InducingPosterior({{{model.kernel, parameters.kernel, features, z, Luu, Kuu.jitter}},
                         model.mean,
                         parameters.mean_weights,
                         {at.q.b, {cholesky(B_inverse, "the covariance of q").L}},
                         {Approximation::Kind::pep, options.power}}),
      Kuu.jitter,
      at.iterations};
  if (!gradient) return out;

  SiteAdjoint a = sites_adjoint(problem, at.sites, at.q);
  // S = Σ ā_n a_nᵀ = bbᵀ − (I − B⁻¹) − 2Σ d̄_n a_n a_nᵀ, through Kuu as −½L⁻ᵀSL⁻¹
  Matrix S = B_inverse - 2.0 * a.residual;
  S.diagonal().array() -= 1.0;
  syrk(1.0, at.q.b, Op::none, 1.0, S);
  mirror_lower(S);
  solve_lower(Luu, S, Op::transpose);
  solve_lower_right(Luu, S, Op::none, -0.5);
  const Matrix Kuu_bar = 0.5 * (S + S.transpose());
  features->Kuu_pullback(parameters.kernel.data(), z.data(), Kuu_bar, a.theta_bar.data(),
                         a.z_bar.data());
  gradient->parameters = {std::move(a.theta_bar), std::move(a.likelihood_bar),
                          model.mean.is_zero()
                              ? Vector(0)
                              : multiply(model.mean.basis(rows.X), a.m_bar, Op::transpose)};
  gradient->z = std::move(a.z_bar);
  return out;
}

}  // namespace covary
