#include "covary/models/class_density.hpp"
#include "models/costs.hpp"
#include "models/entries.hpp"
#include "models/gplvm_request.hpp"

namespace covary {
namespace {

Fit make_class_density(FitRequest& r) {
  ClassDensityOptions o;
  o.classes = r.data.labels.names;
  o.gplvm = gplvm_options(r);
  o.gplvm.latent = r.options.latent ? r.options.latent : 10;
  ClassDensity model(r.data.X, r.data.Y.col(0), std::move(o));
  return r.train(model);
}

}  // namespace

std::vector<ModelEntry> class_density_entries() {
  return {{"class_density", "class_density", "", Targets::classes, Form::plain,
           "A GP-LVM density of the inputs of each class.",
           "classes with few rows each and inputs on low-dimensional surfaces", "4·N·M²·Q",
           "N·Q + M²·Q", "latent-variables.md#densities-of-rows-and-classification-by-them",
           costs::class_density, "classes missing-inputs",
           reads::any_fit + reads::scaling + reads::settings + reads::kept +
               " inputs circular kernel missing jitter inducing latent restarts snr",
           with_any({{"predict", "threshold loss"}, {"evaluate", "threshold"}}), make_class_density,
           "class_density", restore_class_density}};
}

}  // namespace covary
