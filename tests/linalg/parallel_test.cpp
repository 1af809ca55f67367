#include "covary/linalg/parallel.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "covary/error.hpp"
#include "covary/linalg/cholesky.hpp"
#include "linalg/naive.hpp"

namespace covary {
namespace {

class ParallelFor : public testing::TestWithParam<int> {
 protected:
  WithThreads threads_{GetParam()};
};

TEST_P(ParallelFor, CallsEachIndexOnce) {
  EXPECT_EQ(threads(), GetParam());
  for (const Index n : {0, 1, 2, 5, 64, 1000}) {
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(n));
    parallel_for(n, [&](Index i) { ++calls[static_cast<std::size_t>(i)]; });
    for (const auto& c : calls) EXPECT_EQ(c, 1);
  }
}

// Regions that follow at once find the threads awake, or late for the one before.
TEST_P(ParallelFor, ManyShortRegionsInARow) {
  std::atomic<Index> total{0};
  for (Index region = 0; region < 5000; ++region)
    parallel_for(2 + region % 3, [&](Index i) { total += 1 + i; });
  Index expected = 0;
  for (Index region = 0; region < 5000; ++region)
    for (Index i = 0; i < 2 + region % 3; ++i) expected += 1 + i;
  EXPECT_EQ(total, expected);
}

TEST_P(ParallelFor, NestedCallsRunOnTheThreadThatMakesThem) {
  std::atomic<int> total{0}, elsewhere{0};
  parallel_for(20, [&](Index) {
    const auto here = std::this_thread::get_id();
    parallel_for(30, [&](Index) {
      ++total;
      if (std::this_thread::get_id() != here) ++elsewhere;
    });
  });
  EXPECT_EQ(total, 600);
  EXPECT_EQ(elsewhere, 0);
}

TEST_P(ParallelFor, ExceptionsReachTheCaller) {
  const auto fail_from_ten = [](Index i) {
    if (i >= 10) throw std::runtime_error("task " + std::to_string(i));
  };
  try {
    parallel_for(1000, fail_from_ten);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& e) {
    EXPECT_EQ(std::string(e.what()).substr(0, 5), "task ");
    EXPECT_GE(std::stoi(std::string(e.what()).substr(5)), 10);
  }
  // of one failing task, that task's
  try {
    parallel_for(50, [](Index i) {
      if (i == 17) throw InputError("seventeen");
    });
    FAIL() << "nothing was thrown";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "seventeen");
  }
  // and afterwards all is as before
  std::atomic<Index> sum{0};
  parallel_for(100, [&](Index i) { sum += i; });
  EXPECT_EQ(sum, 4950);
}

TEST_P(ParallelFor, AForkedChildStartsAnew) {
  std::atomic<Index> warm{0};
  parallel_for(100, [&](Index i) { warm += i; });
  const Matrix S = random_covariance(300, 1), expected = cholesky(S).L;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);  // a deadlock ends the child by a signal
    std::atomic<Index> sum{0};
    parallel_for(1000, [&](Index i) { sum += i; });
    set_threads(GetParam() + 1);
    parallel_for(1000, [&](Index i) { sum += i; });
    const bool right = sum == 999000 && cholesky(S).L == expected;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  warm = 0;
  parallel_for(100, [&](Index i) { warm += i; });
  EXPECT_EQ(warm, 4950);
}

TEST_P(ParallelFor, TwoCallersAtOnceBothFinish) {
  std::atomic<Index> sum{0};
  const auto work = [&] {
    for (int repeat = 0; repeat < 20; ++repeat) parallel_for(100, [&](Index i) { sum += i; });
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(sum, 2 * 20 * 4950);
}

INSTANTIATE_TEST_SUITE_P(Threads, ParallelFor, testing::Values(1, 2, 3, 7));

TEST(Parallel, RangesCoverEveryEntryOnce) {
  for (const Index n : {0, 1, 7, 8, 9, 100}) {
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(n));
    parallel_ranges(
        n,
        [&](Index first, Index end) {
          EXPECT_TRUE(first < end && end - first <= 8);
          for (Index i = first; i < end; ++i) ++calls[static_cast<std::size_t>(i)];
        },
        8);
    for (const auto& c : calls) EXPECT_EQ(c, 1);
  }
}

TEST(Threads, ZeroMeansAllCoresAndNonsenseIsRefused) {
  const WithThreads restore(2);
  set_threads(0);
  EXPECT_GE(threads(), 1);
  set_threads(5);
  for (const int bad : {-1, -100, 4097, 1 << 30}) {
    try {
      set_threads(bad);
      FAIL() << bad << " was accepted";
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(std::to_string(bad)), std::string::npos) << e.what();
    }
  }
  EXPECT_EQ(threads(), 5);
}

#ifndef __SANITIZE_ADDRESS__  // whose shadow memory needs all of the address space
// Thread stacks beyond a limit on memory cannot be had: fewer threads then do the same work.
TEST(Threads, TheSystemMayGiveFewerThanAsked) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    long pages = 0;
    if (std::FILE* statm = std::fopen("/proc/self/statm", "r")) {
      if (std::fscanf(statm, "%ld", &pages) != 1) pages = 0;
      std::fclose(statm);
    }
    const auto limit = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + (64L << 20));
    const rlimit memory{limit, limit};
    if (pages == 0 || setrlimit(RLIMIT_AS, &memory) != 0) _exit(0);
    set_threads(2000);
    std::atomic<Index> sum{0};
    parallel_for(1000, [&](Index i) { sum += i; });
    _exit(sum == 499500 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}
#endif

}  // namespace
}  // namespace covary
