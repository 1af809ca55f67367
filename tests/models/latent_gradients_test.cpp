// Gradients of the objectives of latent-variable models at ten random points, of which the tenth
// has inducing inputs, or latent ones, so near each other that their covariance is
// ill-conditioned. (By Ψ2 a bound loses digits as their distance squared: nearer ones than here,
// differences tell less than the gradient.)
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "covary/linalg/spectrum.hpp"
#include "covary/models/gplvm.hpp"
#include "covary/models/map_gplvm.hpp"
#include "covary/models/stochastic_gplvm.hpp"
#include "covary/random/random.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

constexpr Index N = 7;

RowMatrix outputs() {
  Random random(3);
  RowMatrix X(N, 2);  // along a curve, for dynamics whose lengthscale matters
  for (Index i = 0; i < N; ++i)
    X.row(i) << std::sin(0.6 * static_cast<double>(i)), std::cos(0.9 * static_cast<double>(i));
  const RowMatrix A = random.normal_matrix(2, 4);
  RowMatrix Y = (X * A).array().sin();
  Y += 0.1 * random.normal_matrix(N, 4);
  return Y;
}
GplvmOptions options() {
  GplvmOptions o;
  o.latent = 2;
  o.inducing = 4;
  return o;
}

double condition_of(const Kernel& kernel, const Vector& theta, const RowMatrix& Z) {
  const Vector spectrum = symmetric_eigen(cross(kernel, theta, Z, Z)).values;
  return spectrum.maxCoeff() / spectrum.minCoeff();
}

// Puts the second row of a matrix of two columns beside the first.
void bring_near(Parameters& parameters, const std::string& path) {
  Vector rows = parameters.at(path).value;
  rows.segment(2, 2) = rows.head(2).array() + 1e-2;
  parameters.set(path, rows);
}

// The condition of the covariance by the kernel below `before` at the rows of `path`.
double condition_at(const Parameters& parameters, const Kernel& kernel, const std::string& before,
                    const std::string& path) {
  std::vector<double> theta;
  for (const auto& p : parameters.all())
    if (p.path.starts_with(before + "kernel"))
      theta.insert(theta.end(), p.value.begin(), p.value.end());
  const Vector& rows = parameters.at(path).value;
  return condition_of(kernel,
                      Eigen::Map<const Vector>(theta.data(), static_cast<Index>(theta.size())),
                      Eigen::Map<const RowMatrix>(rows.data(), rows.size() / 2, 2));
}

// At the tenth point `spoil` makes the covariance ill-conditioned.
template <class Model, class Spoil>
void check_with(Model model, const Spoil& spoil) {
  const Vector start = model.parameters().flatten();
  Random random(11);
  for (int point = 0; point < 10; ++point) {
    SCOPED_TRACE(point);
    Vector u = start + 0.3 * random.normal_vector(start.size());
    if (point == 9) {
      model.parameters().set_values(model.parameters().constrain(u));
      spoil(model);
      u = model.parameters().flatten();
    }
    Jitter jitter;
    Vector gradient(u.size());
    ASSERT_TRUE(model.objective(u, &gradient, jitter));
    expect_gradient(
        [&](const Vector& v) {
          Jitter own;
          return *model.objective(v, nullptr, own);
        },
        gradient, u, point == 9 ? 1e-6 : 1e-8);
  }
}

// `near` are the paths before kernel and features.Z.
template <class Model>
void check(Model model, const std::vector<std::string>& near) {
  check_with(std::move(model), [&](Model& m) {
    for (const std::string& path : near) {
      bring_near(m.parameters(), path + "features.Z");
      EXPECT_GT(condition_at(m.parameters(), m.options().kernel, path, path + "features.Z"), 1e4);
    }
  });
}

TEST(LatentGradients, GplvmAtTenPoints) {
  RowMatrix Y = outputs();
  check(Gplvm(Y, options()), {""});
  Y(2, 1) = Y(4, 3) = std::numeric_limits<double>::quiet_NaN();
  GplvmOptions o = options();
  o.kernel = "se(ard) + linear(ard) + constant + white";
  check(Gplvm(Y, o), {""});
}

