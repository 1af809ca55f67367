#include "covary/models/class_density.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "models/user_settings.hpp"

namespace covary {
namespace {

std::vector<std::vector<Index>> rows_of_classes(ConstVector labels, std::size_t least) {
  std::vector<std::vector<Index>> out(least);
  for (Index i = 0; i < labels.size(); ++i) {
    const double label = labels(i);
    if (std::isnan(label)) continue;
    if (!(label >= 0.0) || label != std::floor(label) || label > 1e6)
      throw InputError(
          fmt::format("the label of row {} is {}; labels are whole numbers from 0", i, label));
    const auto k = static_cast<std::size_t>(label);
    if (k >= out.size()) out.resize(k + 1);
    out[k].push_back(i);
  }
  return out;
}

// What the trainings of all classes come to, but for what the trainer counts.
void add(const std::string& name, const Summary& density, bool first, Summary& all) {
  all.objective = density.objective;
  all.converged = (first || all.converged) && density.converged;
  all.stop = density.stop == Stop::converged && !first ? all.stop : density.stop;
  if (!density.converged) all.reason = fmt::format("class {}: {}", name, density.reason);
  all.initial_value += density.initial_value;
  all.iterations += density.iterations;
  all.gradient_norm = std::max(all.gradient_norm, density.gradient_norm);
  all.jitter = std::max(all.jitter, density.jitter);
  all.route = density.route;
  for (const auto& warning : density.warnings)
    all.warnings.push_back(fmt::format("class {}: {}", name, warning));
}

std::string prefix(std::size_t k) { return fmt::format("class.{}.", k); }

// Adds those of class k under its name.
void add_class(std::size_t k, const Parameters& own, Parameters& to) {
  for (Parameter p : own.all()) {
    p.path = prefix(k) + p.path;
    if (!p.tied_to.empty()) p.tied_to = prefix(k) + p.tied_to;
    to.add(std::move(p));
  }
}

}  // namespace

ClassDensity::ClassDensity(ConstRows X, ConstVector labels, ClassDensityOptions options)
    : options_(std::move(options)), X_(X) {
  if (labels.size() != X.rows())
    throw InputError(fmt::format("{} labels for {} rows", labels.size(), X.rows()));
  rows_ = rows_of_classes(labels, options_.classes.size());
  const std::size_t K = rows_.size();
  if (K < 2) throw InputError("a classifier needs rows of at least two classes");
  if (!options_.classes.empty() && options_.classes.size() != K)
    throw InputError(
        fmt::format("{} names of classes were given for {} classes", options_.classes.size(), K));
  for (std::size_t k = 0; k < K; ++k)
    if (rows_[k].size() < 2)
      throw InputError(fmt::format("class {} has {} rows; its density needs two at least", name(k),
                                   rows_[k].size()));
  options_.gplvm.latent = std::min(options_.gplvm.latent, X.cols());
}

std::string ClassDensity::name(std::size_t k) const {
  return options_.classes.empty() ? fmt::format("{}", k) : options_.classes[k];
}

Gplvm ClassDensity::density(std::size_t k, const GplvmOptions& options) const {
  return Gplvm(RowMatrix(X_(rows_[k], Eigen::all)), options);
}

Parameters& ClassDensity::parameters() {
  if (parameters_.size() == 0) {
    for (std::size_t k = 0; k < rows_.size(); ++k)
      add_class(k, density(k, options_.gplvm).parameters(), chosen_);
    parameters_ = chosen_;
  }
  return parameters_;
}

ClassDensityFit ClassDensity::fit() const {
  const std::size_t K = rows_.size();
  double all = 0.0;
  for (const auto& rows : rows_) all += static_cast<double>(rows.size());
  ClassDensityFit out;
  out.log_class_prior.resize(static_cast<Index>(K));
  out.classes = options_.classes;
  GplvmOptions o = options_.gplvm;
  Trainer trainer(o.training, resume_);
  const UserSettings user(chosen_, parameters_);
  for (std::size_t k = 0; k < K; ++k) {
    const auto n = static_cast<double>(rows_[k].size());
    out.log_class_prior(static_cast<Index>(k)) =
        options_.uniform_prior ? -std::log(static_cast<double>(K)) : std::log(n / all);
    const std::string of = fmt::format("class {}, ", name(k));
    if (options_.gplvm.training.tell)
      o.training.tell = [&](const std::string& text) { options_.gplvm.training.tell(of + text); };
    Gplvm model = density(k, o);
    user.give(model.parameters(), prefix(k));
    GplvmFit fitted = model.fit(trainer);
    for (Index d = 0; d < X_.cols(); ++d) fitted.output_names.push_back(fmt::format("x{}", d));
    add_class(k, fitted.parameters, out.parameters);
    out.value += fitted.value;
    out.log_prior += fitted.log_prior;
    add(name(k), fitted.summary, k == 0, out.summary);
    out.densities.push_back(std::move(fitted));
  }
  out.summary.value = out.value;
  trainer.complete(out.summary);
  if (out.summary.reason.empty()) out.summary.reason = "every density converged";
  return out;
}

ClassDensityFit fit_class_density(ConstRows X, ConstVector labels, ClassDensityOptions options) {
  return ClassDensity(X, labels, std::move(options)).fit();
}

Index ClassDensityFit::rows() const {
  Index n = 0;
  for (const GplvmFit& d : densities) n += d.mean.rows();
  return n;
}

Matrix ClassDensityFit::log_joint(ConstRows X) const {
  if (X.cols() != inputs())
    throw InputError(
        fmt::format("the inputs have {} columns; the model was trained on {}", X.cols(), inputs()));
  Matrix out(X.rows(), size());
  for (Index k = 0; k < size(); ++k)
    out.col(k) = densities[static_cast<std::size_t>(k)].log_density(X).array() + log_class_prior(k);
  return out;
}

Matrix ClassDensityFit::predict(ConstRows X) const { return predict_from(log_joint(X)); }

Matrix ClassDensityFit::predict_from(const Matrix& log_joint) const {
  Matrix out = log_joint;
  for (auto row : out.rowwise()) {
    row.array() -= row.maxCoeff();
    row = row.array().exp();
    row /= row.sum();
  }
  return out;
}

}  // namespace covary
