#include "features/basis.hpp"

#include "covary/error.hpp"
#include "covary/kernels/kernels.hpp"
#include "features/features_case.hpp"

namespace covary {
namespace {

TEST(BasisFeatures, OnePointWithWeightOneIsAPoint) {
  const Kernel kernel = matern52(true, {1.2, {0.7, 1.5}});
  const Vector theta = kernel.parameters(2).values();
  const RowMatrix Z = Random(1).normal_matrix(70, 2), X = Random(2).normal_matrix(9, 2);
  const FeaturesPtr points = inducing_points(kernel, Z),
                    sums = basis_features(kernel, Z, RowMatrix::Ones(70, 1));
  const Vector z = start_of(*points), own = start_of(*sums);
  EXPECT_EQ(points->Kuu(theta.data(), z.data()), sums->Kuu(theta.data(), own.data()));
  EXPECT_LT((Kuf_of(*points, theta, z, X) - Kuf_of(*sums, theta, own, X)).cwiseAbs().maxCoeff(),
            1e-15);
}

// cov(Σ_c w_c f(z_c), ·) by the covariances of all points (P31).
TEST(BasisFeatures, SumsOfPoints) {
  const Kernel kernel = se(true, {1.2, {0.7, 1.5}}) + linear(false, {0.3});
  const Vector theta = kernel.parameters(2).values();
  const RowMatrix Z = Random(1).normal_matrix(6, 2), X = Random(2).normal_matrix(5, 2);
  RowMatrix weights(2, 3);
  weights << 1.0, -0.4, 0.3, 0.5, 0.8, -1.1;
  const FeaturesPtr u = basis_features(kernel, Z, weights);
  Matrix W = Matrix::Zero(2, 6);  // rows of Z: first points, second ones, third ones
  for (Index m = 0; m < 2; ++m)
    for (Index c = 0; c < 3; ++c) W(m, 2 * c + m) = weights(m, c);
  const Vector z = start_of(*u);
  EXPECT_LT((u->Kuu(theta.data(), z.data()) - W * cross(kernel, theta, Z, Z) * W.transpose())
                .cwiseAbs()
                .maxCoeff(),
            1e-14);
  EXPECT_LT((Kuf_of(*u, theta, z, X) - W * cross(kernel, theta, Z, X)).cwiseAbs().maxCoeff(),
            1e-14);
  check_features(*u, kernel, theta, X);
  // Two at one place are one with both weights.
  RowMatrix twice(4, 2), single(2, 2);
  single << 0.3, -0.2, 1.0, 0.5;
  twice << single, single;
  RowMatrix pair(2, 2);
  pair << 0.4, 0.6, -0.5, 1.5;
  const FeaturesPtr both = basis_features(kernel, twice, pair),
                    one = basis_features(kernel, single, RowMatrix::Ones(2, 1));
  EXPECT_LT((both->Kuu(theta.data(), start_of(*both).data()) -
             one->Kuu(theta.data(), start_of(*one).data()))
                .cwiseAbs()
                .maxCoeff(),
            1e-14);
}

TEST(BasisFeatures, Refuses) {
  const RowMatrix Z = RowMatrix::Ones(6, 2);
  EXPECT_THROW(basis_features("se", Z, RowMatrix(3, 0)), InputError);
  EXPECT_THROW(basis_features("se", Z, RowMatrix::Ones(2, 2)), InputError);
  EXPECT_THROW(basis_features("se", Z, RowMatrix::Zero(3, 2)), InputError);
}

}  // namespace
}  // namespace covary
