#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "covary/data/inputs.hpp"
#include "covary/data/scaling.hpp"
#include "covary/models/fit.hpp"

namespace covary::python {

using Names = std::optional<std::vector<std::string>>;

// The rows that a model is trained on, in their own units.
struct TrainingData {
  RowMatrix X, Y;
  Vector noise;  // known variances of the rows, or empty
  std::vector<std::string> input_names, output_names;

  InputColumns inputs() const;
  void name(FitRecord& fit) const;  // as the columns are called
};

// Names that are not given are those of a pandas table, else x0, x1, … and y or y0, y1, ….
TrainingData to_training_data(nb::handle X, nb::handle Y, nb::handle noise,
                              const Names& input_names, const Names& output_names);

// "auto" is by the data, for inputs and outputs apart, as on the command line.
ScaleMode to_scale_mode(const std::string& scale, ConstRows data);

nb::tuple scaling_to_python(const Scaling& s);  // shift and scale of each column

// For pickles.
nb::tuple get_state(const TrainingData& data);
TrainingData training_data_from(const nb::tuple& state);

}  // namespace covary::python
