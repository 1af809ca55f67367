#pragma once

#include <string>

#include "covary/linalg/types.hpp"

namespace covary {

// A file of rows of doubles, in NPY's format, in the folder for temporary files ($TMPDIR). It has
// no name, so that it is gone when it is closed, however the process ends.
class TemporaryRows {
 public:
  explicit TemporaryRows(Index cols);
  ~TemporaryRows();
  TemporaryRows(const TemporaryRows&) = delete;
  TemporaryRows& operator=(const TemporaryRows&) = delete;

  void add(const RowMatrix& rows);
  Index rows() const { return rows_; }
  const std::string& folder() const { return folder_; }
  // Completes the file and hands it over, open.
  int finish();

 private:
  void write(const char* bytes, std::size_t size, Index offset);

  std::string folder_;
  Index cols_, rows_ = 0, begin_;
  int file_ = -1;
};

}  // namespace covary
