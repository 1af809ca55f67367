#include "covary/data/table.hpp"

#include <zlib.h>

#include <cstdlib>

#include "covary/data/file.hpp"
#include "covary/error.hpp"
#include "data/scratch.hpp"

namespace covary {
namespace {

class ReadTable : public Scratch {
 protected:
  std::string gzip(const std::string& name, const std::string& bytes, const char* mode = "wb") {
    gzFile file = gzopen(path(name).c_str(), mode);
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
    return path(name);
  }
};

TEST_F(ReadTable, FindsTheFormatFromTheName) {
  EXPECT_EQ(read_table(put("a.csv", "x,y\n1,2\n")).values(0, 1), 2);
  EXPECT_EQ(read_table(put("a.TSV", "x\ty\n1\t3\n")).values(0, 1), 3);
  EXPECT_EQ(read_table(put("train_inputs", " 1 4\n")).values(0, 1), 4);
  const std::string idx("\0\0\x08\x01\0\0\0\x02\x07\xFF", 10);
  EXPECT_EQ(read_table(put("t-labels-idx1-ubyte", idx)).values(1, 0), 255);
  EXPECT_EQ(read_table(put("t.idx", idx)).values(0, 0), 7);
}

TEST_F(ReadTable, InflatesGzipOfOneAndOfSeveralMembers) {
  std::string text = "x,y\n";
  for (int i = 0; i < 20000; ++i) text += "1.25,-7\n";
  EXPECT_EQ(read_table(gzip("a.csv.gz", text)).rows(), 20000);
  const Table both = read_table(gzip("a.csv.gz", "3,4\n", "ab"));
  EXPECT_EQ(both.rows(), 20001);
  EXPECT_EQ(both.values(20000, 1), 4);
  EXPECT_EQ(both.names[0], "x");
}

TEST_F(ReadTable, DamagedGzipIsRefused) {
  std::string text = "x\n";
  for (int i = 0; i < 5000; ++i) text += std::to_string(i * 7919 % 10007) + "\n";
  const std::string whole = read_file(gzip("a.csv.gz", text));
  for (std::size_t size : {whole.size() - 1, whole.size() / 2, std::size_t{12}, std::size_t{2}}) {
    const std::string part = put("cut.csv.gz", whole.substr(0, size));
    EXPECT_NE(message_of<FileError>([&] { read_table(part); }).find("damaged"), std::string::npos);
  }
  std::string flipped = whole;
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 0x10);
  put("flip.csv.gz", flipped);
  EXPECT_THROW(read_table(path("flip.csv.gz")), FileError);
}

TEST_F(ReadTable, MissingEmptyAndDirectoryAreRefused) {
  const auto refusal = [](const std::string& p) {
    return message_of<FileError>([&] { read_table(p); });
  };
  EXPECT_NE(refusal(path("no.csv")).find("No such file"), std::string::npos);
  EXPECT_NE(refusal(path("no.csv")).find("no.csv"), std::string::npos);
  EXPECT_NE(refusal(folder_.string()).find("is a directory"), std::string::npos);
  for (const char* name : {"e.csv", "e.npy", "e.idx"})
    EXPECT_NE(refusal(put(name, "")).find("is empty"), std::string::npos);
  EXPECT_NE(refusal(gzip("e.csv.gz", "")).find("is empty"), std::string::npos);
}

TEST_F(ReadTable, WriteFileFollowsLinksAndKeepsDevices) {
  put("real.txt", "old");
  std::filesystem::create_symlink(path("real.txt"), path("link.txt"));
  write_file(path("link.txt"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.txt")));
  EXPECT_EQ(read_file(path("real.txt")), "new");
  write_file("/dev/null", "gone");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

class FindData : public Scratch {
 protected:
  ~FindData() override { ::unsetenv("COVARY_DATA"); }
};

TEST_F(FindData, LooksUnderTheVariableFirst) {
  std::filesystem::create_directories(folder_ / "set");
  put("set/train.csv", "1\n");
  ::setenv("COVARY_DATA", folder_.c_str(), 1);
  EXPECT_EQ(find_data("set/train.csv"), path("set/train.csv"));
}

TEST_F(FindData, SaysWhatIsMissingAndWhereItLooked) {
  ::setenv("COVARY_DATA", folder_.c_str(), 1);
  const std::string message = message_of<FileError>([] { find_data("no/such.csv"); });
  for (const std::string& part : {std::string("no/such.csv"), folder_.string(), std::string("data"),
                                  std::string("../shared/data"), std::string("COVARY_DATA")})
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

}  // namespace
}  // namespace covary
