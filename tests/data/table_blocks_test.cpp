#include "covary/data/table_blocks.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "covary/error.hpp"
#include "data/scratch.hpp"

namespace covary {
namespace {

using TableBlocksTest = Scratch;

// All blocks of a file against the table read whole.
void expect_whole(const std::string& path, std::size_t block_bytes, Index least_blocks) {
  const Table whole = read_table(path);
  TableBlocks blocks(path, {}, block_bytes);
  Index row = 0, count = 0;
  while (const auto block = blocks.next()) {
    EXPECT_EQ(blocks.first_row(), row);
    ASSERT_EQ(block->names, whole.names);
    ASSERT_GE(block->rows(), 1);
    ASSERT_LE(row + block->rows(), whole.rows());
    EXPECT_TRUE(block->values.cwiseEqual(whole.values.middleRows(row, block->rows())).all());
    row += block->rows();
    ++count;
  }
  EXPECT_EQ(row, whole.rows());
  EXPECT_GE(count, least_blocks);
}

TEST_F(TableBlocksTest, TheRowsOfTheWholeTable) {
  for (const char* line_end : {"\n", "\r\n", "\r"})
    for (const bool header : {true, false}) {
      std::string text = header ? fmt::format("a,b{}", line_end) : "";
      for (int i = 0; i < 200; ++i) text += fmt::format("{},{}{}", i, 0.5 * i, line_end);
      const std::string path = put("t.csv", text);
      for (const std::size_t bytes : {64u, 100u, 1000u, 1000000u})
        expect_whole(path, bytes, bytes <= 100 ? 5 : 1);
    }
}

TEST_F(TableBlocksTest, LineEndsInQuotesBelongToCells) {
  std::string text = "\"x\ny\",note\n";
  for (int i = 0; i < 50; ++i) text += fmt::format("{},\"one\ntwo \"\"{}\"\"\"\n", i, i);
  TableBlocks blocks(put("t.csv", text), {}, 64);
  Index row = 0;
  while (const auto block = blocks.next()) {
    ASSERT_EQ(block->names.front(), "x\ny");
    for (Index i = 0; i < block->rows(); ++i, ++row) {
      EXPECT_EQ(block->values(i, 0), static_cast<double>(row));
      EXPECT_EQ(block->text[1][static_cast<std::size_t>(i)], fmt::format("one\ntwo \"{}\"", row));
    }
  }
  EXPECT_EQ(row, 50);
}

TEST_F(TableBlocksTest, NamedColumnsAreTextInEveryBlock) {
  std::string text = "kind,x\n";
  for (int i = 0; i < 100; ++i) text += fmt::format("{},1\n", i < 50 ? "a" : "7");
  TableOptions options;
  options.formats["kind"] = CellFormat::text;
  TableBlocks blocks(put("t.csv", text), options, 64);
  while (const auto block = blocks.next()) {
    EXPECT_TRUE(block->is_text(0));
    EXPECT_FALSE(block->is_text(1));
  }
}

TEST_F(TableBlocksTest, BadFiles) {
  EXPECT_THROW(TableBlocks("nowhere.csv"), FileError);
  EXPECT_THROW(TableBlocks(put("empty.csv", "")).next(), FileError);
  EXPECT_THROW(TableBlocks(put("header.csv", "a,b\n\n")).next(), FileError);
  std::string text = "a,b\n";
  for (int i = 0; i < 100; ++i) text += "1,2\n";
  TableBlocks blocks(put("ragged.csv", text + "1,2,3\n"), {}, 64);
  try {
    while (blocks.next()) {
    }
    FAIL();
  } catch (const FileError& e) {
    EXPECT_NE(std::string(e.what()).find("line 102: expected 2 cells"), std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace covary
