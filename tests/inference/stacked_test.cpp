// Bounds with a block-diagonal Kuu against the same features whose blocks nobody knows.
#include <gtest/gtest.h>

#include "covary/error.hpp"
#include "covary/features/eigen.hpp"
#include "covary/inference/natural_gradient.hpp"
#include "features/fourier.hpp"
#include "features/stacked.hpp"
#include "inference/sparse_problem.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

using testing::BuiltProblem;
using testing::SparseCase;

class Unstructured final : public Features {
 public:
  explicit Unstructured(FeaturesPtr own) : own_(std::move(own)) {}
  std::string name() const override { return own_->name(); }
  Index size() const override { return own_->size(); }
  Index dims() const override { return own_->dims(); }
  Index parameter_count() const override { return own_->parameter_count(); }
  void declare(Parameters& out) const override { own_->declare(out); }
  Matrix Kuu(const double* theta, const double* z) const override { return own_->Kuu(theta, z); }
  void Kuu_pullback(const double* theta, const double* z, ConstMatrix Kuu_bar, double* theta_bar,
                    double* z_bar) const override {
    own_->Kuu_pullback(theta, z, Kuu_bar, theta_bar, z_bar);
  }
  void Kuf(const double* theta, const double* z, const RowBlock& x, double* K) const override {
    own_->Kuf(theta, z, x, K);
  }
  void Kuf_pullback(const double* theta, const double* z, const RowBlock& x, const double* Kuf,
                    const double* Kuf_bar, double* theta_bar, double* z_bar,
                    double* x_bar) const override {
    own_->Kuf_pullback(theta, z, x, Kuf, Kuf_bar, theta_bar, z_bar, x_bar);
  }
  RowMatrix where(const double* z) const override { return own_->where(z); }
  FeaturesPtr for_term(const Kernel& term) const override { return own_->for_term(term); }

 private:
  FeaturesPtr own_;
};

// Eigenfunctions, Fourier features and points, of three parts and with white noise.
SparseCase mixed_case() {
  SparseCase t(50, 4, 2, 2, 3, "se@0 + matern32@1 + white(variance=0.1) + se(ard)");
  t.features = stacked_features(
      t.kernel, 2,
      {eigen_features("se", Vector::Zero(1), Vector::Ones(1),
                      largest_degrees(Vector::Constant(1, 0.5), 5)),
       fourier_features("matern32", -5.0, 5.0, 3), inducing_points("se(ard)", t.Z)});
  Parameters p;
  t.features->declare(p);
  t.values.z = p.values();
  return t;
}

TEST(StackedBounds, CollapsedAsIfDense) {
  SparseCase t = mixed_case();
  for (const char* model : {"vfe", "fitc", "pep(0.5)", "dtc"})
    for (const Route route : {Route::fast, Route::safe, Route::stable}) {
      SweepGradient own, dense;
      const SparseEvaluation a = t.evaluate(model, &own, route);
      SparseCase plain = t;
      plain.features = std::make_shared<Unstructured>(t.features);
      const SparseEvaluation b = plain.evaluate(model, &dense, route);
      EXPECT_NEAR(a.value, b.value, 1e-10 * std::abs(b.value)) << model;
      const Vector g = testing::packed(own), h = testing::packed(dense);
      EXPECT_LT((g - h).norm(), 1e-9 * h.norm()) << model;
      EXPECT_LT((a.Luu - b.Luu).norm(), 1e-12 * b.Luu.norm());
    }
}

TEST(StackedBounds, Gradients) {
  const SparseCase t = mixed_case();
  SweepGradient g;
  t.evaluate("vfe", &g);
  expect_gradient(
      [&](const Vector& x) {
        SparseCase moved = t;
        moved.values = testing::unpacked(x, t.values);
        return moved.evaluate("vfe").value;
      },
      testing::packed(g), testing::packed(t.values));
}

