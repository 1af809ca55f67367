#include "covary/data/file.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>

#include "covary/error.hpp"

namespace covary {
namespace fs = std::filesystem;
namespace {

struct CloseFile {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

void write_directly(const std::string& path, std::string_view bytes, const std::string& shown) {
  File file(std::fopen(path.c_str(), "wb"));
  if (!file) throw FileError(fmt::format("cannot write '{}': {}", shown, std::strerror(errno)));
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  const int error = errno;
  // The last bytes leave the buffer on closing, so a full disk may show only then.
  if (std::fclose(file.release()) != 0 || !written)
    throw FileError(
        fmt::format("writing '{}' failed: {}", shown, std::strerror(written ? errno : error)));
}

bool is_gzip(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

}  // namespace

std::string read_file(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    throw FileError(fmt::format("'{}' is a directory, not a file", path));
  File file(std::fopen(path.c_str(), "rb"));
  if (!file) throw FileError(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));

  // One byte more than the size lets the first read see the end; pipes have no size and grow.
  const auto size = fs::file_size(path, ignored);
  std::string bytes(ignored ? 1 << 16 : static_cast<std::size_t>(size) + 1, '\0');
  std::size_t filled = 0;
  for (;;) {
    filled += std::fread(bytes.data() + filled, 1, bytes.size() - filled, file.get());
    if (filled < bytes.size()) break;
    bytes.resize(2 * bytes.size());
  }
  if (std::ferror(file.get()))
    throw FileError(fmt::format("reading '{}' failed: {}", path, std::strerror(errno)));
  bytes.resize(filled);
  return bytes;
}

void write_file(const std::string& path, std::string_view bytes) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status))
    throw FileError(fmt::format("cannot write '{}': it is a directory", path));
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_directly(path, bytes, path);

  // A rename would replace a symbolic link itself, so its target is written instead.
  const std::string target = fs::exists(status) ? fs::canonical(path).string() : path;
  static std::atomic<unsigned> counter{0};
  const std::string temporary = fmt::format("{}.{}.{}.tmp", target, ::getpid(), counter++);
  try {
    write_directly(temporary, bytes, path);
    fs::rename(temporary, target);
  } catch (const fs::filesystem_error& e) {
    fs::remove(temporary, error);
    throw FileError(fmt::format("cannot write '{}': {}", path, e.code().message()));
  } catch (const FileError&) {
    fs::remove(temporary, error);
    throw;
  }
}

std::string inflate_if_gzip(std::string bytes, const std::string& name) {
  if (!is_gzip(bytes)) return bytes;
  const auto fail = [&](const char* why) {
    throw FileError(fmt::format("'{}' is a damaged gzip file: {}", name, why));
  };
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) throw FileError("zlib could not be started");
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> close(&stream, inflateEnd);

  std::string out(4 * bytes.size() + 4096, '\0');
  std::size_t used = 0, filled = 0;
  for (;;) {
    // zlib counts in 32 bits, so both sides are fed in pieces.
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    if (filled == out.size()) out.resize(2 * out.size());
    const std::size_t input = std::min(bytes.size() - used, most);
    const std::size_t room = std::min(out.size() - filled, most);
    stream.next_in = reinterpret_cast<Bytef*>(bytes.data() + used);
    stream.avail_in = static_cast<uInt>(input);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + filled);
    stream.avail_out = static_cast<uInt>(room);
    const int result = inflate(&stream, Z_NO_FLUSH);
    used += input - stream.avail_in;
    filled += room - stream.avail_out;
    if (result == Z_STREAM_END) {
      if (!is_gzip(std::string_view(bytes).substr(used))) break;  // another member may follow
      inflateReset(&stream);
    } else if (result == Z_BUF_ERROR) {  // there is room for output, so the input ran out
      fail("it ends before its stream does");
    } else if (result != Z_OK) {
      fail(stream.msg ? stream.msg : "its stream is corrupted");
    }
  }
  out.resize(filled);
  return out;
}

}  // namespace covary
