#pragma once

#include <string>
#include <vector>

#include "covary/models/gplvm.hpp"

namespace covary {

struct ClassDensityOptions {
  GplvmOptions gplvm = {};                // of every class; at most a dimension for each input
  std::vector<std::string> classes = {};  // names of labels 0, 1, …, or none
  bool uniform_prior = false;  // classes are equally probable, or as frequent as the rows
};

// Classification by the density of the inputs: log p(x | class) of a Bayesian GP-LVM for each
// class, p(class | x) by Bayes' rule (Damianou 2015, section 3.5.5). Immutable.
struct ClassDensityFit : FitNode {
  std::vector<GplvmFit> densities;
  Vector log_class_prior;
  std::vector<std::string> classes = {};

  ClassDensityFit() { model = "class_density"; }
  std::string kind() const override { return "class_density"; }
  Answer details() const override;
  void store(Archive& to) const override;
  NamedColumns predict(const Table& rows, TableQuestion& question) const override;
  Answer evaluate(const Table& rows, const TableQuestion& question) const override;

  Index inputs() const { return densities.front().outputs(); }
  Index size() const { return static_cast<Index>(densities.size()); }
  Index rows() const;  // of all classes
  // log p(x, class), n×K, and p(class | x). Inputs may be missing (NaN): they are left out.
  Matrix log_joint(ConstRows X) const;
  Matrix predict(ConstRows X) const;
  Matrix predict_from(const Matrix& log_joint) const;
};

// Trains one. X: N×D, NaN where missing. labels: 0, 1, … for each row, NaN where missing: such rows
// are left out. InputError for a class with fewer than two rows.
class ClassDensity {
 public:
  ClassDensity(ConstRows X, ConstVector labels, ClassDensityOptions options = {});

  // class.0.kernel.…, class.0.latent.mean, class.1.…: those of each density.
  Parameters& parameters();
  // The next fit() goes on from a state of the training of a model of the same data, parameters and
  // options, and ends with the same bits as that one.
  void resume(TrainingState state) { resume_ = std::move(state); }
  ClassDensityFit fit() const;

 private:
  Gplvm density(std::size_t k, const GplvmOptions& options) const;
  std::string name(std::size_t k) const;

  ClassDensityOptions options_;
  RowMatrix X_;
  std::vector<std::vector<Index>> rows_;  // of each class
  Parameters parameters_, chosen_;        // made when they are asked for
  TrainingState resume_;
};

// The same in one call.
ClassDensityFit fit_class_density(ConstRows X, ConstVector labels,
                                  ClassDensityOptions options = {});

}  // namespace covary
