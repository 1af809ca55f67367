#include "models/composite.hpp"

#include <utility>

namespace covary {

RegressionFit fit_plain(ConstRows X, ConstRows Y, SparseRegressionOptions options,
                        const UserSettings& user, Trainer& trainer) {
  if (user.holds("features.Z")) {
    const Vector& Z = user.value("features.Z");
    options.Z = Eigen::Map<const RowMatrix>(Z.data(), Z.size() / X.cols(), X.cols());
    if (user.holds_all("kernel") && user.holds_all("likelihood")) {
      options.subset = 0;
      options.training.max_iterations = 0;
    }
  }
  SparseRegression model(X, Y, std::move(options));
  user.give(model.parameters());
  return model.fit(trainer);
}

void start_mapping(Parameters& mapping, const RegressionFit& plain, bool inducing) {
  for (const Parameter& own : plain.parameters.all()) {
    const Parameter& there = mapping.at(own.path);
    const bool takes = own.path != "features.Z" || inducing;
    if (takes && there.tied_to.empty() && there.value.size() == own.value.size())
      mapping.set(own.path, own.value);
  }
}

RegressionFit as_regression(const GplvmFit& fit, const Scaling& inputs, const Scaling& outputs,
                            double log_jacobian, const std::vector<std::string>& warnings) {
  RegressionFit out(fit.mappings.front().posterior, inputs, outputs);
  out.data_rows = fit.mean.rows();
  out.parameters = fit.parameters;
  out.summary = fit.summary;
  out.value = fit.value - log_jacobian;
  out.log_prior = fit.log_prior;
  Summary& summary = out.summary;
  summary.warnings.insert(summary.warnings.begin(), warnings.begin(), warnings.end());
  for (auto& p : summary.trace) p.value -= log_jacobian;
  summary.value -= log_jacobian;
  summary.initial_value -= log_jacobian;
  return out;
}

}  // namespace covary
