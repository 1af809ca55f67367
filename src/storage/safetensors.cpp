#include "storage/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "covary/error.hpp"
#include "storage/json_events.hpp"

namespace covary {
namespace {

constexpr std::string_view kMetadata = "__metadata__";
constexpr std::uint64_t kLargest = std::numeric_limits<Index>::max();

// Reads the header without building a tree of it: what does not belong stops the parser at once, so
// neither depth nor size of a hostile header costs anything.
class HeaderReader final : public JsonEvents {
 public:
  SafetensorsHeader header;

  bool start_object(std::size_t) override {
    if (where_ == Where::start) return go(Where::top);
    if (where_ == Where::top && key_ == kMetadata) return go(Where::metadata);
    if (where_ == Where::top) return go(Where::entry);
    return misplaced("an object");
  }
  bool end_object() override {
    if (where_ == Where::entry) {
      if (!has_dtype_ || !has_shape_ || !has_offsets_) {
        return stop(
            fmt::format("gives the array {} no dtype, no shape or no data_offsets", shown(key_)));
      }
      header.tensors[key_] = std::move(entry_);
    }
    return go(where_ == Where::top ? Where::end : Where::top);
  }
  bool key(std::string& name) override {
    if (where_ != Where::top) {
      field_ = name;
      return true;
    }
    key_ = name;
    entry_ = {};
    has_dtype_ = has_shape_ = has_offsets_ = false;
    if (name.empty()) return stop("has an array without a name");
    if (header.tensors.contains(name) || (name == kMetadata && metadata_seen_)) {
      return stop(fmt::format("names {} twice", shown(name)));
    }
    metadata_seen_ |= name == kMetadata;
    return true;
  }
  bool string(std::string& value) override {
    if (where_ == Where::metadata) {
      // Other keys belong to other tools.
      if (field_ != "covary") return true;
      if (header.covary) return stop("has __metadata__.covary twice");
      header.covary = std::move(value);
      return true;
    }
    if (where_ == Where::entry && field_ == "dtype" && !has_dtype_) {
      entry_.dtype = std::move(value);
      return has_dtype_ = true;
    }
    return misplaced("a string");
  }
  bool start_array(std::size_t) override {
    if (where_ == Where::entry && field_ == "shape" && !has_shape_) {
      has_shape_ = true;
      return go(Where::shape);
    }
    if (where_ == Where::entry && field_ == "data_offsets" && !has_offsets_) {
      has_offsets_ = true;
      offsets_.clear();
      return go(Where::offsets);
    }
    return misplaced("an array");
  }
  bool end_array() override {
    if (where_ == Where::offsets) {
      if (offsets_.size() != 2) return stop(entry_fault("data_offsets that are not two numbers"));
      entry_.begin = offsets_[0];
      entry_.end = offsets_[1];
    }
    return go(Where::entry);
  }
  bool number_unsigned(std::uint64_t value) override {
    if (where_ != Where::shape && where_ != Where::offsets) return misplaced("a number");
    if (value > kLargest) return stop(entry_fault("a number beyond 2⁶³"));
    if (where_ == Where::offsets) {
      if (offsets_.size() == 2) return stop(entry_fault("more than two data_offsets"));
      offsets_.push_back(value);
    } else {
      if (entry_.shape.size() == kMostDimensions) {
        return stop(entry_fault(fmt::format("more than {} dimensions", kMostDimensions)));
      }
      entry_.shape.push_back(static_cast<Index>(value));
    }
    return true;
  }
  bool number_integer(std::int64_t value) override {
    if (where_ != Where::shape && where_ != Where::offsets) return misplaced("a number");
    return stop(entry_fault(fmt::format("the negative size {}", value)));
  }
  bool number_float(double, const std::string&) override {
    if (where_ != Where::shape && where_ != Where::offsets) return misplaced("a number");
    return stop(entry_fault("a size that is not a whole number below 2⁶³"));
  }
  bool null() override { return misplaced("null"); }
  bool boolean(bool) override { return misplaced("a truth value"); }

 private:
  enum class Where { start, top, metadata, entry, shape, offsets, end };

  bool go(Where next) {
    where_ = next;
    return true;
  }
  std::string entry_fault(const std::string& what) const {
    return fmt::format("gives the array {} {}", shown(key_), what);
  }
  bool misplaced(const char* what) {
    return stop(where_ == Where::start || where_ == Where::end
                    ? fmt::format("is {} where an object belongs", what)
                    : fmt::format("has {} at {} where none belongs", what,
                                  shown(where_ == Where::top ? key_ : key_ + "." + field_)));
  }

