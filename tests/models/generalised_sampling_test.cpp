// Draws of f from the exact posterior beside those of the approximation.
#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/inference/slice_sampling.hpp"
#include "covary/models/generalised.hpp"
#include "covary/models/svgp.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

struct Data {
  RowMatrix X = 10.0 * Random(1).normal_matrix(12, 1);
  Vector y = Vector(12);
  Data() {
    Random random(2);
    for (Index n = 0; n < 12; ++n) y(n) = X(n, 0) + 5.0 * random.normal() > 0.0 ? 1.0 : 0.0;
  }
};

GeneralisedFit fit_of(const Data& d, const Likelihood& likelihood, const Mean& mean = {}) {
  GeneralisedOptions o;
  o.likelihood = likelihood;
  o.mean = mean;
  o.method = Inference::ep;
  o.training.max_iterations = 0;
  return Generalised(d.X, d.y, std::move(o)).fit();
}

// EP's marginals are near those of the exact posterior; the mean function and the scaling of the
// inputs are the fit's.
TEST(GeneralisedSampling, EllipticalDrawsHaveTheMomentsOfEp) {
  const Data d;
  for (const char* mean : {"zero", "linear"}) {
    const GeneralisedFit fit = fit_of(d, "bernoulli(probit)", mean);
    const auto draws = fit.sample_exactly(d.X, d.y, Vector(), {.samples = 30000, .seed = 4});
    ASSERT_EQ(draws.size(), 30000U);
    const FunctionMarginals f = fit.predict_f(d.X);
    Matrix sum = Matrix::Zero(12, 1), squares = sum;
    for (const RowMatrix& draw : draws) {
      sum += draw;
      squares += draw.cwiseAbs2();
    }
    const Matrix m = sum / 30000.0, v = squares / 30000.0 - m.cwiseAbs2();
    EXPECT_LT((m - f.mean).cwiseAbs().maxCoeff(), 0.12) << mean;
    EXPECT_LT((v - f.variance).cwiseAbs().maxCoeff(), 0.2) << mean;
  }
}

TEST(GeneralisedSampling, SeveralFunctionsAndSameSeedSameDraws) {
  const Data d;
  SvgpOptions o;
  o.likelihood = "softmax(2)";
  o.inducing = 4;
  o.training.max_iterations = 0;
  const GeneralisedFit fit = Svgp(d.X, d.y, std::move(o)).fit();
  const SliceSamplingOptions few{.samples = 3, .burn_in = 5, .thin = 2, .seed = 9};
  const auto draws = fit.sample_exactly(d.X, d.y, Vector(), few);
  EXPECT_EQ(draws[0].cols(), 2);
  EXPECT_EQ(fit.sample_exactly(d.X, d.y, Vector(), few)[2], draws[2]);
  EXPECT_NE(draws[2], draws[1]);
}

TEST(GeneralisedSampling, Refusals) {
  Data d;
  const GeneralisedFit fit = fit_of(d, "bernoulli(probit)"), real = fit_of(d, "gaussian");
  EXPECT_THROW(real.sample_exactly(d.X, d.y, Vector(), {}), Unsupported);
  EXPECT_THROW(fit.sample_exactly(d.X, d.y.head(3), Vector(), {}), InputError);
  EXPECT_THROW(fit.sample_exactly(d.X, d.y, Vector(), {.thin = 0}), InputError);
  d.y(3) = std::nan("");
  EXPECT_THROW(fit.sample_exactly(d.X, d.y, Vector(), {}), InputError);
}

}  // namespace
}  // namespace covary
