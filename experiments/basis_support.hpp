#pragma once

#include <optional>
#include <string>
#include <vector>

#include "covary/models/sparse_regression.hpp"
#include "experiments.hpp"

namespace covary::experiments {

// A regression with rows to test it on.
struct Task {
  RowMatrix X, Y, Xtest, Ytest;

  double unit() const;  // the standard deviation of the training outputs
};
// 36 000 rows of the 40 000, the other 4000 for testing; of fewer rows nine in ten.
Task read_kin40k(const Settings& settings);
// total_UPDRS from 20 inputs, nine of ten rows (the first fold of the data's file).
Task read_parkinsons(const Settings& settings);
// Noise of this standard deviation, in those of the training outputs, on all outputs.
Task with_noise(Task task, double sd, std::uint64_t seed);

// M inducing variables of C points each.
struct Size {
  Index M, C;

  Index numbers(Index D) const { return M + M * M + M * C * (D + 1); }
  std::string name() const;
};

// Errors are in standard deviations of the training outputs, the bound is in nats a row.
struct Score {
  Size size;
  double rmse = 0.0, nlpd = 0.0, bound = 0.0, noise_sd = 0.0, seconds = 0.0;
  Index iterations = 0, numbers = 0;
};
Score score_of(const Task& task, const Size& size, const RegressionFit& fit);

// VFE with se(ard), trained from an exact fit of some rows; of M points from k iterations with them
// held besides, k ≤ 15.
struct BasisTraining {
  Index iterations = 200;
  std::uint64_t seed = 0;
  Index subset = 1000;               // rows of the exact fit
  double seconds = 0.0;              // at most; 0: no limit
  const Parameters* held = nullptr;  // not trained but taken from here, features' own left out
};
SparseRegressionOptions basis_options(const Size& size, const BasisTraining& how);
// The fit itself for those who ask.
Score fit_basis(const Task& task, const Size& size, const BasisTraining& how,
                std::optional<RegressionFit>* kept = nullptr);

}  // namespace covary::experiments
