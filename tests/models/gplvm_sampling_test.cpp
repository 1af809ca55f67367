#include "covary/models/gplvm_sampling.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/models/gplvm.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

RowMatrix outputs(Index n, std::uint64_t seed) {
  const Vector t = Vector::LinSpaced(n, -1.0, 1.0);
  RowMatrix out(n, 3);
  out << t, (2.0 * t.array()).sin().matrix(), t.array().square().matrix();
  return out + 0.2 * Random(seed).normal_matrix(n, 3);
}

GplvmFit trained(const RowMatrix& Y, Index Q, const char* kernel, bool dynamics = false) {
  GplvmOptions o;
  o.latent = Q;
  o.kernel = kernel;
  o.inducing = Y.rows();
  o.training.starts = 1;
  o.training.max_iterations = 150;
  o.held_iterations = 0;
  if (dynamics) o.times = Vector::LinSpaced(Y.rows(), 0.0, 1.0);
  Gplvm model(Y, o);
  model.parameters().set("likelihood.variance", 0.1);
  model.parameters().fix("likelihood.variance");
  model.parameters().fix("kernel");
  return model.fit();
}

// The bound is one: it lies below log p(Y) of the model without inducing inputs.
TEST(GplvmSampling, BoundIsBelowTheEvidenceByImportanceSampling) {
  for (const Index n : {5, 8})
    for (const Index Q : {1, 2})
      for (const char* kernel : {"se(ard)", "linear(ard)"}) {
        RowMatrix Y = outputs(n, static_cast<std::uint64_t>(10 * n + Q));
        if (Q == 2) Y(1, 2) = std::nan("");
        const GplvmFit fit = trained(Y, Q, kernel);
        const EvidenceEstimate found = estimate_log_evidence(fit, Y, 10000, 1.5, 1);
        EXPECT_LE(fit.value, found.value + 3.0 * found.standard_error)
            << n << " rows, " << Q << " dimensions, " << kernel;
        // And the estimate is one of the same number, not of another model's.
        EXPECT_LT(found.value - fit.value, 3.0 + static_cast<double>(n * Q))
            << n << " rows, " << Q << " dimensions, " << kernel;
        EXPECT_LT(found.standard_error, 1.0);
      }
  const RowMatrix Y = outputs(6, 3);
  const GplvmFit over_time = trained(Y, 1, "se(ard)", true);
  const EvidenceEstimate found = estimate_log_evidence(over_time, Y, 20000, 1.5, 1);
  EXPECT_LE(over_time.value, found.value + 3.0 * found.standard_error);
}

// p(X | Y) is the same turned round, and chains do turn: distances between rows do not.
TEST(GplvmSampling, SamplersAgreeWithEachOtherAndAboutWithQ) {
  const RowMatrix Y = outputs(6, 4);
  const GplvmFit fit = trained(Y, 1, "se(ard)");
  InputSamplingOptions o;
  o.samples = 2000;
  o.seed = 2;
  const auto distance = [&](const char* method) {
    o.method = method;
    double square = 0.0;
    for (const RowMatrix& X : sample_latent(fit, Y, o).X)
      square += std::pow(X(5, 0) - X(0, 0), 2) / 2000.0;
    return std::sqrt(square);
  };
  const double slice = distance("slice"), retrospective = distance("retrospective"),
               q = std::sqrt(std::pow(fit.mean(5, 0) - fit.mean(0, 0), 2) + fit.variance(5, 0) +
                             fit.variance(0, 0));
  EXPECT_NEAR(slice, retrospective, 0.2 * slice);
  EXPECT_NEAR(slice, q, 0.35 * q);
}

TEST(GplvmSampling, TellsWhatItNeeds) {
  const RowMatrix Y = outputs(6, 4);
  const GplvmFit fit = trained(Y, 1, "se(ard)");
  EXPECT_THROW(sample_latent(fit, Y.topRows(4)), InputError);
  EXPECT_THROW(sample_latent(fit, Y.leftCols(2)), InputError);
  GplvmOptions o;
  o.latent = 1;
  o.given = RowMatrix::Constant(6, 1, std::nan(""));
  o.given(0, 0) = 0.3;
  o.training.max_iterations = 2;
  o.held_iterations = 0;
  EXPECT_THROW(estimate_log_evidence(Gplvm(Y, o).fit(), Y), Unsupported);
}

}  // namespace
}  // namespace covary
