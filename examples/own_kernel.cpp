// A kernel of your own, from its formula: gradients by its parameters and by the inputs follow, and
// it adds and multiplies as every other kernel does.
#include <cstdio>

#include "covary/covary.hpp"

namespace {

void run() {
  using namespace covary;
  const Kernel cauchy = formula_kernel("cauchy", {{"variance", 1.0}, {"lengthscale", 1.0}},
                                       [](auto x, auto z, auto theta) {
                                         auto r2 = theta[0] * 0.0;
                                         for (std::size_t d = 0; d < x.size(); ++d)
                                           r2 += (x[d] - z[d]) * (x[d] - z[d]);
                                         return theta[0] / (1.0 + r2 / (theta[1] * theta[1]));
                                       });
  const SyntheticData train = snelson_like_data(100, 1), test = snelson_like_data(500, 2);
  for (const Kernel& kernel : {cauchy, cauchy + linear(), Kernel("se")}) {
    const RegressionFit fit = Regression(train.X, train.y, {.kernel = kernel}).fit();
    const Prediction p = fit.predict(test.X);
    std::printf("%-16s log marginal likelihood %9.3f, held-out nlpd %.3f\n", kernel.print().c_str(),
                fit.value, nlpd(test.y, p.mean.col(0), p.variance_y.col(0)));
  }
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
