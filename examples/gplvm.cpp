// A table without inputs: a Bayesian GP-LVM finds that twelve columns are functions of two hidden
// ones, and completes cells that are missing.
#include <cmath>
#include <cstdio>
#include <limits>

#include "covary/covary.hpp"

namespace {

// Twelve smooth functions of two hidden inputs, with noise.
covary::RowMatrix table(covary::Index rows) {
  using namespace covary;
  Random random(3);
  RowMatrix Y(rows, 12);
  for (Index i = 0; i < rows; ++i) {
    const double a = 2.0 * random.uniform() - 1.0, b = 2.0 * random.uniform() - 1.0;
    for (Index p = 0; p < Y.cols(); ++p) {
      const double turn = 0.5 * static_cast<double>(p);
      Y(i, p) = std::sin(2.0 * a + turn) + std::cos(turn) * b + 0.05 * random.normal();
    }
  }
  return Y;
}

void run() {
  using namespace covary;
  const RowMatrix Y = table(100);
  const GplvmFit fit =
      Gplvm(Y, {.latent = 5, .inducing = 20, .training = {.max_iterations = 200, .starts = 2}})
          .fit();
  std::printf("%s\n\n", fit.summary.brief().c_str());
  std::printf("%d of %d dimensions are in use\n", static_cast<int>(fit.active().size()),
              static_cast<int>(fit.latent()));

  RowMatrix partial = Y.topRows(1);
  partial(0, 11) = std::numeric_limits<double>::quiet_NaN();
  const auto placed = fit.infer(partial);
  const Prediction completed = fit.decode(placed.mean, placed.variance);
  std::printf("a missing cell: %.3f ± %.3f, in truth %.3f\n", completed.mean(0, 11),
              std::sqrt(completed.variance_y(0, 11)), Y(0, 11));
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
