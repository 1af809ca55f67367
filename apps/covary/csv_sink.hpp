#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "covary/storage/atomic_file.hpp"

namespace covary::cli {

// Where CSV goes as it is made: a file that appears whole or not at all, a device or pipe, or, for
// an empty path, standard output. Every failure is a FileError.
class CsvSink {
 public:
  explicit CsvSink(const std::string& path);
  ~CsvSink();
  CsvSink(const CsvSink&) = delete;
  CsvSink& operator=(const CsvSink&) = delete;
  void write(const std::string& text);
  void commit();

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  std::unique_ptr<AtomicFile> file_;
  std::FILE* stream_ = nullptr;  // of a device, or standard output
};

}  // namespace covary::cli
