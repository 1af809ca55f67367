#include "models/temporary_rows.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "covary/data/npy.hpp"
#include "covary/error.hpp"

namespace covary {
namespace {

[[noreturn]] void fail(const std::string& folder) {
  throw FileError(fmt::format(
      "cannot write a temporary file in '{}': {}; set TMPDIR to a folder with room for the table",
      folder, std::strerror(errno)));
}

}  // namespace

TemporaryRows::TemporaryRows(Index cols)
    : cols_(cols), begin_(static_cast<Index>(npy_header(0, cols).size())) {
  std::error_code error;
  folder_ = std::filesystem::temp_directory_path(error).string();
  if (error)
    throw FileError(fmt::format(
        "TMPDIR is not a folder for temporary files: {}; set it to one with room for the "
        "table",
        error.message()));
  std::string name = folder_ + "/covary-XXXXXX";
  file_ = mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0) fail(folder_);
  unlink(name.c_str());
}

TemporaryRows::~TemporaryRows() {
  if (file_ >= 0) close(file_);
}

void TemporaryRows::write(const char* bytes, std::size_t size, Index offset) {
  while (size > 0) {
    const ssize_t done = pwrite(file_, bytes, size, offset);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(folder_);
    bytes += done;
    offset += done;
    size -= static_cast<std::size_t>(done);
  }
}

void TemporaryRows::add(const RowMatrix& rows) {
  write(reinterpret_cast<const char*>(rows.data()), static_cast<std::size_t>(8 * rows.size()),
        begin_ + 8 * rows_ * cols_);
  rows_ += rows.rows();
}

int TemporaryRows::finish() {
  const std::string header = npy_header(rows_, cols_);
  write(header.data(), header.size(), 0);
  return std::exchange(file_, -1);
}

}  // namespace covary
