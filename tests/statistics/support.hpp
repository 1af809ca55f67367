#pragma once

#include <gtest/gtest.h>

#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/statistics/weighted.hpp"
#include "support/random_data.hpp"

namespace covary {

// Rows in memory, features and values: all that a sweep needs.
struct SweepCase {
  Kernel kernel = "se(ard)";
  RowMatrix X, Y, Z;
  FeaturesPtr features;
  Vector theta, z;
  Mean mean;

  SweepCase(Index N, Index M, Index D, Index P, std::uint64_t seed)
      : Z(Random(seed, 1).normal_matrix(M, D)) {
    auto data = testing::small_data(N, D, P, seed);
    X = std::move(data.X);
    Y = std::move(data.Y);
    features = inducing_points(kernel, Z);
    theta = kernel.parameters(D).values();
    z = Eigen::Map<const Vector>(Z.data(), Z.size());
  }
  SweepContext context() const {
    return {features.get(),
            &kernel.node(),
            theta.data(),
            z.data(),
            0.1,
            &mean,
            Matrix(),
            cholesky(features->Kuu(theta.data(), z.data()), "Kuu").L};
  }
  MemoryRows rows() const { return {X, Y, Vector()}; }
};

inline void expect_same_bits(const std::vector<WeightedStatistics>& a,
                             const std::vector<WeightedStatistics>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].columns, b[i].columns);
    EXPECT_EQ(a[i].C, b[i].C);
    EXPECT_EQ(a[i].beta, b[i].beta);
    EXPECT_EQ(a[i].rows, b[i].rows);
    EXPECT_EQ(a[i].rr, b[i].rr);
    EXPECT_EQ(a[i].log_w, b[i].log_w);
    EXPECT_EQ(a[i].term, b[i].term);
    EXPECT_EQ(a[i].trace, b[i].trace);
    EXPECT_EQ(a[i].ratio, b[i].ratio);
  }
}

}  // namespace covary
