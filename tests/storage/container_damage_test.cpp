// Files that are not what they should be: every one is a FileError with a reason, never a crash, a
// huge allocation or a wrong model.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "covary/error.hpp"
#include "covary/storage/container.hpp"
#include "storage/sha256.hpp"

namespace covary {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string small_file(const std::string& metadata) {
  Container c;
  c.metadata = metadata;
  c.put_vector("v", Vector::LinSpaced(3, -1.0, 1.0));
  c.put_bytes("b", bytes_of("xyz"));
  const auto bytes = serialise_container(c);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A safetensors file from its parts, right or wrong.
std::string file_of(const std::string& header, const std::string& data = "") {
  const std::uint64_t length = header.size();
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  return file + header + data;
}

struct Forgery {
  std::string table = "{}";  // JSON; its digest is taken of the canonical form
  std::string data;
  std::string version = "1";
  std::string fields;  // of the caller, with a leading comma
  std::string digest_of_table;

  std::string covary() const {
    const std::string canonical =
        digest_of_table.empty() ? sha256(nlohmann::json::parse(table).dump()) : digest_of_table;
    std::string text = R"({"sha256_self":"","format_version":)" + version + R"(,"sha256_data":")" +
                       sha256(data) + R"(","sha256_tensors":")" + canonical + "\"" + fields + "}";
    return text.insert(std::strlen(R"({"sha256_self":")"), sha256(text));
  }
  // With checksums that match, so that only the fault itself can be noticed.
  std::string file() const {
    const std::string covary_text =
        nlohmann::json(covary()).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return file_of(R"({"__metadata__":{"covary":)" + covary_text + "}" +
                       (table == "{}" ? "}" : "," + table.substr(1)),
                   data);
  }
};

std::string refusal(const std::string& file) {
  try {
    parse_container(bytes_of(file), "'m.covary'");
  } catch (const FileError& error) {
    return error.what();
  }
  return "accepted";
}

void expect_refusal(const std::string& file, const std::string& part) {
  const std::string message = refusal(file);
  EXPECT_TRUE(message.starts_with("cannot load 'm.covary': ")) << message;
  EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
  EXPECT_LT(message.size(), 400u) << "a message must not carry the file";
}

TEST(ContainerDamage, TheForgeryItselfIsAccepted) {
  Forgery f;
  f.table = R"({"a":{"dtype":"F64","shape":[1,2],"data_offsets":[0,16]}})";
  f.data = std::string(16, '\0');
  f.fields = R"(,"kind":"exact")";
  const Container c = parse_container(bytes_of(f.file()));
  EXPECT_EQ(c.rows("a", 1, 2), RowMatrix::Zero(1, 2));
  EXPECT_EQ(c.metadata, R"({"kind":"exact"})");
}

TEST(ContainerDamage, EveryTruncationIsRefused) {
  const std::string file = small_file(R"({"kind":"exact"})");
  for (std::size_t n = 0; n < file.size(); ++n) {
    ASSERT_NE(refusal(file.substr(0, n)), "accepted") << n << " of " << file.size() << " bytes";
  }
  ASSERT_NE(refusal(file + "x"), "accepted");
  ASSERT_EQ(refusal(file), "accepted");
}

// No bit is free. The length, the braces and the padding: another length or character is no JSON (a
// space has no neighbour among the white space of JSON). Names, types, shapes and places are under
// sha256_tensors, the data under sha256_data, and all that with the rest of the metadata under
// sha256_self, whose own digits are compared.
TEST(ContainerDamage, EveryFlippedBitIsRefused) {
  const std::string file = small_file(R"({"kind":"exact","x":[1,2.5],"Ω":"a\nb"})");
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    std::string damaged = file;
    damaged[bit / 8] = char(damaged[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_NE(refusal(damaged), "accepted") << "bit " << bit % 8 << " of byte " << bit / 8;
  }
}

// The one exception: a control character in a name is written \u001f, and \u001F means the same.
TEST(ContainerDamage, AFlippedBitThatIsAcceptedChangesNothing) {
  Container c;
  c.put_vector("\x1f", Vector::Ones(1));
  const auto file = serialise_container(c);
  int accepted = 0;
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    auto damaged = file;
    damaged[bit / 8] ^= std::byte(1 << (bit % 8));
    try {
      const Container back = parse_container(damaged);
      ++accepted;
      ASSERT_EQ(back.tensors, c.tensors);
      ASSERT_EQ(back.metadata, c.metadata);
    } catch (const FileError&) {
    }
  }
  EXPECT_EQ(accepted, 1);
}

TEST(ContainerDamage, TheMessageNamesTheDamagedPart) {
  const std::string file = small_file(R"({"kind":"exact"})");
  const auto with = [&](const std::string& old, const std::string& fresh) {
    std::string changed = file;
    return changed.replace(changed.find(old), old.size(), fresh);
  };
  expect_refusal(with("exact", "exalt"), "checksum of its metadata");
  expect_refusal(with("\"v\"", "\"w\""), "checksum of its table of arrays");
  expect_refusal(with("xyz", "xyy"), "checksum of its arrays");
}

TEST(ContainerDamage, HeaderLengths) {
  for (const std::uint64_t length :
       {~std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{1} << 40,
        std::uint64_t{100'000'001}, std::uint64_t{1000}}) {
    std::string file(64, ' ');
    std::memcpy(file.data(), &length, sizeof length);
    expect_refusal(file, length == 1000 ? "truncated: its header should take 1000 bytes"
                                        : "not a Covary model file; if it holds data");
  }
  expect_refusal("", "only 0 bytes");
  expect_refusal("covary", "only 6 bytes");
  expect_refusal(std::string(8, '\0'), "does not begin with");
  expect_refusal("x,y\n1,2\n3,4\n5,6\n", "not a Covary model file");
}

TEST(ContainerDamage, HeadersThatAreNotJson) {
  expect_refusal(file_of("{"), "not valid JSON");
  expect_refusal(file_of("{}}"), "not valid JSON");
  expect_refusal(file_of("[]"), "does not begin with");
  expect_refusal(file_of("\xef\xbb\xbf{}"), "does not begin with");
  expect_refusal(file_of("{\"\xc3\x28\":{}}"), "UTF-8, at byte");
  expect_refusal(file_of("{\"\\ud800\":{}}"), "UTF-8, at byte");
  expect_refusal(file_of(std::string("{}\0\0", 4)), "a zero byte at 2");
  expect_refusal(file_of("{\"a\":" + std::string(1'000'000, '[')), "an array at 'a'");
  std::string objects;
  for (int i = 0; i < 200'000; ++i) objects += "{\"a\":";
  expect_refusal(file_of(objects), "an object at");
}

TEST(ContainerDamage, HeadersOfAnotherForm) {
  const std::string entry = R"({"dtype":"F64","shape":[1],"data_offsets":[0,8]})";
  expect_refusal(file_of(R"({"a":)" + entry + R"(,"a":)" + entry + "}"), "names 'a' twice");
  expect_refusal(file_of(R"({"__metadata__":{},"__metadata__":{}})"), "'__metadata__' twice");
  expect_refusal(file_of(R"({"__metadata__":{"covary":"","covary":""}})"), "covary twice");
  expect_refusal(file_of(R"({"":)" + entry + "}"), "without a name");
  expect_refusal(file_of(R"({"__metadata__":{"covary":{}}})"),
                 "an object at '__metadata__.covary'");
  expect_refusal(file_of(R"({"__metadata__":{"covary":7}})"), "a number at");
  expect_refusal(file_of(R"({"__metadata__":[]})"), "an array at");
  expect_refusal(file_of(R"({"a":7})"), "a number at 'a'");
  expect_refusal(file_of(R"({"a":null})"), "null at 'a'");
  expect_refusal(file_of(R"({"a":{}})"), "no dtype, no shape");
  expect_refusal(file_of(R"({"a":{"dtype":"F64","shape":[1]}})"), "no data_offsets");
  const auto with = [](const std::string& fields) { return file_of(R"({"a":{)" + fields + "}}"); };
  expect_refusal(with(R"("dtype":8)"), "a number at 'a.dtype'");
  expect_refusal(with(R"("dtype":"F64","dtype":"I64")"), "a string at 'a.dtype'");
  expect_refusal(with(R"("shape":[],"shape":[])"), "an array at 'a.shape'");
  expect_refusal(with(R"("colour":"red")"), "a string at 'a.colour'");
  expect_refusal(with(R"("shape":7)"), "a number at 'a.shape'");
  expect_refusal(with(R"("shape":[true])"), "a truth value");
  expect_refusal(with(R"("shape":[[1]])"), "an array at 'a.shape'");
  expect_refusal(with(R"("shape":[-3])"), "the negative size -3");
  expect_refusal(with(R"("shape":[1.0])"), "not a whole number");
  expect_refusal(with(R"("shape":[18446744073709551616])"), "not a whole number");
  expect_refusal(with(R"("shape":[9223372036854775808])"), "beyond 2⁶³");
  expect_refusal(with(R"("shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1])"), "more than 16 dim");
  expect_refusal(with(R"("data_offsets":[0])"), "not two numbers");
  expect_refusal(with(R"("data_offsets":[0,8,16])"), "more than two");
  expect_refusal(with(R"("data_offsets":[-8,0])"), "negative");
  // Names come from the file: a message shows them without their control characters, cut short.
  expect_refusal(file_of("{\"\\u001b[2J" + std::string(5000, 'x') + "\":7}"), "\\u001b[2Jxxx");
}

// Here all checksums match, so the layout itself must be found wrong.
TEST(ContainerDamage, TablesThatDoNotFitTheData) {
  const auto with = [](const std::string& table, std::size_t bytes) {
    Forgery f;
    f.table = table;
    f.data.assign(bytes, '\0');
    return f.file();
  };
  const auto one = [&](const std::string& dtype, const std::string& shape,
                       const std::string& offsets, std::size_t bytes) {
    return with(R"({"a":{"dtype":")" + dtype + R"(","shape":[)" + shape + R"(],"data_offsets":[)" +
                    offsets + "]}}",
                bytes);
  };
  ASSERT_EQ(refusal(one("F64", "2", "0,16", 16)), "accepted");
  ASSERT_EQ(refusal(one("F64", "0,5", "0,0", 0)), "accepted");
  expect_refusal(one("F32", "2", "0,8", 8), "has the type 'F32'");
  expect_refusal(one("", "2", "0,8", 8), "has the type ''");
  expect_refusal(one("F64", "3", "0,16", 16), "not what its shape needs");
  expect_refusal(one("F64", "", "0,16", 16), "not what its shape needs");
  expect_refusal(one("F64", "2", "0,16", 24), "arrays take 16 bytes but 24 follow");
  expect_refusal(one("F64", "2", "0,16", 8), "ends at byte 16");
  expect_refusal(one("F64", "2", "8,24", 24), "overlap or leave holes");
  expect_refusal(one("F64", "2", "16,0", 16), "overlap or leave holes");
  expect_refusal(one("U8", "9223372036854775807", "0,9223372036854775807", 8), "ends at byte");
  // Products that wrap round to the right number of bytes, or hide behind a zero.
  expect_refusal(one("F64", "4611686018427387904,4", "0,0", 0), "not what its shape needs");
  expect_refusal(one("F64", "2305843009213693953", "0,8", 8), "not what its shape needs");
  expect_refusal(one("F64", "0,4611686018427387904", "0,0", 0), "not what its shape needs");
  const auto two = [&](const std::string& a, const std::string& b) {
    return with(R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[)" + a +
                    R"(]},"b":{"dtype":"U8","shape":[8],"data_offsets":[)" + b + "]}}",
                16);
  };
  ASSERT_EQ(refusal(two("8,16", "0,8")), "accepted");
  expect_refusal(two("0,8", "0,8"), "overlap or leave holes");
  expect_refusal(two("0,8", "4,12"), "overlap or leave holes");
  expect_refusal(two("0,8", "9,17"), "overlap or leave holes");
  expect_refusal(with("{}", 8), "arrays take 0 bytes but 8 follow");
}

TEST(ContainerDamage, ForeignFilesAreTold) {
  expect_refusal(file_of("{}"), "no __metadata__.covary");
  expect_refusal(file_of(R"({"__metadata__":{"format":"pt"},)"
                         R"("w":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}})",
                         "ab"),
                 "safetensors file but not a Covary model file");
  expect_refusal(file_of(R"({"__metadata__":{"covary":"yes"}})"), "does not have the form");
}

TEST(ContainerDamage, NewerFormatsAreTold) {
  Forgery f;
  f.version = "7";
  expect_refusal(f.file(),
                 "written by a newer Covary (format 7, this build reads up to 1); upgrade");
  // Whatever a newer format adds to the tables.
  f.table = R"({"a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}})";
  expect_refusal(f.file(), "newer Covary (format 7");
  for (const char* version : {"0", "-1", "\"1\"", "99999999999999999999", "1.5", ""}) {
    f.version = version;
    EXPECT_NE(refusal(f.file()), "accepted") << version;
  }
}

