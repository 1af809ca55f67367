#pragma once

#include <optional>
#include <string>
#include <vector>

#include "covary/models/fit.hpp"
#include "covary/models/model_data.hpp"
#include "covary/models/table.hpp"
#include "covary/training/trainer.hpp"

namespace covary {

// What is around the training of a model: progress, interruption, a checkpoint. Nothing, unless
// somebody says so.
class FitSession {
 public:
  virtual ~FitSession() = default;
  // Before the model is made.
  virtual void attach(TrainingOptions&) {}
  // Whether a state of training is kept; and the one to go on from, of a training that depends on
  // what `problem` says.
  virtual bool keeps() const { return false; }
  virtual TrainingState resume(const std::string&) { return {}; }
  // Training begins: `shift` makes the objective that of the data's units. It is over.
  virtual void begin(double) {}
  virtual void end() {}
};

// What a model is made from: the data by the parts they play, the options, and what is around its
// training.
struct FitRequest {
  const ModelEntry* entry = nullptr;
  std::string model;  // its name, with its power: "vfe", "pep(0.5)"
  FitOptions options;
  ModelData data;
  Tell tell = [](const std::string&) {};
  FitSession* session = nullptr;
  std::optional<Fit> from = {};  // start at its parameters' values where paths match
  // What was taken from there, and what was not to be found.
  std::vector<std::string> taken = {}, not_found = {};

  // With other rows, and nothing around it: as folds train.
  FitRequest with_rows(const std::vector<Index>& numbers) const;

  // What the options say of the training of any model, with what is around it.
  TrainingOptions training() const;
  // --from, --bounds, --set, --prior, --tie and --fix, in this order.
  void settle(Parameters& parameters);
  // The state to go on from.
  TrainingState resume(const Parameters& parameters);

  // Trains a model that was made of these data.
  template <class Model>
  auto train(Model& made, double shift = 0.0) {
    return train_with(
        made, [](auto fit) { return fit; }, shift);
  }
  // The same where the fit is made of what the model finds.
  template <class Model, class Make>
  auto train_with(Model& made, const Make& make, double shift = 0.0) {
    if constexpr (requires { made.take_latent_space(**from); })
      if (from) made.take_latent_space(**from);
    settle(made.parameters());
    made.resume(resume(made.parameters()));
    return around([&] { return make(made.fit()); }, shift);
  }
  // What trains in any other way; the fit is given its names.
  template <class Work>
  auto around(const Work& work, double shift = 0.0) {
    if (session) session->begin(shift);
    auto fit = work();
    if (session) session->end();
    name(fit);
    return fit;
  }

  // From the options, as several models have them.
  Index inducing() const;           // 0: auto
  RowMatrix inducing_rows() const;  // of --inducing-file, or none
  ScaleMode input_scale() const, output_scale() const;
  ScaleMode latent_scale() const;  // one for all outputs unless told otherwise

 private:
  void name(FitRecord& fit) const;
};

class ModelChoice;
// The data of a table for the model that a call means.
ModelData read_for(const ModelChoice& choice, const Table& table, FitOptions options,
                   const Tell& tell);
// The model is decided, now that its data are there; entry->make() trains it. Unsupported, if it is
// strict, for options that the model does not read.
FitRequest prepare(const ModelChoice& choice, FitOptions options, ModelData data, Tell tell,
                   bool strict = true);

// What a forecast of the cost is made from.
ProblemSize problem_size(const ModelData& data, const FitOptions& options);

}  // namespace covary
