#include "storage/json_events.hpp"

#include <fmt/format.h>

#include <set>

#include "storage/safetensors.hpp"

namespace covary {
namespace {

constexpr int kDeepest = 64;

// Only the keys of the outermost object are kept: a tree of a hostile text could take sixteen times
// its size.
class ObjectCheck final : public JsonEvents {
 public:
  bool start_object(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override {
    return depth_ == 0 ? stop("is not a JSON object") : enter();
  }
  bool end_array() override { return leave(); }
  bool key(std::string& name) override {
    if (depth_ > 1 || keys_.insert(name).second) return true;
    return stop(fmt::format("has the key {} twice", shown(name)));
  }
  bool null() override { return scalar(); }
  bool boolean(bool) override { return scalar(); }
  bool number_integer(std::int64_t) override { return scalar(); }
  bool number_unsigned(std::uint64_t) override { return scalar(); }
  bool number_float(double, const std::string&) override { return scalar(); }
  bool string(std::string&) override { return scalar(); }

 private:
  bool enter() {
    return ++depth_ <= kDeepest || stop(fmt::format("is nested more than {} deep", kDeepest));
  }
  bool leave() {
    --depth_;
    return true;
  }
  bool scalar() { return depth_ > 0 || stop("is not a JSON object"); }

  int depth_ = 0;
  std::set<std::string> keys_;
};

}  // namespace

std::optional<std::string> JsonEvents::run(std::string_view text) {
  // The parser would take a zero byte for the end of the text.
  if (const auto at = text.find('\0'); at != std::string_view::npos) {
    return fmt::format("is not valid JSON: a zero byte at {}", at);
  }
  const bool whole = nlohmann::json::sax_parse(text.begin(), text.end(), this);
  if (!whole && !problem_) problem_ = "is not valid JSON";
  return problem_;
}

bool JsonEvents::binary(binary_t&) { return stop("is not text"); }

bool JsonEvents::parse_error(std::size_t position, const std::string&,
                             const nlohmann::json::exception&) {
  return stop(fmt::format("is not valid JSON in UTF-8, at byte {}", position));
}

bool JsonEvents::stop(std::string problem) {
  problem_ = std::move(problem);
  return false;
}

std::optional<std::string> fault_of_json_object(std::string_view text) {
  return ObjectCheck().run(text);
}

}  // namespace covary
