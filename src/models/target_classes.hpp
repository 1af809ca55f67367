#pragma once

#include <set>

#include "covary/models/model_data.hpp"
#include "models/roles.hpp"

namespace covary {

// The classes of a target that is seen block by block: there are some where --likelihood has them,
// or is auto and the target is text.
class TargetClasses {
 public:
  explicit TargetClasses(const FitOptions& o)
      : expression_(o.likelihood), wanted_(is_of_classes(o.likelihood)) {}

  void add(const Table& table, Index column);
  void add(ConstVector values);

  bool are_there() const { return wanted_ || text_; }
  bool are_text() const { return text_; }
  Labels labels() const;
  // That of the data as a whole: nothing for Gaussian regression.
  std::optional<Likelihood> likelihood(const std::vector<std::string>& targets,
                                       const Tell& tell) const;

 private:
  std::string expression_;
  bool wanted_, text_ = false;
  std::set<std::string> words_;
  std::set<double> numbers_;
};

}  // namespace covary
