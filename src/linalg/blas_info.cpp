#include "covary/linalg/blas_info.hpp"

#include <cblas.h>

#include <cstdlib>

#include "covary/linalg/vector_math.hpp"

namespace covary {
namespace {

// What OpenBLAS falls back to on processors that it does not know.
constexpr const char* unknown = "Prescott";

std::string better_than(const std::string& core) {
  if (core != unknown || std::getenv("OPENBLAS_CORETYPE")) return "";
  const std::string level = simd_level();
  return level == "avx512" ? "SkylakeX" : level == "avx2" ? "Haswell" : "";
}

}  // namespace

// The configuration begins with the name and the version: "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH
// …".
BlasInfo blas_info() {
  BlasInfo info;
  info.config = openblas_get_config();
  const auto first = info.config.find(' ');
  info.name =
      info.config.substr(0, first == std::string::npos ? first : info.config.find(' ', first + 1));
  info.core = openblas_get_corename();
  info.better_core = better_than(info.core);
  info.threads = openblas_get_num_threads();
  return info;
}

}  // namespace covary
