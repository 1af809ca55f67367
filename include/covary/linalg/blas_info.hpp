#pragma once

#include <string>

namespace covary {

// The BLAS in use, as it describes itself.
struct BlasInfo {
  std::string name;    // "OpenBLAS 0.3.21"
  std::string config;  // how it was built
  std::string core;    // the processor it chose its routines for
  int threads = 1;     // of its own; always 1 here, see parallel.hpp
};
BlasInfo blas_info();

}  // namespace covary
