#pragma once

#include <string>
#include <vector>

#include "covary/data/table.hpp"
#include "covary/linalg/types.hpp"

namespace covary {

// What becomes of a class that training did not see.
enum class Unseen { refuse, missing };

// The classes of a column, which models know by their numbers 0 … K−1: made from the training table
// and applied to every table after it. Text stands for itself (true and false, yes and no
// included), whole numbers for their digits: 3, 7 and 12 are three classes. Missing cells are NaN.
struct Labels {
  // Sorted by value when all are numbers, else by their bytes: false before true, no before yes. Of
  // two classes the second is the positive one.
  std::vector<std::string> names;

  // InputError for fewer than two classes, and for a number that is infinite or not whole. The
  // cells of a list are missing when the reader of tables would take them so: "", NA, nan, ….
  static Labels from(const Table& table, Index column);
  static Labels from(const std::vector<std::string>& cells);
  static Labels from(ConstVector values);

  Index classes() const { return static_cast<Index>(names.size()); }

  // The number of each cell's class. A class that is not among `names` is an InputError, or NaN. A
  // cell that is no name but a number stands for the class of that value: 3 for "03" or "3.0".
  Vector encode(const Table& table, Index column, Unseen unseen = Unseen::refuse) const;
  Vector encode(const std::vector<std::string>& cells, Unseen unseen = Unseen::refuse) const;
  Vector encode(ConstVector values, Unseen unseen = Unseen::refuse) const;

  // The names back, "" for NaN. InputError for a number that is no class.
  std::vector<std::string> decode(ConstVector codes) const;
};

// The rows of each class, K counts; NaN does not count. InputError for what is no number of a
// class.
std::vector<Index> class_counts(ConstVector labels, Index classes);

}  // namespace covary
