// The sparse objective with all gradients on data of the shape of kin40k (D = 8), hot, at changing
// parameters.
//
//   [COVARY_NUM_THREADS=T] sparse_bench N M APPROXIMATION ROUTE     one JSON line
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

#include "covary/error.hpp"
#include "covary/inference/sparse.hpp"
#include "covary/linalg/parallel.hpp"
#include "measure.hpp"
#include "problem.hpp"

namespace covary {
namespace {

Route parse_route(const std::string& name) {
  if (name == "fast") return Route::fast;
  if (name == "safe") return Route::safe;
  if (name == "stable") return Route::stable;
  throw InputError("the route is fast, safe or stable");
}

void measure(std::size_t size, Index M, const std::string& approximation,
             const std::string& route) {
  const bench::Problem p = bench::make_problem(size);
  const Index N = static_cast<Index>(size), dims = bench::D;
  const Eigen::Map<const RowMatrix> X(p.X.data(), N, dims), Y(p.y.data(), N, 1);
  const Kernel kernel = "se(ard)";
  const Mean mean;
  const double before = bench::process_memory("VmRSS");
  const MemoryRows rows(X, Y, Vector());
  const FeaturesPtr features = inducing_points(kernel, X.topRows(M));
  const Sweep sweep = Sweep::for_features(rows, M);
  const SparseProblem problem{approximation, features.get(), &kernel,           &mean,
                              &sweep,        {{0}},          parse_route(route)};
  Vector theta(dims + 1);
  theta << bench::variance, Eigen::Map<const Vector>(p.lengthscales.data(), dims);
  const RowMatrix Z = X.topRows(M);
  SweepGradient gradient;
  const auto evaluate = [&](double shift) {
    Jitter jitter;
    const double f = std::exp(shift);
    const SparseValues v{
        f * theta, Eigen::Map<const Vector>(Z.data(), Z.size()), f * bench::noise, {}};
    return evaluate_sparse(problem, v, jitter, &gradient);
  };
  const SparseEvaluation first = evaluate(0.0);
  const auto times = bench::repeat([&](int run) {
    const double begin = bench::now();
    evaluate(1e-3 * run);
    return bench::now() - begin;
  });
  std::printf(
      "{\"case\": \"%s %s\", \"n\": %zu, \"m\": %td, \"threads\": %d, \"seconds\": %.6g, "
      "\"fastest\": %.6g, \"value\": %.17g, \"rho\": %.3g, \"peak_memory_mb\": %.1f}\n",
      approximation.c_str(), route.c_str(), size, M, threads(), bench::median(times),
      *std::min_element(times.begin(), times.end()), first.value, first.terms.rho,
      (bench::process_memory("VmHWM") - before) / 1048576);
}

}  // namespace
}  // namespace covary

int main(int argc, char** argv) {
  try {
    if (argc != 5) throw covary::InputError("usage: sparse_bench N M APPROXIMATION ROUTE");
    covary::measure(static_cast<std::size_t>(std::stol(argv[1])), std::stol(argv[2]), argv[3],
                    argv[4]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sparse_bench: %s\n", e.what());
    return 1;
  }
}
