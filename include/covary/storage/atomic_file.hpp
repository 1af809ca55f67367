#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace covary {

// A file that appears whole or not at all. The bytes go to a temporary name in the directory of
// `path`; commit() flushes them to the disk and renames. Destroyed before commit(), the temporary
// is removed and an old file at `path` is as it was. Every failure is a FileError which names the
// path and the system's reason.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  [[noreturn]] void fail() const;

  std::string path_;       // as the caller wrote it, for messages
  std::string target_;     // with symbolic links followed: the link stays, its file is replaced
  std::string temporary_;  // empty once committed
  int descriptor_ = -1;
};

}  // namespace covary
