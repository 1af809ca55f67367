# OpenBLAS with its LAPACK and CBLAS, as the imported target CovaryBlas::CovaryBlas.
find_path(CovaryBlas_INCLUDE_DIR cblas.h
  PATH_SUFFIXES openblas x86_64-linux-gnu/openblas-pthread aarch64-linux-gnu/openblas-pthread)
find_library(CovaryBlas_LIBRARY NAMES openblas)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CovaryBlas REQUIRED_VARS CovaryBlas_LIBRARY CovaryBlas_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libopenblas-dev, or run `make` from Covary's checkout")
if(CovaryBlas_FOUND AND NOT TARGET CovaryBlas::CovaryBlas)
  add_library(CovaryBlas::CovaryBlas UNKNOWN IMPORTED)
  set_target_properties(CovaryBlas::CovaryBlas PROPERTIES
    IMPORTED_LOCATION "${CovaryBlas_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${CovaryBlas_INCLUDE_DIR}")
endif()
mark_as_advanced(CovaryBlas_INCLUDE_DIR CovaryBlas_LIBRARY)
