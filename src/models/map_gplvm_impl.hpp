#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "covary/models/map_gplvm.hpp"

namespace covary {

// The model and its training; public functions are those of the class.
struct MapGplvm::Impl {
  Impl(ConstRows Y, MapGplvmOptions options);

  Index rows() const { return views_.front().Y.rows(); }
  std::optional<double> objective(const Vector& u, Vector* gradient, Jitter& jitter) const;
  MapGplvmFit fit();

  struct View {
    LatentView view;
    Matrix Y;  // as the model sees them
    Scaling scaling;
    Index offset = 0;  // of its parameters in values()
    double mean_square() const;
  };
  struct Block {  // a sequence: its rows, and the factor that whitens them
    Index first;
    Matrix L;
  };
  struct Terms {
    double likelihood = 0.0, prior = 0.0;  // log p(Y | X) and log p(X), in model units
  };
  void take(ConstRows Y);
  RowMatrix all_outputs() const;  // N×P, scaled, those of the views side by side
  RowMatrix start_inputs(Index start) const;
  void declare_inputs(Parameters& out, ConstRows X) const;
  void declare();
  void hold_scale(const View& v);
  std::string path(const View& v, const std::string& rest) const;
  RowMatrix inputs_at(const double* values) const;
  void inputs_pullback(const double* values, const RowMatrix& X_bar, double* values_bar) const;
  double log_prior_of(const RowMatrix& X, ConstVector values, RowMatrix* X_bar,
                      Vector* values_bar) const;
  Terms evaluate(ConstVector values, Jitter& jitter, Vector* values_bar) const;
  MapGplvmFit finished(Summary summary) const;

  MapGplvmOptions options_;
  std::vector<View> views_;
  std::shared_ptr<const Recognition> recognition_;
  std::shared_ptr<const DynamicalInputs> dynamics_;
  std::vector<Block> blocks_;  // of dynamics without a back constraint
  Index dynamics_offset_ = 0;  // of its kernel in values()
  double log_jacobian_ = 0.0;
  std::vector<std::string> warnings_;
  Parameters parameters_;
  TrainingState resume_;
};

}  // namespace covary
