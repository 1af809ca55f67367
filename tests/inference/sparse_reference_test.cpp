// Reference optima of the sparse approximations on the data set snelson1d: SE kernel, outputs not
// centred, jitter 1e-6·σ_f², computed by another program. Negative log evidences and bounds, equal
// to one unit of the last digit given; quoted as E3.x where an experiment of chapter 3 of van der
// Wilk's thesis (2018) shows them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "covary/data/split.hpp"
#include "covary/data/table.hpp"
#include "covary/error.hpp"
#include "covary/inference/exact.hpp"
#include "covary/inference/sparse.hpp"
#include "covary/kernels/expectations.hpp"
#include "covary/training/lbfgs.hpp"

namespace covary {
namespace {

struct Optimum {
  double value;  // −log evidence or bound
  double lengthscale, signal_sd, noise_sd;
  std::vector<double> Z;  // ascending
};

class Snelson : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path;
    try {
      path = find_data("snelson1d/train.csv");
    } catch (const FileError&) {
      GTEST_SKIP() << "snelson1d/train.csv is not here; COVARY_DATA names the folder of snelson1d";
    }
    all_ = read_table(path).values;
    std::vector<Index> even;
    for (Index i = 0; i < all_.rows(); i += 2) even.push_back(i);
    even_ = take_rows(all_, even);
  }

  // −F at (log θ, log σ², Z), with the gradient if asked for.
  static double objective(const RowMatrix& data, const Approximation& a, double asked,
                          const Vector& u, Vector* gradient = nullptr) {
    const RowMatrix X = data.leftCols(1), Y = data.rightCols(1), Z = u.tail(u.size() - 3);
    const Kernel kernel = "se";
    const Mean mean;
    const FeaturesPtr features = inducing_points(kernel, Z);
    const MemoryRows rows(X, Y, Vector());
    const Sweep sweep = Sweep::for_features(rows, Z.rows());
    const SparseProblem problem{a, features.get(), &kernel, &mean, &sweep, {{0}}};
    const Vector theta = u.head(2).array().exp();
    const SparseValues values{theta, Z.col(0), std::exp(u(2)), {}};
    Jitter jitter{asked};
    SweepGradient g;
    const double value = evaluate_sparse(problem, values, jitter, gradient ? &g : nullptr).value;
    if (gradient) {
      gradient->head(2) = -theta.array() * g.theta_bar.array();
      (*gradient)(2) = -values.noise * g.noise_bar;
      gradient->tail(Z.rows()) = -g.z_bar;
    }
    return -value;
  }

  static Vector point(double lengthscale, double signal_sd, double noise_sd, const Vector& Z) {
    Vector u(3 + Z.size());
    u << 2 * std::log(signal_sd), std::log(lengthscale), 2 * std::log(noise_sd), Z;
    return u;
  }

  // Jitter is that of the optimum: signal_sd is the one expected there.
  static Optimum optimise(const RowMatrix& data, const Approximation& a, double signal_sd,
                          const Vector& from) {
    const double jitter = 1e-6 * signal_sd * signal_sd;
    const Minimum m = minimise(
        [&](const Vector& u, Vector* g) { return objective(data, a, jitter, u, g); }, from);
    const Vector& u = m.state.u;
    std::vector<double> Z(u.data() + 3, u.data() + u.size());
    std::sort(Z.begin(), Z.end());
    return {m.state.value, std::exp(u(1)), std::exp(0.5 * u(0)), std::exp(0.5 * u(2)), Z};
  }

  static std::ptrdiff_t coincident(const Optimum& o) {
    std::ptrdiff_t count = 0;
    for (std::size_t i = 1; i < o.Z.size(); ++i) count += o.Z[i] - o.Z[i - 1] < 1e-3;
    return count;
  }

  RowMatrix all_, even_;  // 200 rows; those with even numbers
};

