#include "covary/inference/variational.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/anderson.hpp"
#include "inference/coupled_newton.hpp"
#include "inference/function_problem.hpp"
#include "inference/gaussian_sites.hpp"
#include "inference/multi_function_problem.hpp"

namespace covary {
namespace {

// The data, and the prior N(m_l, K_l) of each latent function at their rows.
struct Problem {
  const Likelihood& likelihood;
  const Vector &theta, &y, &aux, &weights;
  Matrix m;                      // N×L
  std::vector<const Matrix*> K;  // L
};

// q with its bound and the sites a whole natural-gradient step leads to.
struct Candidate {
  std::vector<SiteState> q;
  Matrix mean, variance;  // of f, N×L
  Expectations expected;
  Matrix coupling;  // N × pairs
  double bound = 0.0;
  std::vector<GaussianSites> next;
  Matrix step;  // of the means of several functions: δ above K⁻¹δ
  double change = 0.0;
};

bool evaluate(const Problem& problem, std::vector<GaussianSites> sites, Candidate& out) {
  const std::size_t L = sites.size();
  out.q.resize(L);
  out.next.resize(L);
  out.mean = problem.m;
  out.variance.resize(problem.m.rows(), problem.m.cols());
  for (std::size_t l = 0; l < L; ++l) {
    if (!out.q[l].compute(*problem.K[l], std::move(sites[l]))) return false;
    out.mean.col(static_cast<Index>(l)) += out.q[l].h;
    out.variance.col(static_cast<Index>(l)) = out.q[l].variance;
  }
  out.expected = expectations(problem.likelihood, problem.theta, problem.y, out.mean, out.variance,
                              problem.aux, L > 1 ? &out.coupling : nullptr);
  if (problem.weights.size() != 0) {
    const auto w = problem.weights.array();
    out.expected.value.array() *= w;
    out.expected.mean_bar.array().colwise() *= w;
    out.expected.variance_bar.array().colwise() *= w;
    if (L > 1) out.coupling.array().colwise() *= w;
  }
  out.bound = out.expected.value.sum();
  out.change = 0.0;
  bool finite = true;
  for (std::size_t l = 0; l < L; ++l) {
    const SiteState& q = out.q[l];
    GaussianSites& next = out.next[l];
    // KL = ½(hᵀK⁻¹h − tr ΛS + log|I + KΛ|), S = (K⁻¹ + Λ)⁻¹
    out.bound -=
        0.5 * (dot(q.alpha, q.h) - dot(q.sites.tau, q.variance) + q.factor.log_determinant());
    next.tau = -2.0 * out.expected.variance_bar.col(static_cast<Index>(l));
    next.nu = out.expected.mean_bar.col(static_cast<Index>(l)) + next.tau.cwiseProduct(q.h);
    const double change = q.distance(next);
    finite = finite && std::isfinite(change);  // max() would lose a NaN
    out.change = std::max(out.change, change);
  }
  return finite && std::isfinite(out.bound);
}

// ∂/∂θ of the weighted sum.
Vector likelihood_bar(const Problem& problem, const Candidate& c) {
  if (problem.weights.size() == 0) return c.expected.theta_bar;
  Vector out = Vector::Zero(problem.theta.size());
  if (out.size() == 0) return out;
  for (Index n = 0; n < problem.y.size(); ++n)
    out += problem.weights(n) *
           expectations(problem.likelihood, problem.theta, problem.y.segment(n, 1), c.mean.row(n),
                        c.variance.row(n),
                        problem.aux.size() != 0 ? Vector(problem.aux.segment(n, 1)) : Vector())
               .theta_bar;
  return out;
}

// A fraction of the way. Where the functions step together their means move by that part of it.
std::vector<GaussianSites> towards_next(const Candidate& c, double fraction) {
  std::vector<GaussianSites> out;
  const Index N = c.mean.rows();
  for (std::size_t l = 0; l < c.q.size(); ++l) {
    const SiteState& q = c.q[l];
    out.push_back(q.towards(c.next[l], fraction));
    if (c.step.size() == 0) continue;
    const auto move = fraction * c.step.col(static_cast<Index>(l));
    out.back().nu = q.alpha + move.tail(N) + out.back().tau.cwiseProduct(q.h + move.head(N));
  }
  return out;
}

// All ν and τ end to end.
Vector flat(const std::vector<GaussianSites>& sites) {
  const Index N = sites.front().nu.size();
  Vector out(2 * N * static_cast<Index>(sites.size()));
  Index at = 0;
  for (const GaussianSites& s : sites) {
    out.segment(at, N) = s.nu;
    out.segment(at + N, N) = s.tau;
    at += 2 * N;
  }
  return out;
}
std::vector<GaussianSites> sites_of(const Vector& x, std::size_t L) {
  const Index N = x.size() / (2 * static_cast<Index>(L));
  std::vector<GaussianSites> out;
  for (Index at = 0; at < x.size(); at += 2 * N)
    out.push_back({x.segment(at, N), x.segment(at + N, N)});
  return out;
}

// A natural-gradient step takes each function as if it were alone. Here its means become those of
// Newton's step for all functions together: (K⁻¹ + W)δ = m̄ − α with W = −∂²E/∂m∂m. Directions are
// kept as δ above K⁻¹δ.
void couple(const Problem& problem, Candidate& c) {
  const Index N = problem.y.size(), L = c.mean.cols();
  const auto state = [&](Index l) -> const SiteState& { return c.q[static_cast<std::size_t>(l)]; };
  Matrix r = c.expected.mean_bar;
  for (Index l = 0; l < L; ++l) r.col(l) -= state(l).alpha;
  c.step = coupled_step(
      std::move(r),
      [&](const Matrix& at) {
        Matrix out(2 * N, L);
        for (Index l = 0; l < L; ++l) {
          const Matrix& K = *problem.K[static_cast<std::size_t>(l)];
          const Vector y = at.col(l) - state(l).factor.apply(multiply(K, at.col(l)));
          out.col(l).tail(N) = y;
          out.col(l).head(N) = multiply(K, y);
        }
        return out;
      },
      [&](const Matrix& d) {
        const Matrix delta = d.topRows(N);
        Matrix out = d.bottomRows(N) - 2.0 * c.expected.variance_bar.cwiseProduct(delta);
        add_coupled(c.coupling, delta, -1.0, out);
        return out;
      });
  c.next = towards_next(c, 1.0);
}

// Steps of the means change the best variances and the other way round; so the last steps are
// extrapolated.
class Extrapolation {
 public:
  void add(const Candidate& c) {
    std::vector<GaussianSites> now;
    std::vector<GaussianSites> units;
    for (const SiteState& q : c.q) {
      now.push_back(q.sites);
      units.push_back({q.variance.cwiseSqrt(), q.variance});  // as in SiteState::distance
    }
    const Vector x = flat(now);
    steps_.add(x, flat(c.next) - x);
    weight_ = flat(units);
  }
  void forget() { steps_.forget(); }
  bool ready() const { return steps_.ready(); }
  std::vector<GaussianSites> sites(std::size_t L) const {
    return sites_of(steps_.extrapolate(weight_), L);
  }

