// Properties of expectations under Gaussian inputs, by the numbers of the specification of
// latent-variable models.
#include <gtest/gtest.h>

#include <string>

#include "covary/kernels/expectations.hpp"
#include "covary/linalg/spectrum.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

constexpr Index D = 3, M = 6, N = 5;

// ψ0, ψ1 and Ψ2 of each row, and what bars of ones give in θ, Z, means and variances.
struct Answer {
  Vector psi0 = Vector(N);
  Matrix psi1 = Matrix(M, N);
  std::vector<Matrix> psi2;
  Vector theta_bar;
  RowMatrix z_bar = RowMatrix::Zero(M, D), mean_bar = RowMatrix::Zero(N, D),
            variance_bar = RowMatrix::Zero(N, D);
};

struct Case {
  Kernel kernel;
  Vector theta;
  RowMatrix Z, mean, variance;

  explicit Case(const std::string& expression, std::uint64_t seed = 1) : kernel(expression) {
    Random random(seed);
    theta = Vector::LinSpaced(kernel.parameter_count(D), 0.7, 1.5);
    Z = random.normal_matrix(M, D);
    mean = random.normal_matrix(N, D);
    variance = random.normal_matrix(N, D).array().square();
  }
  Answer answer() const {
    Answer out;
    out.theta_bar = Vector::Zero(theta.size());
    const auto psi = GaussianExpectations::make(kernel, theta.data(), {Z.data(), M, D, D});
    const auto row = [&](Index i, Index n) {
      return GaussianBlock{{mean.row(i).data(), n, D, D}, variance.row(i).data()};
    };
    const GaussianBlock all = row(0, N);
    psi->psi0(all, out.psi0.data());
    psi->psi1(all, out.psi1.data());
    for (Index i = 0; i < N; ++i) {
      Matrix one = Matrix::Zero(M, M);
      psi->psi2(row(i, 1), one);
      out.psi2.emplace_back(one.selfadjointView<Eigen::Lower>());
    }
    const GaussianBars to{out.theta_bar.data(), out.z_bar.data(), out.mean_bar.data(),
                          out.variance_bar.data()};
    const Vector ones = Vector::Ones(N);
    psi->psi0_pullback(all, ones.data(), to);
    const Matrix bar1 = Matrix::Ones(M, N);
    psi->psi1_pullback(all, bar1.data(), to);
    psi->psi2_pullback(all, Matrix::Ones(M, M), to);
    return out;
  }
};

// Ψ2 − ψ1ψ1ᵀ is the covariance of k(Z, x) for the random x: also of the rule over deviates, where
// there is no closed form.
TEST(ExpectationProperties, E3_Psi2IsACovarianceAndASquare) {
  for (const char* kernel :
       {"se", "se(ard)", "linear(ard)", "se(ard) + linear(ard) + constant + white",
        "2 * se * se(ard)", "additive(se)", "(se@0 + constant) * (se@1 + linear@2)", "matern32",
        "matern12(ard) + periodic@0"})
    for (const double spread : {1e-3, 1.0, 30.0}) {
      SCOPED_TRACE(testing::Message() << kernel << ", spread " << spread);
      Case t(kernel, 3);
      t.variance *= spread;
      const Answer a = t.answer();
      double largest = 0.0;
      for (Index i = 0; i < N; ++i) {
        const Matrix& psi2 = a.psi2[static_cast<std::size_t>(i)];
        const Vector of_psi2 = symmetric_eigen(psi2).values;
        const double size = of_psi2.maxCoeff();
        EXPECT_GE(of_psi2.minCoeff(), -1e-13 * size);
        const Matrix covariance = psi2 - a.psi1.col(i) * a.psi1.col(i).transpose();
        const Vector spectrum = symmetric_eigen(covariance).values;
        EXPECT_GE(spectrum.minCoeff(), -1e-13 * size);
        largest = std::max(largest, spectrum.maxCoeff() / size);
      }
      EXPECT_GT(largest, spread < 0.1 ? 1e-8 : 1e-3);  // a covariance there is
    }
}

// A column of weight zero says nothing: a lengthscale whose inverse square is zero, a linear term
// of no variance. Not one bit changes with the column, and no gradient reaches it.
TEST(ExpectationProperties, E4_AColumnOfNoWeightChangesNothing) {
  struct Line {
    const char* kernel;
    std::vector<Index> lengthscales, variances;  // places in θ of column 1
  };
  for (const Line& line :
       {Line{"se(ard)", {2}, {}}, Line{"linear(ard)", {}, {1}},
        Line{"se(ard) + linear(ard) + constant + white", {2}, {5}},
        Line{"2 * se(ard) * se(ard)", {2, 6}, {}}, Line{"se@0 + se(ard)@0,2 * constant", {}, {}}})
    for (const double spread : {1.0, 60.0}) {  // by blocks of rows, and one by one
      SCOPED_TRACE(line.kernel);
      Case t(line.kernel, 2);
      t.Z *= spread;
      t.mean *= spread;
      for (const Index at : line.lengthscales) t.theta(at) = 1e200;
      for (const Index at : line.variances) t.theta(at) = 0.0;
      const Answer a = t.answer();
      EXPECT_EQ(a.mean_bar.col(1), Vector::Zero(N));
      EXPECT_EQ(a.variance_bar.col(1), Vector::Zero(N));
      EXPECT_EQ(a.z_bar.col(1), Vector::Zero(M));
      Random random(8);
      t.mean.col(1) = 5.0 * random.normal_vector(N);
      t.variance.col(1) = random.normal_vector(N).cwiseAbs2();
      t.Z.col(1) = 5.0 * random.normal_vector(M);
      const Answer b = t.answer();
      EXPECT_EQ(a.psi0, b.psi0);
      EXPECT_EQ(a.psi1, b.psi1);
      EXPECT_EQ(a.psi2, b.psi2);
      EXPECT_GT(a.psi1.cwiseAbs().maxCoeff(), 0.0);
      t.mean.col(0).array() += 0.1;  // as other columns do
      EXPECT_NE(t.answer().psi1, b.psi1);
    }
}

}  // namespace
}  // namespace covary
