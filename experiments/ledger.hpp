#pragma once

#include <functional>
#include <map>
#include <string>

#include "experiments.hpp"

namespace covary::experiments {

// What a long experiment has found so far, unit by unit (a seed, a split, a model), in the file of
// --checkpoint: a run that was killed goes on after the last unit that was whole. Without a file
// nothing is kept.
class Ledger {
 public:
  // With resume the units of the file, which must be of the same experiment, seed, repeats and
  // rows.
  Ledger(std::string experiment, const LongSettings& settings);

  // The numbers of a unit: as kept, or found now and kept.
  Vector once(const std::string& unit, const std::function<Vector()>& find);

 private:
  void read();
  void write() const;

  std::string experiment_;
  LongSettings settings_;
  std::map<std::string, Vector> units_;
};

}  // namespace covary::experiments
