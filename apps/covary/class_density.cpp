#include "class_density.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "checkpointing.hpp"
#include "covary/error.hpp"

namespace covary::cli {

ClassDensityRun fit_class_density_of(const LatentArguments& a, TrainingArguments t,
                                     const SparseArguments& s, const std::string& kernel,
                                     const CheckpointArguments& checkpoint,
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
  TrainingSession session(t, checkpoint, common);
  session.attach(o.gplvm.training);
  TrainingState state;
  if (session.keeps()) {
    RegressionOptions r;
    r.kernel = o.gplvm.kernel;
    r.jitter = o.gplvm.jitter;
    r.training.starts = o.gplvm.training.starts;
    r.seed = o.gplvm.seed;
    state = session.resume(problem_digest(d, r, {}) + fmt::format("class_density {} {} {} {}",
                                                                  o.gplvm.latent, o.gplvm.inducing,
                                                                  o.gplvm.snr, t.max_iter));
  }
  session.begin();
  ClassDensityRun out{
      {fit_class_density(d.X, d.Y.col(0), std::move(o), std::move(state)), d.inputs},
      Interruption::requested(),
      false};
  session.end();
  out.checkpointed = session.has_checkpoint();
  out.saved.fit.input_names = d.inputs.names();
  out.saved.fit.output_name = d.output_names.front();
  return out;
}

}  // namespace covary::cli