TEST(StackedBounds, UncollapsedAsIfDense) {
  const SparseCase t = mixed_case();
  const FeaturesPtr plain = std::make_shared<Unstructured>(t.features);
  const Index M = t.features->size();
  const MemoryRows rows(t.X, t.Y, Vector());
  const Sweep sweep = Sweep::for_features(rows, M);
  UncollapsedValues v{{t.values.theta}, {t.values.z}, {}, {}};
  Random random(4, 0);
  v.q.m = random.normal_matrix(M, 2);
  for (int f = 0; f < 2; ++f) {
    Matrix L = (0.1 * random.normal_matrix(M, M)).triangularView<Eigen::Lower>();
    L.diagonal().array() += 1.0;
    v.q.Ls.push_back(L);
  }
  const auto evaluate = [&](const FeaturesPtr& u, UncollapsedGradient& g) {
    UncollapsedProblem p;
    p.parts = {{u.get(), &t.kernel}};
    p.mean = &t.mean;
    p.sweep = &sweep;
    p.scale = 3.0;
    p.likelihood.expectation = gaussian_expectation(t.values.noise);
    Jitter jitter;
    return evaluate_uncollapsed(p, v, jitter, &g).value;
  };
  UncollapsedGradient own, dense;
  bool done = false;
  own.beside = [&](double) { done = true; };
  const double a = evaluate(t.features, own), b = evaluate(plain, dense);
  EXPECT_TRUE(done);
  EXPECT_NEAR(a, b, 1e-11 * std::abs(b));
  EXPECT_LT((own.theta_bar[0] - dense.theta_bar[0]).norm(), 1e-9 * dense.theta_bar[0].norm());
  EXPECT_LT((own.z_bar[0] - dense.z_bar[0]).norm(), 1e-9 * dense.z_bar[0].norm());
}

// White features of fewer rows than there are of them, where S is not formed.
TEST(StackedBounds, FewRowsOfWhiteFeatures) {
  SparseCase t(7, 1, 2, 2, 6, "se@0 + se@1");
  t.features =
      start_features("stacked(eigen)",
                     {.kernel = t.kernel, .theta = t.values.theta, .X = t.X, .M = 12, .seed = 0});
  Parameters parameters;
  t.features->declare(parameters);
  const FeaturesPtr plain = std::make_shared<Unstructured>(t.features);
  const MemoryRows rows(t.X, t.Y, Vector());
  const Sweep sweep = Sweep::for_features(rows, 12);
  Random random(4, 0);
  UncollapsedValues v{
      {t.values.theta}, {parameters.values()}, {}, {random.normal_matrix(12, 2), {}}};
  for (int f = 0; f < 2; ++f) {
    v.q.Ls.emplace_back((0.2 * random.normal_matrix(12, 12)).triangularView<Eigen::Lower>());
    v.q.Ls.back().diagonal().array() += 1.0;
  }
  const auto evaluate = [&](const FeaturesPtr& u, UncollapsedGradient& g) {
    UncollapsedProblem p;
    p.parts = {{u.get(), &t.kernel}};
    p.mean = &t.mean;
    p.sweep = &sweep;
    p.likelihood.expectation = gaussian_expectation(t.values.noise);
    Jitter jitter;
    return evaluate_uncollapsed(p, v, jitter, &g).value;
  };
  UncollapsedGradient own, dense;
  const double a = evaluate(t.features, own), b = evaluate(plain, dense);
  EXPECT_NEAR(a, b, 1e-11 * std::abs(b));
  EXPECT_LT((own.theta_bar[0] - dense.theta_bar[0]).norm(), 1e-10 * dense.theta_bar[0].norm());
  EXPECT_LT((own.z_bar[0] - dense.z_bar[0]).norm(), 1e-10 * dense.z_bar[0].norm());
  EXPECT_LT((own.m_bar - dense.m_bar).norm(), 1e-11 * dense.m_bar.norm());
}

