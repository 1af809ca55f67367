// The limit of a sweep: the bare BLAS calls of its routes over the whole M×N array, by threaded
// OpenBLAS.
//
//   OPENBLAS_NUM_THREADS=T limit_sweep N M     one JSON line for each route
#include <cblas.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "measure.hpp"

int main(int argc, char** argv) {
  const std::size_t N = bench::size_argument(argc, argv, "limit_sweep N M");
  const std::size_t M = argc > 2 ? static_cast<std::size_t>(std::atol(argv[2])) : 0;
  if (M < 2) return std::fprintf(stderr, "usage: limit_sweep N M\n"), 2;
  const int n = static_cast<int>(N), m = static_cast<int>(M);
  std::vector<double> L(M * M), A(M * N), B(M * N), C(M * M);
  for (std::size_t j = 0; j < M; ++j)
    for (std::size_t i = j; i < M; ++i) L[i + j * M] = i == j ? 2.0 : 1e-3 * std::cos(1.0 * i * j);
  for (std::size_t i = 0; i < A.size(); ++i) A[i] = std::sin(0.37 * static_cast<double>(i));
  const auto solve = [&] {
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, m, n, 1.0,
                L.data(), m, A.data(), m);
  };
  const auto square = [&] {
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, m, n, 1.0, A.data(), m, 0.0, C.data(), m);
  };
  const auto multiply = [&] {
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, m, 1.0, L.data(), m, A.data(), m,
                0.0, B.data(), m);
  };
  const auto report = [&](const char* name, const std::function<void()>& work) {
    work();
    const auto times = bench::repeat([&](int) {
      const double begin = bench::now();
      work();
      return bench::now() - begin;
    });
    std::printf(
        "{\"case\": \"%s\", \"n\": %zu, \"m\": %zu, \"threads\": %d, \"seconds\": %.6g, "
        "\"fastest\": %.6g}\n",
        name, N, M, openblas_get_num_threads(), bench::median(times),
        *std::min_element(times.begin(), times.end()));
  };
  report("limit fast", [&] { square(), multiply(); });
  report("limit safe", [&] { solve(), square(), multiply(); });
}
