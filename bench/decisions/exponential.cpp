// Nanoseconds an exponential and largest relative error over one kernel tile of 128×128 arguments
// in [−30, 0]: ours in all builds against glibc's scalar exp, libmvec and Eigen. x86-64 with AVX2.
// See docs/decisions/exponential.md.
#include <fmt/format.h>
#include <immintrin.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <limits>

#include "covary/linalg/vector_math.hpp"

extern "C" __m128d _ZGVbN2v_exp(__m128d);
extern "C" __m256d _ZGVdN4v_exp(__m256d);

namespace {

using covary::Index;
using covary::Vector;
using Exponential = std::function<void(const double*, double*, Index)>;

void scalar(const double* x, double* out, Index n) {
  for (Index i = 0; i < n; ++i) out[i] = std::exp(x[i]);
}
void mvec_sse2(const double* x, double* out, Index n) {
  for (Index i = 0; i < n; i += 2) _mm_storeu_pd(out + i, _ZGVbN2v_exp(_mm_loadu_pd(x + i)));
}
__attribute__((target("avx2"))) void mvec_avx2(const double* x, double* out, Index n) {
  for (Index i = 0; i < n; i += 4) _mm256_storeu_pd(out + i, _ZGVdN4v_exp(_mm256_loadu_pd(x + i)));
}
void eigen(const double* x, double* out, Index n) {
  Eigen::Map<Eigen::ArrayXd>(out, n) = Eigen::Map<const Eigen::ArrayXd>(x, n).exp();
}
Exponential ours(const char* level) {
  return [level](const double* x, double* out, Index n) {
    covary::set_simd_level(level);
    covary::vector_exp(x, out, n);
  };
}

void measure(const char* name, const Exponential& f, const Vector& x) {
  Vector out(x.size());
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 400; ++round) {
    const auto began = std::chrono::steady_clock::now();
    f(x.data(), out.data(), x.size());
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - began;
    best = std::min(best, took.count() / static_cast<double>(x.size()));
  }
  double error = 0.0;
  for (Index i = 0; i < x.size(); ++i) {
    const long double exact = std::exp(static_cast<long double>(x(i)));
    error = std::max(error, static_cast<double>(std::abs(out(i) - exact) / exact));
  }
  fmt::print("{:<18} {:6.2f} ns {:10.1e}\n", name, best, error);
}

}  // namespace

int main() {
  const std::string best = covary::simd_level();
  const Vector x = Vector::LinSpaced(128 * 128, -30.0, 0.0);
  measure("glibc, scalar", scalar, x);
  measure("Eigen, SSE2", eigen, x);
  measure("libmvec, SSE2", mvec_sse2, x);
  measure("libmvec, AVX2", mvec_avx2, x);
  measure("Covary, baseline", ours("baseline"), x);
  measure("Covary, AVX2", ours("avx2"), x);
  if (best == "avx512") measure("Covary, AVX-512", ours("avx512"), x);
}
