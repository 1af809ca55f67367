// Our time and memory for the exact evidence with all gradients, hot, at changing parameters.
//
//   [COVARY_NUM_THREADS=T] exact_bench N
//
// One process for each N, so that its peak memory is its own.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>

#include "covary/inference/exact.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/linalg/parallel.hpp"
#include "measure.hpp"
#include "problem.hpp"

namespace covary {
namespace {

void measure(std::size_t size) {
  const bench::Problem problem = bench::make_problem(size);
  const Index N = static_cast<Index>(size), dims = bench::D;
  const Eigen::Map<const RowMatrix> X(problem.X.data(), N, dims);
  const Eigen::Map<const Matrix> Y(problem.y.data(), N, 1);
  const Kernel kernel = se(true);
  Vector start(dims + 1);
  start << bench::variance, Eigen::Map<const Vector>(problem.lengthscales.data(), dims);

  ExactGradient gradient;
  Matrix workspace;
  // The first `rows` rows, with every logarithm of a parameter moved by the shift.
  const auto evaluate = [&](Index rows, double shift) {
    Jitter jitter;
    const double factor = std::exp(shift);
    return exact_log_evidence(kernel, factor * start, X.topRows(rows), Y.topRows(rows),
                              factor * bench::noise, Vector(), jitter, &gradient, &workspace);
  };

  evaluate(std::min<Index>(N, 200), 0.0);  // starts the threads, loads code, fills BLAS's buffers
  const double before = bench::process_memory("VmRSS");
  const double value = evaluate(N, 0.0);
  std::vector<double> all(gradient.theta_bar.begin(), gradient.theta_bar.end());
  all.push_back(gradient.noise_bar);
  const auto times = bench::repeat([&](int run) {
    const double begin = bench::now();
    evaluate(N, 1e-3 * run);
    return bench::now() - begin;
  });
  const double peak = bench::process_memory("VmHWM") - before;
  bench::print({"ours", size, threads(), times, value, all, peak});
}

}  // namespace
}  // namespace covary

int main(int argc, char** argv) {
  try {
    covary::measure(bench::size_argument(argc, argv, "exact_bench N"));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "exact_bench: %s\n", e.what());
    return 1;
  }
}
