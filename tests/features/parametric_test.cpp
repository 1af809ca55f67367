#include "covary/features/parametric.hpp"

#include <cmath>

#include "covary/error.hpp"
#include "covary/kernels/kernels.hpp"
#include "features/features_case.hpp"

namespace covary {
namespace {

Matrix Qff(const Features& u, const Vector& theta, const RowMatrix& X) {
  const Matrix K = Kuf_of(u, theta, start_of(u), X);
  return K.transpose() * K;
}

// The gradients alone: Qff of a model of its own need not be below a kernel.
void check_gradients(const Features& u, const Vector& theta, const RowMatrix& X) {
  const Vector z = start_of(u);
  const Index T = theta.size(), Z = z.size(), N = X.rows();
  const Matrix bar = Random(5).normal_matrix(u.size(), N);
  Vector at(T + Z + X.size()), g = Vector::Zero(at.size());
  at << theta, z, Eigen::Map<const Vector>(X.data(), X.size());
  u.Kuf_pullback(theta.data(), z.data(), block_of(X), nullptr, bar.data(), g.data(), g.data() + T,
                 g.data() + T + Z);
  const auto f = [&](const Vector& v) {
    const RowMatrix inputs = Eigen::Map<const RowMatrix>(v.data() + T + Z, N, X.cols());
    return Kuf_of(u, v.head(T), v.segment(T, Z), inputs).cwiseProduct(bar).sum();
  };
  expect_gradient(f, g, at);
  EXPECT_TRUE(u.is_white());
  EXPECT_TRUE(u.Kuu(theta.data(), z.data()).isIdentity(0.0));
}

// (v/J)Σ cos ω_jᵀ(x − x′): exactly v on the diagonal, and the kernel as J grows, for each spectrum.
TEST(RandomFourierFeatures, ConvergeToTheKernel) {
  const RowMatrix X = Random(2).normal_matrix(6, 2);
  for (const char* name : {"se(ard)", "matern12", "matern32(ard)", "matern52", "se@0 * se@1"}) {
    SCOPED_TRACE(name);
    const Kernel kernel = name;
    Vector theta = kernel.parameters(2).values();
    theta.array() *= Eigen::ArrayXd::LinSpaced(theta.size(), 0.8, 1.3);
    const Matrix K = cross(kernel, theta, X, X);
    double last = 10.0;
    for (const Index J : {30, 30000}) {
      const FeaturesPtr u = random_fourier_features(kernel, draw_directions(kernel, J, 2, 9));
      const Matrix Q = Qff(*u, theta, X);
      EXPECT_NEAR(Q(3, 3), K(3, 3), 1e-10);
      const double error = (Q - K).cwiseAbs().maxCoeff() / K(0, 0);
      EXPECT_LT(error, 6.0 / std::sqrt(static_cast<double>(J)));
      EXPECT_LT(error, last);
      last = error;
    }
    const FeaturesPtr few = sparse_spectrum_features(kernel, draw_directions(kernel, 4, 2, 9));
    EXPECT_EQ(few->size(), 8);
    check_gradients(*few, theta, X);
  }
  Parameters held, trained;
  const RowMatrix directions = draw_directions("se", 3, 2, 0);
  random_fourier_features("se", directions)->declare(held);
  sparse_spectrum_features("se", directions)->declare(trained);
  EXPECT_FALSE(held.at("features.frequencies").trainable);
  EXPECT_TRUE(trained.at("features.frequencies").trainable);
  EXPECT_THROW(random_fourier_features("se + matern32", directions), InputError);
  EXPECT_THROW(random_fourier_features("periodic", directions), InputError);
  EXPECT_THROW(random_fourier_features("se", RowMatrix(0, 2)), InputError);
}

// In a box some lengthscales wider than the rows, functions enough make the kernel.
TEST(HilbertFeatures, ConvergeToTheKernel) {
  const RowMatrix X = 0.4 * Random(4).normal_matrix(5, 2);
  for (const char* name : {"se(ard)", "matern52(ard)"}) {
    SCOPED_TRACE(name);
    const Kernel kernel = name;
    const Vector theta = (Vector(3) << 1.3, 0.9, 1.2).finished();
    const Vector centre = Vector::Constant(2, 0.1), half = Vector::Constant(2, 6.0);
    const Matrix K = cross(kernel, theta, X, X);
    const FeaturesPtr many =
        hilbert_features(kernel, centre, half, densest_degrees(kernel, theta, half, 1500));
    EXPECT_LT((Qff(*many, theta, X) - K).cwiseAbs().maxCoeff(),
              std::string(name) == "se(ard)" ? 1e-6 : 2e-2);
    const auto degrees = densest_degrees(kernel, theta, half, 9);
    EXPECT_EQ(degrees(0, 0), 1);
    EXPECT_EQ(degrees(0, 1), 1);
    check_gradients(*hilbert_features(kernel, centre, half, degrees), theta, X);
  }
  // A column that the kernel does not see has no functions; outside the box there are none.
  const Kernel one = "se@1";
  const Vector theta = one.parameters(2).values(), half = Vector::Constant(2, 4.0);
  const auto degrees = densest_degrees(one, theta, half, 40);
  EXPECT_EQ(degrees.col(0).maxCoeff(), 0);
  const FeaturesPtr u = hilbert_features(one, Vector::Zero(2), half, degrees);
  EXPECT_LT((Qff(*u, theta, X) - cross(one, theta, X, X)).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_EQ(Kuf_of(*u, theta, start_of(*u), RowMatrix::Constant(1, 2, 5.0)).cwiseAbs().maxCoeff(),
            0.0);
  EXPECT_THROW(hilbert_features(one, Vector::Zero(2), Vector::Zero(2), degrees), InputError);
  EXPECT_THROW(hilbert_features("linear", Vector::Zero(2), half, degrees), InputError);
  EXPECT_THROW(densest_degrees(one, theta, half, 0), InputError);
}

// Their spectral densities integrate to the variance.
TEST(HilbertFeatures, DensityIntegratesToTheVariance) {
  for (const char* name : {"se", "matern12", "matern32", "matern52"}) {
    const Kernel kernel = name;
    const Vector theta = (Vector(2) << 1.7, 0.6).finished();
    // Q(0, 0) with all functions of a wide interval is a Riemann sum of the density.
    Eigen::MatrixX<Index> degrees(20000, 1);
    for (Index j = 0; j < degrees.rows(); ++j) degrees(j, 0) = j + 1;
    const FeaturesPtr u =
        hilbert_features(kernel, Vector::Zero(1), Vector::Constant(1, 30.0), degrees);
    EXPECT_NEAR(Qff(*u, theta, RowMatrix::Zero(1, 1))(0, 0), 1.7, 3e-3) << name;
  }
}

TEST(BumpFeatures, AreTheKernelAtTheirPlaces) {
  const Kernel kernel = "se(ard) * linear + white";
  Vector theta = kernel.parameters(2).values();
  theta.array() *= Eigen::ArrayXd::LinSpaced(theta.size(), 0.8, 1.3);
  const RowMatrix Z = Random(3).normal_matrix(4, 2), X = Random(6).normal_matrix(5, 2);
  const FeaturesPtr u = bump_features(kernel, Z);
  const Matrix K = Kuf_of(*u, theta, start_of(*u), X);
  const Matrix all = cross(kernel, theta, Z, X), own = cross(kernel, theta, Z, Z);
  for (Index m = 0; m < 4; ++m)
    for (Index i = 0; i < 5; ++i) EXPECT_NEAR(K(m, i), all(m, i) / std::sqrt(own(m, m)), 1e-12);
  check_gradients(*u, theta, X);
}

}  // namespace
}  // namespace covary
