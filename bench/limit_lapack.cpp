// The limit: LAPACK's dpotrf + dpotri of the same covariance matrix, by threaded OpenBLAS.
//
//   OPENBLAS_NUM_THREADS=T limit_lapack N     one JSON line
//   limit_lapack facts                        BLAS and compiler
//
// From the inverse, untimed and by plain loops, come the evidence and its gradient: an independent
// answer that ours must equal.
#include <cblas.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "measure.hpp"
#include "problem.hpp"

extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info, int);
void dpotri_(const char* uplo, const int* n, double* a, const int* lda, int* info, int);
}

namespace {

using bench::D, bench::Problem;

double squared(const Problem& p, std::size_t i, std::size_t j, std::size_t d) {
  const double r = (p.X[i * D + d] - p.X[j * D + d]) / p.lengthscales[d];
  return r * r;
}

double kernel(const Problem& p, std::size_t i, std::size_t j) {
  double r2 = 0.0;
  for (std::size_t d = 0; d < D; ++d) r2 += squared(p, i, j, d);
  return bench::variance * std::exp(-0.5 * r2);
}

std::vector<double> covariance(const Problem& p) {
  const std::size_t n = p.n;
  std::vector<double> K(n * n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) K[i + j * n] = K[j + i * n] = kernel(p, i, j);
    K[j + j * n] += bench::noise;
  }
  return K;
}

void factor(int n, double* K) {
  int info = 0;
  dpotrf_("L", &n, K, &n, &info, 1);
  if (info == 0) return;
  std::fprintf(stderr, "limit_lapack: dpotrf gave %d\n", info);
  std::exit(1);
}

void invert(int n, double* L) {
  int info = 0;
  dpotri_("L", &n, L, &n, &info, 1);
  if (info == 0) return;
  std::fprintf(stderr, "limit_lapack: dpotri gave %d\n", info);
  std::exit(1);
}

// −½yᵀα − ½log|K| − ½n log 2π, and Σ_ij W_ij ∂K_ij with W = ½(ααᵀ − K⁻¹).
void answer(const Problem& p, const std::vector<double>& K, bench::Line& line) {
  const std::size_t n = p.n;
  std::vector<double> A = K, alpha(n);
  factor(static_cast<int>(n), A.data());
  double log_determinant = 0.0, fit = 0.0;
  for (std::size_t i = 0; i < n; ++i) log_determinant += 2.0 * std::log(A[i + i * n]);
  invert(static_cast<int>(n), A.data());
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      alpha[i] += A[i + j * n] * p.y[j];
      if (i > j) alpha[j] += A[i + j * n] * p.y[i];
    }
  }
  line.gradient.assign(D + 2, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    fit += p.y[j] * alpha[j];
    for (std::size_t i = j; i < n; ++i) {
      const double w = (i == j ? 0.5 : 1.0) * (alpha[i] * alpha[j] - A[i + j * n]);
      const double k = K[i + j * n] - (i == j ? bench::noise : 0.0);
      line.gradient[0] += w * k / bench::variance;
      for (std::size_t d = 0; d < D; ++d)
        line.gradient[d + 1] += w * k * squared(p, i, j, d) / p.lengthscales[d];
      if (i == j) line.gradient[D + 1] += w;
    }
  }
  line.value = -0.5 * (fit + log_determinant + static_cast<double>(n) * std::log(2.0 * M_PI));
}

void print_facts() {
  std::printf("{\"case\": \"facts\", \"blas\": \"%s\", \"core\": \"%s\", \"compiler\": \"",
              openblas_get_config(), openblas_get_corename());
#if defined(__clang__)
  std::printf("Clang %s\"}\n", __clang_version__);
#else
  std::printf("GCC %s\"}\n", __VERSION__);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "facts") == 0) {
    print_facts();
    return 0;
  }
  const std::size_t size = bench::size_argument(argc, argv, "limit_lapack N | limit_lapack facts");
  const int n = static_cast<int>(size);
  const Problem problem = bench::make_problem(size);
  const std::vector<double> K = covariance(problem);
  const double before = bench::process_memory("VmRSS");
  std::vector<double> A(size * size);
  const auto run = [&](int) {
    std::memcpy(A.data(), K.data(), K.size() * sizeof(double));
    const double begin = bench::now();
    factor(n, A.data());
    invert(n, A.data());
    return bench::now() - begin;
  };
  run(0);
  const auto times = bench::repeat(run);
  const double peak = bench::process_memory("VmHWM") - before;
  bench::Line line{"limit", size, openblas_get_num_threads(), times, 0.0, {}, peak};
  answer(problem, K, line);
  bench::print(line);
}
