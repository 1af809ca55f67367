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
  // rows; without the file none, so that one command serves first and later runs.
  Ledger(std::string experiment, const LongSettings& settings);

  // So many numbers of a unit: as kept, or found now and kept.
  Vector once(const std::string& unit, Index count, const std::function<Vector()>& find);

 private:
  void read();
  void write() const;

  std::string experiment_;
  LongSettings settings_;
  std::map<std::string, Vector> units_;
};

}  // namespace covary::experiments
