// What every kernel must do. A new kernel is one more line in `expressions`.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "covary/error.hpp"
#include "covary/kernels/expression.hpp"
#include "covary/kernels/formula.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/linalg/parallel.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

const std::vector<std::string> expressions{
    "se",
    "se(ard)",
    "matern12",
    "matern12(ard)",
    "matern32",
    "matern32(ard)",
    "matern52",
    "matern52(ard)",
    "rq",
    "rq(ard, alpha=0.5)",
    "periodic",
    "periodic(ard)",
    "cosine",
    "cosine(ard)",
    "linear",
    "linear(ard)",
    "poly(1)",
    "poly(2)",
    "poly(3)",
    "constant",
    "white",
    "overlap",
    "lowrank(2)",
    "lowrank(1) * se + overlap@0,1",
    "cauchy",  // from its formula alone
    "se + white",
    "se(ard) + linear + constant",
    "se * linear",
    "se * periodic",  // quasi-periodic
    "cosine * se",    // speech
    "2 * matern52",
    "0.5 * (se + white) * periodic",
    "se@0 + matern32@1,2",
    "periodic@1 * se(ard)@2,0",
    "additive(se)",
    "additive(matern32 + white)",
    "additive(periodic * se)",
    "white * se",
    "(se + white) * (matern52 + white)",
    "cauchy@1 * se + 2 * cauchy",
    "((se(ard) + linear) * periodic@1 + 3 * rq)@2,1",
};

constexpr Index D = 3;

// σ²/(1 + |x − x'|²/ℓ²)
Kernel cauchy() {
  return formula_kernel("cauchy", {{"variance", 1.3}, {"lengthscales", 0.8}},
                        [](auto x, auto z, auto theta) {
                          auto r2 = theta[0] * 0.0;
                          for (std::size_t d = 0; d < x.size(); ++d)
                            r2 += (x[d] - z[d]) * (x[d] - z[d]);
                          return theta[0] / (1.0 + r2 / (theta[1] * theta[1]));
                        });
}
const KernelTable table{{"cauchy", cauchy}};

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

class Conformance : public testing::TestWithParam<std::string> {
 protected:
  bool says(const std::string& word) const { return GetParam().find(word) != std::string::npos; }
  const Kernel k_ = parse_kernel(GetParam(), table);

  // Ten parameter points; the ninth has very long and the tenth very short lengthscales.
  struct Point {
    Vector theta;
    double unit;  // the length over which the kernel changes
  };
  std::vector<Point> points() const {
    const Parameters parameters = k_.parameters(D);
    Random random(7);
    std::vector<Point> out;
    for (int point = 0; point < 10; ++point) {
      Vector theta = parameters.values();
      for (double& v : theta) v *= std::exp(0.4 * random.normal());
      Index at = 0;
      for (const auto& p : parameters.all()) {
        if (ends_with(p.path, "lengthscales") && point >= 8)
          theta.segment(at, p.value.size()) *= point == 8 ? 1e3 : 1e-2;
        at += p.value.size();
      }
      out.push_back({theta, point == 9 ? 1e-2 : 1.0});
    }
    return out;
  }
  // Rows on the scale of the kernel.
  RowMatrix rows(Index n, std::uint64_t stream, double unit = 1.0) const {
    Random random(3, stream);
    return unit * random.normal_matrix(n, D);
  }
  // Where two inputs coincide; everywhere else all kernels are.
  bool differentiable() const { return !says("matern12"); }

  // Positive parameters by their logarithm, others by themselves; back; and dθ/dv.
  Eigen::Array<bool, Eigen::Dynamic, 1> positive() const {
    const Parameters parameters = k_.parameters(D);
    Eigen::Array<bool, Eigen::Dynamic, 1> out(parameters.size());
    for (const auto& p : parameters.all())
      out.segment(parameters.offset(p.path), p.value.size())
          .setConstant(p.transform.kind() == Transform::Kind::positive);
    return out;
  }
  Vector free_of(const Vector& theta) const {
    return positive().select(theta.array().abs().log(), theta.array());
  }
  Vector theta_of(const Vector& v) const { return positive().select(v.array().exp(), v.array()); }
  Vector slope_of(const Vector& theta) const { return positive().select(theta.array(), 1.0); }

  static TileWeights tiles_of(const Matrix& Kbar) {
    return [&Kbar](Index i, Index ni, Index j, Index nj, double* tile) {
      Eigen::Map<Matrix>(tile, ni, nj) = Kbar.block(i, j, ni, nj);
    };
  }
  static Matrix weights(Index n, Index m) {
    Random random(11);
    return random.normal_matrix(n, m);
  }
  static Matrix symmetric_weights(Index n) {
    const Matrix W = weights(n, n);
    return W + W.transpose();
  }
};

