#include "class_density.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "covary/error.hpp"
#include "progress.hpp"

namespace covary::cli {

ClassDensityRun fit_class_density_of(const LatentArguments& a, TrainingArguments t,
                                     const SparseArguments& s, const std::string& kernel,
                                     const Forecast& forecast, const Common& common) {
  if (t.likelihood == "auto") t.likelihood = "softmax";  // numbers, too, are labels here
  if (!is_of_classes(t.likelihood))
    throw Unsupported(
        fmt::format("--model class_density takes classes, not the likelihood '{}'", t.likelihood));
  const TrainingData d = read_training(t, common);
  LatentTable table{.Y = d.X};
  ProblemSize size = size_of(table, a.latent);
  size.inducing = static_cast<double>(inducing_of(s));
  forecast(size, std::max<Index>(1, t.restarts));
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
