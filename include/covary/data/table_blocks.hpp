#pragma once

#include <memory>
#include <optional>
#include <string>

#include "covary/data/table.hpp"

namespace covary {

// A text table (gzip too) in blocks of rows, in memory that does not grow with the file; other
// formats come as one block. Every block has the columns of the first. Whether a column holds text
// is judged block by block, so name those that must in options.formats. Notes are those of
// the first block.
class TableBlocks {
 public:
  explicit TableBlocks(const std::string& path, TableOptions options = {},
                       std::size_t block_bytes = std::size_t{1} << 20);
  ~TableBlocks();

  // The next rows, at least one; nothing at the end. Throws as read_table does.
  std::optional<Table> next();
  Index first_row() const;  // of the block last given, counted from 0 in the whole table

 private:
  struct Source;
  std::unique_ptr<Source> source_;
};

}  // namespace covary
