#include "covary/storage/atomic_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "covary/error.hpp"
#include "covary/storage/container.hpp"

namespace covary {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public testing::Test {
 protected:
  void SetUp() override {
    directory = testing::TempDir() + "covary_atomic_test_" + std::to_string(::getpid());
    fs::create_directory(directory);
    path = directory + "/model.covary";
  }
  void TearDown() override { fs::remove_all(directory); }

  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
  }
  static void put(const std::string& where, const std::string& text) {
    AtomicFile file(where);
    file.write(std::as_bytes(std::span(text)));
    file.commit();
  }
  static std::string content(const std::string& where) {
    std::ifstream in(where, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static std::string failure(const std::string& where) {
    try {
      put(where, "text");
    } catch (const FileError& error) {
      return error.what();
    }
    return "no failure";
  }

  std::string directory, path;
};

TEST_F(AtomicFileTest, AppearsOnCommitAndNotBefore) {
  {
    AtomicFile file(path);
    file.write(std::as_bytes(std::span("one", 3)));
    EXPECT_FALSE(fs::exists(path));
    file.write(std::as_bytes(std::span("two", 3)));
    file.commit();
    EXPECT_EQ(content(path), "onetwo");
  }
  EXPECT_EQ(content(path), "onetwo");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, WithoutCommitTheOldFileStays) {
  put(path, "old");
  {
    AtomicFile file(path);
    file.write(std::as_bytes(std::span("new", 3)));
  }
  EXPECT_EQ(content(path), "old");
  EXPECT_EQ(files(), 1u);
  put(path, "new");
  EXPECT_EQ(content(path), "new");
}

TEST_F(AtomicFileTest, TwoAtOnceTheLastCommitWins) {
  AtomicFile first(path), second(path);
  first.write(std::as_bytes(std::span("first", 5)));
  second.write(std::as_bytes(std::span("second", 6)));
  second.commit();
  first.commit();
  EXPECT_EQ(content(path), "first");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, FailuresNameThePathAndTheReason) {
  const std::string missing = directory + "/none/model.covary";
  EXPECT_EQ(failure(missing), "cannot write '" + missing +
                                  "': No such file or directory; make the directory '" + directory +
                                  "/none' first");
  put(path, "old");
  EXPECT_EQ(failure(path + "/below"), "cannot write '" + path + "/below': Not a directory");
  EXPECT_EQ(failure(directory), "cannot write '" + directory +
                                    "': it exists and is not a regular file; give the name of a "
                                    "file");
  EXPECT_NE(failure("/dev/null").find("not a regular file"), std::string::npos);
  EXPECT_NE(failure("").find("empty"), std::string::npos);
  EXPECT_NE(failure(directory + "/" + std::string(300, 'x')).find("name too long"),
            std::string::npos);
  EXPECT_EQ(content(path), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, AReadOnlyFileOrDirectoryIsRespected) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may write anywhere";
  put(path, "old");
  fs::permissions(path, fs::perms::owner_read);
  EXPECT_EQ(failure(path), "cannot write '" + path + "': Permission denied");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  fs::permissions(directory, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(failure(path), "cannot write '" + path + "': Permission denied");
  fs::permissions(directory, fs::perms::owner_all);
  EXPECT_EQ(content(path), "old");
}

TEST_F(AtomicFileTest, TheLongestNameTheFileSystemAllows) {
  const std::string longest = directory + "/" + std::string(255, 'x');
  put(longest, "text");
  EXPECT_EQ(content(longest), "text");
}

TEST_F(AtomicFileTest, ALinkStaysALinkAndPermissionsStay) {
  put(path, "old");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  const std::string link = directory + "/latest";
  fs::create_symlink("model.covary", link);
  put(link, "new");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(content(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(files(), 2u);
}

// A limit on the size of files stands for a full disk: the write fails half-way.
TEST_F(AtomicFileTest, ADiskThatFillsUpLeavesTheOldModelWhole) {
  Container old_model, large;
  old_model.put_vector("v", Vector::Ones(3));
  large.put_vector("v", Vector::Ones(100'000));
  write_container(path, old_model);

  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100'000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string message = "no failure";
  try {
    write_container(path, large);
  } catch (const FileError& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);

  EXPECT_EQ(message, "cannot write '" + path + "': File too large");
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(read_container(path).tensors, old_model.tensors);
}

TEST_F(AtomicFileTest, AContainerThatIsRefusedLeavesTheOldModelWhole) {
  Container model;
  model.put_vector("v", Vector::Ones(3));
  write_container(path, model);
  Container wrong = model;
  wrong.metadata = "not JSON";
  EXPECT_THROW(write_container(path, wrong), InputError);
  EXPECT_EQ(read_container(path).tensors, model.tensors);
  EXPECT_EQ(files(), 1u);
}

}  // namespace
}  // namespace covary
