#include <cstdint>
#include <cstring>

#include "covary/data/idx.hpp"
#include "covary/data/npy.hpp"
#include "covary/error.hpp"
#include "data/scratch.hpp"

namespace covary {
namespace {

template <class T>
std::string raw(std::initializer_list<T> values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}

std::string npy(const std::string& dictionary, const std::string& data, char version = 1) {
  std::string header = dictionary + "\n";
  std::string bytes = std::string("\x93NUMPY") + version + '\0';
  const auto length = static_cast<std::uint32_t>(header.size());
  bytes += version == 1 ? raw({static_cast<std::uint16_t>(length)}) : raw({length});
  return bytes + header + data;
}

std::string dictionary(const std::string& type, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': (" + shape + "), }        ";
}

RowMatrix read(const std::string& bytes) { return parse_npy(bytes, "t.npy").values; }

TEST(Npy, ReadsEveryType) {
  const RowMatrix expected{{1, 2}, {3, 0}};
  EXPECT_EQ(read(npy(dictionary("<f8", "2, 2"), raw<double>({1, 2, 3, 0}))), expected);
  EXPECT_EQ(read(npy(dictionary("<f4", "2, 2"), raw<float>({1, 2, 3, 0}))), expected);
  EXPECT_EQ(read(npy(dictionary("<i8", "2, 2"), raw<std::int64_t>({1, 2, 3, 0}))), expected);
  EXPECT_EQ(read(npy(dictionary("<i4", "2, 2"), raw<std::int32_t>({1, 2, 3, 0}))), expected);
  EXPECT_EQ(read(npy(dictionary("<u2", "2, 2"), raw<std::uint16_t>({1, 2, 3, 0}))), expected);
  EXPECT_EQ(read(npy(dictionary("|u1", "2, 2"), raw<std::uint8_t>({1, 2, 3, 0}))), expected);
  EXPECT_EQ(read(npy(dictionary("|b1", "1, 2"), raw<std::uint8_t>({1, 0}))), (RowMatrix{{1, 0}}));
  EXPECT_EQ(read(npy(dictionary("<i8", "1,"), raw<std::int64_t>({-5}))), (RowMatrix{{-5}}));
  EXPECT_EQ(read(npy(dictionary("|i1", "1,"), raw<std::int8_t>({-5}))), (RowMatrix{{-5}}));
}

TEST(Npy, ReadsVersionsAndOrders) {
  const RowMatrix expected{{1, 2, 3}, {4, 5, 6}};
  const std::string c = raw<double>({1, 2, 3, 4, 5, 6}), f = raw<double>({1, 4, 2, 5, 3, 6});
  for (char version : {1, 2, 3}) {
    EXPECT_EQ(read(npy(dictionary("<f8", "2, 3"), c, version)), expected);
    EXPECT_EQ(read(npy(dictionary("<f8", "2, 3", true), f, version)), expected);
  }
}

TEST(Npy, OtherNumbersOfDimensionsBecomeRows) {
  EXPECT_EQ(read(npy(dictionary("|u1", "3,"), "\x01\x02\x03")), (RowMatrix{{1}, {2}, {3}}));
  EXPECT_EQ(read(npy(dictionary("|u1", ""), "\x09")), (RowMatrix{{9}}));
  // a[i][j][k] = 100i + 10j + k, shape 2×2×3, in both orders.
  const RowMatrix expected{{0, 1, 2, 10, 11, 12}, {100, 101, 102, 110, 111, 112}};
  EXPECT_EQ(read(npy(dictionary("|u1", "2, 2, 3"),
                     raw<std::uint8_t>({0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112}))),
            expected);
  EXPECT_EQ(read(npy(dictionary("|u1", "2, 2, 3", true),
                     raw<std::uint8_t>({0, 100, 10, 110, 1, 101, 11, 111, 2, 102, 12, 112}))),
            expected);
}

TEST(Npy, ItsOwnHeaderIsRead) {
  for (const Index rows : {Index{1}, Index{123456789012}}) {
    const std::string header = npy_header(rows, 3);
    EXPECT_EQ(header.size(), 128u);
    const NpyDoubles array =
        npy_doubles(header, header.size() + static_cast<std::size_t>(24 * rows), "a.npy");
    EXPECT_EQ(array.offset, 128);
    EXPECT_EQ(array.rows, rows);
    EXPECT_EQ(array.cols, 3);
  }
}

TEST(Npy, DeclaredSizesAreNotBelieved) {
  const std::string data = raw<double>({1, 2, 3, 4});
  for (const char* shape : {"5,", "3,", "4611686018427387904, 4", "18446744073709551615, 2",
                            "99999999999999999999999", "-4,", "0, 1000000000000", "4, x"})
    EXPECT_THROW(read(npy(dictionary("<f8", shape), data)), FileError) << shape;
}

TEST(Npy, RubbishIsRefused) {
  const std::string good = npy(dictionary("<f8", "2, 2"), raw<double>({1, 2, 3, 4}));
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_THROW(read(good.substr(0, size)), FileError) << size;
  EXPECT_THROW(read(good + "x"), FileError);
  EXPECT_THROW(read(npy(dictionary("<f8", "1,"), raw<double>({1}), 9)), FileError);
  EXPECT_THROW(read(npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}",
                        raw<double>({1}))),
               FileError);
  const std::string message =
      message_of<FileError>([] { read(npy(dictionary(">f8", "1,"), raw<double>({1}))); });
  EXPECT_NE(message.find("'>f8'; supported are <f8"), std::string::npos) << message;
}

