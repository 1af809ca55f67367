#include "features/stacked.hpp"

#include "covary/error.hpp"
#include "covary/features/eigen.hpp"
#include "features/features_case.hpp"
#include "features/fourier.hpp"

namespace covary {
namespace {

RowMatrix inputs(Index N, Index D) {
  Random random(5, 1);
  return random.normal_matrix(N, D);
}

std::vector<std::string> described(const Kernel& kernel, Index D) {
  std::vector<std::string> out;
  for (const KernelPart& p : kernel_parts(kernel, D)) {
    std::string text = p.kernel.print() + " of";
    for (const Index d : p.columns) text += " " + std::to_string(d);
    out.push_back(text + " from " + std::to_string(p.offset));
  }
  return out;
}

TEST(StackedFeatures, PartsOfAKernel) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(described("se@0 + white + matern32@2", 3),
            (Texts{"se of 0 from 0", "matern32 of 2 from 3"}));
  EXPECT_EQ(described("se(ard)@2,0 + se", 3),
            (Texts{"se(ard) of 2 0 from 0", "se of 0 1 2 from 3"}));
  EXPECT_EQ(described("white + additive(se)", 2), (Texts{"se of 0 from 1", "se of 1 from 1"}));
  EXPECT_EQ(described("additive(se + matern12)@1,2 + linear@0", 3),
            (Texts{"se of 1 from 0", "matern12 of 1 from 2", "se of 2 from 0",
                   "matern12 of 2 from 2", "linear of 0 from 4"}));
  EXPECT_EQ(described("se@0 * se@1", 2), (Texts{"se@0 * se@1 of 0 1 from 0"}));
  EXPECT_THROW(kernel_parts("se@3", 2), InputError);
}

Vector theta_of(const Kernel& kernel, Index D) {
  Vector theta = kernel.parameters(D).values();
  for (Index i = 0; i < theta.size(); ++i) theta(i) *= 0.8 + 0.1 * static_cast<double>(i);
  return theta;
}

// Positive semi-definite with Kff, and all gradients, of every kind that suits the kernel.
TEST(StackedFeatures, Conformance) {
  const RowMatrix X = inputs(7, 3);
  const std::pair<const char*, const char*> cases[] = {
      {"se@0 + se@1 + white + se(ard)@1,2", "stacked(eigen)"},
      {"additive(se) + se", "stacked(eigen)"},
      {"matern32@0 + matern12@2 + additive(matern52)", "stacked(fourier)"},
      {"linear@0 + matern32@1 + se@0,2", "stacked(points)"},
      {"se@0 + se@1,2", "stacked(multiscale)"},
      {"matern12@0 + rq@1,2", "stacked(basis(2))"}};
  for (const auto& [expression, kind] : cases) {
    SCOPED_TRACE(expression);
    const Kernel kernel = expression;
    const Vector theta = theta_of(kernel, 3);
    const FeaturesPtr u =
        start_features(kind, {.kernel = kernel, .theta = theta, .X = X, .M = 11, .seed = 2});
    check_features(*u, kernel, theta, X);
  }
}

TEST(StackedFeatures, OneIsThePlainFeature) {
  const RowMatrix X = inputs(9, 2);
  const Kernel kernel = "se(ard) + white";
  const Vector theta = theta_of(kernel, 2);
  const FeaturesPtr plain = start_features(
                        "eigen", {.kernel = kernel, .theta = theta, .X = X, .M = 12, .seed = 0}),
                    stack = start_features(
                        "stacked(eigen)",
                        {.kernel = kernel, .theta = theta, .X = X, .M = 12, .seed = 0});
  const Vector z = start_of(*plain);
  ASSERT_EQ(start_of(*stack), z);
  EXPECT_EQ(Kuf_of(*stack, theta, z, X), Kuf_of(*plain, theta, z, X));
  EXPECT_TRUE(stack->is_white());
  EXPECT_EQ(stack->size(), 12);
}

// A term is seen by its own part alone, at its own theta.
TEST(StackedFeatures, TermsAndBlocks) {
  const RowMatrix X = inputs(6, 2);
  const Kernel kernel = "se@0 + white + matern32@1 + se@0";
  const Vector theta = theta_of(kernel, 2);
  const FeaturesPtr first = eigen_features("se", Vector::Zero(1), Vector::Ones(1),
                                           largest_degrees(Vector::Constant(1, 0.5), 4)),
                    waves = fourier_features("matern32", -4.0, 4.0, 2),
                    points = inducing_points("se", inputs(3, 1));
  const FeaturesPtr u = stacked_features(kernel, 2, {first, waves, points});
  const Vector z = start_of(*u);
  const Matrix K = Kuf_of(*u, theta, z, X);
  const auto terms = kernel.terms(2);
  const Index begins[] = {0, 0, 4, 9}, sizes[] = {4, 0, 5, 3};
  for (std::size_t t = 0; t < terms.size(); ++t) {
    const FeaturesPtr own = u->for_term(Kernel(terms[t].node));
    Matrix seen(12, 6);
    own->Kuf(theta.data() + terms[t].offset, z.data(), block_of(X), seen.data());
    Matrix expected = Matrix::Zero(12, 6);
    expected.middleRows(begins[t], sizes[t]) = K.middleRows(begins[t], sizes[t]);
    EXPECT_EQ(seen, expected) << t;
  }
  const auto blocks = u->blocks();
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_TRUE(blocks[0].white);
  EXPECT_FALSE(blocks[1].white || blocks[2].white);
  EXPECT_EQ(blocks[2].first, 9);
  EXPECT_EQ(blocks[1].size, 5);
  EXPECT_FALSE(u->is_white());
  EXPECT_THROW(u->for_term("rq"), InputError);
}

TEST(StackedFeatures, Refuses) {
  const RowMatrix X = inputs(9, 2);
  const Kernel kernel = "se@0 + se@1";
  const Vector theta = theta_of(kernel, 2);
  EXPECT_THROW(start_features("stacked(eigen)",
                              {.kernel = kernel, .theta = theta, .X = X, .M = 1, .seed = 0}),
               InputError);
  EXPECT_THROW(start_features("stacked(fourier)",
                              {.kernel = kernel, .theta = theta, .X = X, .M = 9, .seed = 0}),
               InputError);
  EXPECT_THROW(
      start_features("stacked(eigen)",
                     {.kernel = "white", .theta = Vector::Ones(1), .X = X, .M = 9, .seed = 0}),
      InputError);
  EXPECT_THROW(stacked_features(kernel, 2, {inducing_points("se", X), inducing_points("se", X)}),
               InputError);
  EXPECT_THROW(stacked_features(kernel, 2, {inducing_points("se", X.leftCols(1))}), InputError);
  for (const char* text : {"stacked", "stacked()", "stacked(poits)", "stacked(stacked(eigen))"})
    EXPECT_THROW(FeatureChoice{text}, InputError) << text;
  EXPECT_EQ(FeatureChoice("stacked(basis(3))").print(), "stacked(basis(3))");
}

}  // namespace
}  // namespace covary
