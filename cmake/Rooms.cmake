# A room is a folder of sources with a target `covary_<room>`; the public library joins them all.
# Building a room by itself needs only the rooms it may use, so the layering is checked by the link.
add_library(covary_flags INTERFACE)
target_compile_options(covary_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wpedantic
  # False alarms of GCC 12 inside std::string, which a precompiled header no longer counts as the system's.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread>
  $<$<BOOL:${COVARY_WERROR}>:-Werror>)
if(COVARY_SANITIZE)
  # Null and misplaced pointers are the address sanitizer's business too; the checks left out double
  # the time to compile. GCC's maybe-uninitialized raises false alarms inside std::regex here.
  target_compile_options(covary_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all
    -fno-sanitize=null,alignment,object-size,vptr -fno-omit-frame-pointer -O1 -g1
    -Wno-maybe-uninitialized)
  target_link_options(covary_flags INTERFACE -fsanitize=address,undefined)
endif()

include(${CMAKE_CURRENT_LIST_DIR}/Pch.cmake)
covary_pch(rooms LINKS ZLIB::ZLIB nlohmann_json::nlohmann_json)

function(covary_room room)
  cmake_parse_arguments(ROOM "" "" "USES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.cpp)
  if(NOT sources)
    set(sources ${PROJECT_SOURCE_DIR}/cmake/empty.cpp)
  endif()
  add_library(covary_${room} STATIC EXCLUDE_FROM_ALL ${sources})
  target_include_directories(covary_${room} PUBLIC ${PROJECT_SOURCE_DIR}/include
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  # One alignment for every translation unit, whatever instruction set its user compiles for.
  target_compile_definitions(covary_${room} PUBLIC EIGEN_MAX_ALIGN_BYTES=32)
  target_link_libraries(covary_${room} PRIVATE $<BUILD_INTERFACE:covary_flags>
    PUBLIC Eigen3::Eigen fmt::fmt ZLIB::ZLIB nlohmann_json::nlohmann_json CovaryBlas::CovaryBlas
           Threads::Threads)
  covary_use_pch(covary_${room} rooms)
  foreach(above ${ROOM_USES})
    target_link_libraries(covary_${room} PUBLIC covary_${above})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY COVARY_ROOMS ${room})
endfunction()

# A source of hot loops is compiled for the baseline, for AVX2 and FMA and for AVX-512; the caller picks
# at run time. Such sources take raw pointers and include no Eigen: two builds of one inline function
# would be undefined behaviour.
set(covary_simd_avx2 -mavx2 -mfma)
set(covary_simd_avx512 -mavx512f -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512)
function(covary_simd_sources room source)
  set(variants baseline)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND variants avx2 avx512)
  endif()
  foreach(variant ${variants})
    add_library(covary_${room}_${variant} OBJECT ${source})
    target_include_directories(covary_${room}_${variant} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_compile_definitions(covary_${room}_${variant} PRIVATE COVARY_SIMD=${variant})
    target_compile_options(covary_${room}_${variant} PRIVATE -O3 -fopenmp-simd -fno-math-errno
      -fno-trapping-math -ffp-contract=fast ${covary_simd_${variant}})
    target_link_libraries(covary_${room}_${variant} PRIVATE $<BUILD_INTERFACE:covary_flags>)
    target_sources(covary_${room} PRIVATE $<TARGET_OBJECTS:covary_${room}_${variant}>)
    set_property(GLOBAL APPEND PROPERTY COVARY_SIMD_OBJECTS $<TARGET_OBJECTS:covary_${room}_${variant}>)
  endforeach()
endfunction()

function(covary_library)
  get_property(rooms GLOBAL PROPERTY COVARY_ROOMS)
  add_library(covary STATIC)
  add_library(covary::covary ALIAS covary)
  foreach(room ${rooms})
    target_sources(covary PRIVATE $<TARGET_OBJECTS:covary_${room}>)
  endforeach()
  get_property(simd_objects GLOBAL PROPERTY COVARY_SIMD_OBJECTS)
  target_sources(covary PRIVATE ${simd_objects})
  set_target_properties(covary PROPERTIES LINKER_LANGUAGE CXX)
  target_compile_features(covary PUBLIC cxx_std_20)
  target_compile_definitions(covary PUBLIC EIGEN_MAX_ALIGN_BYTES=32)
  target_include_directories(covary PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(covary PUBLIC Eigen3::Eigen Threads::Threads
    PRIVATE fmt::fmt ZLIB::ZLIB CovaryBlas::CovaryBlas)
  if(COVARY_SANITIZE)
    target_link_options(covary PUBLIC -fsanitize=address,undefined)
  endif()
endfunction()

# The library as another build has made it, with the same flags.
function(covary_built_library target path)
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${path})
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_compile_definitions(${target} INTERFACE EIGEN_MAX_ALIGN_BYTES=32)
  target_include_directories(${target} INTERFACE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} INTERFACE Eigen3::Eigen Threads::Threads fmt::fmt ZLIB::ZLIB CovaryBlas::CovaryBlas)
endfunction()
