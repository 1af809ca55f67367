#pragma once

#include <string>
#include <string_view>

namespace covary {

// The bytes of a file. FileError when it is missing, a directory or cannot be read.
std::string read_file(const std::string& path);

// Writes to a temporary name in the same directory and renames, so that a crash leaves the old file
// or the new one, never half of either. Devices and pipes are written directly.
void write_file(const std::string& path, std::string_view bytes);

// The inflated content when the bytes are a gzip stream (of one or more members), else the bytes
// themselves. `name` is for messages.
std::string inflate_if_gzip(std::string bytes, const std::string& name);

}  // namespace covary
