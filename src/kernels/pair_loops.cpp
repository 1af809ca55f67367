#include "kernels/pair_loops.hpp"

#include "covary/linalg/vector_math.hpp"

namespace covary {
namespace {

#define COVARY_PAIR_LOOPS(ns)                                                        \
  PairLoops {                                                                        \
    simd::ns::point_products, simd::ns::point_pullback, simd::ns::pair_values,       \
        simd::ns::pair_pullback, simd::ns::pair_sums, simd::ns::pair_points_pullback \
  }
constexpr PairLoops baseline = COVARY_PAIR_LOOPS(baseline);
#ifdef __x86_64__
constexpr PairLoops avx2 = COVARY_PAIR_LOOPS(avx2), avx512 = COVARY_PAIR_LOOPS(avx512);
#endif
#undef COVARY_PAIR_LOOPS

}  // namespace

const PairLoops& pair_loops() {
#ifdef __x86_64__
  const std::string level = simd_level();
  if (level == "avx512") return avx512;
  if (level == "avx2") return avx2;
#endif
  return baseline;
}

}  // namespace covary