Vector flat(const RowMatrix& X) { return Eigen::Map<const Vector>(X.data(), X.size()); }
RowMatrix shaped(const Vector& v) { return Eigen::Map<const RowMatrix>(v.data(), v.size() / D, D); }

TEST_P(Conformance, DeclaresWhatItReads) {
  const Parameters p = k_.parameters(D);
  EXPECT_EQ(p.size(), k_.parameter_count(D));
  for (const auto& parameter : p.all()) {
    EXPECT_EQ(parameter.path.rfind("kernel", 0), 0u) << parameter.path;
    EXPECT_EQ(parameter.transform.kind() == Transform::Kind::positive,
              !ends_with(parameter.path, "weights"))
        << parameter.path;
  }
  EXPECT_LE((p.constrain(p.flatten()) - p.values()).cwiseAbs().maxCoeff(), 1e-12);
  const RowMatrix X = rows(4, 1);
  EXPECT_THROW(gram(k_, Vector::Ones(p.size() + 1), X), InputError);
  EXPECT_THROW(cross(k_, p.values(), X, X.leftCols(2)), InputError);
  EXPECT_EQ(gram(k_, p.values(), X.topRows(0)).size(), 0);
  EXPECT_EQ(cross(k_, p.values(), X, X.topRows(0)).cols(), 0);
  EXPECT_EQ(diagonal(k_, p.values(), X.topRows(0)).size(), 0);
}

TEST_P(Conformance, T5_SymmetricAndTheSameFromTwoPoints) {
  RowMatrix X = rows(9, 1), Z = rows(5, 2);
  X.row(4) = X.row(1);
  Z.row(0) = X.row(2);
  for (const auto& [theta, unit] : points()) {
    const Matrix K = gram(k_, theta, unit * X), smooth = cross(k_, theta, unit * X, unit * X);
    const Vector diag = diagonal(k_, theta, unit * X);
    const double tolerance = 1e-13 * diag.maxCoeff();
    ASSERT_TRUE(K.allFinite());
    EXPECT_TRUE(K == K.transpose());
    EXPECT_LE((smooth - smooth.transpose()).cwiseAbs().maxCoeff(), tolerance);
    EXPECT_LE((K.diagonal() - diag).cwiseAbs().maxCoeff(), tolerance);
    // What gram adds to cross is noise: on the diagonal alone, and only if the kernel has some.
    Matrix noise = K - smooth;
    if (says("white")) {
      EXPECT_GT(noise.diagonal().minCoeff(), 0.0);
    } else {
      EXPECT_LE(noise.diagonal().cwiseAbs().maxCoeff(), tolerance);
    }
    noise.diagonal().setZero();
    EXPECT_LE(noise.cwiseAbs().maxCoeff(), tolerance);
    // One pair at a time, and the other way round.
    const RowMatrix x = unit * X, z = unit * Z;
    const Matrix XZ = cross(k_, theta, x, z), ZX = cross(k_, theta, z, x);
    EXPECT_LE((XZ - ZX.transpose()).cwiseAbs().maxCoeff(), tolerance);
    for (Index i = 0; i < X.rows(); ++i)
      for (Index j = 0; j < Z.rows(); ++j)
        EXPECT_NEAR(cross(k_, theta, x.row(i), z.row(j))(0, 0), XZ(i, j), tolerance);
  }
}

TEST_P(Conformance, TilesAgreeWithSinglePairs) {
  const Vector theta = points()[0].theta;
  RowMatrix X = rows(300, 1);
  X.row(299) = X.row(0);
  const Matrix K = gram(k_, theta, X), C = cross(k_, theta, X, X.topRows(140));
  const double tolerance = 1e-13 * K.diagonal().maxCoeff();
  EXPECT_LE((K.diagonal() - diagonal(k_, theta, X)).cwiseAbs().maxCoeff(), tolerance);
  for (const Index i : {0, 127, 128, 200, 256, 299})
    for (const Index j : {0, 1, 127, 128, 255, 299}) {
      const double pair = cross(k_, theta, X.row(i), X.row(j))(0, 0);
      EXPECT_NEAR(i == j ? pair : K(i, j), pair, tolerance) << i << ", " << j;
      EXPECT_NEAR(j < 140 ? C(i, j) : pair, pair, tolerance) << i << ", " << j;
    }
}

