#pragma once

#include <string>

// The text of __metadata__.covary: the caller's JSON object with four fields of the format in
// front.
//   {"sha256_self":"…","format_version":1,"sha256_data":"…","sha256_tensors":"…", caller's fields}
namespace covary {

struct Seal {
  std::string metadata;        // the caller's object
  std::string sha256_data;     // of the data section
  std::string sha256_tensors;  // of tensor_table()
};

// InputError when the metadata is not a JSON object or uses one of the four names.
std::string close_seal(const Seal& seal);
// FileError when the text is not such a seal, is damaged or is newer than this build.
Seal open_seal(const std::string& text, const std::string& source);

// A file whose digest differs is refused. The fuzzer's build skips this one comparison: a random
// change would never get past it to the code behind.
void require_digest(const std::string& found, const std::string& sealed, const char* what,
                    const std::string& source);

}  // namespace covary
