#include "covary/statistics/rows.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "covary/error.hpp"
#include "data/scratch.hpp"
#include "statistics/support.hpp"

namespace covary {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
using Groups = std::vector<std::vector<Index>>;

TEST(MemoryRows, ReadsWithoutACopy) {
  const SweepCase t(20, 2, 3, 2, 1);
  const Vector noise = Vector::LinSpaced(20, 0.0, 1.0);
  const MemoryRows rows(t.X, t.Y, noise);
  ReadBuffer buffer;
  const DataBlock block = rows.read(5, 4, buffer);
  EXPECT_EQ(block.x.data, t.X.data() + 15);
  EXPECT_EQ(block.x.n, 4);
  EXPECT_EQ(block.x.first, 5);
  EXPECT_EQ(block.y, t.Y.data() + 10);
  EXPECT_EQ(block.noise, noise.data() + 5);
  EXPECT_EQ(t.rows().read(5, 4, buffer).noise, nullptr);
}

TEST(MemoryRows, Refusals) {
  const RowMatrix X = RowMatrix::Ones(4, 2), Y = RowMatrix::Ones(3, 1),
                  wide = RowMatrix::Ones(4, 3);
  EXPECT_THROW(MemoryRows(X, Y, Vector()), InputError);
  EXPECT_THROW(MemoryRows(X, wide.leftCols(1), Vector()), InputError);
  EXPECT_THROW(MemoryRows(X, wide, Vector::Ones(3)), InputError);
}

TEST(ColumnsByPattern, GroupsInOrderOfAppearance) {
  const RowMatrix X = RowMatrix::Ones(9000, 1);
  RowMatrix Y = RowMatrix::Ones(9000, 6);
  const auto groups = [&] { return columns_by_pattern(MemoryRows(X, Y, Vector())); };
  EXPECT_EQ(groups(), (Groups{{0, 1, 2, 3, 4, 5}}));
  Y(10, 1) = Y(10, 4) = missing;  // one pattern
  Y(11, 2) = missing;             // as many missing, at another row
  Y(8999, 5) = missing;
  EXPECT_EQ(groups(), (Groups{{0, 3}, {1, 4}, {2}, {5}}));
  Y(8000, 1) = missing;
  EXPECT_EQ(groups(), (Groups{{0, 3}, {1}, {2}, {4}, {5}}));
}

// Two rows exchanged between columns: the same number missing and no row in common.
TEST(ColumnsByPattern, TellsPatternsOfOneSizeApart) {
  const RowMatrix X = RowMatrix::Ones(100, 1);
  RowMatrix Y = RowMatrix::Ones(100, 2);
  Y(1, 0) = Y(4, 0) = missing;
  Y(2, 1) = Y(3, 1) = missing;
  EXPECT_EQ(columns_by_pattern(MemoryRows(X, Y, Vector())), (Groups{{0}, {1}}));
}

TEST(ColumnsByPattern, RefusesAColumnWithNothing) {
  const RowMatrix X = RowMatrix::Ones(5, 1);
  RowMatrix Y = RowMatrix::Ones(5, 2);
  Y.col(1).setConstant(missing);
  const std::string message =
      message_of<InputError>([&] { columns_by_pattern(MemoryRows(X, Y, Vector())); });
  EXPECT_NE(message.find("column 1"), std::string::npos) << message;
}

class FileRowsTest : public Scratch {
 protected:
  // An NPY file of version 1 with the given header and values.
  std::string npy(const std::string& type, const std::string& order, const RowMatrix& values,
                  std::size_t cut = 0) const {
    std::string header = "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': (" +
                         std::to_string(values.rows()) + ", " + std::to_string(values.cols()) +
                         "), }";
    while ((10 + header.size() + 1) % 64) header += ' ';
    header += '\n';
    std::string bytes = std::string("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size() & 255);
    bytes += static_cast<char>(header.size() >> 8);
    bytes += header;
    const auto size = static_cast<std::size_t>(8 * values.size());
    bytes.append(reinterpret_cast<const char*>(values.data()), size);
    bytes.resize(bytes.size() - cut);
    return put("rows.npy", bytes);
  }
  std::string npy(const RowMatrix& values) const { return npy("<f8", "False", values); }
};

TEST_F(FileRowsTest, ReadsChosenColumns) {
  const RowMatrix all = Random(1).normal_matrix(50, 5);
  const FileRows rows(npy(all), {3, 0}, {4});
  EXPECT_EQ(rows.rows(), 50);
  EXPECT_EQ(rows.dims(), 2);
  EXPECT_EQ(rows.outputs(), 1);
  ReadBuffer buffer;
  const DataBlock block = rows.read(17, 6, buffer);
  EXPECT_EQ(block.x.first, 17);
  EXPECT_EQ(block.x.n, 6);
  EXPECT_EQ(block.noise, nullptr);
  for (Index i = 0; i < 6; ++i) {
    EXPECT_EQ(block.x.row(i)[0], all(17 + i, 3));
    EXPECT_EQ(block.x.row(i)[1], all(17 + i, 0));
    EXPECT_EQ(block.y[i], all(17 + i, 4));
  }
  const DataBlock last = rows.read(49, 1, buffer);
  EXPECT_EQ(last.y[0], all(49, 4));
}

TEST_F(FileRowsTest, Scales) {
  const RowMatrix all = Random(2).normal_matrix(30, 3);
  FileRows rows(npy(all), {0, 2}, {1});
  Scaling inputs = Scaling::identity(2), outputs = Scaling::identity(1);
  inputs.shift << 1.0, -2.0;
  inputs.scale << 0.5, 4.0;
  outputs.shift(0) = 3.0;
  outputs.scale(0) = 10.0;
  rows.set_scaling(inputs, outputs);
  const RowMatrix X = inputs.apply(all(Eigen::all, std::vector<Index>{0, 2}));
  ReadBuffer buffer;
  const DataBlock block = rows.read(0, 30, buffer);
  for (Index i = 0; i < 30; ++i) {
    EXPECT_DOUBLE_EQ(block.x.row(i)[0], X(i, 0));
    EXPECT_DOUBLE_EQ(block.x.row(i)[1], X(i, 1));
    EXPECT_DOUBLE_EQ(block.y[i], (all(i, 1) - 3.0) / 10.0);
  }
  EXPECT_THROW(rows.set_scaling(outputs, outputs), InputError);
}

TEST_F(FileRowsTest, StatisticsAreThoseFromMemory) {
  SweepCase t(1500, 20, 2, 2, 4);
  t.Y(70, 1) = missing;
  RowMatrix all(1500, 4);
  all << t.Y, t.X;
  const FileRows file(npy(all), {2, 3}, {0, 1});
  const auto memory = t.rows();
  const SweepContext c = t.context();
  const RowRule vfe{RowRule::Term::trace, 0.0};
  ASSERT_EQ(columns_by_pattern(file), (Groups{{0}, {1}}));
  expect_same_bits(
      weighted_statistics(c, vfe, Sweep::for_features(file, 20), columns_by_pattern(file)),
      weighted_statistics(c, vfe, Sweep::for_features(memory, 20), columns_by_pattern(memory)));
}

TEST_F(FileRowsTest, RefusesWhatItCannotRead) {
  const RowMatrix all = Random(1).normal_matrix(10, 3);
  const auto refusal = [&](const std::string& path) {
    return message_of<FileError>([&] { FileRows(path, {0}, {1}); });
  };
  EXPECT_NE(refusal(path("absent.npy")).find("absent.npy"), std::string::npos);
  EXPECT_NE(refusal(path("")).find("not a regular file"), std::string::npos);
  EXPECT_NE(refusal(npy("<f4", "False", all)).find("<f8"), std::string::npos);
  EXPECT_NE(refusal(npy("<f8", "True", all)).find("C order"), std::string::npos);
  EXPECT_NE(refusal(npy("<f8", "False", all, 8)).find("10 rows of 3"), std::string::npos);
  EXPECT_NE(refusal(put("text.npy", "1,2,3\n4,5,6\n7,8,9\n")).find("text.npy"), std::string::npos);
  EXPECT_NE(refusal(put("empty.npy", "")).find("empty.npy"), std::string::npos);
  const std::string good = npy(all);
  EXPECT_NE(message_of<InputError>([&] {
              FileRows(good, {0, 3}, {1});
            }).find("no column 3"),
            std::string::npos);
  EXPECT_THROW(FileRows(good, {0}, {-1}), InputError);
}

TEST_F(FileRowsTest, RefusesInputsThatAreNotFinite) {
  RowMatrix all = Random(1).normal_matrix(10, 3);
  all(7, 0) = missing;
  const FileRows rows(npy(all), {0}, {1});
  ReadBuffer buffer;
  EXPECT_NO_THROW(rows.read(0, 7, buffer));
  const std::string message = message_of<InputError>([&] { (void)rows.read(4, 6, buffer); });
  EXPECT_NE(message.find("row 7"), std::string::npos) << message;
}

TEST_F(FileRowsTest, NoticesAFileCutWhileReading) {
  const RowMatrix all = Random(1).normal_matrix(1000, 3);
  const std::string name = npy(all);
  const FileRows rows(name, {0}, {1});
  std::filesystem::resize_file(name, 4096);
  ReadBuffer buffer;
  EXPECT_NO_THROW(rows.read(0, 10, buffer));
  EXPECT_NE(message_of<FileError>([&] { (void)rows.read(900, 10, buffer); }).find("shorter"),
            std::string::npos);
}

}  // namespace
}  // namespace covary
