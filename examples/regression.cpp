// A complete program: noisy points on a curve, a fit, predictions with their bands, draws, and the
// file that keeps the fit.
#include <cmath>
#include <cstdio>

#include "covary/covary.hpp"

namespace {

void run() {
  using namespace covary;
  const SyntheticData train = snelson_like_data(200, 1);  // inputs in [0, 6], none in (3.2, 4.2)

  // Define: y = f(x) + noise, f a Gaussian process. Parameters have paths, and may have priors.
  Regression model(train.X, train.y, {.kernel = "se", .seed = 1});
  model.parameters().set_prior("kernel.lengthscales", Prior::log_normal(0.0, 1.0));

  // Train, and say what happened.
  const RegressionFit fit = model.fit();
  std::printf("log evidence %.4f after %d iterations: %s\n\n%s\n", fit.value,
              static_cast<int>(fit.summary.iterations), fit.summary.reason.c_str(),
              fit.parameters.table(&fit.standard_errors).c_str());

  // Predict inside the data, in the gap and beyond the end. All in the units of the data.
  RowMatrix X(3, 1);
  X << 1.0, 3.7, 8.0;
  const Prediction p = fit.predict(X);
  std::printf("%6s %9s %9s %9s\n", "x", "mean", "sd of f", "sd of y");
  for (Index i = 0; i < X.rows(); ++i)
    std::printf("%6.2f %9.4f %9.4f %9.4f\n", X(i, 0), p.mean(i, 0), std::sqrt(p.variance_f(i, 0)),
                std::sqrt(p.variance_y(i, 0)));

  // Draws of the function at these inputs together, and one that can be evaluated anywhere.
  for (const RowMatrix& f : fit.sample(X, 2, 7))
    std::printf("a joint draw   %9.4f %9.4f %9.4f\n", f(0, 0), f(1, 0), f(2, 0));
  const FunctionDraw f = fit.sample_functions(1, 7).front();
  std::printf("a function     %9.4f at 3.7, %9.4f at 3.70001\n", f(X)(1, 0),
              f(RowMatrix::Constant(1, 1, 3.70001))(0, 0));

  // Keep it in a file. What is read from there predicts with the same bits, as any fit or as its
  // own.
  fit.save("regression.cov");
  const Fit kept = load("regression.cov");
  std::remove("regression.cov");
  const SyntheticData test = snelson_like_data(500, 2);
  const Prediction q = kept.as<RegressionFit>().predict(test.X);
  std::printf("held-out rmse  %9.4f, nlpd %.4f\n", rmse(test.y, q.mean.col(0)),
              nlpd(test.y, q.mean.col(0), q.variance_y.col(0)));
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
