#pragma once

#include "kernels/simd/pair_loops.hpp"

namespace covary {

// The build of the hot loops that simd_level() names.
struct PairLoops {
  decltype(&simd::baseline::point_products) point_products;
  decltype(&simd::baseline::point_pullback) point_pullback;
  decltype(&simd::baseline::pair_values) pair_values;
  decltype(&simd::baseline::pair_pullback) pair_pullback;
  decltype(&simd::baseline::pair_sums) pair_sums;
  decltype(&simd::baseline::pair_points_pullback) pair_points_pullback;
};
const PairLoops& pair_loops();

}  // namespace covary
