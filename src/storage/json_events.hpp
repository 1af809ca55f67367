#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace covary {

// A reader of JSON that is called piece by piece and keeps only what it wants. An event that
// returns false ends the reading; stop() does so with the reason.
class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  // Feeds the text. The answer is what was wrong with it, or nothing.
  std::optional<std::string> run(std::string_view text);

  bool binary(binary_t&) override;
  bool parse_error(std::size_t position, const std::string& last_token,
                   const nlohmann::json::exception& error) override;

 protected:
  bool stop(std::string problem);

 private:
  std::optional<std::string> problem_;
};

// What is wrong with `text` as one JSON object whose keys are distinct, nested at most 64 deep; or
// nothing.
std::optional<std::string> fault_of_json_object(std::string_view text);

}  // namespace covary