// A Cholesky factor exists but for rounding: jitter of at most 1e-10 of the mean diagonal.
TEST_P(Conformance, P6_T5_PositiveSemidefinite) {
  RowMatrix X = rows(40, 1);
  X.row(30) = X.row(2);
  X.row(31) = X.row(2);
  X.row(39) = X.row(38);
  for (const auto& [theta, unit] : points()) {
    Jitter jitter;
    EXPECT_NO_THROW(cholesky(gram(k_, theta, unit * X), jitter, GetParam()));
    EXPECT_LE(jitter.rung, 1e-10);
    Jitter smooth;
    const Matrix C = cross(k_, theta, unit * X, unit * X);
    if (!C.isZero(0.0)) {
      EXPECT_NO_THROW(cholesky(C, smooth, GetParam()));
      EXPECT_LE(smooth.rung, 1e-10);
    }
  }
}

// By log θ, so that a step suits parameters of any size.
TEST_P(Conformance, P6_T7_GradientsByTheParameters) {
  for (const auto& [theta, unit] : points()) {
    RowMatrix X = rows(7, 1, unit), Z = rows(5, 2, unit);
    X.row(4) = X.row(1);
    Z.row(0) = X.row(2);
    const Vector at = free_of(theta);

    const Matrix Kbar = symmetric_weights(X.rows());
    Vector bar = Vector::Zero(theta.size());
    gram_pullback(k_.node(), theta.data(), X, tiles_of(Kbar), bar);
    expect_gradient([&](const Vector& v) { return frobenius(Kbar, gram(k_, theta_of(v), X)); },
                    bar.cwiseProduct(slope_of(theta)), at);
    Vector with_inputs = Vector::Zero(theta.size());
    RowMatrix X_bar = RowMatrix::Zero(X.rows(), D);
    gram_pullback(k_.node(), theta.data(), X, tiles_of(Kbar), with_inputs, &X_bar);
    EXPECT_LE((with_inputs - bar).cwiseAbs().maxCoeff(), 1e-11 * bar.cwiseAbs().maxCoeff());

    const Matrix Cbar = weights(X.rows(), Z.rows());
    bar.setZero();
    cross_pullback(k_.node(), theta.data(), X, Z, Cbar, bar, nullptr, nullptr);
    expect_gradient([&](const Vector& v) { return frobenius(Cbar, cross(k_, theta_of(v), X, Z)); },
                    bar.cwiseProduct(slope_of(theta)), at);

    const Vector kbar = weights(X.rows(), 1);
    bar.setZero();
    diagonal_pullback(k_.node(), theta.data(), X, kbar, bar);
    expect_gradient([&](const Vector& v) { return kbar.dot(diagonal(k_, theta_of(v), X)); },
                    bar.cwiseProduct(slope_of(theta)), at);
  }
}

// By X/unit, for the same reason.
TEST_P(Conformance, P6_T7_GradientsByTheInputs) {
  for (const auto& [theta_, unit_] : points()) {
    const Vector& theta = theta_;
    const double unit = unit_;
    RowMatrix X = rows(5, 1), Z = rows(4, 2);
    if (differentiable()) X.row(4) = X.row(1), Z.row(0) = X.row(2);
    Vector ignored = Vector::Zero(theta.size());

    const Matrix Kbar = symmetric_weights(X.rows());
    RowMatrix X_bar = RowMatrix::Zero(X.rows(), D), Z_bar = RowMatrix::Zero(Z.rows(), D);
    gram_pullback(k_.node(), theta.data(), unit * X, tiles_of(Kbar), ignored, &X_bar);
    expect_gradient(
        [&](const Vector& v) { return frobenius(Kbar, gram(k_, theta, unit * shaped(v))); },
        unit * flat(X_bar), flat(X));

    const Matrix Cbar = weights(X.rows(), Z.rows());
    X_bar.setZero();
    cross_pullback(k_.node(), theta.data(), unit * X, unit * Z, Cbar, ignored, &X_bar, &Z_bar);
    expect_gradient(
        [&](const Vector& v) {
          return frobenius(Cbar, cross(k_, theta, unit * shaped(v), unit * Z));
        },
        unit * flat(X_bar), flat(X));
    expect_gradient(
        [&](const Vector& v) {
          return frobenius(Cbar, cross(k_, theta, unit * X, unit * shaped(v)));
        },
        unit * flat(Z_bar), flat(Z));

    const Vector kbar = weights(X.rows(), 1);
    X_bar.setZero();
    diagonal_pullback(k_.node(), theta.data(), unit * X, kbar, ignored, &X_bar);
    expect_gradient(
        [&](const Vector& v) { return kbar.dot(diagonal(k_, theta, unit * shaped(v))); },
        unit * flat(X_bar), flat(X));
  }
}

