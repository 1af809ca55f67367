// Regression on inputs that are missing, or were observed with noise.
#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/models/missing_inputs.hpp"
#include "covary/models/uncertain_regression.hpp"
#include "models/costs.hpp"
#include "models/entries.hpp"
#include "models/regression_request.hpp"
#include "models/table_answers.hpp"
#include "models/words.hpp"

namespace covary {
namespace {

Fit make_with_missing_inputs(FitRequest& r) {
  const auto missing = r.data.X.array().isNaN().count();
  if (missing == 0) return fit_sparse(r);
  auto o = regression_options<MissingInputsOptions>(r);
  o.inducing = r.inducing();
  r.tell(fmt::format("{} of {} inputs are missing and will be learned", missing, r.data.X.size()));
  MissingInputsRegression model(r.data.X, r.data.Y, std::move(o));
  return r.train_with(model, [&](MissingInputsFit fit) {
    fit.regression.diagnostics.emplace_back("missing_inputs", static_cast<double>(missing));
    return std::move(fit.regression);
  });
}

// The variances that --input-noise lists, for all rows; none if they are trained.
RowMatrix noise_of_columns(const FitRequest& r) {
  const std::string& noise = r.options.input_noise;
  if (noise == "train") return {};
  const auto values = parse_numbers(noise, "--input-noise");
  const auto names = r.data.inputs.names();
  if (values.size() != names.size())
    throw InputError(fmt::format("--input-noise has {} variances for {} inputs: '{}'",
                                 values.size(), names.size(), fmt::join(names, "', '")));
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size())).transpose();
}

void check_noise(const FitRequest& r) {
  const std::string& noise = r.options.input_noise;
  if (noise == "train" && r.options.train_input_noise)
    throw InputError(
        "--train-input-noise is for variances that are given; --input-noise train trains them "
        "already");
  if (!noise.empty() && r.data.input_variance.size())
    throw InputError("give either --input-variance or --input-noise");
  if (noise.empty() && r.data.input_variance.size() == 0)
    throw InputError(
        "noisy_inputs needs the error variances of the inputs: give columns with --input-variance, "
        "a list with --input-noise, or --input-noise train");
  for (const auto& column : r.data.inputs.columns)
    if (!column.levels.empty())
      throw InputError(fmt::format(
          "input '{}' holds text, which has no Gaussian noise; leave it out with --inputs",
          column.name));
}

Fit make_noisy_inputs(FitRequest& r) {
  auto o = regression_options<UncertainInputsOptions>(r);
  o.inducing = r.inducing();
  check_noise(r);
  const bool of_rows = r.data.input_variance.size() > 0;
  o.input_variance = of_rows ? r.data.input_variance : noise_of_columns(r);
  o.train_variance = r.options.train_input_noise;
  o.move_inputs = !r.options.hold_inputs;
  UncertainInputsRegression model(r.data.X, r.data.Y, std::move(o));
  return r.train_with(model, [&](UncertainInputsFit fit) {
    // A variance for each column, or a factor of those that were given, the same for all rows.
    const RowMatrix& own = fit.input_variance;
    for (Index d = 0; d < own.cols() && !of_rows; ++d)
      fit.regression.diagnostics.emplace_back(input_variance_name(d), own(0, d));
    for (Index d = 0; d < own.cols() && of_rows && r.options.train_input_noise; ++d) {
      const double given = r.data.input_variance.col(d).sum();
      fit.regression.diagnostics.emplace_back(input_factor_name(d),
                                              given > 0.0 ? own.col(d).sum() / given : 1.0);
    }
    return std::move(fit.regression);
  });
}

const std::string of_both = reads::any_fit + reads::scaling + reads::settings + reads::kept +
                            " inputs likelihood kernel missing folds jitter inducing restarts";

ModelEntry entry(const char* name, Form form, const char* sentence, const char* use,
                 const char* page, Cost (*cost)(const ProblemSize&), Fit (*make)(FitRequest&)) {
  return {name,
          name,
          "",
          Targets::gaussian,
          form,
          sentence,
          use,
          "4·N·M²·D",
          "M² + N·D",
          page,
          cost,
          "missing-outputs several-outputs",
          of_both,
          with_any({{"predict", "components gradients input-variance loss"},
                    {"evaluate", ""},
                    {"sample", "draws seed"},
                    {"update", ""},
                    {"compress", ""},
                    {"compare", ""}}),
          make,
          "regression",
          restore_regression};
}

}  // namespace

ModelEntry missing_inputs_entry() {
  ModelEntry out = entry("vfe", Form::missing_inputs,
                         "VFE with q(x) for inputs that are missing (--missing learn).",
                         "tables with missing inputs", "uncertain-inputs.md#missing-inputs",
                         costs::missing_inputs, make_with_missing_inputs);
  out.aliases = "sparse";
  out.properties = "missing-inputs " + out.properties;
  out.fit += " circular";  // errors of an input that comes round are not those of its sine
  return out;
}

ModelEntry noisy_inputs_entry() {
  ModelEntry out =
      entry("noisy_inputs", Form::plain, "VFE with q(x) for inputs that were observed with noise.",
            "inputs that were measured with error", "uncertain-inputs.md", costs::noisy_inputs,
            make_noisy_inputs);
  out.fit += " input-variance input-noise train-input-noise hold-inputs";
  return out;
}

}  // namespace covary
