// Reference values of the sparse approximations: optima on the data set snelson1d with an SE
// kernel, outputs not centred, jitter 1e-6·σ_f², found by a quasi-Newton method with differences in
// another program.
#include <gtest/gtest.h>

#include <cmath>

#include "covary/data/split.hpp"
#include "covary/data/table.hpp"
#include "covary/error.hpp"
#include "covary/inference/sparse.hpp"
#include "covary/training/lbfgs.hpp"

namespace covary {
namespace {

struct Optimum {
  double value;  // −log evidence or bound
  double lengthscale, signal_sd, noise_sd;
  Vector Z;
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
  static double objective(const RowMatrix& data, const Approximation& a, const Vector& u,
                          Vector* gradient, double jitter_of_variance = 1e-6) {
    const RowMatrix X = data.leftCols(1), Y = data.rightCols(1), Z = u.tail(u.size() - 3);
    const Kernel kernel = "se";
    const Mean mean;
    const FeaturesPtr features = inducing_points(kernel, Z);
    const MemoryRows rows(X, Y, Vector());
    const Sweep sweep = Sweep::for_features(rows, Z.rows());
    const SparseProblem problem{a, features.get(), &kernel, &mean, &sweep, {{0}}};
    const Vector theta = u.head(2).array().exp();
    const SparseValues values{theta, Z.col(0), std::exp(u(2)), {}};
    Jitter jitter{jitter_of_variance * theta(0)};
    SweepGradient g;
    const double value = evaluate_sparse(problem, values, jitter, gradient ? &g : nullptr).value;
    if (gradient) {
      gradient->resize(u.size());
      gradient->head(2) = -theta.array() * g.theta_bar.array();
      (*gradient)(2) = -values.noise * g.noise_bar;
      gradient->tail(Z.rows()) = -g.z_bar;
    }
    return -value;
  }

  static Vector start(double lengthscale, double signal_sd, double noise_sd, const Vector& Z) {
    Vector u(3 + Z.size());
    u << 2 * std::log(signal_sd), std::log(lengthscale), 2 * std::log(noise_sd), Z;
    return u;
  }

  static Optimum optimise(const RowMatrix& data, const Approximation& a, const Vector& from) {
    const Minimum m = minimise(
        [&](const Vector& u, Vector* g) { return objective(data, a, u, g); }, from);
    const Vector& u = m.state.u;
    return {m.state.value, std::exp(u(1)), std::exp(0.5 * u(0)), std::exp(0.5 * u(2)),
            u.tail(u.size() - 3)};
  }

  RowMatrix all_, even_;
};

TEST_F(Snelson, Explore) {
  const auto print = [](const char* n, const Optimum& o) {
    std::printf("%s %.5f l %.4f sf %.4f sn %.6f\n", n, o.value, o.lengthscale, o.signal_sd, o.noise_sd);
    for (double z : o.Z) std::printf(" %.4f", z);
    std::printf("\n");
  };
  Vector Z8(8);
  Z8 << 0.247, 1.051, 1.946, 2.752, 3.607, 4.382, 5.061, 5.687;
  std::printf("at given %.6f\n", objective(even_, "vfe", start(.697,.821,.2876,Z8), nullptr));
  print("even vfe8", optimise(even_, "vfe", start(.697,.821,.2876,Z8)));
  print("even vfe8 lin", optimise(even_, "vfe", start(.6,.9,.3,Vector::LinSpaced(8, .2, 5.8))));
  print("even fitc8", optimise(even_, "fitc", start(.6,.9,.3,Vector::LinSpaced(8, .2, 5.8))));
  print("even fitc8", optimise(even_, "fitc", start(.697,.821,.2876,Z8)));
  for (double lo : {.2, .4, .6, .8}) {
    print("all vfe7", optimise(all_, "vfe", start(.6,.9,.3,Vector::LinSpaced(7, lo, 6-lo))));
    print("all fitc7", optimise(all_, "fitc", start(.6,.9,.3,Vector::LinSpaced(7, lo, 6-lo))));
    print("all vfe15", optimise(all_, "vfe", start(.6,.9,.3,Vector::LinSpaced(15, lo, 6-lo))));
    print("all fitc15", optimise(all_, "fitc", start(.6,.9,.3,Vector::LinSpaced(15, lo, 6-lo))));
  }
  std::printf("Z=X vfe %.6f fitc %.6f\n", objective(even_, "vfe", start(.6103,.8711,.2753,even_.col(0)), nullptr, 0), objective(even_, "fitc", start(.6103,.8711,.2753,even_.col(0)), nullptr, 0));
}

}  // namespace
}  // namespace covary