TEST_P(Conformance, PullbacksAddToWhatIsThere) {
  const Vector theta = points()[0].theta;
  const RowMatrix X = rows(5, 1), Z = rows(4, 2);
  const Matrix Kbar = symmetric_weights(5), Cbar = weights(5, 4);
  const auto run = [&](double start) {
    Vector bar = Vector::Constant(theta.size(), start);
    RowMatrix X_bar = RowMatrix::Constant(5, D, start), Z_bar = RowMatrix::Constant(4, D, start);
    gram_pullback(k_.node(), theta.data(), X, tiles_of(Kbar), bar, &X_bar);
    cross_pullback(k_.node(), theta.data(), X, Z, Cbar, bar, &X_bar, &Z_bar);
    diagonal_pullback(k_.node(), theta.data(), X, Kbar.col(0), bar, &X_bar);
    Vector all(bar.size() + X_bar.size() + Z_bar.size());
    all << bar, flat(X_bar), flat(Z_bar);
    return all;
  };
  const Vector difference = run(10.0) - run(0.0);
  EXPECT_LE((difference.array() - 10.0).abs().maxCoeff(), 1e-10);
}

TEST_P(Conformance, PullbacksAgreeWithThoseOfAKnownValue) {
  const RowMatrix X = rows(7, 1), Z = rows(4, 2);
  const PairBlock pairs{{X.data(), 7, D, D}, {Z.data(), 4, D, D}};
  const Matrix Kbar = weights(7, 4);
  for (const auto& [theta, unit] : points()) {
    Matrix K(7, 4);
    k_.node().evaluate(theta.data(), pairs, K.data());
    const auto run = [&](const double* values) {
      Vector bar = Vector::Zero(theta.size() + X.size() + Z.size());
      double *x = bar.data() + theta.size(), *z = x + X.size();
      if (values)
        k_.node().pullback_of_values(theta.data(), pairs, values, Kbar.data(), bar.data(), x, z);
      else
        k_.node().pullback(theta.data(), pairs, Kbar.data(), bar.data(), x, z);
      return bar;
    };
    const Vector known = run(K.data()), fresh = run(nullptr);
    EXPECT_LE((known - fresh).cwiseAbs().maxCoeff(), 1e-12 * fresh.cwiseAbs().maxCoeff());
  }
}

// Over several tiles: the lower triangle alone, whole strips, and a cross block of X with itself.
TEST_P(Conformance, TiledPullbacksAgree) {
  const Index N = 300;
  const Vector theta = points()[0].theta;
  const RowMatrix X = rows(N, 1);
  const Matrix Kbar = symmetric_weights(N);
  Vector lower = Vector::Zero(theta.size()), strips = lower, block = lower;
  RowMatrix X_bar = RowMatrix::Zero(N, D), left = X_bar, right = X_bar;
  gram_pullback(k_.node(), theta.data(), X, tiles_of(Kbar), lower);
  gram_pullback(k_.node(), theta.data(), X, tiles_of(Kbar), strips, &X_bar);
  EXPECT_LE((lower - strips).cwiseAbs().maxCoeff(), 1e-11 * strips.cwiseAbs().maxCoeff());
  cross_pullback(k_.node(), theta.data(), X, X, Kbar, block, &left, &right);
  EXPECT_LE((left + right - X_bar).cwiseAbs().maxCoeff(),
            1e-11 * std::max(1.0, X_bar.cwiseAbs().maxCoeff()));
  if (!says("white")) {
    EXPECT_LE((block - strips).cwiseAbs().maxCoeff(), 1e-11 * strips.cwiseAbs().maxCoeff());
  }
}

TEST_P(Conformance, SameBitsForAnyNumberOfThreads) {
  const Index N = 300, M = 140;
  const Vector theta = points()[0].theta;
  const RowMatrix X = rows(N, 1), Z = rows(M, 2);
  const Matrix Kbar = symmetric_weights(N), Cbar = weights(N, M);
  const auto everything = [&] {
    Vector bar = Vector::Zero(theta.size()), again = bar;
    RowMatrix X_bar = RowMatrix::Zero(N, D), Z_bar = RowMatrix::Zero(M, D);
    gram_pullback(k_.node(), theta.data(), X, tiles_of(Kbar), bar);
    gram_pullback(k_.node(), theta.data(), X, tiles_of(Kbar), again, &X_bar);
    cross_pullback(k_.node(), theta.data(), X, Z, Cbar, bar, &X_bar, &Z_bar);
    return std::vector<Matrix>{
        gram(k_, theta, X), cross(k_, theta, X, Z), bar, again, X_bar, Z_bar};
  };
  const int before = threads();
  set_threads(1);
  const auto reference = everything();
  for (const int t : {2, 3, 7}) {
    set_threads(t);
    EXPECT_TRUE(everything() == reference) << t << " threads";
  }
  set_threads(before);
}

