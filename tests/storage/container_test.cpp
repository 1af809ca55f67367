#include "covary/storage/container.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "covary/error.hpp"

namespace covary {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Container round_trip(const Container& container) {
  return parse_container(serialise_container(container));
}

template <class Expected, class Found>
void expect_same_bits(const Expected& expected, const Found& found) {
  ASSERT_EQ(expected.rows(), found.rows());
  ASSERT_EQ(expected.cols(), found.cols());
  for (Index j = 0; j < expected.cols(); ++j) {
    for (Index i = 0; i < expected.rows(); ++i) {
      ASSERT_EQ(std::bit_cast<std::uint64_t>(expected(i, j)),
                std::bit_cast<std::uint64_t>(found(i, j)))
          << i << ", " << j;
    }
  }
}

template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Container, EveryDoubleComesBackBitByBit) {
  using Limits = std::numeric_limits<double>;
  Vector v(10);
  v << -0.0, 0.0, Limits::denorm_min(), -Limits::denorm_min(), Limits::min() / 3,
      Limits::infinity(), -Limits::infinity(), std::bit_cast<double>(0x7ff8dead'beef1234ULL),
      std::bit_cast<double>(0xfff80000'00000001ULL), 0.1;
  Matrix A = Matrix::Random(3, 5);
  A(1, 2) = v(7);
  A(2, 0) = -0.0;
  RowMatrix X = RowMatrix::Random(4, 3);
  X(3, 1) = v(8);
  Container c;
  c.put_vector("v", v);
  c.put_matrix("A", A);
  c.put_rows("X", X);
  const Container back = round_trip(c);
  expect_same_bits(v, back.vector("v"));
  expect_same_bits(A, back.matrix("A"));
  expect_same_bits(X, back.rows("X"));
  // In the file there is one order, so each layout reads the other.
  expect_same_bits(A, back.rows("A", 3, 5));
  expect_same_bits(X, back.matrix("X", 4, 3));
}

TEST(Container, ArraysLieInTheFileRowByRow) {
  Container c;
  c.put_matrix("A", (Matrix(2, 2) << 1, 2, 3, 4).finished());
  const auto file = serialise_container(c);
  double last[4];
  std::memcpy(last, file.data() + file.size() - sizeof last, sizeof last);
  EXPECT_EQ(std::vector<double>(last, last + 4), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ((file.size() - sizeof last) % 8, 0u);
}

TEST(Container, BlocksOfLargerMatrices) {
  const RowMatrix X = RowMatrix::Random(6, 7);
  const Matrix A = Matrix::Random(6, 7);
  Container c;
  c.put_rows("X", X.block(1, 2, 3, 4));
  c.put_rows("row", X.block(2, 1, 1, 3));
  c.put_matrix("A", A.block(1, 2, 3, 4));
  const Container back = round_trip(c);
  EXPECT_EQ(back.rows("X"), X.block(1, 2, 3, 4));
  EXPECT_EQ(back.rows("row"), X.block(2, 1, 1, 3));
  EXPECT_EQ(back.matrix("A"), A.block(1, 2, 3, 4));
}

TEST(Container, EmptyArraysKeepTheirShapes) {
  Container c;
  c.put_vector("a", Vector(0));
  c.put_matrix("b", Matrix(0, 3));
  c.put_rows("c", RowMatrix(4, 0));
  c.put_vector("d", Vector::Constant(2, 1.5));
  c.put_matrix("e", Matrix(0, 0));
  c.put_integers("f", {});
  c.put_bytes("g", {});
  const Container back = round_trip(c);
  EXPECT_EQ(back.tensors, c.tensors);
  EXPECT_EQ(back.vector("a", 0).size(), 0);
  EXPECT_EQ(back.matrix("b", 0, 3).cols(), 3);
  EXPECT_EQ(back.rows("c", 4, 0).rows(), 4);
  EXPECT_EQ(back.vector("d", 2), Vector::Constant(2, 1.5));
  EXPECT_TRUE(back.integers("f").empty());
  EXPECT_TRUE(back.bytes("g").empty());
  EXPECT_TRUE(round_trip(Container{}).tensors.empty());
}

TEST(Container, IntegersBytesAndHigherDimensions) {
  const std::vector<std::int64_t> integers{std::numeric_limits<std::int64_t>::min(), -1, 0, 7,
                                           std::numeric_limits<std::int64_t>::max()};
  Container c;
  c.put_integers("n", integers);
  c.put_bytes("an odd length first in the alphabet", bytes_of("three"));
  c.tensors["cube"] = {"U8", {2, 1, 3}, bytes_of("abcdef")};
  c.tensors["scalar"] = {"F64", {}, std::vector<std::byte>(8)};
  c.tensors["Ω \"quoted\"\n"] = {"U8", {1}, bytes_of("x")};
  const Container back = round_trip(c);
  EXPECT_EQ(back.integers("n", 5), integers);
  EXPECT_EQ(back.bytes("an odd length first in the alphabet"), bytes_of("three"));
  EXPECT_EQ(back.tensors, c.tensors);
}

TEST(Container, MetadataIsKeptToTheByte) {
  for (const std::string text :
       {R"({})", R"({ })", "{\n}", R"({"a":1})", R"({ "a" : -0.0, "b":[1e-320,{"c":null}] } )",
        R"({"kernel":"se(ard) + white","Ω":"\u0000\"\\"})",
        R"({"x":{"sha256_self":"not ours"}})"}) {
    Container c;
    c.metadata = text;
    EXPECT_EQ(round_trip(c).metadata, text);
  }
}

TEST(Container, SameContentSameBytes) {
  Container a, b;
  a.put_vector("x", Vector::Ones(2));
  a.put_vector("y", Vector::Zero(2));
  b.put_vector("y", Vector::Zero(2));
  b.put_vector("x", Vector::Ones(2));
  EXPECT_EQ(serialise_container(a), serialise_container(b));
  EXPECT_EQ(serialise_container(round_trip(a)), serialise_container(a));
}

TEST(Container, ThroughAFile) {
  const std::string path = testing::TempDir() + "covary_container_test.covary";
  Container c;
  c.metadata = R"({"kind":"exact"})";
  c.put_matrix("L", Matrix::Random(50, 50));
  write_container(path, c);
  const Container back = read_container(path);
  EXPECT_EQ(back.tensors, c.tensors);
  EXPECT_EQ(back.metadata, c.metadata);
  EXPECT_EQ(std::filesystem::file_size(path), serialise_container(c).size());
  EXPECT_NE(message_of([&] { back.vector("alpha"); }).find(path), std::string::npos);
  std::filesystem::remove(path);
}

TEST(Container, WrongNameTypeOrShapeIsToldWithBoth) {
  Container c;
  c.put_matrix("A", Matrix::Zero(2, 3));
  c.put_integers("n", std::vector<std::int64_t>{1});
  EXPECT_THROW(c.matrix("B"), FileError);
  EXPECT_THROW(c.vector("A"), FileError);
  EXPECT_THROW(c.vector("n"), FileError);
  EXPECT_THROW(c.integers("A"), FileError);
  EXPECT_THROW(c.bytes("A"), FileError);
  EXPECT_THROW(c.matrix("A", 3, 3), FileError);
  EXPECT_THROW(c.rows("A", -1, 2), FileError);
  EXPECT_NO_THROW(c.rows("A", -1, 3));
  EXPECT_EQ(message_of([&] { c.matrix("A", -1, 2); }),
            "the array 'A' of the model has the shape 2×3 where any×2 belongs");
  EXPECT_THROW(c.put_vector("A", Vector::Zero(1)), InputError);
}

TEST(Container, WhatCannotBeReadBackIsNotWritten) {
  const auto refused = [](auto change) {
    Container c;
    c.put_vector("v", Vector::Zero(2));
    change(c);
    EXPECT_THROW(serialise_container(c), InputError);
  };
  for (const std::string text : {"", "[]", "7", "{", "{}x", " {}", "{,}", R"({"a":1,})",
                                 R"({"a":1,"a":2})", "{\"a\":\"\xff\"}", R"({"format_version":1})",
                                 R"({"sha256_self":""})", R"({"a":1},"b":2})", R"({"a":1e999})"}) {
    refused([&](Container& c) { c.metadata = text; });
  }
  refused([](Container& c) { c.metadata = std::string("{}\0", 3); });
  refused([](Container& c) {
    c.metadata = R"({"a":)" + std::string(70, '[') + std::string(70, ']') + "}";
  });
  refused([](Container& c) { c.tensors["v"].bytes.pop_back(); });
  refused([](Container& c) { c.tensors["v"].shape = {-2}; });
  refused([](Container& c) { c.tensors["v"].dtype = "F32"; });
  refused([](Container& c) { c.tensors["v"].shape.assign(20, 1); });
  refused([](Container& c) { c.tensors[""] = c.tensors["v"]; });
  refused([](Container& c) { c.tensors["__metadata__"] = c.tensors["v"]; });
  refused([](Container& c) { c.tensors["\xc3\x28"] = c.tensors["v"]; });
  Container c;
  c.tensors["v"] = {"F64", {1}, bytes_of("longer than eight bytes")};
  EXPECT_THROW(c.vector("v"), InputError);
}

// A file of the first version, byte by byte. It must load for ever.
std::string first_version() {
  const std::string header =
      R"({"__metadata__":{"covary":"{)"
      R"(\"sha256_self\":\"d31e3dd28b0960fea29e5c09850bc23b7d1a926298073e467ca838e4bec2b581\",)"
      R"(\"format_version\":1,)"
      R"(\"sha256_data\":\"acb77a7818f08ffc096a0d09526fd3741a6978d957e1d811182d90cfd1f83499\",)"
      R"(\"sha256_tensors\":\"c662c54d3d70df27aa80162957dabd3284ffb0326aaa3565bfffc2ea60d6c64b\",)"
      R"(\"kind\":\"exact\",\"note\":\"Ω\"}"},)"
      R"("Z":{"data_offsets":[0,24],"dtype":"F64","shape":[1,3]},)"
      R"("b":{"data_offsets":[24,26],"dtype":"U8","shape":[2]}} )";
  const std::string length{char(header.size() & 0xff), char(header.size() >> 8), 0, 0, 0, 0, 0, 0};
  const double values[] = {1.0, -0.0, 0.1};
  std::string data(reinterpret_cast<const char*>(values), sizeof values);
  return length + header + data + "ab";
}

TEST(Container, AFileOfTheFirstVersionLoads) {
  const Container c = parse_container(bytes_of(first_version()));
  EXPECT_EQ(c.metadata, R"({"kind":"exact","note":"Ω"})");
  expect_same_bits((RowMatrix(1, 3) << 1.0, -0.0, 0.1).finished(), c.rows("Z"));
  EXPECT_EQ(c.bytes("b"), bytes_of("ab"));
  EXPECT_EQ(serialise_container(c), bytes_of(first_version()));
}

}  // namespace
}  // namespace covary
