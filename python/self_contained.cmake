# The extension carries what it links: OpenBLAS with the Fortran run-time its LAPACK needs, and zlib.
# So a wheel works on a machine without them, and NumPy's own BLAS in the same process is neither
# found nor touched.
function(covary_static_library out)
  foreach(name ${ARGN})
    find_library(${out} NAMES lib${name}.a)
    if(NOT ${out})  # the compiler's own
      execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=lib${name}.a
        OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
      if(IS_ABSOLUTE "${path}")
        set(${out} "${path}" CACHE FILEPATH "" FORCE)
      endif()
    endif()
  endforeach()
  if(NOT ${out})
    message(FATAL_ERROR "the Python extension needs the static library lib${ARGN}.a: "
      "on Debian 12 install libopenblas-dev, libgfortran-12-dev and zlib1g-dev (scripts/install-deps.sh does)")
  endif()
  mark_as_advanced(${out})
endfunction()

covary_static_library(COVARY_STATIC_OPENBLAS openblas)
covary_static_library(COVARY_STATIC_GFORTRAN gfortran)
covary_static_library(COVARY_STATIC_QUADMATH quadmath)
covary_static_library(COVARY_STATIC_ZLIB z)

set_target_properties(CovaryBlas::CovaryBlas PROPERTIES
  IMPORTED_LOCATION "${COVARY_STATIC_OPENBLAS}"
  INTERFACE_LINK_LIBRARIES "${COVARY_STATIC_GFORTRAN};${COVARY_STATIC_QUADMATH};Threads::Threads;m")
# FindZLIB sets the location of the release configuration, which would win.
foreach(suffix "" _RELEASE _DEBUG)
  set_target_properties(ZLIB::ZLIB PROPERTIES IMPORTED_LOCATION${suffix} "${COVARY_STATIC_ZLIB}")
endforeach()
