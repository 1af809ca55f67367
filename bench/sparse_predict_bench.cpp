// Mean and variance at many rows by a sparse posterior, on the data of bench/problem.hpp.
//
//   [COVARY_NUM_THREADS=T] sparse_predict_bench N M ROWS     one JSON line
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

#include "covary/error.hpp"
#include "covary/inference/sparse_posterior.hpp"
#include "covary/linalg/parallel.hpp"
#include "measure.hpp"
#include "problem.hpp"

namespace covary {
namespace {

SparsePosterior posterior(const bench::Problem& p, Index M) {
  const Index N = static_cast<Index>(p.n), dims = bench::D;
  const Eigen::Map<const RowMatrix> X(p.X.data(), N, dims), Y(p.y.data(), N, 1);
  const RowMatrix Z = X.topRows(M);
  const Kernel kernel = "se(ard)";
  const Mean mean;
  const FeaturesPtr features = inducing_points(kernel, Z);
  const MemoryRows rows(X, Y, Vector());
  const Sweep sweep = Sweep::for_features(rows, M);
  const SparseProblem problem{"vfe", features.get(), &kernel, &mean, &sweep, {{0}}};
  SparseValues v;
  v.theta.resize(dims + 1);
  v.theta << bench::variance, Eigen::Map<const Vector>(p.lengthscales.data(), dims);
  v.z = Eigen::Map<const Vector>(Z.data(), Z.size());
  v.noise = bench::noise;
  Jitter jitter;
  SparseEvaluation e = evaluate_sparse(problem, v, jitter);
  return SparsePosterior({"vfe", kernel, mean, features, v, e.Luu, e.jitter, std::move(e.factors)});
}

void measure(std::size_t n, Index M, std::size_t rows) {
  const SparsePosterior model = posterior(bench::make_problem(n), M);
  std::vector<double> inputs(rows * bench::D);
  bench::Uniform uniform(1);
  for (double& x : inputs) x = uniform();
  const Eigen::Map<const RowMatrix> X(inputs.data(), static_cast<Index>(rows), bench::D);
  double sum = model.predict(X.topRows(std::min<Index>(X.rows(), 4096))).variance_f.sum();
  bench::reset_peak_memory();
  const double before = bench::process_memory("VmRSS");
  const auto times = bench::repeat([&](int) {
    const double begin = bench::now();
    const Prediction p = model.predict(X);
    const double seconds = bench::now() - begin;
    sum += p.mean.sum() + p.variance_f.sum();
    return seconds;
  });
  if (!std::isfinite(sum)) throw NumericalError("a prediction is not finite");
  // What is returned, mean and two variances, is not what the work needs.
  const double result = 3.0 * sizeof(double) * static_cast<double>(rows);
  std::printf(
      "{\"case\": \"predict\", \"n\": %zu, \"m\": %td, \"rows\": %zu, \"threads\": %d, "
      "\"seconds\": %.6g, \"fastest\": %.6g, \"peak_memory_mb\": %.1f}\n",
      n, M, rows, threads(), bench::median(times), *std::min_element(times.begin(), times.end()),
      std::max(0.0, bench::process_memory("VmHWM") - before - result) / 1048576);
}

}  // namespace
}  // namespace covary

int main(int argc, char** argv) {
  try {
    if (argc != 4) throw covary::InputError("usage: sparse_predict_bench N M ROWS");
    covary::measure(static_cast<std::size_t>(std::stol(argv[1])), std::stol(argv[2]),
                    static_cast<std::size_t>(std::stol(argv[3])));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sparse_predict_bench: %s\n", e.what());
    return 1;
  }
}
