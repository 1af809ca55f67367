#include "covary/features/planner.hpp"

#include <cmath>

#include "covary/error.hpp"
#include "covary/kernels/kernels.hpp"
#include "features/features_case.hpp"

namespace covary {
namespace {

Spectrum unit_se(double sd) {
  return Spectrum::squared_exponential(1.0, Vector::Ones(1), Vector::Constant(1, sd));
}

// The first table of the reference values: B, λ_0 = 1 − B, M for a tail of 1e-6, and T12.
TEST(Planner, ReferenceValuesOfSe) {
  struct Line {
    double s2, B;
    Index M, logs[3];
  };
  const Line table[] = {{1.0 / 12, .07179677, 6, {9, 14, 21}}, {.25, .17157288, 8, {13, 21, 32}},
                        {1, .38196601, 15, {23, 39, 58}},      {4, .6096118, 28, {43, 75, 112}},
                        {10, .72984379, 44, {68, 117, 176}},   {25, .81900249, 70, {107, 185, 277}},
                        {100, .90487508, 139, {213, 369, 553}}};
  for (const Line& t : table) {
    const double sd = std::sqrt(t.s2), B = eigenvalue_ratio(1.0, sd);
    EXPECT_NEAR(B, t.B, 5e-9);
    const Spectrum spectrum = unit_se(sd);
    EXPECT_NEAR(spectrum.tail(0) - spectrum.tail(1), 1.0 - t.B, 5e-9);
    EXPECT_EQ(spectrum.first_below(1e-6, 1000), t.M);
    EXPECT_EQ(spectrum.first_below(1e-6, t.M - 1), t.M);  // none up to there
    const Index rows[] = {200, 10000, 1000000};
    for (int i = 0; i < 3; ++i) EXPECT_EQ(eigenfunctions_for(rows[i], B), t.logs[i]);
  }
}

TEST(Planner, ReferenceValuesOfTheExponential) {
  const Spectrum spectrum = Spectrum::exponential(1.0, 1.0, 1.0);
  const double lambda[] = {.7388108094,  .1380037754,   .04508848729,  .02132893129,
                           .01227891385, .007945371034, .005551069348, .004093330454};
  for (Index m = 0; m < 8; ++m)
    EXPECT_NEAR(spectrum.tail(m) - spectrum.tail(m + 1), lambda[m], 1e-10);
  const std::pair<Index, double> tails[] = {
      {1, .2611891906},    {5, .0444890828},     {10, .02127162181},   {20, .0103850364},
      {50, .004093363948}, {100, .002036554829}, {500, .0004056900149}};
  for (const auto& [M, value] : tails) EXPECT_NEAR(spectrum.tail(M), value, 5e-11);
  // 2/(π²M) + 1/(π²M²) + o(M⁻²) (T14), whatever the units of length.
  EXPECT_NEAR(Spectrum::exponential(2.0, 3.0, 3.0).tail(500), 2.0 * tails[6].second, 1e-11);
}

// Without cancellation: the sum of what is left, term by term.
TEST(Planner, TailsOfSeveralColumns) {
  Vector l(3), sd(3), ratios(3);
  l << 1.0, 2.5, 1e9;
  sd << 0.5, 1.0, 1.0;
  for (Index d = 0; d < 3; ++d) ratios(d) = eigenvalue_ratio(l(d), sd(d));
  const Spectrum spectrum = Spectrum::squared_exponential(1.3, l, sd);
  const Eigen::MatrixX<Index> many = largest_degrees(ratios, 400);
  for (const Index M : {0, 1, 7, 40, 120}) {
    double sum = 0.0;
    for (Index m = 399; m >= M; --m) {
      double value = 1.3;
      for (Index d = 0; d < 3; ++d)
        value *= (1.0 - ratios(d)) * std::pow(ratios(d), static_cast<double>(many(m, d)));
      sum += value;
    }
    EXPECT_NEAR(spectrum.tail(M), sum, 1e-9 * sum) << M;
  }
  EXPECT_LT(spectrum.tail(120), 1e-10);
  // Columns of one ratio and degrees below n in all: a negative binomial tail (d = 3, n = 6).
  const double B = eigenvalue_ratio(1.0, 1.0);
  const Spectrum even = Spectrum::squared_exponential(1.0, Vector::Ones(3), Vector::Ones(3));
  double below = 0.0;
  for (const double j : {0.0, 1.0, 2.0, 3.0, 4.0, 5.0})
    below += 0.5 * (j + 1.0) * (j + 2.0) * std::pow(1.0 - B, 3.0) * std::pow(B, j);
  EXPECT_NEAR(even.tail(56), 1.0 - below, 1e-14);
  const Spectrum flat = Spectrum::squared_exponential(
      1.0, Vector::Constant(2, std::numeric_limits<double>::infinity()), Vector::Ones(2));
  EXPECT_EQ(flat.tail(3), 0.0);
}

// E[t/N] of inputs that are uniform, s = 5 and R = √75: below κ·tail (T9), and its values.
TEST(Planner, UniformInputs) {
  const double R = std::sqrt(75.0), kappa = uniform_domination(5.0, R);
  EXPECT_NEAR(kappa, 3.24296, 1e-5);
  const std::pair<Index, double> values[] = {{8, .184469},     {16, .0236676},   {24, .00390211},
                                             {32, .000680664}, {40, .000122834}, {50, 1.50297e-5},
                                             {60, 1.86903e-6}};
  const Kernel kernel = se(false, {1.0, {1.0}});
  const Vector theta = kernel.parameters(1).values();
  const RowMatrix X = Vector::LinSpaced(4001, -R, R);
  for (const auto& [M, value] : values) {
    Eigen::MatrixX<Index> degrees(M, 1);
    for (Index m = 0; m < M; ++m) degrees(m, 0) = m;
    const FeaturesPtr u =
        eigen_features(kernel, Vector::Zero(1), Vector::Constant(1, 5.0), degrees);
    const Vector left =
        (1.0 - Kuf_of(*u, theta, start_of(*u), X).colwise().squaredNorm().array()).matrix();
    const double mean = (left.sum() - 0.5 * (left(0) + left(4000))) / 4000.0;
    EXPECT_NEAR(mean, value, 1e-4 * value);
    EXPECT_LE(mean, kappa * unit_se(5.0).tail(M));
  }
}

// The theorems' probabilities hold over data sets, and are not idle.
TEST(Planner, TraceIsSeldomAbove) {
  const Kernel kernel = se(false, {1.0, {1.0}});
  const Vector theta = kernel.parameters(1).values();
  const double sd = 2.0, half = 2.0, own = 1.0;
  const Index M = 8, N = 60, sets = 300;
  Eigen::MatrixX<Index> degrees(M, 1);
  for (Index m = 0; m < M; ++m) degrees(m, 0) = m;
  const FeaturesPtr u = eigen_features(kernel, Vector::Zero(1), Vector::Constant(1, sd), degrees);
  const double unit = static_cast<double>(N) * unit_se(sd).tail(M);
  const double excess = 0.5;
  Index uniform = 0, normal = 0;
  double mean = 0.0;
  for (Index i = 0; i < sets; ++i) {
    Random random(static_cast<std::uint64_t>(i), 3);
    RowMatrix U(N, 1), G(N, 1), matched(N, 1);
    for (Index n = 0; n < N; ++n) {
      U(n) = half * (2.0 * random.uniform() - 1.0);
      G(n) = own * random.normal();
      matched(n) = sd * random.normal();
    }
    const auto trace = [&](const RowMatrix& X) {
      return static_cast<double>(N) - Kuf_of(*u, theta, start_of(*u), X).squaredNorm();
    };
    uniform += trace(U) > (1.0 + excess) * uniform_domination(sd, half) * unit;
    normal += trace(G) > (normal_domination(sd, own) + excess) * unit;
    mean += trace(matched) / unit / static_cast<double>(sets);
  }
  EXPECT_LE(uniform, uniform_failure(N, 1.0, sd, half, excess) * sets);
  EXPECT_LE(normal, normal_failure(N, 1.0, sd, own, excess) * sets);
  EXPECT_LT(uniform_failure(N, 1.0, sd, half, excess), 0.01);
  EXPECT_LT(normal_failure(5000, 1.0, sd, own, excess), 0.05);
  EXPECT_EQ(normal_failure(1, 1.0, sd, own, 1e-3), 1.0);
  // Of inputs from the measure itself the mean of the trace is N·tail (T5).
  EXPECT_NEAR(mean, 1.0, 0.1);
}

TEST(Planner, Plans) {
  PlanRequest r;
  r.rows = 1000.0;
  r.noise = 0.1;
  r.energy = 12000.0;
  const Spectrum spectrum = unit_se(3.0);
  const FeaturePlan plan = plan_features(spectrum, r);
  EXPECT_TRUE(plan.within);
  EXPECT_LE(plan.high, r.kl);
  EXPECT_DOUBLE_EQ(plan.low, 0.5 * plan.high);
  EXPECT_GT(plan_of(spectrum, r, plan.inducing - 1).high, r.kl);
  // T12 in full: log(κNv(1 + |y|²/σ²)/(2σ²ε))/log(1/B), with ε of the risk.
  const double B = eigenvalue_ratio(1.0, 3.0);
  EXPECT_EQ(
      plan.certain,
      static_cast<Index>(std::ceil(
          std::log(r.rows * (1.0 + r.energy) / (2.0 * r.noise * r.kl * r.risk)) / -std::log(B))));
  EXPECT_GT(plan.certain, plan.inducing);
  EXPECT_LE(planning::kl_bound(r.rows * spectrum.tail(plan.certain) / r.risk, r.noise, r.energy),
            r.kl);
  EXPECT_NE(plan.print(r).find(std::to_string(plan.inducing) + " eigenfunctions"),
            std::string::npos);
  r.domination = 4.0;
  EXPECT_GT(plan_features(spectrum, r).inducing, plan.inducing);
  EXPECT_EQ(plan_features(spectrum, r).low, 0.0);
  r.most = 10;
  EXPECT_EQ(plan_features(spectrum, r).inducing, 10);
  EXPECT_FALSE(plan_features(spectrum, r).within);
  EXPECT_EQ(plan_features(spectrum, r).certain, 0);
  EXPECT_NE(plan_features(spectrum, r).print(r).find("above"), std::string::npos);
}

TEST(Planner, Refuses) {
  PlanRequest r;
  EXPECT_THROW(plan_features(unit_se(1.0), r), InputError);  // no rows
  r.rows = 5.0;
  EXPECT_THROW(plan_features(unit_se(1.0), r), InputError);  // no noise
  r.noise = 1.0;
  r.risk = 1.0;
  EXPECT_THROW(plan_features(unit_se(1.0), r), InputError);
  EXPECT_THROW(normal_domination(1.0, 2.0), InputError);
  EXPECT_THROW(uniform_domination(1.0, 0.0), InputError);
  EXPECT_THROW(Spectrum::exponential(1.0, 0.0, 1.0), InputError);
  EXPECT_THROW(Spectrum::squared_exponential(-1.0, Vector::Ones(1), Vector::Ones(1)), InputError);
  EXPECT_THROW(unit_se(1.0).tail(-1), InputError);
  EXPECT_THROW(eigen_tail(Vector::Ones(2), Eigen::MatrixX<Index>::Zero(1, 1)), InputError);
  EXPECT_THROW(eigenfunctions_for(10, 1.0), InputError);
  EXPECT_THROW(expected_kl(1.0, 0.0), InputError);
}

}  // namespace
}  // namespace covary
