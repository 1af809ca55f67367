#include "covary/kernels/mean.hpp"

#include <string>

#include "covary/error.hpp"
#include "covary/random/random.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

TEST(Mean, BasisOfEachDegree) {
  const RowMatrix X = (RowMatrix(2, 2) << 2.0, 3.0, -1.0, 0.5).finished();
  EXPECT_TRUE(Mean().is_zero());
  EXPECT_EQ(Mean("zero").basis(X).cols(), 0);
  EXPECT_EQ(Mean("zero").basis(X).rows(), 2);
  EXPECT_EQ(Mean("constant").basis(X), Matrix::Ones(2, 1));
  EXPECT_EQ(Mean("linear").basis(X), (Matrix(2, 3) << 1, 2, 3, 1, -1, 0.5).finished());
  EXPECT_EQ(Mean("poly(2)").basis(X),
            (Matrix(2, 5) << 1, 2, 4, 3, 9, 1, -1, 1, 0.5, 0.25).finished());
}

TEST(Mean, PrintIsReadBack) {
  for (const std::string text : {"zero", "constant", "linear", "poly(2)", "poly(9)"}) {
    EXPECT_EQ(Mean(text).print(), text);
    EXPECT_EQ(Mean(text).basis(RowMatrix::Ones(3, 4)).cols(), Mean(text).basis_count(4));
  }
  EXPECT_EQ(Mean("poly(1)").print(), "linear");
  EXPECT_EQ(Mean("poly( 3 )").print(), "poly(3)");
  for (const std::string text : {"", "poly", "poly(0)", "poly(10)", "poly(-1)", "poly(x)", "poly()",
                                 "poly(2", "Zero", "linear "}) {
    try {
      const Mean mean(text);
      ADD_FAILURE() << "'" << text << "' was accepted";
    } catch (const ExpressionError& e) {
      EXPECT_NE(std::string(e.what()).find("'" + text + "'"), std::string::npos) << e.what();
    }
  }
}

TEST(Mean, GradientByTheInputs) {
  for (const char* text : {"zero", "constant", "linear", "poly(3)"}) {
    const Mean mean(text);
    Random random(1);
    const RowMatrix X = random.normal_matrix(4, 2);
    const Vector w = random.normal_vector(mean.basis_count(2));
    const RowMatrix g = mean.gradient(X, w);
    // the sum of m over the rows
    const auto f = [&](const Vector& v) {
      const Matrix H = mean.basis(Eigen::Map<const RowMatrix>(v.data(), 4, 2));
      double sum = 0.0;
      for (Index b = 0; b < H.cols(); ++b) sum += w(b) * H.col(b).sum();
      return sum;
    };
    expect_gradient(f, Eigen::Map<const Vector>(g.data(), g.size()),
                    Eigen::Map<const Vector>(X.data(), X.size()));
  }
}

TEST(Mean, DeclaresItsWeights) {
  Parameters p;
  Mean("linear").declare(p, 3, (Vector(2) << 5.0, -1.0).finished());
  const Parameter& w = p.at("mean.weights");
  EXPECT_EQ(w.rows, 4);
  EXPECT_EQ(w.cols, 2);
  EXPECT_EQ(w.value.head(2), (Vector(2) << 5.0, -1.0).finished());
  EXPECT_TRUE(w.value.tail(6).isZero(0.0));
  Parameters none;
  Mean("zero").declare(none, 3, Vector::Zero(1));
  EXPECT_EQ(none.size(), 0);
}

}  // namespace
}  // namespace covary
