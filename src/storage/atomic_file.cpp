#include "covary/storage/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "covary/error.hpp"

namespace covary {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

std::string directory_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

// Short, so that any name the file system allows for the target is allowed for this too.
std::string temporary_in(const std::string& directory) {
  static std::atomic<unsigned> counter = 0;
  return fmt::format("{}/.covary-{}-{}.tmp", directory, ::getpid(), counter++);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(path) {
  if (path.empty()) throw FileError("the name of the file to write is empty; give a path");
  mode_t mode = 0666;  // less the umask
  struct stat old {};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (exists) {
    // Renaming over /dev/null or a directory would destroy it or fail late.
    if (!S_ISREG(old.st_mode)) {
      throw FileError(
          fmt::format("cannot write '{}': it exists and is not a regular file; "
                      "give the name of a file",
                      path));
    }
    // A rename needs no permission on the file it replaces; respect a file made read-only.
    if (::access(path.c_str(), W_OK) != 0) fail();
    std::error_code error;
    const auto followed = std::filesystem::canonical(path, error);
    if (!error) target_ = followed.string();
    mode = old.st_mode & 0777;
  }
  do {
    temporary_ = temporary_in(directory_of(target_));
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  } while (descriptor_ < 0 && (errno == EEXIST || errno == EINTR));
  if (descriptor_ < 0) fail();
  // Who may read the model stays as it was, whatever the umask is now.
  if (exists) static_cast<void>(::fchmod(descriptor_, mode));
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) fail();
  // Some file systems report a full disk only here.
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail();
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail();
  temporary_.clear();
  // The rename itself survives a power cut once the directory is on the disk. The file is in place
  // either way, so a file system that cannot do this is not an error.
  const int directory = ::open(directory_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    static_cast<void>(::fsync(directory));
    ::close(directory);
  }
}

void AtomicFile::fail() const {
  const int error = errno;
  std::string advice;
  if (error == ENOENT) {
    advice = fmt::format("; make the directory '{}' first", directory_of(target_));
  } else if (error == ENOSPC || error == EDQUOT) {
    advice = "; free some space or write elsewhere";
  }
  throw FileError(fmt::format("cannot write '{}': {}{}", path_, reason(error), advice));
}

}  // namespace covary
