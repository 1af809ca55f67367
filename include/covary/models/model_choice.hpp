#pragma once

#include "covary/models/fit.hpp"
#include "covary/models/model_data.hpp"
#include "covary/models/table.hpp"

namespace covary {

// Which model a call of `fit` or `compare` means: what is certain before the data are read, and the
// model once they are.
class ModelChoice {
 public:
  // InputError for a name that does not exist, Unsupported for a likelihood that the model does not
  // take.
  explicit ModelChoice(const FitOptions& options);

  // Whether any of the models that it may be reads the option.
  bool may_read(const std::string& option) const;
  // Unsupported, with the models that read it, for an option that none of them reads.
  void check() const;
  const ModelEntry* only() const { return entries_.size() == 1 ? entries_.front() : nullptr; }
  bool compares() const;    // by `compare`
  bool has_inputs() const;  // else all columns are outputs
  const std::string& text() const { return name_.text; }
  const std::vector<const ModelEntry*>& entries() const { return entries_; }

  // The model for these data; `auto` is decided here. Unsupported, if it is strict, for options
  // that the model does not read.
  const ModelEntry& resolve(const ModelData& d, bool strict = true) const;

  // How --model would name it: "pep(0.5)", "laplace".
  std::string name_of(const ModelEntry& entry) const;

 private:
  void narrow(const std::string& likelihood, bool learns);
  void refuse_text(const ModelData& d, const std::string& model) const;
  NamedModel name_;
  std::vector<std::string> given_;
  std::vector<const ModelEntry*> entries_;
  std::string likelihood_;
  bool parametric_ = false;
};

// Unsupported for an option of `given` that the table knows for some model, but that this one does
// not read; `who` is what the message calls it.
void check_options(const std::string& verb, const std::vector<std::string>& given,
                   const std::vector<const ModelEntry*>& entries, const std::string& who);
// The entry of a fit.
const ModelEntry& entry_of(const FitNode& fit);
// Unsupported for a verb or an option of `given` that the model of a fit does not read.
void check_options(const std::string& verb, const std::vector<std::string>& given,
                   const FitNode& fit);
// InputError, with the way out, for an option of a fit that another one leaves without effect.
void check_pairs(const FitOptions& options);

}  // namespace covary