 private:
  Anderson steps_{20};
  Vector weight_;
};

// At the prior, but for several functions with sites of precision one: log p is of the order of
// one in units of f there, and under a wide prior E exp(−f) would overflow.
std::vector<GaussianSites> start(const Problem& problem) {
  const Index N = problem.y.size();
  const std::size_t L = problem.K.size();
  return std::vector<GaussianSites>(L, {Vector::Zero(N), Vector::Constant(N, L > 1 ? 1.0 : 0.0)});
}

Candidate maximise(const Problem& problem, const VariationalOptions& options, int& iterations) {
  constexpr int simple = 10;  // iterations that are not extrapolated
  Candidate now;
  if (!evaluate(problem, start(problem), now))
    throw NumericalError(fmt::format("the expected log density of {} under the prior is not finite",
                                     problem.likelihood.print()));
  Extrapolation extrapolation;
  double step = 1.0;
  for (iterations = 0; iterations < options.max_iterations; ++iterations) {
    if (now.change <= options.tolerance) return now;
    if (problem.K.size() > 1) couple(problem, now);
    // Large terms cancel in the bound (counts of thousands): a fall within `noise` is none if the
    // sites come nearer.
    const double scale = 1.0 + std::abs(now.bound), rounding = 1e-13 * scale, noise = 1e-10 * scale;
    Candidate trial;
    const auto better = [&](std::vector<GaussianSites> sites) {
      if (!evaluate(problem, std::move(sites), trial)) return false;
      const double gain = trial.bound - now.bound;
      return gain > rounding || (gain >= -noise && trial.change < now.change);
    };
    bool found = false;
    if (iterations >= simple) {
      extrapolation.add(now);
      found = extrapolation.ready() && better(extrapolation.sites(problem.K.size()));
      if (!found && extrapolation.ready()) extrapolation.forget();
    }
    for (int halving = 0; halving < 40 && !found; ++halving) {
      found = better(towards_next(now, step));
      if (!found)
        step *= 0.5;
      else
        step = std::min(1.0, 1.5 * step);
    }
    if (!found) break;
    now = std::move(trial);
  }
  if (now.change <= settled) return now;
  throw NumericalError(fmt::format(
      "the variational bound for {} did not converge in {} iterations (the sites still change by "
      "{:.2g}); allow more of them, or check the scale of the kernel",
      problem.likelihood.print(), iterations, now.change));
}

}  // namespace

FunctionApproximation variational_approximation(const FunctionModel& model,
                                                const FunctionParameters& parameters,
                                                FunctionParameters* gradient,
                                                const VariationalOptions& options) {
  const FunctionProblem problem(model, parameters, Inference::vi);
  int iterations = 0;
  const Problem view{model.likelihood, parameters.likelihood, problem.y,
                     problem.aux,      problem.weights,       problem.m,
                     {&problem.K}};
  Candidate best = maximise(view, options, iterations);
  const Vector theta_bar = gradient ? likelihood_bar(view, best) : Vector();
  SiteState& q = best.q.front();
  FunctionApproximation out = problem.approximation(std::move(q.alpha), std::move(q.sites.tau),
                                                    std::move(q.factor), std::move(q.variance));
  out.value = best.bound;
  out.iterations = iterations;
  if (!gradient) return out;
  problem.pullback(out.posterior, out.posterior.factor.dense(), Vector(),
                   *gradient);  // the bound is stationary in q
  gradient->likelihood = theta_bar;
  return out;
}

MultiFunctionApproximation variational_approximation(const MultiFunctionModel& model,
                                                     const MultiFunctionParameters& parameters,
                                                     MultiFunctionParameters* gradient,
                                                     const VariationalOptions& options) {
  const MultiFunctionProblem problem(model, parameters, Inference::vi);
  Problem view{model.likelihood,
               parameters.likelihood,
               problem.y,
               problem.aux,
               problem.weights,
               problem.m,
               {}};
  for (Index l = 0; l < problem.functions(); ++l) view.K.push_back(&problem.K(l));
  MultiFunctionApproximation out;
  Candidate best = maximise(view, options, out.iterations);
  if (gradient) gradient->likelihood = likelihood_bar(view, best);
  out.value = best.bound;
  out.mean = std::move(best.mean);
  out.variance = std::move(best.variance);
  Matrix alpha(problem.size(), problem.functions());
  for (Index l = 0; l < problem.functions(); ++l) {
    SiteState& q = best.q[static_cast<std::size_t>(l)];
    alpha.col(l) = q.alpha;
    out.posterior.push_back({model.kernels[problem.kernel_of(l)], model.mean,
                             problem.parameters_of(l), problem.X, std::move(q.alpha),
                             std::move(q.sites.tau), std::move(q.factor)});
  }
  if (!gradient) return out;
  const auto R = [&](Index l) { return out.posterior[static_cast<std::size_t>(l)].factor.dense(); };
  problem.pullback(alpha, Matrix(), R, *gradient);
  return out;
}

}  // namespace covary
