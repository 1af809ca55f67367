// Two classes whose boundary is a wave: probabilities by expectation propagation, and the scores
// that tell whether to trust them.
#include <cstdio>

#include "covary/covary.hpp"

namespace {

void run() {
  using namespace covary;
  const SyntheticClasses train = wave_classes_data(200, 1), test = wave_classes_data(1000, 2);

  const GeneralisedFit fit =
      Generalised(
          train.X, train.labels,
          {.method = Inference::ep, .likelihood = "bernoulli(probit)", .classes = {"low", "high"}})
          .fit();
  std::printf("%s\n\n", fit.summary.brief().c_str());

  RowMatrix X(4, 1);
  X << 1.0, 3.0, 6.0, 10.0;
  const Matrix p = fit.predict(X).probabilities;
  std::printf("%6s %12s\n", "x", "p(high | x)");
  for (Index i = 0; i < X.rows(); ++i) std::printf("%6.1f %12.3f\n", X(i, 0), p(i, 1));

  const RowMatrix q = fit.predict(test.X).probabilities;
  const ClassificationScores s = classification_scores(test.labels, q);
  std::printf("held-out accuracy %.3f, nlpd %.3f, calibration error %.3f\n", s.accuracy, s.nlpd,
              s.ece);
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
