#include "covary/inference/certificate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "covary/error.hpp"
#include "inference/cglb.hpp"
#include "inference/kernel_product.hpp"
#include "inference/upper_bound.hpp"

namespace covary {
namespace {

using Kind = Approximation::Kind;

void check(const CertificateBudget& b) {
  if (b.max_iterations < 0)
    throw InputError(
        fmt::format("the number of iterations must not be negative, got {}", b.max_iterations));
  if (!(b.max_flops >= 0.0))
    throw InputError(
        fmt::format("the budget of operations must not be negative, got {}", b.max_flops));
  if (!(b.tolerance >= 0.0))
    throw InputError(fmt::format("the tolerance must not be negative, got {}", b.tolerance));
}

// VFE's bound from an evaluation of "vfe(tight)".
double elbo_of(const SparseEvaluation& tight) {
  double observed = 0.0;
  for (const SparseFactors& g : tight.factors)
    observed += g.rows * static_cast<double>(g.columns.size());
  return -tight.terms.complexity - tight.terms.fit - 0.5 * observed * tight.terms.mean_ratio;
}

// Where u − log(1 + u) crosses `level` between a and b, of which the first has the smaller value.
double crossing(double level, double a, double b) {
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (a + b);
    (middle - std::log1p(middle) < level ? a : b) = middle;
  }
  return b;  // the outer end
}

}  // namespace

std::pair<double, double> variance_ratio_bounds(double gap) {
  if (!(gap >= 0.0)) throw InputError(fmt::format("the gap must not be negative, got {}", gap));
  const double level = 2.0 * gap;
  return {1.0 + crossing(level, 0.0, std::expm1(-1.0 - level)),
          1.0 + crossing(level, 0.0, 2.0 * (level + std::sqrt(level)))};
}

double certificate_flops(const SparseProblem& problem, Index iterations) {
  const RowSource& rows = problem.sweep->rows();
  const auto N = static_cast<double>(rows.rows()),
             M = static_cast<double>(problem.features->size());
  const auto groups = static_cast<double>(problem.columns.size());
  return 2.0 * N * M * M * (3.0 + groups) +
         kernel_product_flops(rows.rows(), rows.dims(), rows.outputs()) +
         static_cast<double>(iterations) * cglb_step_flops(problem);
}

Certificate certify(const SparseProblem& problem, const SparseValues& values, Jitter& jitter,
                    const CertificateBudget& budget) {
  check(budget);
  const auto start = std::chrono::steady_clock::now();
  Certificate out;
  // At v = 0, where the bound is "vfe(tight)": in memory that does not grow with the rows.
  SparseProblem tight = problem;
  tight.approximation = Kind::vfe_tight;
  tight.route = Route::automatic;
  const SparseEvaluation base = evaluate_sparse(tight, values, jitter);
  out.elbo = elbo_of(base);
  out.lower = base.value;
  out.upper = trace_upper_bound(problem, values, jitter);
  out.method = "trace";

  const double affordable =
      std::floor((budget.max_flops - certificate_flops(problem, 0)) / cglb_step_flops(problem));
  if (budget.max_iterations == 0 || affordable < 1.0) {
    out.flops = certificate_flops(problem, std::max<Index>(1, budget.max_iterations));
    out.note = budget.max_iterations == 0
                   ? "not certified: no iterations of conjugate gradients were asked for"
                   : fmt::format(
                         "not certified: {} iterations of conjugate gradients need {:.1e} "
                         "operations and the first {:.1e}, but the budget is {:.1e}; the "
                         "upper bound is that of the trace",
                         budget.max_iterations, out.flops, certificate_flops(problem, 1),
                         budget.max_flops);
  } else {
    const Index most = affordable < static_cast<double>(budget.max_iterations)
                           ? static_cast<Index>(affordable)
                           : budget.max_iterations;
    const CglbSystem system(problem, values);
    Matrix v = Matrix::Zero(system.y.rows(), system.y.cols());
    out.iterations = conjugate_gradients(system, base, v, {most, budget.tolerance}).iterations;
    // The residual is formed anew: that of the recursion drifts, and no bound may rest on it.
    const CglbEvaluation at_v = evaluate_cglb(system, v, jitter, nullptr);
    out.lower = std::max(out.lower, at_v.lower);
    out.upper = std::min(out.upper, at_v.upper);
    out.certified = true;
    out.method = "conjugate gradients";
    out.flops = certificate_flops(problem, out.iterations);
    if (out.iterations == most && at_v.solve_gap > budget.tolerance)
      out.note = fmt::format(
          "{} after {} iterations; {:.2g} nats of the bracket are the solve's",
          most < budget.max_iterations ? "the budget of operations was spent" : "stopped",
          out.iterations, at_v.solve_gap);
  }

  const Kind kind = problem.approximation.kind;
  const double g = std::max(0.0, out.upper - out.elbo);
  if (g <= 1.0 && (kind == Kind::vfe || kind == Kind::vfe_tight || kind == Kind::dtc)) {
    out.mean_error_sd = std::sqrt(2.0 * g);
    out.variance_ratio = variance_ratio_bounds(g);
  }
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

}  // namespace covary
