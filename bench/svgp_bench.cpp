// A step of minibatch training of an SVGP on data of the shape of kin40k (D = 8), hot: the bound of
// a batch with all gradients, the natural-gradient step of q and Adam's step of the rest. Beside it
// the flops it takes and what BLAS needs for as many in the same shapes.
//
//   [COVARY_NUM_THREADS=T] svgp_bench LIKELIHOOD BATCH M     one JSON line
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/models/svgp.hpp"
#include "measure.hpp"
#include "problem.hpp"

namespace covary {
namespace {

// Seconds for triangular solves of blocks of 64 columns by the threads, which is how a batch is
// shared out; the flops of one.
std::pair<double, double> blas_speed(Index batch, Index M) {
  const Index blocks = std::max<Index>(1, batch / 64);
  Matrix L = Matrix::Identity(M, M);
  std::vector<Matrix> B(static_cast<std::size_t>(blocks), Matrix::Ones(M, 64));
  const auto times = bench::repeat([&](int) {
    const double begin = bench::now();
    for (int i = 0; i < 20; ++i)
      parallel_for(blocks, [&](Index b) { solve_lower(L, B[static_cast<std::size_t>(b)]); });
    return (bench::now() - begin) / 20;
  });
  return {bench::median(times), 64.0 * static_cast<double>(blocks * M * M)};
}

void measure(const std::string& likelihood, Index batch, Index M) {
  const std::size_t size = 20000;
  const bench::Problem p = bench::make_problem(size);
  const Index N = static_cast<Index>(size);
  const Eigen::Map<const RowMatrix> X(p.X.data(), N, bench::D);
  Vector y = Eigen::Map<const Vector>(p.y.data(), N);
  SvgpOptions o;
  o.likelihood = likelihood;
  if (o.likelihood.classes() == 2) y = (y.array() > 0.0).cast<double>();
  o.inducing = M;
  o.batch = batch;
  o.steps = 300;
  o.selection = Selection::random;
  o.final_sweeps = 0;
  std::vector<double> marks;
  o.after_iteration = [&](const SvgpState&) { marks.push_back(bench::now()); };
  Svgp model(X, y, o);
  const double value = model.fit().value;
  std::vector<double> steps;
  for (std::size_t i = 50; i < marks.size(); ++i) steps.push_back(marks[i] - marks[i - 1]);
  // Of a batch: two triangular solves, two triangular products, a rank-k update. Of M×M matrices:
  // two factorisations, an inverse, four triangular products or solves of which one is two thirds.
  const double m = static_cast<double>(M), b = static_cast<double>(batch);
  const double flops = 5.0 * m * m * b + (3.0 / 3.0 + 11.0 / 3.0) * m * m * m;
  const auto [seconds, unit] = blas_speed(batch, M);
  std::printf(
      "{\"case\": \"svgp %s\", \"batch\": %td, \"m\": %td, \"threads\": %d, \"ms\": %.3f, "
      "\"fastest_ms\": %.3f, \"flops\": %.3g, \"blas_ms\": %.3f, \"value\": %.10g}\n",
      likelihood.c_str(), batch, M, threads(), 1e3 * bench::median(steps),
      1e3 * *std::min_element(steps.begin(), steps.end()), flops, 1e3 * flops / unit * seconds,
      value);
}

}  // namespace
}  // namespace covary

int main(int argc, char** argv) {
  try {
    if (argc != 4) throw covary::InputError("usage: svgp_bench LIKELIHOOD BATCH M");
    covary::measure(argv[1], std::stol(argv[2]), std::stol(argv[3]));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "svgp_bench: %s\n", e.what());
    return 1;
  }
}