// E3.4: inducing inputs at the data give the exact evidence, by VFE and by FITC.
TEST_F(Snelson, InducingInputsAtTheData) {
  const Vector u = point(0.6103, 0.8711, 0.2753, even_.col(0));
  EXPECT_NEAR(objective(even_, "vfe", 0.0, u), 33.8923, 1e-4);
  EXPECT_NEAR(objective(even_, "fitc", 0.0, u), 33.8923, 1e-4);
}

// E3.1: FITC with eight inducing inputs explains the data without noise; VFE takes more of it.
TEST_F(Snelson, EightInducingInputs) {
  Vector Z(8);
  Z << 0.247, 1.051, 1.946, 2.752, 3.607, 4.382, 5.061, 5.687;
  EXPECT_NEAR(objective(even_, "vfe", 1e-6 * 0.821 * 0.821, point(0.697, 0.821, 0.2876, Z)),
              37.7957, 1e-4);
  const Optimum vfe =
      optimise(even_, "vfe", 0.821, point(0.6, 0.9, 0.3, Vector::LinSpaced(8, 0.2, 5.8)));
  EXPECT_NEAR(vfe.value, 37.7957, 1e-4);
  EXPECT_NEAR(vfe.lengthscale, 0.697, 1e-3);
  EXPECT_NEAR(vfe.signal_sd, 0.821, 1e-3);
  EXPECT_NEAR(vfe.noise_sd, 0.2876, 1e-4);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(vfe.Z[i], Z(static_cast<Index>(i)), 1e-3);

  Z << 0.07, 0.73, 1.58, 2.47, 2.96, 3.71, 4.35, 5.36;
  const Optimum fitc = optimise(even_, "fitc", 0.807, point(0.4, 0.8, 0.01, Z));
  EXPECT_NEAR(fitc.value, 25.3174, 1e-4);
  EXPECT_LT(fitc.noise_sd, 1e-4);
}

TEST_F(Snelson, SevenInducingInputs) {
  const Optimum vfe =
      optimise(all_, "vfe", 0.504, point(0.6, 0.5, 0.3, Vector::LinSpaced(7, 0.5, 5.9)));
  EXPECT_NEAR(vfe.value, 78.0442, 1e-4);
  EXPECT_NEAR(vfe.lengthscale, 0.672, 1e-3);
  EXPECT_NEAR(vfe.signal_sd, 0.504, 1e-3);
  EXPECT_NEAR(vfe.noise_sd, 0.3102, 1e-4);
  const Vector Z = Vector::LinSpaced(7, 0.4, 5.6);
  const Optimum local = optimise(all_, "vfe", 0.418, point(0.6, 0.9, 0.3, Z));
  EXPECT_NEAR(local.value, 79.0272, 1e-4);
  const Optimum fitc = optimise(all_, "fitc", 0.6388, point(0.6, 0.9, 0.3, Z));
  EXPECT_NEAR(fitc.value, 55.1664, 1e-4);
  EXPECT_NEAR(fitc.lengthscale, 0.5205, 1e-4);
  EXPECT_NEAR(fitc.signal_sd, 0.6388, 1e-4);
  EXPECT_NEAR(fitc.noise_sd, 0.2325, 1e-4);
}

// E3.3: VFE reaches nearly the exact 55.9003 from every start; FITC claims less, too little noise
// and stacks its inducing inputs.
TEST_F(Snelson, FifteenInducingInputs) {
  for (const double edge : {0.2, 0.8}) {
    const Vector from = point(0.6, 0.9, 0.3, Vector::LinSpaced(15, edge, 6 - edge));
    const Optimum vfe = optimise(all_, "vfe", 0.878, from);
    EXPECT_NEAR(vfe.value, 55.9053, 1e-4);
    EXPECT_NEAR(vfe.noise_sd, 0.2822, 1e-4);
    EXPECT_EQ(coincident(vfe), 0);
    const Optimum fitc = optimise(all_, "fitc", 0.85, from);
    EXPECT_LT(fitc.value, 53.1);
    EXPECT_LT(fitc.noise_sd, 0.262);
    EXPECT_GE(coincident(fitc), 1);
  }
}

