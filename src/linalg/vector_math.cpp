#include "covary/linalg/vector_math.hpp"

#include <fmt/format.h>

#include <atomic>
#include <vector>

#include "covary/error.hpp"
#include "linalg/simd/vector_math.hpp"

namespace covary {
namespace {

struct Table {
  const char* name;
  decltype(&simd::baseline::exp) exp;
  decltype(&simd::baseline::softplus) softplus;
  decltype(&simd::baseline::sigmoid) sigmoid;
  decltype(&simd::baseline::product) product;
  decltype(&simd::baseline::squared_distances) squared_distances;
  decltype(&simd::baseline::squared_distances_pullback) squared_distances_pullback;
};

#define COVARY_TABLE(ns)                                                          \
  Table {                                                                         \
#ns, simd::ns::exp, simd::ns::softplus, simd::ns::sigmoid, simd::ns::product, \
        simd::ns::squared_distances, simd::ns::squared_distances_pullback         \
  }
constexpr Table baseline = COVARY_TABLE(baseline);
#ifdef __x86_64__
constexpr Table avx2 = COVARY_TABLE(avx2), avx512 = COVARY_TABLE(avx512);
#endif
#undef COVARY_TABLE

// What this machine can run, the best last.
std::vector<const Table*> offered() {
  std::vector<const Table*> out{&baseline};
#ifdef __x86_64__
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_avx2) out.push_back(&avx2);
  if (has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    out.push_back(&avx512);
#endif
  return out;
}

std::atomic<const Table*>& current() {
  static std::atomic<const Table*> table{offered().back()};
  return table;
}

}  // namespace

void vector_exp(const double* x, double* out, Index n, double slope, double factor) {
  current().load()->exp(x, out, n, slope, factor);
}

void vector_softplus(const double* x, double* out, Index n) {
  current().load()->softplus(x, out, n);
}

void vector_sigmoid(const double* x, double* out, Index n) { current().load()->sigmoid(x, out, n); }

double vector_product(double c, const double* x, const double* y, double* out, Index n) {
  return current().load()->product(c, x, y, out, n);
}

void squared_distances(const double* x, Index nx, const double* z, Index nz, Index dims,
                       double* r2) {
  current().load()->squared_distances(x, nx, z, nz, dims, r2);
}

void squared_distances_pullback(const double* x, Index nx, const double* z, Index nz, Index dims,
                                const double* W, double* per_dim, double* xbar, double* zbar) {
  current().load()->squared_distances_pullback(x, nx, z, nz, dims, W, per_dim, xbar, zbar);
}

std::string simd_level() { return current().load()->name; }

void set_simd_level(const std::string& level) {
  const auto tables = offered();
  std::string names;
  for (const Table* table : tables) {
    if (level == table->name || (level == "auto" && table == tables.back())) {
      current() = table;
      return;
    }
    names += (names.empty() ? "" : ", ") + std::string(table->name);
  }
  throw Unsupported(
      fmt::format("this machine does not have SIMD level '{}'; choose {}", level, names));
}

}  // namespace covary
