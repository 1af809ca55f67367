#pragma once

#include "common.hpp"
#include "covary/models/model_file.hpp"

namespace covary::cli {

// What `fit` and `show` say of a model.
json describe_json(const SavedModel& model);
std::string describe_text(const SavedModel& model);
json describe_json(const SavedGeneralised& model);
std::string describe_text(const SavedGeneralised& model);
json describe_json(const SavedLatent& model);
std::string describe_text(const SavedLatent& model);
json describe_json(const SavedPpca& model);
std::string describe_text(const SavedPpca& model);
json describe_json(const SavedMapGplvm& model);
std::string describe_text(const SavedMapGplvm& model);
json describe_json(const SavedClassDensity& model);
std::string describe_text(const SavedClassDensity& model);
// What the model sees of its inputs: ", 5 principal components with 93.1 % of the variance", or
// nothing.
std::string seen_in_words(const InputMap& map);

}  // namespace covary::cli
