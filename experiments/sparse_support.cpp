#include "sparse_support.hpp"

#include "small.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <utility>

#include "covary/data/table.hpp"
#include "covary/error.hpp"
#include "covary/inference/exact.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/random/random.hpp"
#include "inference/upper_bound.hpp"

namespace covary::experiments {
namespace {

Vector values_of(const Theta& t) { return (Vector(2) << t.variance, t.lengthscale).finished(); }

// What a problem points to, together.
struct Case {
  Kernel kernel = "se";
  Mean mean;
  MemoryRows rows;
  FeaturesPtr features;
  Sweep sweep;
  SparseProblem problem;
  SparseValues values;

  Case(const Data& data, const Approximation& a, ConstRows Z, const Theta& t)
      : rows(data.X, data.Y, Vector()),
        features(inducing_points(kernel, Z)),
        sweep(Sweep::for_features(rows, Z.rows())),
        problem{a, features.get(), &kernel, &mean, &sweep, {{0}}} {
    const RowMatrix copy = Z;
    values = {values_of(t), Eigen::Map<const Vector>(copy.data(), copy.size()), t.noise, {}};
  }
};

RowMatrix sorted(RowMatrix Z) {
  std::sort(Z.data(), Z.data() + Z.size());
  return Z;
}

Theta theta_of(const Parameters& p) {
  return {p.at("kernel.variance").value[0], p.at("kernel.lengthscales").value[0],
          p.at("likelihood.variance").value[0]};
}

double variance_of(const RowMatrix& Y) {
  return (Y.array() - Y.mean()).square().sum() / static_cast<double>(Y.rows());
}

}  // namespace

Data snelson() {
  const Table table = read_data("snelson1d/train.csv");
  return {table.values.leftCols(1), table.values.col(1)};
}

Data every_second(const Data& data, Index first) {
  const auto rows = Eigen::seq(first, data.size() - 1, 2);
  return {data.X(rows, Eigen::all), data.Y(rows, Eigen::all)};
}

Kernel Theta::kernel() const { return se(false, {variance, {lengthscale}}); }
double Theta::noise_sd() const { return std::sqrt(noise); }

double exact_nlml(const Data& data, const Theta& theta) {
  Jitter jitter;
  return -exact_log_evidence("se", values_of(theta), data.X, data.Y, theta.noise, Vector(), jitter);
}

SparseEvaluation sparse_at(const Data& data, const Approximation& a, ConstRows Z, const Theta& t) {
  const Case c(data, a, Z, t);
  Jitter jitter;
  return evaluate_sparse(c.problem, c.values, jitter);
}

SparsePosterior sparse_posterior(const Data& data, const Approximation& a, ConstRows Z,
                                 const Theta& t) {
  const Case c(data, a, Z, t);
  Jitter jitter;
  SparseEvaluation e = evaluate_sparse(c.problem, c.values, jitter);
  return SparsePosterior(
      {a, c.kernel, c.mean, c.features, c.values, e.Luu, e.jitter, std::move(e.factors)});
}

double nlml_floor(const Data& data, ConstRows Z, const Theta& t) {
  const Case c(data, "vfe", Z, t);
  Jitter jitter;
  return -upper_bound(c.problem, c.values, jitter);
}

RowMatrix tighten_upper_bound(const Data& data, const RowMatrix& Z, const Theta& t) {
  Case c(data, "vfe", Z, t);
  c.problem.guard_eigenvalue = true;
  Jitter jitter;
  LbfgsOptions options;
  options.max_iterations = few(options.max_iterations, 5);
  options.objective_changed = [&jitter] { return std::exchange(jitter.raised, false); };
  const Objective bound = [&](const Vector& z, Vector* gradient) -> std::optional<double> {
    c.values.z = z;
    SweepGradient g;
    const double value = trace_upper_bound(c.problem, c.values, jitter, gradient ? &g : nullptr);
    if (gradient) *gradient = g.z_bar;
    return value;
  };
  const Minimum best = minimise(bound, Vector(c.values.z), options);
  return sorted(Eigen::Map<const RowMatrix>(best.state.u.data(), Z.rows(), 1));
}

double independent_nlml(const Data& data) {
  const double n = static_cast<double>(data.size());
  return 0.5 * n * (std::log(2 * std::numbers::pi * data.Y.squaredNorm() / n) + 1);
}

Found fit_exact(const Data& data, std::uint64_t seed) {
  RegressionOptions options;
  options.kernel = "se";
  options.scale_inputs = options.scale_outputs = ScaleMode::none;
  options.training.starts = few(10, 1);
  options.training.max_iterations = few(options.training.max_iterations, 10);
  options.seed = seed;
  options.standard_errors = Switch::off;
  const RegressionFit fit = Regression(data.X, data.Y, options).fit();
  return {-fit.value, theta_of(fit.parameters), {}};
}

Found fit_sparse(const Data& data, const Approximation& a, ConstRows Z, const Theta& start,
                 bool theta_held, double jitter, Index iterations) {
  SparseRegressionOptions options;
  options.kernel = "se";
  options.approximation = a;
  options.Z = Z;
  options.scale_inputs = options.scale_outputs = ScaleMode::none;
  options.subset = 0;
  options.certificate_flops = 0;
  options.jitter = jitter;
  options.training.max_iterations = few(iterations, 5);
  SparseRegression model(data.X, data.Y, options);
  Parameters& p = model.parameters();
  p.set("kernel.variance", start.variance);
  p.set("kernel.lengthscales", start.lengthscale);
  p.set("likelihood.variance", start.noise);
  if (theta_held) {
    p.fix("kernel");
    p.fix("likelihood.variance");
  }
  const RegressionFit fit = model.fit();
  return {-fit.value, theta_of(fit.parameters),
          sorted(Eigen::Map<const RowMatrix>(fit.parameters.at("features.Z").value.data(), Z.rows(),
                                             1))};
}

Found fit_from_random(const Data& data, const Approximation& a, Index M, std::uint64_t seed,
                      Index r) {
  Random random(seed, 1000 + static_cast<std::uint64_t>(r));
  const double v = variance_of(data.Y), noise_sd = 0.1 * std::pow(7.0, random.uniform());
  const Theta start{v, 0.2 * std::pow(10.0, random.uniform()), noise_sd * noise_sd * v};
  return fit_sparse(data, a, random_rows(data.X, M, seed, static_cast<std::uint64_t>(r)), start);
}

Found search(const Data& data, const Approximation& a, Index M, Index starts, std::uint64_t seed) {
  Found best;
  best.nlml = INFINITY;
  for (Index r = 0; r < few(starts, 2); ++r) {
    try {
      Found next = fit_from_random(data, a, M, seed, r);
      if (next.nlml < best.nlml) best = std::move(next);
    } catch (const NumericalError&) {
      continue;  // a start from which nothing can be evaluated
    }
  }
  return best;
}

RowMatrix add_best(const Data& data, const Approximation& a, const Found& at) {
  double least = INFINITY, place = 0.0;
  for (const double z : Vector::LinSpaced(131, -0.25, 6.25)) {
    const double value = -sparse_at(data, a, with_row(at.Z, z), at.theta).value;
    if (value < least) least = value, place = z;
  }
  return with_row(at.Z, place);
}

Index coincident(const RowMatrix& Z) {
  const RowMatrix z = sorted(Z);
  Index n = 0;
  for (Index i = 1; i < z.rows(); ++i) n += z(i, 0) - z(i - 1, 0) < 1e-3;
  return n;
}

RowMatrix with_row(const RowMatrix& Z, double z) {
  RowMatrix out(Z.rows() + 1, 1);
  out << Z, z;
  return out;
}

RowMatrix random_rows(const RowMatrix& X, Index M, std::uint64_t seed, std::uint64_t stream) {
  return X(sample_rows(X.rows(), M, Random(seed, stream)), Eigen::all);
}

void progress(const std::string& text) { fmt::print(stderr, "{}\n", text); }

}  // namespace covary::experiments
