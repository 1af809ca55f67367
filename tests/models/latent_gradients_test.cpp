// Gradients of the objectives of latent-variable models at ten random points, of which the tenth
// has inducing inputs so near each other that Kuu is ill-conditioned. (By Ψ2 a bound loses digits
// as their distance squared: nearer ones than here, differences tell less than the gradient.)
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

// `near` are the paths before kernel and features.Z of which the second row is put beside the first
// at the tenth point.
template <class Model>
void check(Model model, const std::vector<std::string>& near) {
  const Vector start = model.parameters().flatten();
  Random random(11);
  for (int point = 0; point < 10; ++point) {
    SCOPED_TRACE(point);
    Vector u = start + 0.3 * random.normal_vector(start.size());
    if (point == 9) {
      model.parameters().set_values(model.parameters().constrain(u));
      for (const std::string& path : near) {
        Vector Z = model.parameters().at(path + "features.Z").value;
        Z.segment(2, 2) = Z.head(2).array() + 1e-2;
        model.parameters().set(path + "features.Z", Z);
        std::vector<double> theta;
        for (const auto& p : model.parameters().all())
          if (p.path.starts_with(path + "kernel"))
            theta.insert(theta.end(), p.value.begin(), p.value.end());
        EXPECT_GT(
            condition_of(model.options().kernel,
                         Eigen::Map<const Vector>(theta.data(), static_cast<Index>(theta.size())),
                         Eigen::Map<const RowMatrix>(Z.data(), Z.size() / 2, 2)),
            1e4);
      }
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
  check(MapGplvm(outputs(), o), {});
}

}  // namespace
}  // namespace covary
