#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "covary/models/svgp.hpp"
#include "models/feature_settings.hpp"
#include "models/generalised_data.hpp"

namespace covary {

// The model and its training; public functions are those of the class.
struct Svgp::Impl {
  Impl(ConstRows X, ConstRows Y, SvgpOptions options);
  Impl(std::shared_ptr<FileRows> rows, SvgpOptions options);

  void start_from(const Impl& other);
  Index inducing() const { return features_.front()->size(); }
  double elbo() const;
  std::optional<double> objective(const Vector& u, Vector* gradient, Jitter& jitter,
                                  NaturalGaussian& q) const;
  double batch_objective(const Vector& u, const RowSource& rows, const NaturalGaussian& q,
                         Jitter& jitter, Vector* gradient, UncollapsedGradient& of_q) const;
  NaturalGaussian prior() const { return {inducing(), functions(), options_.covariance}; }
  GeneralisedFit fit();
  GeneralisedFit at(const TrainingState& state) const;
  NaturalGaussian q_at(const TrainingState& state) const;

  struct Unpacked {
    UncollapsedValues values;
    Vector likelihood;
    Matrix mixing;
  };
  void take(GeneralisedData data);
  void begin();
  void see(InputMap map);
  void take_latent_space(const FitNode& from);
  void choose_features(Index M);
  void set_inputs(ConstRows Z);
  static bool is_feature(const std::string& path);
  bool trains_features() const;
  void set_features(const FeaturesPtr& features);
  bool is_mixed() const { return options_.mixing.size() > 0; }
  // What the likelihood is told of all outputs, and the functions behind it.
  Index arguments() const { return options_.likelihood.functions() * rows_->outputs(); }
  Index functions() const { return is_mixed() ? options_.mixing.cols() : arguments(); }
  std::string path_of(Index part, const std::string& rest) const;
  Unpacked unpack(ConstVector values) const;
  Vector pack(const UncollapsedGradient& g) const;
  UncollapsedProblem problem(const Sweep& sweep, const Unpacked& at, bool guard) const;
  QOptimum maximise(ConstVector values, NaturalGaussian& q, Jitter& jitter, Vector* values_bar,
                    const QOptions& options) const;
  QOptions q_options() const;
  std::optional<double> settled_bound(ConstVector values, Vector* values_bar, Jitter& jitter,
                                      NaturalGaussian& q) const;
  Problem problem(NaturalGaussian& q, Jitter& jitter);
  Summary train_full(Trainer& trainer, NaturalGaussian& q, Jitter& jitter);
  Summary train_batches(Trainer& trainer, NaturalGaussian& q, Jitter& jitter);
  Minimum train_batches_once(Trainer& trainer, NaturalGaussian& q, Jitter& jitter);
  Index starts() const { return std::max<Index>(1, options_.training.starts); }
  bool is_large_step(const RowSource& rows, const UncollapsedGradient& of_q, double gamma,
                     const NaturalGaussian& q) const;
  Index try_step(const RowSource& rows, double value, const Vector& u,
                 const UncollapsedGradient& of_q, double gamma, NaturalGaussian& q,
                 Jitter& jitter) const;
  double batch_step(const RowSource& rows, const Vector& u, double gamma, NaturalGaussian& q,
                    Jitter& jitter, Vector* gradient, Index& halvings) const;
  GeneralisedFit described(const Parameters& parameters, const WhitenedGaussian& q,
                           std::vector<Matrix> Luu, Summary summary) const;
  void say(const std::string& text) const { options_.training.say(text); }

  SvgpOptions options_;
  RowMatrix X_, Y_;  // as the model sees them: the observed rows, or a sample of those in a file
  Vector aux_, weights_;
  Scaling input_scaling_, output_scaling_;
  InputMap input_map_;
  std::shared_ptr<const UntrainedMap> untrained_;  // or none
  double log_jacobian_ = 0.0;
  std::vector<std::string> warnings_;
  std::shared_ptr<const RowSource> rows_;
  bool in_memory_ = true;
  Index batch_ = 0;
  std::vector<FeaturesPtr> features_;  // one for all latent functions, or one for each
  std::shared_ptr<FeatureSettings> settings_;
  Parameters parameters_;
  TrainingState resume_;
};

}  // namespace covary
