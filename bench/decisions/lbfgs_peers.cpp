// Which L-BFGS survives a Gaussian-process objective? docs/decisions/lbfgs.md has the command.
//
// The objective is the negative log evidence of a one-dimensional squared-exponential regression on
// 50 points with u = log(variance, lengthscale, noise variance). It has no jitter: where the
// Cholesky factorisation fails, the objective is not a number. Compiled with
// -DCOVARY_OBJECTIVE_ONLY as a shared library, this file gives the same objective to
// lbfgs_scipy.py.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

constexpr int n = 50;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
int evaluations = 0, failures = 0;
std::array<double, n> x, y;

// An even sequence in (0, 1), the same everywhere: the additive recurrence of the golden ratio.
double even(int i, double irrational) { return std::fmod(0.5 + irrational * (i + 1), 1.0); }

double fail() {
  ++failures;
  return not_a_number;
}

}  // namespace

extern "C" {

// With little noise the optimum lies close to where the factorisation fails.
void make_data(double noise) {
  for (int i = 0; i < n; ++i) {
    x[i] = 10.0 * i / (n - 1);
    y[i] = std::sin(x[i]) + 0.5 * std::sin(2.7 * x[i]) +
           noise * 3.46 * (even(i, 0.6180339887498949) - 0.5);
  }
}

int evaluation_count() { return evaluations; }
int failure_count() { return failures; }
void reset_counts() { evaluations = failures = 0; }

void start(int r, double* u) {
  u[0] = -3.0 + 6.0 * even(r, 0.8191725133961645);  // powers of the root of z⁴ = z + 1
  u[1] = -4.0 + 8.0 * even(r, 0.6710436067037893);
  u[2] = -12.0 + 14.0 * even(r, 0.5497004779019703);
}

double objective(const double* u, double* g) {
  ++evaluations;
  const double v = std::exp(u[0]), l = std::exp(u[1]), s = std::exp(u[2]);
  std::fill(g, g + 3, not_a_number);
  static std::vector<double> k(n * n), L(n * n), inverse(n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      const double r = (x[i] - x[j]) / l;
      k[i * n + j] = v * std::exp(-0.5 * r * r);
    }
  double value = 0.5 * n * std::log(2.0 * M_PI);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = k[i * n + j] + (i == j ? s : 0.0);
      for (int m = 0; m < j; ++m) sum -= L[i * n + m] * L[j * n + m];
      if (i == j && !(sum > 0.0 && std::isfinite(sum))) return fail();
      L[i * n + j] = i == j ? std::sqrt(sum) : sum / L[j * n + j];
      if (i == j) value += std::log(L[i * n + i]);
    }
  // Columns of K⁻¹ by two triangular solves; then α = K⁻¹y.
  for (int c = 0; c < n; ++c) {
    std::array<double, n> b{};
    b[c] = 1.0;
    for (int i = 0; i < n; ++i) {
      for (int m = 0; m < i; ++m) b[i] -= L[i * n + m] * b[m];
      b[i] /= L[i * n + i];
    }
    for (int i = n - 1; i >= 0; --i) {
      for (int m = i + 1; m < n; ++m) b[i] -= L[m * n + i] * b[m];
      b[i] /= L[i * n + i];
    }
    for (int i = 0; i < n; ++i) inverse[i * n + c] = b[i];
  }
  std::array<double, n> alpha{};
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) alpha[i] += inverse[i * n + j] * y[j];
    value += 0.5 * alpha[i] * y[i];
  }
  // ∂/∂θ = ½ Σ (K⁻¹ − ααᵀ)ᵢⱼ ∂Kᵢⱼ/∂θ
  std::array<double, 3> gradient{};
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      const double w = (i == j ? 0.5 : 1.0) * (inverse[i * n + j] - alpha[i] * alpha[j]);
      const double r = (x[i] - x[j]) / l;
      gradient[0] += w * k[i * n + j];
      gradient[1] += w * k[i * n + j] * r * r;
      if (i == j) gradient[2] += w * s;
    }
  for (double d : gradient) value = std::isfinite(d) ? value : not_a_number;
  if (!std::isfinite(value)) return fail();
  std::copy(gradient.begin(), gradient.end(), g);
  return value;
}

}  // extern "C"

#ifndef COVARY_OBJECTIVE_ONLY

#include <ceres/gradient_problem.h>
#include <ceres/gradient_problem_solver.h>
#include <fmt/format.h>
#include <lbfgs.h>
#include <nlopt.h>

