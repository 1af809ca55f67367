// A step of minibatch training of an SVGP, hot: the bound of a batch with all gradients, the
// natural-gradient step of q and Adam's step of the rest; D = 8, SE-ARD. Beside it the limit: the
// same factorisations, solves and products alone, by the same threads.
//
//   [COVARY_NUM_THREADS=T] svgp_bench LIKELIHOOD BATCH M     one JSON line
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/models/svgp.hpp"
#include "measure.hpp"
#include "problem.hpp"

namespace covary {
namespace {

constexpr Index steps = 300, cold = 60;  // of training; of them not counted
constexpr Index passes = 4;              // whole ones: a smaller last batch would be another case

// Of a batch, by blocks of 128 rows: two triangular solves, a product, a rank-k update. Of M×M
// matrices: two factorisations, an inverse, a square, half a product, two solves.
std::vector<double> limit(Index batch, Index M) {
  constexpr Index width = 128;
  const Index blocks = (batch + width - 1) / width;
  Matrix P = Matrix::Constant(M, M, 0.1), S = Matrix::Zero(M, M), F;
  P.diagonal().array() += 1.0;
  const Matrix L = cholesky(P).L;
  std::vector<Matrix> A(static_cast<std::size_t>(blocks), Matrix::Zero(M, width)), SA = A, sums;
  sums.assign(A.size(), S);
  std::vector<double> times;
  for (Index i = 0; i < steps; ++i) {
    const double begin = bench::now();
    const Matrix Luu = cholesky(P).L;
    factor_of_inverse(P, F);
    syrk(1.0, F, Op::none, 0.0, S);
    parallel_for(blocks, [&](Index b) {
      const auto at = static_cast<std::size_t>(b);
      solve_lower(L, A[at]);
      gemm(1.0, P, Op::none, A[at], Op::none, 0.0, SA[at]);
      syrk(1.0, A[at], Op::none, 1.0, sums[at]);
      solve_lower(L, SA[at], Op::transpose);
    });
    const Index half = M / 2;
    gemm(1.0, P.topRows(half), Op::none, P, Op::none, 0.0, S.topRows(half));
    solve_lower(L, S, Op::transpose);
    solve_lower_right(L, S);
    times.push_back(bench::now() - begin);
  }
  return times;
}

void measure(const std::string& likelihood, Index batch, Index M) {
  const auto size = static_cast<std::size_t>(batch * (steps / passes));
  const bench::Problem p = bench::make_problem(size);
  const Index N = static_cast<Index>(size);
  const Eigen::Map<const RowMatrix> X(p.X.data(), N, bench::D);
  Vector y = Eigen::Map<const Vector>(p.y.data(), N);
  SvgpOptions o;
  o.likelihood = likelihood;
  if (o.likelihood.classes() == 2) y = (y.array() > 0.0).cast<double>();
  o.Z = X.topRows(M);
  o.training.batch = batch;
  o.training.steps = steps;
  o.training.final_sweeps = 0;
  std::vector<double> marks;
  o.training.stop = [&] {  // asked before every step, and nothing is copied for it
    marks.push_back(bench::now());
    return false;
  };
  Svgp model(X, y, o);
  const double value = model.fit().value;
  std::vector<double> times;
  for (std::size_t i = cold; i < marks.size(); ++i) times.push_back(marks[i] - marks[i - 1]);
  std::printf(
      "{\"case\": \"%s\", \"n\": %td, \"batch\": %td, \"m\": %td, \"threads\": %d, "
      "\"seconds\": %.6g, \"fastest\": %.6g, \"limit_seconds\": %.6g, \"steps\": %td, "
      "\"bound\": %.10g}\n",
      likelihood.c_str(), N, batch, M, threads(), bench::median(times),
      *std::min_element(times.begin(), times.end()), bench::median(limit(batch, M)), steps,
      value / static_cast<double>(N));
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
