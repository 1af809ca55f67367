#include "covary/inference/exact.hpp"

#include <gtest/gtest.h>

#include "covary/error.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "support/gradient_check.hpp"
#include "support/random_data.hpp"

namespace covary {
namespace {

// The small problem of the slides (time-series spec, section 3).
struct Slides {
  RowMatrix X = (RowMatrix(5, 1) << 0, .5, 1.2, 2, 3.1).finished();
  Matrix Y = (Matrix(5, 1) << .3, .8, .6, -.4, -1).finished();
  Vector theta = (Vector(2) << 1.0, 0.8).finished();
};

TEST(ExactEvidence, T8_ValueAndGradientOfTheSlides) {
  const Slides s;
  Jitter jitter;
  ExactGradient g;
  const double value = exact_log_evidence(se(), s.theta, s.X, s.Y, 0.04, Vector(), jitter, &g);
  EXPECT_NEAR(value, -4.384338332209974, 1e-13);
  EXPECT_NEAR(g.theta_bar(0), -1.25998572775, 1e-10);
  EXPECT_NEAR(g.theta_bar(1), 2.68871772733, 1e-10);
  EXPECT_NEAR(g.noise_bar, -6.54727535241, 1e-10);
  EXPECT_EQ(jitter.added, 0.0);
}

TEST(ExactEvidence, T23_CosineTimesOrnsteinUhlenbeck) {
  const RowMatrix X = (RowMatrix(4, 1) << 0, .3, 1.1, 1.5).finished();
  const Matrix Y = (Matrix(4, 1) << .2, -.4, .5, .1).finished();
  const Kernel k = cosine() * matern12();
  const Vector theta = (Vector(4) << 1.5, 2 * M_PI / 6.0, 1.0, 0.7).finished();
  Jitter jitter;
  EXPECT_NEAR(exact_log_evidence(k, theta, X, Y, 0.1, Vector(), jitter), -4.673006401524617, 1e-12);
}

// All gradients at once: kernel, noise, point noise, Y and X, with two outputs that miss different
// rows.
TEST(ExactEvidence, GradientsOfEverything) {
  for (const char* expression : {"se(ard)", "matern32 * periodic + white", "rq + linear(ard)"}) {
    const Kernel kernel(expression);
    const Index N = 12, D = 2, P = 3;
    for (std::uint64_t point = 0; point < 10; ++point) {
      auto data = testing::small_data(N, D, P, 40 + point);
      Matrix Y = data.Y;
      const double missing = std::nan("");
      Y(3, 1) = Y(7, 1) = Y(0, 2) = missing;
      Random random(7, point);
      const Index K = kernel.parameter_count(D);
      Vector x(K + 1 + N + N * D);
      for (Index i = 0; i < K; ++i) x(i) = std::exp(0.3 * random.normal());
      x(K) = point == 9 ? 1e-6 : 0.1;  // the last point is ill-conditioned
      for (Index i = 0; i < N; ++i) x(K + 1 + i) = 0.05 * random.uniform();
      x.tail(N * D) = Eigen::Map<const Vector>(data.X.data(), N * D);
      const auto f = [&](const Vector& v, ExactGradient* g) {
        Jitter jitter;
        const RowMatrix X = Eigen::Map<const RowMatrix>(v.data() + K + 1 + N, N, D);
        return exact_log_evidence(kernel, v.head(K), X, Y, v(K), v.segment(K + 1, N), jitter, g);
      };
      ExactGradient g;
      g.want_X = true;
      f(x, &g);
      Vector all(x.size());
      all << g.theta_bar, g.noise_bar, g.point_noise_bar,
          Eigen::Map<const Vector>(g.X_bar.data(), N * D);
      expect_gradient([&](const Vector& v) { return f(v, nullptr); }, all, x);
    }
  }
}

TEST(ExactEvidence, GradientInY) {
  const auto data = testing::small_data(9, 1, 2, 3);
  const Vector theta = Vector::Ones(2);
  const auto f = [&](const Vector& y) {
    Jitter jitter;
    return exact_log_evidence(se(), theta, data.X, Matrix(Eigen::Map<const Matrix>(y.data(), 9, 2)),
                              0.2, Vector(), jitter);
  };
  const Matrix Y = data.Y;
  Jitter jitter;
  ExactGradient g;
  exact_log_evidence(se(), theta, data.X, Y, 0.2, Vector(), jitter, &g);
  expect_gradient(f, Eigen::Map<const Vector>(g.Y_bar.data(), 18),
                  Eigen::Map<const Vector>(Y.data(), 18));
}

// Columns that miss rows count as their observed rows alone.
TEST(ExactEvidence, MissingRowsAreLeftOut) {
  const auto data = testing::small_data(10, 2, 2, 5);
  Matrix Y = data.Y;
  Y(2, 1) = Y(6, 1) = std::nan("");
  const Vector theta = Vector::Ones(2);
  Jitter jitter;
  const double both = exact_log_evidence(se(), theta, data.X, Y, 0.1, Vector(), jitter);
  const std::vector<Index> rows{0, 1, 3, 4, 5, 7, 8, 9};
  const double first = exact_log_evidence(se(), theta, data.X, Y.col(0), 0.1, Vector(), jitter);
  const double second =
      exact_log_evidence(se(), theta, RowMatrix(data.X(rows, Eigen::all)),
                         Matrix(Y(rows, std::vector<Index>{1})), 0.1, Vector(), jitter);
  EXPECT_NEAR(both, first + second, 1e-11);
}

TEST(ExactEvidence, SameBitsForAnyNumberOfThreads) {
  const auto data = testing::small_data(3000, 4, 1, 11);
  const Vector theta = (Vector(5) << 1.2, 1, 2, 3, 1.5).finished();
  const int before = threads();
  std::vector<double> values;
  std::vector<Vector> gradients;
  for (const int t : {1, 2, 3, 7}) {
    set_threads(t);
    Jitter jitter;
    ExactGradient g;
    values.push_back(
        exact_log_evidence(se(true), theta, data.X, data.Y, 0.05, Vector(), jitter, &g));
    gradients.push_back(g.theta_bar);
  }
  set_threads(before);
  for (std::size_t i = 1; i < values.size(); ++i) {
    EXPECT_EQ(values[i], values[0]);
    EXPECT_EQ(gradients[i], gradients[0]);
  }
}

TEST(ExactEvidence, BadInput) {
  Jitter jitter;
  const Slides s;
  EXPECT_THROW(exact_log_evidence(se(), s.theta, s.X, Matrix(4, 1), 0.1, Vector(), jitter),
               InputError);
  EXPECT_THROW(exact_log_evidence(se(), Vector::Ones(3), s.X, s.Y, 0.1, Vector(), jitter),
               InputError);
  EXPECT_THROW(exact_log_evidence(se(), s.theta, s.X, s.Y, 0.1, Vector::Ones(2), jitter),
               InputError);
  EXPECT_THROW(
      exact_log_evidence(se(), s.theta, RowMatrix(0, 1), Matrix(0, 1), 0.1, Vector(), jitter),
      InputError);
  Matrix empty = Matrix::Constant(5, 1, std::nan(""));
  EXPECT_THROW(exact_log_evidence(se(), s.theta, s.X, empty, 0.1, Vector(), jitter), InputError);
}

}  // namespace
}  // namespace covary
