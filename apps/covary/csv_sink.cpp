#include "csv_sink.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>

#include "covary/error.hpp"

namespace covary::cli {

CsvSink::CsvSink(const std::string& path) : path_(path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  if (path.empty()) {
    stream_ = stdout;
  } else if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) {
    stream_ = std::fopen(path.c_str(), "wb");
    if (!stream_) fail();
  } else {
    file_ = std::make_unique<AtomicFile>(path);
  }
}

CsvSink::~CsvSink() {
  if (stream_ && stream_ != stdout) std::fclose(stream_);
}

void CsvSink::write(const std::string& text) {
  if (file_)
    file_->write(std::as_bytes(std::span(text)));
  else if (std::fwrite(text.data(), 1, text.size(), stream_) != text.size())
    fail();
}

void CsvSink::commit() {
  if (file_)
    file_->commit();
  else if (std::fflush(stream_) != 0)
    fail();
}

void CsvSink::fail() const {
  throw FileError(fmt::format("cannot write {}: {}",
                              path_.empty() ? "standard output" : fmt::format("'{}'", path_),
                              std::strerror(errno)));
}

}  // namespace covary::cli