// A diagonal covariance by its diagonal: the bound, its gradients and a step of q are those of the
// matrix.
TEST(ThinCovariance, AsTheMatrix) {
  SparseCase t(40, 1, 2, 2, 6, "se@0 + se@1");
  t.features = start_features(
      "stacked(eigen)", {.kernel = t.kernel, .theta = t.values.theta, .X = t.X, .M = 9, .seed = 0});
  Parameters parameters;
  t.features->declare(parameters);
  const MemoryRows rows(t.X, t.Y, Vector());
  const Sweep sweep = Sweep::for_features(rows, 9);
  UncollapsedProblem p;
  p.parts = {{t.features.get(), &t.kernel}};
  p.mean = &t.mean;
  p.sweep = &sweep;
  p.scale = 2.0;
  p.likelihood.expectation = gaussian_expectation(t.values.noise);
  Random random(4, 0);
  NaturalGaussian q(9, 2, "diagonal");
  UncollapsedValues v{
      {t.values.theta}, {parameters.values()}, {}, {random.normal_matrix(9, 2), {}}};
  for (int f = 0; f < 2; ++f) v.q.Ls.push_back(random.normal_matrix(9, 1).cwiseAbs().array() + 0.3);
  ASSERT_TRUE(v.q.is_thin());
  const auto evaluate = [&](const WhitenedGaussian& at, UncollapsedGradient& g) {
    UncollapsedValues here = v;
    here.q = at;
    Jitter jitter;
    return evaluate_uncollapsed(p, here, jitter, &g);
  };
  UncollapsedGradient thin, dense;
  const UncollapsedEvaluation a = evaluate(v.q, thin), b = evaluate(whole(v.q), dense);
  EXPECT_NEAR(a.value, b.value, 1e-11 * std::abs(b.value));
  EXPECT_NEAR(a.kl, b.kl, 1e-12 * b.kl);
  EXPECT_LT((thin.theta_bar[0] - dense.theta_bar[0]).norm(), 1e-10 * dense.theta_bar[0].norm());
  EXPECT_LT((thin.z_bar[0] - dense.z_bar[0]).norm(), 1e-10 * dense.z_bar[0].norm());
  EXPECT_LT((thin.m_bar - dense.m_bar).norm(), 1e-11 * dense.m_bar.norm());
  for (std::size_t f = 0; f < 2; ++f) {
    EXPECT_LT((thin.H[f] - dense.H[f].diagonal()).norm(), 1e-11 * thin.H[f].norm());
    EXPECT_LT((thin.Ls_bar[f] - dense.Ls_bar[f].diagonal()).norm(), 1e-10 * thin.Ls_bar[f].norm());
  }
  // From the prior a step gives both the same covariance.
  NaturalGaussian kept(9, 2, "diagonal");
  kept.keep_diagonals();
  EXPECT_EQ(kept.step(thin.g, thin.H, 0.3), 0);
  EXPECT_EQ(q.step(dense.g, dense.H, 0.3), 0);
  const Matrix S = kept.q().Ls[0];
  EXPECT_LT((S - q.q().Ls[0].diagonal()).norm(), 1e-12);
  const Vector moved = 0.3 * thin.g.col(0).cwiseProduct(S.cwiseAbs2().col(0));
  EXPECT_LT((kept.q().m.col(0) - moved).norm(), 1e-12 * moved.norm());
  kept.keep_whole();
  EXPECT_FALSE(kept.q().is_thin());
  EXPECT_EQ(kept.precision()[1].rows(), kept.precision()[1].cols());
  EXPECT_THROW(NaturalGaussian(9, 2).keep_diagonals(), InputError);
  const SparseCase points(40, 9, 2, 2, 6);
  p.parts = {{points.features.get(), &points.kernel}};
  v.theta = {points.values.theta};
  v.z = {points.values.z};
  EXPECT_THROW(evaluate(v.q, thin), InputError);
}

}  // namespace
}  // namespace covary
