#pragma once

#include <string>

namespace covary {

// The BLAS in use, as it describes itself.
struct BlasInfo {
  std::string name;    // "OpenBLAS 0.3.21"
  std::string config;  // how it was built
  std::string core;    // the processor it chose its routines for
  // The one to ask for by OPENBLAS_CORETYPE before the program starts, where BLAS did not know the
  // processor and took routines several times slower than it could; else empty.
  std::string better_core;
  int threads = 1;  // of its own; always 1 here, see parallel.hpp
};
BlasInfo blas_info();

}  // namespace covary