TEST_P(Conformance, PrintsWhatIsReadBackAsTheSame) {
  const Kernel again = parse_kernel(k_.print(), table);
  EXPECT_EQ(again.print(), k_.print());
  const Parameters p = k_.parameters(D), q = again.parameters(D);
  EXPECT_EQ(p.values(), q.values());
  EXPECT_EQ(p.free_names(), q.free_names());
  const RowMatrix X = rows(6, 1);
  EXPECT_EQ(gram(k_, p.values(), X), gram(again, p.values(), X));
}

// E[φ(x)φ(x')] = k(x, x') for the smooth part: the mean of many products within five standard
// errors.
TEST_P(Conformance, RandomFeaturesHaveTheKernelAsTheirMean) {
  const Vector theta = points()[0].theta;
  RowMatrix X = 0.6 * rows(4, 1);
  X.row(3) = X.row(0);
  Random random(5);
  if (!k_.node().random_feature(theta.data(), D, random)) {
    EXPECT_TRUE(k_.node().is_white() || says("cauchy"));
    return;
  }
  constexpr int draws = 20000;
  Matrix sum = Matrix::Zero(4, 4), square = sum;
  for (int s = 0; s < draws; ++s) {
    const auto feature = k_.node().random_feature(theta.data(), D, random);
    Vector phi = Vector::Ones(4);
    feature->multiply({X.data(), 4, D, D, 0}, phi.data());
    for (Index j = 0; j < 4; ++j) {
      sum.col(j) += phi * phi(j);
      square.col(j) += (phi * phi(j)).array().square().matrix();
    }
  }
  const Matrix expected = cross(k_, theta, X, X), mean = sum / draws;
  const Matrix error =
      ((square / draws - mean.array().square().matrix()) / draws).array().max(0.0).sqrt();
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 4; ++j)
      EXPECT_NEAR(mean(i, j), expected(i, j), 5.0 * error(i, j) + 1e-12) << i << ", " << j;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Conformance, testing::ValuesIn(expressions),
                         [](const auto& expression) {
                           std::string name = std::to_string(expression.index) + "_";
                           for (const char c : expression.param)
                             name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

// More strips than lanes: each strip counts once, whichever lane it went to.
TEST(Blocks, ManyStripsAddUp) {
  const Kernel k = "se(ard) + linear";
  const Vector theta = k.parameters(D).values();
  Random random(1);
  const Index N = 2300, M = 3;
  const RowMatrix X = random.normal_matrix(N, D), Z = random.normal_matrix(M, D);
  const Matrix Kbar = random.normal_matrix(N, M);
  Vector whole = Vector::Zero(theta.size()), parts = whole;
  RowMatrix X_whole = RowMatrix::Zero(N, D), Z_whole = RowMatrix::Zero(M, D), Z_parts = Z_whole;
  cross_pullback(k.node(), theta.data(), X, Z, Kbar, whole, &X_whole, &Z_whole);
  for (Index i = 0; i < N; i += 100) {
    RowMatrix X_part = RowMatrix::Zero(100, D);
    cross_pullback(k.node(), theta.data(), X.middleRows(i, 100), Z, Kbar.middleRows(i, 100), parts,
                   &X_part, &Z_parts);
    EXPECT_LE((X_part - X_whole.middleRows(i, 100)).cwiseAbs().maxCoeff(), 1e-13);
  }
  EXPECT_LE((whole - parts).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LE((Z_whole - Z_parts).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(Blocks, RowsMayBeABlockOfAWiderTable) {
  Random random(2);
  const RowMatrix wide = random.normal_matrix(10, 7);
  const RowMatrix X = wide.middleCols(2, 3);
  for (const char* text : {"se(ard)", "periodic", "cosine(ard)", "linear", "poly(2)",
                           "additive(se)", "se@2 * rq@0,1"}) {
    const Kernel k = text;
    const Vector theta = k.parameters(3).values();
    EXPECT_EQ(gram(k, theta, wide.middleCols(2, 3)), gram(k, theta, X)) << text;
    EXPECT_EQ(diagonal(k, theta, wide.middleCols(2, 3)), diagonal(k, theta, X)) << text;
  }
}

}  // namespace
}  // namespace covary
