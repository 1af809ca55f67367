#include "inference/informative_vectors.hpp"

#include <gtest/gtest.h>

#include <set>

#include "covary/error.hpp"
#include "inference/function_case.hpp"

namespace covary {
namespace {

// The best next row, from dense matrices: q(f) is the prior with the sites of the chosen rows.
struct Dense {
  Matrix S;
  Vector mean;
  explicit Dense(const testing::LatentCase& c)
      : S(gram(c.model.kernel, c.at.kernel, c.model.X)),
        mean(Vector::Constant(c.model.y.size(), 0.2)) {}
  Tilted tilted(const testing::LatentCase& c, Index n) const {
    return tilted_moments(c.model.likelihood, {c.model.y(n), 1.0, c.at.likelihood.data()}, 1.0,
                          mean(n), S(n, n));
  }
  void take(const testing::LatentCase& c, Index n) {
    const Tilted t = tilted(c, n);
    const Vector s = S.col(n);
    mean += t.first * s;
    gemm(t.second, s, Op::none, s, Op::transpose, 1.0, S);
  }
};

TEST(InformativeVectors, EveryRowIsTheBest) {
  for (const char* l : {"bernoulli(probit)", "poisson", "student_t(scale=0.5)"}) {
    SCOPED_TRACE(l);
    testing::LatentCase c = testing::latent_case(l, 51, 30);
    c.model.kernel = "se(ard) + white";
    c.at.kernel = (Vector(4) << 2.0, 1.1, 0.8, 0.1).finished();
    const InformativeVectors v = informative_vectors(c.model, c.at, 8);
    ASSERT_EQ(v.rows.size(), 8u);
    Dense dense(c);
    for (Index m = 0; m < 8; ++m) {
      double best = 0.0;
      Index row = -1;
      for (Index n = 0; n < c.model.y.size(); ++n) {
        if (std::isnan(c.model.y(n))) continue;
        if (std::find(v.rows.begin(), v.rows.begin() + m, n) != v.rows.begin() + m) continue;
        const double gain = -0.5 * std::log1p(dense.S(n, n) * dense.tilted(c, n).second);
        if (gain > best) {
          best = gain;
          row = n;
        }
      }
      EXPECT_EQ(v.rows[static_cast<std::size_t>(m)], row);
      EXPECT_NEAR(v.gains(m), best, 1e-9);
      EXPECT_EQ(v.Z.row(m), c.model.X.row(row));
      dense.take(c, row);
    }
  }
}

// For Gaussian noise the gains are the terms of the mutual information ½ log|I + K/σ²|.
TEST(InformativeVectors, GaussianNoise) {
  const testing::LatentCase c = testing::latent_case("gaussian(variance=0.3)", 52);
  const InformativeVectors v = informative_vectors(c.model, c.at, 6);
  Matrix K = gram(c.model.kernel, c.at.kernel, v.Z) / 0.3;
  K.diagonal().array() += 1.0;
  EXPECT_NEAR(v.gains.sum(), 0.5 * cholesky(K).log_determinant(), 1e-10);
}

TEST(InformativeVectors, EqualRowsAreTakenOnce) {
  testing::LatentCase c = testing::latent_case("bernoulli(logit)", 53, 12);
  c.model.X.bottomRows(6) = c.model.X.topRows(6);
  const InformativeVectors v = informative_vectors(c.model, c.at, 12);
  EXPECT_EQ(v.Z.rows(), 6);
  EXPECT_EQ(std::set<Index>(v.rows.begin(), v.rows.end()).size(), 6u);
  EXPECT_THROW(informative_vectors(c.model, c.at, 0), InputError);
}

}  // namespace
}  // namespace covary