// P21: with few inducing inputs VFE takes for noise what they cannot say, and FITC takes its
// diagonal for noise; both let go of it as there are more.
struct P21 : Snelson {
  static Minimum exact(const RowMatrix& data) {
    const RowMatrix X = data.leftCols(1), Y = data.rightCols(1);
    return minimise(
        [&](const Vector& u, Vector* gradient) {
          Jitter jitter;
          ExactGradient g;
          const Vector theta = u.head(2).array().exp();
          const double noise = std::exp(u(2));
          const double value = exact_log_evidence("se", theta, X, Y, noise, Vector(), jitter,
                                                  gradient ? &g : nullptr);
          if (gradient) *gradient << -theta.cwiseProduct(g.theta_bar), -noise * g.noise_bar;
          return -value;
        },
        (Vector(3) << -0.2, -0.5, -2.4).finished());
  }

  static void check(const RowMatrix& data, double signal_sd, double noise_sd) {
    double last = 1.0;
    for (const Index M : {4, 6, 8}) {
      const Vector from = point(0.6, 0.9, 0.3, Vector::LinSpaced(M, 0.5, 5.7));
      const double of_vfe = optimise(data, "vfe", signal_sd, from).noise_sd,
                   of_fitc = optimise(data, "fitc", signal_sd, from).noise_sd;
      EXPECT_GT(of_vfe, noise_sd + 5e-4) << M;
      EXPECT_LT(of_fitc, noise_sd - 0.01) << M;
      EXPECT_LT(of_vfe, last) << M;
      last = of_vfe;
    }
  }
};

TEST_F(P21, NoiseOfVfeIsAboveAndOfFitcBelow) {
  const Minimum best = exact(all_);
  EXPECT_NEAR(best.state.value, 55.9003, 1e-4);
  const double noise_sd = std::exp(0.5 * best.state.u(2));
  EXPECT_NEAR(noise_sd, 0.2822, 1e-4);
  check(all_, 0.877, noise_sd);
}

// The same of rows drawn from a model like that of Snelson's, so that it needs no file.
struct DrawnP21 : P21 {
  void SetUp() override {
    Random random(1);
    all_.resize(200, 2);
    for (Index i = 0; i < 200; ++i) all_(i, 0) = 6.0 * random.uniform();
    const RowMatrix X = all_.leftCols(1);
    Matrix K = gram("se", (Vector(2) << 0.77, 0.6).finished(), X);
    K.diagonal().array() += 1e-8;
    all_.col(1) = cholesky(K).L * random.normal_vector(200) + 0.28 * random.normal_vector(200);
  }
};

TEST_F(DrawnP21, NoiseOfVfeIsAboveAndOfFitcBelow) {
  const Minimum best = exact(all_);
  check(all_, std::exp(0.5 * best.state.u(0)), std::exp(0.5 * best.state.u(2)));
}

// ψ statistics at σ_f² = 1.7, l = 0.7 of a row N(0.3, 0.45) with z = −0.2 and z' = 0.9.
TEST(SparseReference, ExpectationsUnderAGaussian) {
  const Kernel kernel = "se";
  const Vector theta = (Vector(2) << 1.7, 0.7).finished();
  const RowMatrix Z = (Vector(2) << -0.2, 0.9).finished();
  const double mean = 0.3, variance = 0.45;
  const RowBlock z{Z.data(), 2, 1, 1};
  const GaussianBlock x{{&mean, 1, 1, 1}, &variance};
  Matrix psi1(2, 1), psi2 = Matrix::Zero(2, 2);
  const auto psi = GaussianExpectations::make(kernel, theta.data(), z);
  psi->psi1(x, psi1.data());
  psi->psi2(x, psi2);
  EXPECT_NEAR(psi1(0, 0), 1.0745610854, 1e-10);
  EXPECT_NEAR(psi2(1, 0), 0.9238405240, 1e-10);
}

}  // namespace
}  // namespace covary