  Where where_ = Where::start;
  std::string key_, field_;
  TensorEntry entry_;
  std::vector<std::uint64_t> offsets_;
  bool has_dtype_ = false, has_shape_ = false, has_offsets_ = false, metadata_seen_ = false;
};

std::uint64_t item_size(std::string_view dtype) {
  if (dtype == "F64" || dtype == "I64") return 8;
  return dtype == "U8" ? 1 : 0;
}

}  // namespace

std::optional<std::uint64_t> byte_count(std::string_view dtype, const std::vector<Index>& shape) {
  // A zero makes the whole empty but does not excuse the other sizes: nobody has 0×2⁶², and a loop
  // over those columns would never end.
  std::uint64_t bytes = item_size(dtype);
  if (bytes == 0) return std::nullopt;
  bool empty = false;
  for (const Index n : shape) {
    if (n < 0) return std::nullopt;
    if (n == 0) empty = true;
    const std::uint64_t factor = n == 0 ? 1 : static_cast<std::uint64_t>(n);
    if (bytes > kLargest / factor) return std::nullopt;
    bytes *= factor;
  }
  return empty ? 0 : bytes;
}

std::string tensor_table(const TensorEntries& tensors) {
  nlohmann::json table = nlohmann::json::object();
  for (const auto& [name, entry] : tensors) {
    table[name] = {
        {"dtype", entry.dtype}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.end}}};
  }
  try {
    return table.dump();
  } catch (const nlohmann::json::type_error&) {
    throw InputError("the name of an array in a model file is not valid UTF-8");
  }
}

std::string header_text(const std::string& covary, const std::string& table) {
  const std::string metadata =
      fmt::format("{{\"{}\":{}", kMetadata, nlohmann::json{{"covary", covary}}.dump());
  return table == "{}" ? metadata + "}" : metadata + "," + table.substr(1);
}

SafetensorsHeader parse_header(std::string_view text, const std::string& source) {
  if (!text.starts_with('{')) {
    refuse(source, "it is not a Covary model file: its header does not begin with '{'");
  }
  HeaderReader reader;
  if (const auto problem = reader.run(text)) refuse(source, "its header " + *problem);
  return std::move(reader.header);
}

std::vector<TensorEntries::const_pointer> tiling(const TensorEntries& tensors,
                                                 std::uint64_t data_size,
                                                 const std::string& source) {
  std::vector<TensorEntries::const_pointer> order;
  for (const auto& item : tensors) order.push_back(&item);
  std::stable_sort(order.begin(), order.end(), [](auto a, auto b) {
    return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
  });
  std::uint64_t expected = 0;
  for (const auto* item : order) {
    const auto& [name, entry] = *item;
    if (item_size(entry.dtype) == 0) {
      refuse(source, fmt::format("the array {} has the type {}; this build reads F64, I64 and U8",
                                 shown(name), shown(entry.dtype)));
    }
    if (entry.begin != expected || entry.end < entry.begin) {
      refuse(source, fmt::format("the array {} lies at bytes {} to {} of the data where {} should "
                                 "begin: arrays overlap or leave holes",
                                 shown(name), entry.begin, entry.end, expected));
    }
    if (entry.end > data_size) {
      refuse(source, fmt::format("the array {} ends at byte {} of the data, of which there are {}: "
                                 "the file is truncated or damaged",
                                 shown(name), entry.end, data_size));
    }
    if (byte_count(entry.dtype, entry.shape) != entry.size()) {
      refuse(source, fmt::format("the array {} takes {} bytes, which is not what its shape needs",
                                 shown(name), entry.size()));
    }
    expected = entry.end;
  }
  if (expected != data_size) {
    refuse(source, fmt::format("its arrays take {} bytes but {} follow the header: the file is "
                               "truncated or damaged",
                               expected, data_size));
  }
  return order;
}

void refuse(const std::string& source, const std::string& reason) {
  throw FileError(fmt::format("cannot load {}: {}", source, reason));
}

std::string shown(std::string_view text) {
  constexpr std::size_t longest = 60;
  const bool cut = text.size() > longest;
  const std::string escaped = nlohmann::json(text.substr(0, longest))
                                  .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return fmt::format("'{}{}'", std::string_view(escaped).substr(1, escaped.size() - 2),
                     cut ? "…" : "");
}

}  // namespace covary
