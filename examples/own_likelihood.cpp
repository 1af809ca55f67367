// A likelihood of your own, from its log density: outputs with the heavy tails of a logistic
// distribution, which outliers move less than they move a Gaussian.
#include <cmath>
#include <cstdio>
#include <span>

#include "covary/covary.hpp"

namespace {

covary::Likelihood logistic() {
  using namespace covary;
  return formula_likelihood(
      "logistic", {{"scale", 1.0}},
      [](double y, double, auto f, auto theta) {
        using std::log;
        auto z = (y - f) / theta[0];
        return -z - 2.0 * softplus(-z) - log(theta[0]);
      },
      {.width = 3.0,  // how far from the real axis log p stays analytic in f
       .conditional = [](double f, double, std::span<const double> theta) {
         return Moments{f, 3.29 * theta[0] * theta[0]};  // of y given f, for predictions
       }});
}

void run() {
  using namespace covary;
  SyntheticData train = snelson_like_data(100, 1);
  const SyntheticData test = snelson_like_data(500, 2);
  for (Index n = 0; n < train.y.size(); n += 10) train.y(n) += 6.0;  // outliers

  const Prediction gaussian = Regression(train.X, train.y, {.kernel = "se"}).fit().predict(test.X);
  const GeneralisedFit fit =
      Generalised(train.X, train.y, {.kernel = "se", .likelihood = logistic()}).fit();
  std::printf("%s\n", fit.summary.brief().c_str());
  std::printf("rmse of the function: %.3f with Gaussian noise, %.3f with logistic noise\n",
              rmse(test.f, gaussian.mean.col(0)), rmse(test.f, fit.predict(test.X).mean));
}

}  // namespace

int main() {
  try {
    run();
    return 0;
  } catch (const covary::Error& e) {
    std::fprintf(stderr, "%s: %s\n", e.kind().c_str(), e.what());
    return 1;
  }
}
