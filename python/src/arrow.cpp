#include "arrow.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "covary/error.hpp"

// The structures of https://arrow.apache.org/docs/format/CDataInterface.html, which fixes them.
extern "C" {
struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  ArrowSchema **children, *dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  ArrowArray **children, *dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace covary::python {
namespace {

template <class T>
struct Released : T {
  Released() : T() {}
  ~Released() {
    if (this->release) this->release(this);
  }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;
};

template <class T>
T entry(const ArrowArray& a, int64_t i) {
  T out;
  std::memcpy(&out, static_cast<const char*>(a.buffers[1]) + i * static_cast<int64_t>(sizeof(T)),
              sizeof(T));
  return out;
}

bool bit(const void* bits, int64_t i) {
  return (static_cast<const uint8_t*>(bits)[i / 8] >> (i % 8)) & 1;
}

bool is_null(const ArrowArray& a, int64_t i) { return a.buffers[0] && !bit(a.buffers[0], i); }

// Ticks of a time a day.
double ticks_a_day(char unit) {
  return unit == 's' ? 86400.0 : unit == 'm' ? 86400e3 : unit == 'u' ? 86400e6 : 86400e9;
}

// An entry as a number; nothing for a type that has none. Dates are days.
std::optional<double> number(std::string_view format, const ArrowArray& a, int64_t i) {
  const auto as = [&](auto zero) { return static_cast<double>(entry<decltype(zero)>(a, i)); };
  if (format == "c") return as(int8_t{});
  if (format == "C") return as(uint8_t{});
  if (format == "s") return as(int16_t{});
  if (format == "S") return as(uint16_t{});
  if (format == "i" || format == "tdD") return as(int32_t{});
  if (format == "I") return as(uint32_t{});
  if (format == "l") return as(int64_t{});
  if (format == "L") return as(uint64_t{});
  if (format == "f") return as(float{});
  if (format == "g") return as(double{});
  if (format == "b") return bit(a.buffers[1], i) ? 1.0 : 0.0;
  if (format == "tdm") return as(int64_t{}) / 86400e3;
  if (format.starts_with("ts") && format.size() > 2) return as(int64_t{}) / ticks_a_day(format[2]);
  return {};
}

// An entry as text; nothing for a type that is none.
std::optional<std::string> text(std::string_view format, const ArrowArray& a, int64_t i) {
  const auto between = [&](auto zero) {
    using Offset = decltype(zero);
    const auto from = entry<Offset>(a, i), to = entry<Offset>(a, i + 1);
    return std::string(static_cast<const char*>(a.buffers[2]) + from,
                       static_cast<std::size_t>(to - from));
  };
  if (format == "u") return between(int32_t{});
  if (format == "U") return between(int64_t{});
  if (format != "vu") return {};
  // A view: the length, then twelve bytes of text, or a prefix, a buffer and a place in it.
  const char* view = static_cast<const char*>(a.buffers[1]) + 16 * i;
  int32_t parts[4];
  std::memcpy(parts, view, sizeof parts);
  const char* from =
      parts[0] <= 12 ? view + 4 : static_cast<const char*>(a.buffers[2 + parts[2]]) + parts[3];
  return std::string(from, static_cast<std::size_t>(parts[0]));
}

// One column of a batch, below the rows that are there.
void append(const ArrowSchema& schema, const ArrowArray& a, int64_t rows, Table& table, Index j,
            Index first) {
  const std::string_view format = schema.format;
  auto& cells = table.text[static_cast<std::size_t>(j)];
  const auto fail = [&] {
    throw InputError(
        fmt::format("column '{}' has the Arrow type '{}'; cast it to numbers, text or dates",
                    schema.name, format));
  };
  for (int64_t row = 0; row < rows; ++row) {
    int64_t i = row + a.offset;
    double& value = table.values(first + row, j) = std::nan("");
    if (format == "n") continue;
    const bool missing = is_null(a, i);
    const ArrowArray* from = &a;
    std::string_view type = format;
    if (schema.dictionary) {
      if (!missing)
        i = static_cast<int64_t>(number(format, a, i).value_or(0.0)) + a.dictionary->offset;
      from = a.dictionary;
      type = schema.dictionary->format;
    }
    const bool words = type == "u" || type == "U" || type == "vu";
    if (words) {
      cells.resize(static_cast<std::size_t>(first + row));  // "" for rows of batches of nulls
      cells.push_back(missing || is_null(*from, i) ? "" : *text(type, *from, i));
    } else if (!missing && !is_null(*from, i)) {
      const auto v = number(type, *from, i);
      if (!v) fail();
      value = *v;
    }
  }
  if (format.starts_with("td") || format.starts_with("ts"))
    table.formats[schema.name] = CellFormat::date;
}

}  // namespace

bool has_arrow_stream(nb::handle object) {
  return nb::hasattr(object, "__arrow_c_stream__") && !nb::hasattr(object, "iloc");
}

Table table_from_arrow(nb::handle object) {
  const nb::object capsule = object.attr("__arrow_c_stream__")();
  auto* stream =
      static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
  if (!stream) throw nb::python_error();
  const auto check = [&](int status) {
    if (status == 0) return;
    const char* why = stream->get_last_error(stream);
    throw InputError(
        fmt::format("the Arrow stream cannot be read: {}", why ? why : "no reason given"));
  };
  Released<ArrowSchema> schema;
  check(stream->get_schema(stream, &schema));
  if (std::string_view(schema.format) != "+s")
    throw InputError("the Arrow stream is a single column; a table of named columns is needed");
  Table out;
  const auto columns = static_cast<Index>(schema.n_children);
  for (Index j = 0; j < columns; ++j) out.names.emplace_back(schema.children[j]->name);
  out.text.resize(out.names.size());
  out.has_header = true;
  out.values.resize(0, columns);
  for (;;) {
    Released<ArrowArray> batch;
    check(stream->get_next(stream, &batch));
    if (!batch.release) break;  // the end
    const Index first = out.rows();
    out.values.conservativeResize(first + batch.length, columns);
    for (Index j = 0; j < columns; ++j)
      append(*schema.children[j], *batch.children[j], batch.length, out, j, first);
  }
  return out;
}

}  // namespace covary::python