TEST(LatentGradients, SumsOfPointsAtTenPoints) {
  GplvmOptions o = options();
  o.features = "basis(2)";
  check(Gplvm(outputs(), o), {});
  o.views = {{"a", {0, 1}}, {"b", {2, 3}}};
  check(Gplvm(outputs(), o), {});
}

TEST(LatentGradients, DynamicsAtTenPoints) {
  GplvmOptions o = options();
  o.times = Vector::LinSpaced(N, 0.0, 3.0);
  o.sequences = {0, 4};
  o.dynamics = "matern32 + white";
  o.dynamics_start = (Vector(3) << 1.0, 1.2, 1e-3).finished();
  check(Gplvm(outputs(), o), {""});
}

// The inner layer of a regression through a warp: two columns in place of times.
TEST(LatentGradients, WarpAtTenPoints) {
  GplvmOptions o = options();
  o.times = Random(6).normal_matrix(N, 2);
  o.dynamics = "se(ard) + white";
  o.dynamics_start = (Vector(4) << 1.0, 0.8, 1.4, 1e-3).finished();
  check(Gplvm(outputs(), o), {""});
}

TEST(LatentGradients, ViewsAtTenPoints) {
  GplvmOptions o = options();
  o.views = {{"a", {0, 1}}, {"b", {2, 3}}};
  check(Gplvm(outputs(), o), {"views.a.", "views.b."});
}

TEST(LatentGradients, NoisyInputsAtTenPoints) {
  GplvmOptions o = options();
  o.prior_mean = Random(4).normal_matrix(N, 2);
  o.prior_variance = (Vector(2) << 0.3, 1.5).finished();
  check(Gplvm(outputs(), o), {""});
  o.prior_shares = Random(5).normal_matrix(N, 2).array().exp();
  o.train_prior_variance = true;
  check(Gplvm(outputs(), o), {""});
}

// The bound as some rows tell it, at a fixed q(u).
class OfMinibatch {
 public:
  explicit OfMinibatch(StochasticGplvmOptions o)
      : model_(outputs(), std::move(o)), q_(model_.prior()) {
    Random random(8);
    WhitenedGaussian near = q_.q();
    near.m += 0.3 * random.normal_matrix(near.m.rows(), near.m.cols());
    at_ = std::move(near);
  }
  Parameters& parameters() { return model_.parameters(); }
  const GplvmOptions& options() const { return model_.options().gplvm; }

  std::optional<double> objective(const Vector& u, Vector* gradient, Jitter& jitter) {
    Parameters& p = model_.parameters();
    p.set_values(p.constrain(u));
    StochasticGplvm::Gradient g;
    const double value = model_.evaluate(rows, at_, jitter, gradient ? &g : nullptr);
    if (gradient) {
      const double scale = static_cast<double>(N) / static_cast<double>(rows.size());
      Vector bar = Vector::Zero(p.size());
      for (std::size_t i = 0; i < rows.size(); ++i) {
        bar.segment(2 * rows[i], 2) = scale * g.mean_bar.row(static_cast<Index>(i));
        bar.segment(2 * (N + rows[i]), 2) = scale * g.variance_bar.row(static_cast<Index>(i));
      }
      bar.tail(g.values_bar.size()) = g.values_bar;
      *gradient = -p.pullback(u, bar);
    }
    return -value;
  }

 private:
  const std::vector<Index> rows = {0, 2, 3, 6};
  StochasticGplvm model_;
  NaturalGaussian q_;
  WhitenedGaussian at_;
};

TEST(LatentGradients, MinibatchAtTenPoints) {
  StochasticGplvmOptions o;
  o.gplvm = options();
  check(OfMinibatch(o), {""});
  o.likelihood = "student_t";
  o.draws = 4;
  check(OfMinibatch(o), {""});
}

TEST(LatentGradients, MapGplvmAtTenPoints) {
  MapGplvmOptions o;
  o.latent = 2;
  check_with(MapGplvm(outputs(), o), [](MapGplvm& m) {
    bring_near(m.parameters(), "latent.X");
    m.parameters().set("likelihood.variance", 1e-4);
    EXPECT_GT(condition_at(m.parameters(), m.options().kernel, "", "latent.X"), 1e4);
  });
}

}  // namespace
}  // namespace covary
