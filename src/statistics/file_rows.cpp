#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <string_view>

#include "covary/data/npy.hpp"
#include "covary/error.hpp"
#include "covary/statistics/rows.hpp"

namespace covary {
namespace {

constexpr std::size_t head_size = 65536;

void check_columns(const std::vector<Index>& columns, Index cols, const std::string& path) {
  for (const Index c : columns)
    if (c < 0 || c >= cols)
      throw InputError(fmt::format("'{}' has {} columns; there is no column {}", path, cols, c));
}

// All `bytes` at `offset`, or a FileError.
void read_at(int file, Index offset, std::size_t bytes, char* to, const std::string& path) {
  while (bytes > 0) {
    const ssize_t got = pread(file, to, bytes, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      throw FileError(fmt::format("cannot read '{}': {}", path,
                                  got < 0 ? std::strerror(errno) : "it became shorter"));
    to += got;
    offset += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

int open_to_read(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw FileError(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  return file;
}

}  // namespace

FileRows::FileRows(const std::string& path, std::vector<Index> input_columns,
                   std::vector<Index> output_columns)
    : FileRows(open_to_read(path), path, std::move(input_columns), std::move(output_columns)) {}

FileRows::FileRows(int file, std::string name, std::vector<Index> input_columns,
                   std::vector<Index> output_columns)
    : name_(std::move(name)),
      inputs_(std::move(input_columns)),
      outputs_(std::move(output_columns)),
      input_scaling_(Scaling::identity(dims())),
      output_scaling_(Scaling::identity(outputs())),
      file_(file) {
  try {
    struct stat about {};
    if (fstat(file_, &about) != 0 || !S_ISREG(about.st_mode))
      throw FileError(fmt::format("'{}' is not a regular file", name_));
    const auto size = static_cast<std::size_t>(about.st_size);
    std::string head(std::min(size, head_size), '\0');
    read_at(file_, 0, head.size(), head.data(), name_);
    const NpyDoubles array = npy_doubles(head, size, name_);
    begin_ = array.offset;
    rows_ = array.rows;
    cols_ = array.cols;
    check_columns(inputs_, cols_, name_);
    check_columns(outputs_, cols_, name_);
  } catch (...) {
    close(file_);
    throw;
  }
}

FileRows::~FileRows() { close(file_); }

void FileRows::set_scaling(Scaling inputs, Scaling outputs_scaling) {
  if (inputs.cols() != dims() || outputs_scaling.cols() != outputs())
    throw InputError("the scaling has another number of columns than the file's choice");
  input_scaling_ = std::move(inputs);
  output_scaling_ = std::move(outputs_scaling);
}

DataBlock FileRows::read(Index first, Index n, ReadBuffer& buffer) const {
  const auto size = [](Index a, Index b) { return static_cast<std::size_t>(a * b); };
  buffer.raw.resize(size(n, cols_));
  read_at(file_, begin_ + 8 * first * cols_, 8 * buffer.raw.size(),
          reinterpret_cast<char*>(buffer.raw.data()), name_);
  const auto gather = [&](const std::vector<Index>& columns, const Scaling& scaling,
                          std::vector<double>& to) {
    const auto count = static_cast<Index>(columns.size());
    to.resize(size(n, count));
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < count; ++j) {
        const double raw = buffer.raw[size(i, cols_) + size(columns[size(j, 1)], 1)];
        to[size(i, count) + size(j, 1)] = (raw - scaling.shift(j)) / scaling.scale(j);
      }
  };
  gather(inputs_, input_scaling_, buffer.x);
  gather(outputs_, output_scaling_, buffer.y);
  for (Index i = 0; i < n * dims(); ++i)
    if (!std::isfinite(buffer.x[size(i, 1)]))
      throw InputError(fmt::format(
          "'{}' has an input that is not finite in row {}; drop such rows or fill them in", name_,
          first + i / dims()));
  return {{buffer.x.data(), n, dims(), dims(), first}, buffer.y.data(), outputs(), nullptr};
}

}  // namespace covary
