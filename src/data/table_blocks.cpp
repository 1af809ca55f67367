#include "covary/data/table_blocks.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "covary/data/csv.hpp"
#include "covary/error.hpp"

namespace covary {
namespace {

bool is_binary(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name.ends_with(".npy") || name.ends_with(".idx") || name.ends_with("-ubyte");
}

// The end of the last row (or of the first that is not blank) that is whole in the text, or 0. A
// line end between quotes belongs to a cell.
std::size_t row_end(const std::string& text, bool first) {
  bool quoted = false, blank = true;
  std::size_t end = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    const bool line_end = text[i] == '\n' || text[i] == '\r';
    if (line_end && !quoted) {
      // The second half of a \r\n may not have been read yet.
      if (text[i] == '\r' && i + 1 == text.size()) break;
      if (text[i] == '\r' && text[i + 1] == '\n') continue;
      end = i + 1;
      if (first && !blank) return end;
    }
    blank = blank && (line_end || text[i] == ' ');
  }
  return first ? 0 : end;
}

// As the scanner counts them.
Index line_ends(const std::string& text) {
  Index count = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    count += text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'));
  return count;
}

}  // namespace

struct TableBlocks::Source {
  std::string path;
  TableOptions options;
  std::size_t block_bytes;
  gzFile file = nullptr;  // reads plain files as they are
  bool ended = false;
  std::string pending = {};     // read and not yet given
  std::string first_line = {};  // goes before every later block, so that all are read alike
  bool has_header = false;
  Index given = 0, first_row = 0;
  Index lines = 0;  // before the rows to come

  ~Source() {
    if (file) gzclose(file);
  }

  void read_more() {
    const std::size_t before = pending.size();
    const std::size_t wanted = std::max(block_bytes, before);
    pending.resize(before + wanted);
    const int got = gzread(file, pending.data() + before, static_cast<unsigned>(wanted));
    pending.resize(before + static_cast<std::size_t>(std::max(got, 0)));
    int error = Z_OK;
    const char* message = gzerror(file, &error);
    if (got < 0 || error == Z_BUF_ERROR)
      throw FileError(fmt::format("reading '{}' failed: {}", path,
                                  error == Z_ERRNO ? std::strerror(errno) : message));
    ended = static_cast<std::size_t>(got) < wanted;
  }

  // Whole rows, at least one that is not blank; empty at the end.
  std::string take() {
    for (;;) {
      if (!ended && pending.size() < block_bytes) read_more();
      std::size_t end = ended ? pending.size() : row_end(pending, false);
      const auto blank = [](char c) { return c == '\n' || c == '\r' || c == ' '; };
      const auto at = static_cast<std::ptrdiff_t>(end);
      if (end > 0 && !std::all_of(pending.begin(), pending.begin() + at, blank)) {
        std::string rows = pending.substr(0, end);
        pending.erase(0, end);
        return rows;
      }
      if (ended) return {};
      read_more();
    }
  }
};

TableBlocks::TableBlocks(const std::string& path, TableOptions options, std::size_t block_bytes)
    : source_(new Source{path, std::move(options), std::max<std::size_t>(block_bytes, 64)}) {
  if (is_binary(path)) return;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw FileError(fmt::format("'{}' is a directory, not a file", path));
  source_->file = gzopen(path.c_str(), "rb");
  if (!source_->file)
    throw FileError(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
}

TableBlocks::~TableBlocks() = default;

Index TableBlocks::first_row() const { return source_->first_row; }

std::optional<Table> TableBlocks::next() {
  Source& s = *source_;
  s.first_row = s.given;
  if (!s.file) {  // one block
    if (s.given > 0) return std::nullopt;
    Table whole = read_table(s.path, s.options);
    s.given = whole.rows();
    return whole;
  }
  std::string rows = s.take();
  if (s.given == 0) {
    if (rows.starts_with("\xEF\xBB\xBF")) rows.erase(0, 3);
    // A header alone is no block: the first row of data must be in it.
    while (!s.ended && row_end(rows, true) == rows.size()) rows += s.take();
    Table table = parse_csv(rows, s.path, s.options);
    const std::size_t end = row_end(rows, true);
    s.first_line = rows.substr(0, end ? end : rows.size());
    s.has_header = table.has_header;
    s.options.header = s.has_header ? Header::yes : Header::no;
    s.given = table.rows();
    s.lines = line_ends(rows);
    s.options.formats.insert(table.formats.begin(), table.formats.end());  // the same in all blocks
    return table;
  }
  if (rows.empty()) return std::nullopt;
  s.options.first_line = s.lines + 1 - line_ends(s.first_line);
  s.lines += line_ends(rows);
  Table table = parse_csv(s.first_line + rows, s.path, s.options);
  if (!s.has_header) {  // the first line is a row that was given already
    std::vector<Index> others(static_cast<std::size_t>(table.rows() - 1));
    std::iota(others.begin(), others.end(), 1);
    table = table.take(others);
  }
  table.notes.clear();
  s.given += table.rows();
  return table;
}

}  // namespace covary
