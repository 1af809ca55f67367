#include "storage/seal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "covary/error.hpp"
#include "covary/storage/container.hpp"
#include "storage/json_events.hpp"
#include "storage/safetensors.hpp"
#include "storage/sha256.hpp"

namespace covary {
namespace {

constexpr std::string_view kSelf = R"({"sha256_self":")";
constexpr std::string_view kVersion = R"(","format_version":)";
constexpr std::string_view kData = R"(,"sha256_data":")";
constexpr std::string_view kTensors = R"(","sha256_tensors":")";
constexpr std::size_t kDigits = 64;

// Takes the fixed parts of the seal off its front, one after the other.
struct Front {
  std::string_view rest;

  bool literal(std::string_view expected) {
    if (!rest.starts_with(expected)) return false;
    rest.remove_prefix(expected.size());
    return true;
  }
  std::optional<std::string> digest() {
    const std::string_view digits = rest.substr(0, kDigits);
    const bool hexadecimal = std::all_of(digits.begin(), digits.end(), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    });
    if (digits.size() != kDigits || !hexadecimal) return std::nullopt;
    rest.remove_prefix(kDigits);
    return std::string(digits);
  }
  std::optional<int> number() {
    int value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc()) return std::nullopt;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    return value;
  }
};

[[noreturn]] void malformed(const std::string& source) {
  refuse(source,
         "its __metadata__.covary does not have the form that Covary writes: the file is "
         "damaged or was changed by another program");
}

}  // namespace

std::string close_seal(const Seal& seal) {
  if (!seal.metadata.starts_with('{')) {
    throw InputError("the metadata of a model file must be a JSON object, beginning with '{'");
  }
  const std::string_view body = std::string_view(seal.metadata).substr(1);
  const auto first = body.find_first_not_of(" \t\r\n");
  const bool empty = first != std::string_view::npos && body[first] == '}';
  const std::string unsigned_text =
      fmt::format("{}{}{}{}{}{}{}\"{}{}", kSelf, kVersion, kFormatVersion, kData, seal.sha256_data,
                  kTensors, seal.sha256_tensors, empty ? "" : ",", body);
  if (const auto fault = fault_of_json_object(unsigned_text)) {
    throw InputError(
        fmt::format("the metadata of a model file {} (sha256_self, format_version, sha256_data and "
                    "sha256_tensors are added to it on writing)",
                    *fault));
  }
  std::string text = unsigned_text;
  return text.insert(kSelf.size(), sha256(unsigned_text));
}

Seal open_seal(const std::string& text, const std::string& source) {
  Front front{text};
  if (!front.literal(kSelf)) malformed(source);
  const auto self = front.digest();
  if (!self) malformed(source);
  const auto found = Sha256().update(kSelf).update(front.rest).hex();
  require_digest(found, *self, "metadata", source);

  if (!front.literal(kVersion)) malformed(source);
  const auto version = front.number();
  if (!version || *version < 1) malformed(source);
  if (*version > kFormatVersion) {
    refuse(source,
           fmt::format("it was written by a newer Covary (format {}, this build reads up to "
                       "{}); upgrade",
                       *version, kFormatVersion));
  }
  Seal seal;
  if (!front.literal(kData)) malformed(source);
  const auto data = front.digest();
  if (!data || !front.literal(kTensors)) malformed(source);
  const auto tensors = front.digest();
  if (!tensors || !front.literal("\"")) malformed(source);
  if (const auto fault = fault_of_json_object(text)) {
    refuse(source, "its __metadata__.covary " + *fault);
  }
  if (front.rest.starts_with(',')) front.rest.remove_prefix(1);
  return {"{" + std::string(front.rest), *data, *tensors};
}

void require_digest([[maybe_unused]] const std::string& found,
                    [[maybe_unused]] const std::string& sealed, [[maybe_unused]] const char* what,
                    [[maybe_unused]] const std::string& source) {
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  if (found == sealed) return;
  refuse(source, fmt::format("the checksum of its {} does not match: the file is damaged (SHA-256 "
                             "{}…, recorded {}…); get another copy or fit again",
                             what, found.substr(0, 8), sealed.substr(0, 8)));
#endif
}

}  // namespace covary
