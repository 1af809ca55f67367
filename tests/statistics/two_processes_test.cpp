#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "covary/error.hpp"
#include "covary/linalg/parallel.hpp"
#include "statistics/support.hpp"

namespace covary {
namespace {

void write_all(int file, const double* from, Index n) {
  const char* at = reinterpret_cast<const char*>(from);
  for (auto left = static_cast<std::size_t>(8 * n); left > 0;) {
    const ssize_t put = write(file, at, left);
    if (put <= 0) throw FileError("the pipe takes no more");
    at += put;
    left -= static_cast<std::size_t>(put);
  }
}

void read_all(int file, double* to, Index n) {
  char* at = reinterpret_cast<char*>(to);
  for (auto left = static_cast<std::size_t>(8 * n); left > 0;) {
    const ssize_t got = read(file, at, left);
    if (got <= 0) throw FileError("the pipe has ended");
    at += got;
    left -= static_cast<std::size_t>(got);
  }
}

// One of two processes: it computes the lanes of its rank, the other ones come through a pipe, and
// both sum all of them in order, as ranks of MPI will.
class PairReducer : public Reducer {
 public:
  PairReducer(Index rank, int from, int to) : rank_(rank), from_(from), to_(to) {}

  Vector reduce(Index lanes, Index size, const Lane& body) override {
    Matrix sums = Matrix::Zero(size, lanes);
    const Index own = (lanes - rank_ + 1) / 2;
    parallel_for(own, [&](Index i) {
      const Index lane = rank_ + 2 * i;
      body(lane, sums.col(lane).data());
    });
    // One sends while the other receives: a pipe holds less than a lane.
    for (Index lane = 0; lane < lanes; ++lane)
      if (lane % 2 == rank_)
        write_all(to_, sums.col(lane).data(), size);
      else
        read_all(from_, sums.col(lane).data(), size);
    Vector total = Vector::Zero(size);
    for (Index lane = 0; lane < lanes; ++lane) total += sums.col(lane);
    computed += own;
    return total;
  }
  Index computed = 0;

 private:
  Index rank_;
  int from_, to_;
};

// Rows that are shared out: what adds up their sums comes with them.
class SharedRows : public MemoryRows {
 public:
  SharedRows(const SweepCase& t, Reducer& reducer) : MemoryRows(t.rows()), reducer_(reducer) {}
  Reducer& reducer() const override { return reducer_; }

 private:
  Reducer& reducer_;
};

// Statistics and gradient of a sweep, end to end.
Vector everything(const SweepCase& t, Reducer& reducer) {
  const SharedRows rows(t, reducer);
  const Sweep sweep = Sweep::for_features(rows, t.Z.rows());
  const SweepContext c = t.context();
  const RowRule fitc{RowRule::Term::power, 1.0};
  const auto s = weighted_statistics(c, fitc, sweep, {{0, 1}});
  SweepGradient g;
  g.theta_bar = Vector::Zero(t.theta.size());
  g.z_bar = Vector::Zero(t.z.size());
  const Matrix Q = -Matrix::Identity(t.Z.rows(), t.Z.rows());
  weighted_adjoint(c, fitc, sweep, {{{0, 1}, Q, s[0].beta}}, true, g);
  Vector out(s[0].C.size() + s[0].beta.size() + 5 + g.theta_bar.size() + g.z_bar.size() + 1);
  out << Eigen::Map<const Vector>(s[0].C.data(), s[0].C.size()),
      Eigen::Map<const Vector>(s[0].beta.data(), s[0].beta.size()), s[0].rr, s[0].log_w, s[0].term,
      s[0].trace, s[0].ratio, g.theta_bar, g.z_bar, g.noise_bar;
  return out;
}

TEST(TwoProcesses, SameBitsAsThreads) {
  const SweepCase t(3000, 150, 2, 2, 12);
  const Vector threads = everything(t, thread_reducer());
  ASSERT_TRUE(threads.allFinite());

  std::array<int, 2> there{}, back{};
  ASSERT_EQ(pipe(there.data()), 0);
  ASSERT_EQ(pipe(back.data()), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    close(there[1]);
    close(back[0]);
    int status = 1;
    try {
      PairReducer reducer(1, there[0], back[1]);
      status = everything(t, reducer) == threads && reducer.computed == 16 ? 0 : 2;
    } catch (...) {
    }
    _exit(status);
  }
  close(there[0]);
  close(back[1]);
  PairReducer reducer(0, back[0], there[1]);
  EXPECT_EQ(everything(t, reducer), threads);
  EXPECT_EQ(reducer.computed, 16);  // half of 16 lanes, in two sweeps
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the other process has other sums";
  close(there[1]);
  close(back[0]);
}

}  // namespace
}  // namespace covary
