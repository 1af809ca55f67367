#include "covary/data/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "covary/data/csv.hpp"
#include "covary/data/file.hpp"
#include "covary/data/idx.hpp"
#include "covary/data/npy.hpp"
#include "covary/error.hpp"

namespace covary {

Table read_table(const std::string& path, const TableOptions& options) {
  const std::string bytes = inflate_if_gzip(read_file(path), path);
  if (bytes.empty()) throw FileError(fmt::format("'{}' is empty", path));
  std::string name = path;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  if (name.ends_with(".npy")) return parse_npy(bytes, path);
  if (name.ends_with(".idx") || name.ends_with("-ubyte")) return parse_idx(bytes, path);
  return parse_csv(bytes, path, options);
}

Table numeric_table(RowMatrix values) {
  Table table;
  const auto columns = static_cast<std::size_t>(values.cols());
  for (std::size_t j = 0; j < columns; ++j) table.names.push_back(fmt::format("c{}", j));
  table.text.resize(columns);
  table.values = std::move(values);
  return table;
}

std::string Table::where(Index row) const {
  const auto i = static_cast<std::size_t>(row);
  return lines.empty() ? fmt::format("row {}", row) : fmt::format("line {}", lines[i]);
}

Table Table::take(const std::vector<Index>& numbers) const {
  Table out;
  out.names = names;
  out.values = values(numbers, Eigen::all);
  out.has_header = has_header;
  out.formats = formats;
  out.unclear = unclear;
  const auto taken = [&](const auto& from) {
    std::decay_t<decltype(from)> some;
    for (const Index i : numbers)
      if (!from.empty()) some.push_back(from[static_cast<std::size_t>(i)]);
    return some;
  };
  for (const auto& cells : text) out.text.push_back(taken(cells));
  out.lines = taken(lines);
  return out;
}

std::string find_data(const std::string& relative_path) {
  namespace fs = std::filesystem;
  const char* home = std::getenv("COVARY_DATA");
  std::vector<std::string> folders{"data", "../shared/data"};
  if (home && *home) folders.insert(folders.begin(), home);
  std::error_code ignored;
  for (const std::string& folder : folders) {
    const fs::path candidate = fs::path(folder) / relative_path;
    if (fs::exists(candidate, ignored)) return candidate.string();
  }
  throw FileError(fmt::format(
      "the data file '{}' is missing: looked in {}; set COVARY_DATA to the folder that holds it",
      relative_path, fmt::join(folders, ", ")));
}

}  // namespace covary