#include "covary/training/lbfgs.hpp"

namespace {

constexpr int starts = 200;
using Point = std::array<double, 3>;

Point ours(Point u) {
  const covary::Objective f = [](const covary::Vector& v, covary::Vector* g) {
    return std::optional<double>(objective(v.data(), g->data()));
  };
  const covary::Minimum m =
      covary::minimise(f, covary::Vector(Eigen::Map<covary::Vector>(u.data(), 3)));
  return {m.state.u[0], m.state.u[1], m.state.u[2]};
}

Point by_liblbfgs(Point u, int linesearch) {
  lbfgs_parameter_t p;
  lbfgs_parameter_init(&p);
  p.linesearch = linesearch;
  p.epsilon = 1e-6;
  p.max_iterations = 1000;
  const auto f = [](void*, const double* v, double* g, int, double) { return objective(v, g); };
  lbfgs(3, u.data(), nullptr, f, nullptr, nullptr, &p);
  return u;
}

struct CeresObjective : ceres::FirstOrderFunction {
  bool Evaluate(const double* u, double* value, double* gradient) const override {
    double unused[3];
    *value = objective(u, gradient ? gradient : unused);
    return std::isfinite(*value);
  }
  int NumParameters() const override { return 3; }
};

Point by_ceres(Point u) {
  ceres::GradientProblem problem(new CeresObjective);
  ceres::GradientProblemSolver::Options o;
  o.max_num_iterations = 1000;
  o.gradient_tolerance = 1e-6;
  o.function_tolerance = 1e-12;
  o.parameter_tolerance = 1e-14;
  o.logging_type = ceres::SILENT;
  ceres::GradientProblemSolver::Summary summary;
  ceres::Solve(o, problem, u.data(), &summary);
  return u;
}

Point by_nlopt(Point u) {
  nlopt_opt o = nlopt_create(NLOPT_LD_LBFGS, 3);
  const auto f = [](unsigned, const double* v, double* g, void*) {
    double unused[3];
    return objective(v, g ? g : unused);
  };
  nlopt_set_min_objective(o, f, nullptr);
  nlopt_set_ftol_rel(o, 1e-12);
  nlopt_set_maxeval(o, 5000);
  double value = 0.0;
  nlopt_optimize(o, u.data(), &value);
  nlopt_destroy(o);
  return u;
}

template <class Run>
std::vector<double> measure(const char* name, Run run) {
  int at_minimum = 0, total = 0, failed = 0;
  std::vector<double> values;
  for (int r = 0, used = 0; used < starts; ++r) {
    Point u, g;
    start(r, u.data());
    if (!std::isfinite(objective(u.data(), g.data()))) continue;
    ++used;
    reset_counts();
    u = run(u);
    total += evaluation_count();
    failed += failure_count();
    const double value = objective(u.data(), g.data());
    values.push_back(std::isfinite(value) ? value : std::numeric_limits<double>::infinity());
    const double norm = std::max({std::abs(g[0]), std::abs(g[1]), std::abs(g[2])});
    at_minimum += norm <= 1e-4 * std::max(1.0, std::abs(value));
  }
  std::sort(values.begin(), values.end());
  fmt::print("{:<28} {:>5} {:>8.1f} {:>7.1f} {:>10.4f} {:>10.4f} {:>10.4f}\n", name, at_minimum,
             1.0 * total / starts, 1.0 * failed / starts, values[0], values[starts / 2],
             values[starts * 9 / 10]);
  return values;
}

}  // namespace

int main() {
  for (double noise : {0.1, 1e-4, 1e-6}) {
    make_data(noise);
    fmt::print("\nnoise {}, {} starts\n{:<28} {:>5} {:>8} {:>7} {:>10} {:>10} {:>10}\n", noise,
               starts, "", "g=0", "evals", "failed", "best", "median", "9 of 10");
    measure("Covary", ours);
    measure("liblbfgs More-Thuente",
            [](Point u) { return by_liblbfgs(u, LBFGS_LINESEARCH_MORETHUENTE); });
    measure("liblbfgs strong Wolfe",
            [](Point u) { return by_liblbfgs(u, LBFGS_LINESEARCH_BACKTRACKING_STRONG_WOLFE); });
    measure("Ceres GradientProblemSolver", by_ceres);
    measure("NLopt LD_LBFGS", by_nlopt);
  }
}

#endif
