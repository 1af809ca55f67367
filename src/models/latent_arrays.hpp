#pragma once

#include <nlohmann/json.hpp>

#include "covary/inference/posterior.hpp"
#include "covary/models/gplvm_fit.hpp"
#include "covary/storage/container.hpp"

namespace covary {

// A latent-variable model that was stored; FileError for anything that is none.
GplvmFit latent_from(const Container& c, const nlohmann::json& j);

// What the files of all models of outputs alone have alike.

// The mapping of a view from the latent space, whichever posterior it has.
struct StoredView {
  LatentView view;
  Posterior posterior;
  Scaling scaling;
};
nlohmann::json to_json(const std::vector<StoredView>& views, Container& c);
// At least one view; together they have each column once, and one latent space.
std::vector<StoredView> views_from(const Container& c, const nlohmann::json& views, bool exact);

nlohmann::json to_json(const DynamicalInputs& dynamics, const std::vector<std::string>& time_names,
                       Container& c);
std::shared_ptr<const DynamicalInputs> dynamics_from(const Container& c, const nlohmann::json& j,
                                                     Index rows, Index dims,
                                                     std::vector<std::string>& time_names);

// One for each of N rows, or none; output_names must be P.
std::vector<std::string> row_labels_from(FitRecord& fit, const Container& c,
                                         const nlohmann::json& j, Index P, Index N);

}  // namespace covary
