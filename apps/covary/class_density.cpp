#include "class_density.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "covary/error.hpp"
#include "progress.hpp"

namespace covary::cli {

ClassDensityRun fit_class_density_of(const LatentArguments& a, TrainingArguments t,
                                     const SparseArguments& s, const std::string& kernel,
                                     const Common& common) {
  if (!a.dynamics.empty() || !a.views.empty())
    throw Unsupported("--dynamics and --view are for --model gplvm and mrd");
  if (!t.weights.empty() || !t.exposure.empty() || !t.noise.empty() || !t.set.empty() ||
      !t.fix.empty() || !t.prior.empty() || !t.bounds.empty() || !t.tie.empty())
    throw Unsupported(
        "--weights, --exposure, --noise and settings of parameters are not offered for --model "
        "class_density");
  if (t.likelihood == "auto") t.likelihood = "softmax";  // numbers, too, are labels here
  if (!is_of_classes(t.likelihood))
    throw Unsupported(
        fmt::format("--model class_density is of classes, not of likelihood {}", t.likelihood));
  const TrainingData d = read_training(t, common);
  ClassDensityOptions o;
  o.classes = d.labels.names;
  o.gplvm = gplvm_options(a, t, s, kernel, common);
  o.gplvm.latent = a.latent ? a.latent : 10;
  // The limit is of all classes together.
  o.gplvm.training.max_seconds /= static_cast<double>(std::max<Index>(1, d.labels.classes()));
  const Interruption interruption;
  ClassDensityRun out{{fit_class_density(d.X, d.Y.col(0), std::move(o)), d.inputs},
                      Interruption::requested()};
  out.saved.fit.input_names = d.inputs.names();
  out.saved.fit.output_name = d.output_names.front();
  return out;
}

}  // namespace covary::cli
