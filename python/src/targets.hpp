#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "covary/models/generalised_fit.hpp"
#include "training_data.hpp"

// The column y of a model of any likelihood: labels of any kind, counts, real numbers.
namespace covary::python {

struct Targets {
  Likelihood likelihood;
  nb::object y;  // numbers, as the likelihood takes it; NaN where missing
  std::vector<std::string> classes;
};

// "softmax", "robust_max", "one_vs_rest" and "ordinal" have as many classes as y has labels. Labels
// are text or whole numbers, None or NaN where missing. Where `classes` are given, numbers are
// positions there. One column, but for numbers where `several` may be given.
Targets to_targets(nb::handle y, const std::string& likelihood, const Names& classes,
                   bool several = false);

// The name given, or that of a pandas column.
Names name_of_target(const std::optional<std::string>& given, nb::handle y);

// Targets of further rows for a trained model. Where its classes are numbers, labels that are
// numbers go by their value, else by their position. InputError for labels it does not know.
RowMatrix to_known_targets(nb::handle y, const GeneralisedFit& fit);

}  // namespace covary::python