std::string bytes_of(std::initializer_list<int> values) {
  std::string bytes;
  for (int value : values) bytes += static_cast<char>(value);
  return bytes;
}

TEST(Idx, ItemsAreRows) {
  const Table t = parse_idx(bytes_of({0, 0, 8, 3, 0,   0,   0,   2,  0, 0, 0, 2, 0, 0, 0, 2,  //
                                      0, 1, 2, 3, 252, 253, 254, 255}),
                            "t.idx");
  EXPECT_EQ(t.values, (RowMatrix{{0, 1, 2, 3}, {252, 253, 254, 255}}));
  EXPECT_EQ(t.names.size(), 4U);
}

TEST(Idx, OtherTypesAreBigEndian) {
  const auto one = [](int code, std::initializer_list<int> value) {
    return parse_idx(bytes_of({0, 0, code, 1, 0, 0, 0, 1}) + bytes_of(value), "t.idx").values(0, 0);
  };
  EXPECT_EQ(one(0x09, {0xFE}), -2);
  EXPECT_EQ(one(0x0B, {0x01, 0x02}), 258);
  EXPECT_EQ(one(0x0C, {0xFF, 0xFF, 0xFF, 0xFB}), -5);
  EXPECT_EQ(one(0x0D, {0xBF, 0xC0, 0, 0}), -1.5);
  EXPECT_EQ(one(0x0E, {0x40, 0x04, 0, 0, 0, 0, 0, 0}), 2.5);
}

TEST(Idx, RubbishIsRefused) {
  const std::string good = bytes_of({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 1, 5, 6});
  EXPECT_EQ(parse_idx(good, "t.idx").rows(), 2);
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_THROW(parse_idx(good.substr(0, size), "t.idx"), FileError) << size;
  EXPECT_THROW(parse_idx(good + "x", "t.idx"), FileError);
  const auto header = [](std::initializer_list<int> h) {
    return bytes_of(h) + std::string(1020, '\xFF');
  };
  EXPECT_THROW(parse_idx(header({0, 0, 8, 255}), "t.idx"), FileError);  // 2³²−1 to the 255th
  EXPECT_THROW(parse_idx(header({0, 0, 7, 1, 0, 0, 0, 1}), "t.idx"), FileError);    // type
  EXPECT_THROW(parse_idx(header({0, 0, 8, 0}), "t.idx"), FileError);                // dimensions
  EXPECT_THROW(parse_idx(bytes_of({0, 0, 8, 1, 0, 0, 0, 0}), "t.idx"), FileError);  // items
  EXPECT_THROW(parse_idx("text,1\n", "t.idx"), FileError);
}

}  // namespace
}  // namespace covary
