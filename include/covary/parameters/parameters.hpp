#pragma once

#include <optional>
#include <string>
#include <vector>

#include "covary/linalg/types.hpp"
#include "covary/parameters/prior.hpp"
#include "covary/parameters/transform.hpp"

namespace covary {

// One named value: a scalar, vector or matrix (row by row) with its transform, prior and flags.
struct Parameter {
  std::string path;
  Vector value;
  Transform transform = Transform::real();
  Index rows = 1, cols = 1;  // shape; rows·cols entries, except for lower-triangular ones
  std::optional<Prior> prior = std::nullopt;
  bool trainable = true;
  std::string tied_to = "";  // path of the parameter that this one follows, or empty
  double ratio = 1.0;        // value = ratio · that parameter's value
};

// A model's parameters in a fixed order. Values are seen in two ways: `values()`, all constrained
// entries end to end, which kernels and likelihoods read; and `flatten()`, the unconstrained
// entries that are free (trainable and not tied), which optimisers move.
class Parameters {
 public:
  void add(Parameter p);
  const std::vector<Parameter>& all() const { return list_; }

  // A path names one parameter, or all below it ("kernel" → "kernel.variance", …). Unknown paths
  // throw InputError with the closest one suggested.
  const Parameter& at(const std::string& path) const;
  bool contains(const std::string& path) const;
  Index offset(const std::string& path) const;  // of its first entry in values()

  void set(const std::string& path, ConstVector value);  // one entry fills them all
  void set(const std::string& path, double value);
  void fix(const std::string& path) { set_trainable(path, false); }
  void unfix(const std::string& path) { set_trainable(path, true); }
  void set_prior(const std::string& path, const Prior& prior);
  void set_bounds(const std::string& path, double low, double high);
  // From now on, path = ratio · target.
  void tie(const std::string& path, const std::string& target, double ratio = 1.0);
  void untie(const std::string& path);

  Index size() const;  // entries of values()
  Vector values() const;
  void set_values(ConstVector values);
  Index free_size() const;
  Vector flatten() const;
  // All constrained values at the free vector u; fixed ones keep theirs, tied ones follow.
  Vector constrain(ConstVector u) const;
  // From ∂/∂values at u to ∂/∂u.
  Vector pullback(ConstVector u, ConstVector values_bar) const;
  // Sum of log prior densities over parameters that are not tied; adds ∂/∂values to *values_bar.
  double log_prior(ConstVector values, Vector* values_bar = nullptr) const;
  // The path of each free entry, with [i] for entries of vectors.
  std::vector<std::string> free_names() const;

  // name, value, transform, prior, trainable, tie, shape
  std::string table(const Vector* standard_errors = nullptr) const;

 private:
  std::vector<std::size_t> match(const std::string& path) const;
  std::size_t find(const std::string& path) const;
  void set_trainable(const std::string& path, bool trainable);
  bool is_free(const Parameter& p) const { return p.trainable && p.tied_to.empty(); }
  void follow(Vector& values) const;
  void check_free(ConstVector u) const;

  std::vector<Parameter> list_;
};

}  // namespace covary
