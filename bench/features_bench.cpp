// Structured inducing variables beside inducing points of the same number, hot, at changing
// parameters.
//
//   [COVARY_NUM_THREADS=T] features_bench fourier N M           one JSON line
//   [COVARY_NUM_THREADS=T] features_bench svgp KIND M BATCH     one JSON line
//
// One column, Matérn 3/2, VFE: the one pass of Fourier features over N rows, their bound with its
// gradient, which no longer sees the rows, and the bound with its gradient of M inducing points.
//
// A step of minibatch training of an SVGP, Bernoulli, of a sum of SE over eight columns: KIND is
// "stacked(eigen)" or "stacked(points)" with M of them for each column, or "points" with 8M whose
// Kuu is dense; "/diagonal" after it takes a diagonal covariance of q.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "covary/error.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/models/svgp.hpp"
#include "features/fourier.hpp"
#include "inference/one_pass.hpp"
#include "measure.hpp"
#include "problem.hpp"

namespace covary {
namespace {

struct Line {
  RowMatrix X, Y;
};

Line make_line(Index N) {
  Line out{RowMatrix(N, 1), RowMatrix(N, 1)};
  bench::Uniform uniform(static_cast<std::uint64_t>(N));
  for (Index i = 0; i < N; ++i) {
    out.X(i) = 10.0 * uniform();
    out.Y(i) = std::sin(3.0 * out.X(i)) + std::cos(17.0 * out.X(i)) + 0.4 * (uniform() - 0.5);
  }
  return out;
}

SparseValues values_at(int run, const Vector& z) {
  const double turn = 1.0 + 1e-3 * run;
  return {(Vector(2) << 1.2 * turn, 0.3 * turn).finished(), z, 0.02 * turn, {}};
}

void measure_fourier(Index N, Index M) {
  const Line d = make_line(N);
  const Kernel kernel = "matern32";
  const Mean zero;
  const MemoryRows rows(d.X, d.Y, Vector());
  SweepGradient gradient;

  const FeaturesPtr waves = fourier_features(kernel, -1.0, 11.0, (M - 1) / 2);
  const Vector interval = (Vector(2) << -1.0, 11.0).finished();
  SparseProblem problem{"vfe", waves.get(), &kernel, &zero, nullptr, {{0}}};
  double begin = bench::now();
  const auto sums = one_pass_statistics(*waves, interval, zero, rows);
  const double pass = bench::now() - begin;
  if (!sums) throw InputError("the interval does not cover the rows");
  double value = 0.0;
  const auto times = bench::repeat([&](int run) {
    begin = bench::now();
    value = evaluate_one_pass(problem, *sums, values_at(run, interval), {}, &gradient).value;
    return bench::now() - begin;
  });
  const double first = evaluate_one_pass(problem, *sums, values_at(1, interval), {}).value;

  const RowMatrix Z = Vector::LinSpaced(M, 0.0, 10.0);
  const FeaturesPtr points = inducing_points(kernel, Z);
  const Sweep sweep = Sweep::for_features(rows, M);
  problem.features = points.get();
  problem.sweep = &sweep;
  begin = bench::now();
  Jitter jitter;
  const double of_points =
      evaluate_sparse(problem, values_at(1, Z.reshaped()), jitter, &gradient).value;
  const double swept = bench::now() - begin;
  std::printf(
      "{\"case\": \"fourier\", \"n\": %td, \"m\": %td, \"threads\": %d, \"pass_seconds\": %.6g, "
      "\"seconds\": %.6g, \"fastest\": %.6g, \"points_seconds\": %.6g, \"value\": %.17g, "
      "\"points_value\": %.17g}\n",
      N, waves->size(), threads(), pass, bench::median(times),
      *std::min_element(times.begin(), times.end()), swept, first, of_points);
}

// Times of a step, the first quarter left out: there q moves alone.
void measure_svgp(const std::string& what, Index M, Index batch) {
  constexpr Index D = 8, passes = 2;
  const char* const asked = std::getenv("COVARY_BENCH_RUNS");
  const Index steps = asked ? 16 : 60, N = batch * steps / passes;
  const std::size_t slash = what.find('/');
  RowMatrix X(N, D);
  Vector y(N);
  bench::Uniform uniform(static_cast<std::uint64_t>(N));
  for (Index i = 0; i < N; ++i) {
    double f = 0.0;
    for (Index d = 0; d < D; ++d) {
      X(i, d) = uniform() + uniform() + uniform() - 1.5;
      f += std::sin((2.0 + static_cast<double>(d)) * X(i, d));
    }
    y(i) = f + uniform() > 0.5 ? 1.0 : 0.0;
  }
  SvgpOptions o;
  // So short that the greedy choice of a part finds no input redundant; no time depends on it.
  std::string kernel;
  for (Index d = 0; d < D; ++d)
    kernel += (d ? " + se(lengthscales=0.05)@" : "se(lengthscales=0.05)@") + std::to_string(d);
  o.kernel = kernel;
  o.likelihood = "bernoulli(probit)";
  o.features = what.substr(0, slash);
  if (slash != std::string::npos) o.covariance = what.substr(slash + 1);
  o.inducing = D * M;
  o.selection = Selection::random;
  o.training.batch = batch;
  o.training.steps = steps;
  o.training.final_sweeps = 0;
  std::vector<double> marks;
  o.training.stop = [&] {  // asked before every step, and nothing is copied for it
    marks.push_back(bench::now());
    return false;
  };
  Svgp model(X, y, o);
  const Index inducing = model.inducing();
  const double value = model.fit().value;
  std::vector<double> times;
  for (std::size_t i = marks.size() / 4 + 1; i < marks.size(); ++i)
    times.push_back(marks[i] - marks[i - 1]);
  std::printf(
      "{\"case\": \"svgp\", \"kind\": \"%s\", \"m\": %td, \"inducing\": %td, "
      "\"batch\": %td, \"threads\": %d, \"seconds\": %.6g, \"fastest\": %.6g, \"bound\": "
      "%.10g}\n",
      what.c_str(), M, inducing, batch, threads(), bench::median(times),
      *std::min_element(times.begin(), times.end()), value / static_cast<double>(N));
}

}  // namespace
}  // namespace covary

int main(int argc, char** argv) {
  try {
    const std::string what = argc > 1 ? argv[1] : "";
    if (argc == 4 && what == "fourier")
      covary::measure_fourier(std::stol(argv[2]), std::stol(argv[3]));
    else if (argc == 5 && what == "svgp")
      covary::measure_svgp(argv[2], std::stol(argv[3]), std::stol(argv[4]));
    else
      throw covary::InputError(
          "usage: features_bench fourier N M, or features_bench svgp KIND M BATCH");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "features_bench: %s\n", e.what());
    return 1;
  }
}
