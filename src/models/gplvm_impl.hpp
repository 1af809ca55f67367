#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "covary/inference/sparse.hpp"
#include "covary/models/gplvm.hpp"
#include "covary/random/random.hpp"
#include "statistics/expectations.hpp"
#include "statistics/shelf.hpp"

namespace covary {

// The model and its training; public functions are those of the class.
struct Gplvm::Impl {
  Impl(ConstRows Y, GplvmOptions options);

  std::optional<double> objective(const Vector& u, Vector* gradient, Jitter& jitter) const;
  Problem problem(Jitter& jitter);
  GplvmFit fit(Trainer& trainer);

  struct View {
    LatentView view;
    RowMatrix Y;      // as the model sees them; of more columns than rows a factor of YYᵀ
    RowMatrix all_Y;  // is then here, else empty
    Scaling scaling;
    std::vector<std::vector<Index>> columns;  // by missing pattern
    FeaturesPtr features;
    Index offset = 0;        // of its parameters in values()
    double silent() const {  // columns that the factor does not have
      return all_Y.size() ? static_cast<double>(all_Y.cols() - Y.cols()) : 0.0;
    }
    double mean_square() const;  // of the outputs that there are
  };
  std::string path(const View& v, const std::string& rest) const;
  RowMatrix start_means(Index start) const;
  RowMatrix components_by_view(ConstRows shared, Random& random) const;
  RowMatrix shared_directions() const;
  RowMatrix joint_components() const;
  void declare(ConstRows means, std::uint64_t seed);
  SparseValues unpack(const View& v, ConstVector values) const;
  // The bound, in model units, and what it was made of.
  double evaluate(ConstVector values, Jitter& jitter, Vector* values_bar,
                  std::vector<SparseEvaluation>* evaluations = nullptr,
                  GaussianRowGradient* of_latent = nullptr) const;
  void step_to_fixed_point(Trainer& trainer, Jitter& jitter);
  bool goes_to_fixed_point(Vector& values, Jitter& jitter) const;
  void take(ConstRows Y);
  void set_metric(LbfgsOptions& options) const;
  std::optional<Minimum> train_held(Trainer& trainer, Jitter& jitter);
  bool is_held(const Parameter& given, bool further_start) const;
  Vector held_dynamics(const Parameters& given, bool further_start) const;
  void carry_mappings(const Parameters& given);
  void start_from_static(Index start, Trainer& trainer, Jitter& jitter);
  Minimum train_from(Index start, Trainer& trainer, Jitter& jitter);
  GplvmFit finished(Minimum best, Jitter& jitter) const;
  void say(const std::string& text) const { options_.training.say(text); }

  GplvmOptions options_;
  std::vector<View> views_;
  std::shared_ptr<const LatentInputs> latent_;
  std::shared_ptr<const DynamicalInputs> dynamics_;  // the same object, if it is one
  Index latent_size_ = 0;  // entries of values() that are the latent inputs'
  double log_jacobian_ = 0.0;
  std::vector<std::string> warnings_;
  Parameters parameters_;
  Parameters declared_;  // as they were before anybody set any
  TrainingState resume_;
  std::shared_ptr<Shelf<KeptPsi2>> kept_;  // memory that is warm for the next evaluation
};

}  // namespace covary
