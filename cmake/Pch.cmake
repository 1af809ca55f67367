# Precompiled headers: Eigen, fmt and the standard library are most of what a source of fifty lines
# compiles. One for the rooms and the experiments, one for the tests, one for the programs around CLI11 and
# JSON: those who share one have the same flags.
function(covary_pch name)
  cmake_parse_arguments(PCH "" "" "OPTIONS;LINKS;HEADERS" ${ARGN})
  add_library(covary_pch_${name} OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/empty.cpp)
  target_compile_options(covary_pch_${name} PRIVATE ${PCH_OPTIONS})
  target_compile_definitions(covary_pch_${name} PRIVATE EIGEN_MAX_ALIGN_BYTES=32)
  target_link_libraries(covary_pch_${name} PRIVATE covary_flags Eigen3::Eigen fmt::fmt Threads::Threads
    ${PCH_LINKS})
  target_precompile_headers(covary_pch_${name} PRIVATE <Eigen/Core> <fmt/format.h> <algorithm> <cmath>
    <cstdint> <functional> <map> <memory> <optional> <string> <variant> <vector> ${PCH_HEADERS})
endfunction()

function(covary_use_pch target name)
  target_precompile_headers(${target} REUSE_FROM covary_pch_${name})
endfunction()