TEST(ContainerDamage, MetadataBehindAMatchingChecksum) {
  Forgery f;
  f.fields = R"(,"a":)" + std::string(100'000, '[');
  expect_refusal(f.file(), "nested more than 64 deep");
  f.fields = R"(,"format_version":2)";
  expect_refusal(f.file(), "'format_version' twice");
  f.fields = ",";
  expect_refusal(f.file(), "not valid JSON");
  f.fields = "}{";
  expect_refusal(f.file(), "not valid JSON");
  f.fields = "";
  f.digest_of_table = std::string(64, 'A');
  expect_refusal(f.file(), "does not have the form");
  f.digest_of_table = std::string(64, 'a');
  expect_refusal(f.file(), "checksum of its table of arrays");
}

TEST(ContainerDamage, OtherToolsMayAddToTheMetadata) {
  const std::string covary = nlohmann::json(Forgery{}.covary()).dump();
  EXPECT_EQ(refusal(file_of(R"({"__metadata__":{"format":"np","covary":)" + covary + "}}  ")),
            "accepted");
}

std::string file_refusal(const std::string& path) {
  try {
    read_container(path);
  } catch (const FileError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ContainerDamage, PathsThatAreNoModelFile) {
  const std::string directory = testing::TempDir() + "covary_damage_test";
  std::filesystem::create_directory(directory);
  EXPECT_EQ(file_refusal(directory + "/none"),
            "cannot load '" + directory + "/none': No such file or directory");
  EXPECT_EQ(file_refusal(directory), "cannot load '" + directory + "': it is not a regular file");
  ASSERT_EQ(::mkfifo((directory + "/pipe").c_str(), 0600), 0);
  EXPECT_NE(file_refusal(directory + "/pipe").find("not a regular file"), std::string::npos);
  std::ofstream(directory + "/empty").flush();
  EXPECT_NE(file_refusal(directory + "/empty").find("only 0 bytes"), std::string::npos);
  const std::string whole = small_file("{}");
  std::ofstream(directory + "/half", std::ios::binary) << whole.substr(0, whole.size() / 2);
  EXPECT_NE(file_refusal(directory + "/half").find("truncated"), std::string::npos);
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace covary
