#pragma once

#include <cstddef>

// Declarations of the hot loops, one namespace an instruction set. See
// covary/linalg/vector_math.hpp.
#define COVARY_DECLARE_VECTOR_MATH(ns)                                                           \
  namespace covary::simd::ns {                                                                   \
  void exp(const double* x, double* out, std::ptrdiff_t n, double slope, double factor);         \
  void softplus(const double* x, double* out, std::ptrdiff_t n);                                 \
  void sigmoid(const double* x, double* out, std::ptrdiff_t n);                                  \
  double product(double c, const double* x, const double* y, double* out, std::ptrdiff_t n);     \
  void squared_distances(const double* x, std::ptrdiff_t nx, const double* z, std::ptrdiff_t nz, \
                         std::ptrdiff_t dims, double* r2);                                       \
  void squared_distances_pullback(const double* x, std::ptrdiff_t nx, const double* z,           \
                                  std::ptrdiff_t nz, std::ptrdiff_t dims, const double* W,       \
                                  double* per_dim, double* xbar, double* zbar);                  \
  }

COVARY_DECLARE_VECTOR_MATH(baseline)
COVARY_DECLARE_VECTOR_MATH(avx2)
COVARY_DECLARE_VECTOR_MATH(avx512)
#undef COVARY_DECLARE_VECTOR_MATH
