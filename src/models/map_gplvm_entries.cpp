#include <cmath>

#include "covary/data/labels.hpp"
#include "covary/error.hpp"
#include "covary/models/map_gplvm.hpp"
#include "models/costs.hpp"
#include "models/entries.hpp"
#include "models/gplvm_request.hpp"

namespace covary {
namespace {

// Of cells, −1 where they are missing.
std::vector<Index> classes_of(const std::vector<std::string>& cells) {
  std::vector<Index> out;
  out.reserve(cells.size());
  for (const double code : Labels::from(cells).encode(cells))
    out.push_back(std::isnan(code) ? -1 : static_cast<Index>(code));
  return out;
}

Fit make_map_gplvm(FitRequest& r) {
  const FitOptions& given = r.options;
  MapGplvmOptions o;
  o.latent = given.latent ? given.latent : std::min<Index>(2, r.data.Y.cols());
  o.kernel = Kernel(given.kernel);
  o.views = r.data.views;
  o.scale_outputs = r.latent_scale();
  o.jitter = given.jitter;
  o.times = r.data.times;
  o.dynamics = dynamics_kernel(r);
  o.sequences = r.data.sequences;
  if (!given.back_constraint.empty())
    o.back_constraint = RecognitionOptions{.form = given.back_constraint, .seed = given.seed};
  if (given.discriminative > 0.0) {
    o.labels = classes_of(r.data.row_labels);
    o.discriminative = given.discriminative;
  }
  o.snr = given.snr;
  o.seed = given.seed;
  o.training = r.training();
  MapGplvm model(r.data.Y, std::move(o));
  MapGplvmFit fit = r.train(model);
  fit.row_labels = r.data.row_labels;
  fit.time_names = r.data.time_names;
  return fit;
}

}  // namespace

std::vector<ModelEntry> map_gplvm_entries() {
  return {{"map_gplvm", "map_gplvm", "", Targets::none, Form::plain,
           "GP-LVM whose latent inputs are points.",
           "pictures of small tables; discriminative latent spaces", "N³ for each view",
           "N² for each view", "latent-variables.md#points-in-place-of-distributions",
           costs::map_gplvm, "missing-outputs several-outputs",
           reads::latent +
               " restarts dynamics dynamics-kernel sequences view back-constraint discriminative",
           with_any({{"predict", ""}, {"evaluate", ""}, {"sample", "draws seed"}}), make_map_gplvm,
           "map_gplvm", restore_map_gplvm}};
}

}  // namespace covary
