// What every pair of features and a kernel must do, or that it is refused. New features are one
// more line in `kinds`, a new kernel one in `kernels`, and both get their entries in the table.
#include <map>
#include <set>
#include <string>

#include "covary/error.hpp"
#include "covary/features/choice.hpp"
#include "covary/linalg/cholesky.hpp"
#include "features/features_case.hpp"

namespace covary {
namespace {

constexpr Index M = 4;

RowMatrix inputs(Index D) { return Random(5, 2).normal_matrix(7, D); }
FeaturesPtr start(const std::string& kind, const Kernel& kernel, const Vector& theta,
                  const RowMatrix& X) {
  const FeatureChoice choice(kind);
  const Index n = choice.inputs(M);
  return start_features(
      choice,
      {.kernel = kernel, .theta = theta, .X = X, .M = M, .seed = 3, .Z = 0.7 * X.topRows(n)});
}

// The feature's parameters, held ones included, moved at random from their starts.
Vector moved(const Features& u, Random& random) {
  Parameters p;
  u.declare(p);
  if (p.size() == 0) return p.values();
  p.unfix("features");
  return p.constrain(p.flatten() + 0.2 * random.normal_vector(p.free_size()));
}

struct Line {
  const char *kind, *kernel;
  Index D;
  double condition = 1.0;  // of Kuu at the tenth point of the gradients, at least
};
void PrintTo(const Line& l, std::ostream* out) { *out << l.kind << " of " << l.kernel; }

// Every kind, with kernels that take another road through it.
const std::vector<Line> lines{{"points", "se(ard) + white", 2, 1e7},
                              {"points", "matern32 + periodic * linear", 2, 1e3},
                              {"multiscale", "se(ard)", 2, 1e7},
                              {"multiscale(2)", "se + constant", 2, 1e7},
                              {"frequency", "se(ard) + se", 2, 1e7},
                              {"timefrequency", "se@0 * se@1", 2, 1e7},
                              {"basis(2)", "rq(ard)", 2, 1e6},
                              {"eigen", "se(ard)", 2},
                              {"eigen", "matern12", 1},
                              {"fourier", "matern12 + white", 1, 30},
                              {"fourier", "matern52", 1, 1e5},
                              {"fourier", "matern32@0 * matern12@1", 2, 1e3},
                              {"fourier(l2)", "matern12", 1, 100},
                              {"orthogonal", "matern32", 1},
                              {"orthogonal", "se", 1},
                              {"empirical", "matern52(ard)", 2, 1e5},
                              {"rff", "se(ard)", 2},
                              {"ssgp", "matern32", 2},
                              {"hilbert", "matern52(ard)", 2},
                              {"bumps", "rq", 2},
                              {"stacked(points)", "linear@0 + matern32@1", 2, 100},
                              {"stacked(eigen)", "se@0 + se@1 + white", 2},
                              {"stacked(fourier)", "additive(matern32)", 2}};

class FeatureGradients : public testing::TestWithParam<Line> {};

// The tenth point has lengthscales so long that the features are nearly one, and Kuu, unless they
// are orthogonal, is ill-conditioned.
TEST_P(FeatureGradients, P6_AtTenPoints) {
  const Line& line = GetParam();
  const Kernel kernel = line.kernel;
  const Parameters parameters = kernel.parameters(line.D);
  Random random(17);
  for (int point = 0; point < 10; ++point) {
    SCOPED_TRACE(point);
    Vector theta = parameters.values();
    for (double& v : theta) v *= std::exp(0.4 * random.normal());
    const RowMatrix X = random.normal_matrix(5, line.D);
    const FeaturesPtr u = start(line.kind, kernel, theta, inputs(line.D));
    if (point == 9)
      for (const auto& p : parameters.all())
        if (p.path.ends_with("lengthscales"))
          theta.segment(parameters.offset(p.path), p.value.size()) *= 30.0;
    const Vector z = moved(*u, random);
    if (point == 9) {
      EXPECT_GE(cholesky(u->Kuu(theta.data(), z.data())).condition_estimate(), line.condition);
    }
    check_feature_gradients(*u, theta, z, X, static_cast<std::uint64_t>(point));
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, FeatureGradients, testing::ValuesIn(lines));

// Of every kind the kernels that it takes (+), in the order of these; others it must refuse.
const std::vector<std::pair<const char*, Index>> kernels{
    {"se", 1},           {"se(ard)", 2},           {"matern12", 1},
    {"matern32", 1},     {"matern52", 1},          {"matern52(ard)", 2},
    {"rq", 1},           {"periodic", 1},          {"cosine", 1},
    {"linear", 2},       {"poly(2)", 2},           {"constant", 1},
    {"white", 1},        {"se + white", 1},        {"matern32 + white", 1},
    {"se + se", 1},      {"se@0 * se@1", 2},       {"matern32@0 * matern12@1", 2},
    {"2 * se", 2},       {"se@0 + matern32@1", 2}, {"additive(matern52)", 2},
    {"se * periodic", 1}};
const std::map<std::string, std::string> kinds{
    {"points", "++++++++++++++++++++++"},         {"multiscale", "++---------+-+-++-+---"},
    {"multiscale(2)", "++---------+-+-++-+---"},  {"frequency", "++---------+-+-++-+---"},
    {"timefrequency", "++---------+-+-++-+---"},  {"basis(2)", "++++++++++++++++++++++"},
    {"eigen", "+++--------+-+--+-+---"},          {"fourier", "--+++---------+--+----"},
    {"fourier(l2)", "--+-------------------"},    {"orthogonal", "+-+++--------++-------"},
    {"empirical", "++++++++++++-+++++++++"},      {"rff", "++++++-----+-++-+-+---"},
    {"ssgp", "++++++-----+-++-+-+---"},           {"hilbert", "++++++-------++-+-+---"},
    {"bumps", "++++++++++++-+++++++++"},          {"stacked(points)", "++++++++++++-+++++++++"},
    {"stacked(eigen)", "+++--------+-+-++-+---"}, {"stacked(fourier)", "--+++---------+--+--+-"}};

// A pair that is offered is positive semi-definite with Kff (P30), unless it is a model of its own,
// and has its gradients; one that is not is refused.
TEST(FeaturePairs, ConformOrAreRefused) {
  for (const auto& [kind, taken] : kinds) {
    const FeatureChoice choice(kind);
    ASSERT_EQ(taken.size(), kernels.size());
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const auto& [text, D] = kernels[i];
      SCOPED_TRACE(kind + " of " + text);
      const Kernel kernel = text;
      const Vector theta = kernel.parameters(D).values();
      const RowMatrix X = inputs(D);
      if (taken[i] == '-') {
        EXPECT_THROW(start(kind, kernel, theta, X), InputError);
        continue;
      }
      const FeaturesPtr u = start(kind, kernel, theta, X);
      const Vector z = start_of(*u);
      ASSERT_EQ(z.size(), u->parameter_count());
      EXPECT_EQ(u->dims(), D);
      if (!choice.is_parametric()) check_feature_order(*u, kernel, theta, z, X);
      check_feature_gradients(*u, theta, z, Random(6).normal_matrix(5, D));
    }
  }
}

// No kind is without its line and its entries.
TEST(FeaturePairs, EveryKindIsHere) {
  std::set<std::string> with_lines, with_entries;
  for (const Line& line : lines) with_lines.insert(FeatureChoice(line.kind).name());
  for (const auto& [kind, taken] : kinds) with_entries.insert(FeatureChoice(kind).name());
  for (const FeatureKind* kind : feature_kinds()) {
    EXPECT_TRUE(with_lines.contains(kind->name)) << kind->name;
    EXPECT_TRUE(with_entries.contains(kind->name)) << kind->name;
  }
}

}  // namespace
}  // namespace covary
