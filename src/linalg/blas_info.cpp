#include "covary/linalg/blas_info.hpp"

#include <cblas.h>

namespace covary {

// The configuration begins with the name and the version: "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH
// …".
BlasInfo blas_info() {
  BlasInfo info;
  info.config = openblas_get_config();
  const auto first = info.config.find(' ');
  info.name =
      info.config.substr(0, first == std::string::npos ? first : info.config.find(' ', first + 1));
  info.core = openblas_get_corename();
  info.threads = openblas_get_num_threads();
  return info;
}

}  // namespace covary
