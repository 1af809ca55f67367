#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "covary/models/sparse_regression.hpp"
#include "covary/statistics/rows.hpp"
#include "inference/expected_kl.hpp"
#include "models/checks.hpp"
#include "models/feature_settings.hpp"
#include "models/one_pass_cache.hpp"

namespace covary {

// The model and its training; public functions are those of the class.
struct SparseRegression::Impl {
  Impl(ConstRows X, ConstRows Y, SparseRegressionOptions options, ConstVector point_noise);
  Impl(std::shared_ptr<FileRows> rows, SparseRegressionOptions options);

  void set_parameters(Parameters parameters, FeaturesPtr features);
  void start_from(const Impl& other);
  SparseEvaluation evaluate() const;
  Certificate certificate() const;
  double mean_kl() const;
  Planned plan() const;
  std::optional<double> objective(const Vector& u, Vector* gradient, Jitter& jitter) const;
  RegressionFit fit(Trainer& trainer);

  static constexpr Index first_inducing = 32;  // where automatic M begins

  void take(ScaledData data);
  void begin();
  SparseValues unpack(ConstVector values) const;
  Parameters exact_parameters() const;
  SparseEvaluation evaluate(ConstVector values, Jitter& jitter, Vector* values_bar,
                            Matrix* v = nullptr) const;
  std::shared_ptr<const OnePassStatistics> one_pass(ConstVector z) const;
  double bound() const;
  bool trains_features() const;
  void set_features(FeaturesPtr features);
  void set_inputs(ConstRows Z);
  void choose_features(Index M);
  void set_sums_from(ConstRows rows, Trainer& trainer, Jitter& jitter);
  bool choose_start_of_sums(Trainer& trainer, Jitter& jitter);  // false: there is no choice
  void raise_noise();
  Problem problem(Jitter& jitter);
  bool looks_for_number() const;
  void start_from_subset(Trainer& trainer);
  Minimum train(Trainer& trainer, Jitter& jitter);
  Minimum train_from_starts(Trainer& trainer, Jitter& jitter);
  Minimum train_once(Trainer& trainer, Jitter& jitter);
  Minimum train_warm(Trainer& trainer, Jitter& jitter);
  std::unique_ptr<ExpectedKl> expected_kl_of_rows() const;
  Minimum place(Trainer& trainer, Jitter& jitter);
  Minimum train_placed(Trainer& trainer, Jitter& jitter);
  Minimum grow(Trainer& trainer, Jitter& jitter);
  std::string find_number(Trainer& trainer, Jitter& jitter);
  Minimum grow_by_plan(Trainer& trainer, Jitter& jitter);
  void add_plan(const SparseEvaluation& e,
                std::vector<std::pair<std::string, double>>& diagnostics) const;
  Index brief() const;  // iterations of a training that is only to see where it leads
  void second_opinion(const Parameters& given, Index iterations, Trainer& trainer, Minimum& best);
  SparseProblem vfe_problem(const Sweep& sweep) const;
  Certificate bracket() const;
  double held_out_score(const Posterior& posterior) const;
  void say(const std::string& text) const { options_.training.say(text); }

  SparseRegressionOptions options_;
  RowMatrix X_, Y_;  // as the model sees them: all rows, or the sample of those in a file
  Vector point_noise_;
  Scaling input_scaling_, output_scaling_;
  double log_jacobian_ = 0.0;
  std::vector<std::string> warnings_;
  std::shared_ptr<const RowSource> rows_;  // all of them
  std::vector<std::vector<Index>> columns_;
  std::vector<Index> group_starts_;  // PITC
  FeaturesPtr features_;
  std::shared_ptr<FeatureSettings> settings_;
  std::shared_ptr<OnePassCache> sums_;  // over the rows, as long as the features do not change
  Parameters parameters_;
  TrainingState resume_;
  std::optional<double> guard_;  // the subset fit's score on rows that it mostly did not see
};

}  // namespace covary
