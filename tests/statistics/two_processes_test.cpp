#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "covary/error.hpp"
#include "covary/linalg/parallel.hpp"
#include "statistics/expectations.hpp"
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

class SharedGaussianRows : public GaussianRows {
 public:
  SharedGaussianRows(const SweepCase& t, const RowMatrix& variances, Reducer& reducer)
      : GaussianRows(t.X, variances, t.Y), reducer_(reducer) {}
  Reducer& reducer() const override { return reducer_; }

 private:
  Reducer& reducer_;
};

// By the means and variances of Gaussian rows.
Vector gradient_of_inputs(const SweepCase& t, const SweepContext& c, Reducer& reducer) {
  const RowMatrix variances = RowMatrix::Constant(t.X.rows(), t.X.cols(), 0.2);
  const SharedGaussianRows rows(t, variances, reducer);
  const Sweep sweep = Sweep::for_features(rows, t.Z.rows());
  const auto s = psi_statistics(c, sweep, {{0, 1}});
  SweepGradient g;
  g.theta_bar = Vector::Zero(t.theta.size());
  g.z_bar = Vector::Zero(t.z.size());
  GaussianRowGradient of_rows;
  const Matrix Q = -Matrix::Identity(t.Z.rows(), t.Z.rows());
  psi_adjoint(c, sweep, s, {{{0, 1}, Q, s[0].psi1y}}, g, of_rows);
  Vector out(2 * t.X.size());
  out << Eigen::Map<const Vector>(of_rows.mean_bar.data(), t.X.size()),
      Eigen::Map<const Vector>(of_rows.variance_bar.data(), t.X.size());
  return out;
}

// What belongs to rows stays with the process that has swept them, and of other rows there are
// zeros: so over all processes it is a sum. `processes` of them are lanes.
Vector of_all(const Vector& own, Reducer& reducer, Index processes) {
  return reducer.reduce(processes, own.size(),
                        [&](Index, double* sum) { std::copy_n(own.data(), own.size(), sum); });
}

// Statistics and gradient of a sweep, and the outputs of rows, end to end.
Vector everything(const SweepCase& t, Reducer& reducer, Index processes) {
  const SharedRows rows(t, reducer);
  const Sweep sweep = Sweep::for_features(rows, t.Z.rows());
  const SweepContext c = t.context();
  const RowRule fitc{RowRule::Term::power, 1.0};
  const auto s = weighted_statistics(c, fitc, sweep, {{0, 1}});
  SweepGradient g;
  g.theta_bar = Vector::Zero(t.theta.size());
  g.z_bar = Vector::Zero(t.z.size());
  g.want_point_noise = true;
  g.point_noise_bar = Vector::Constant(3000, 7.0);  // of another gradient before
  const Matrix Q = -Matrix::Identity(t.Z.rows(), t.Z.rows());
  weighted_adjoint(c, fitc, sweep, {{{0, 1}, Q, s[0].beta}}, true, g);
  const Vector of_points = of_all(g.point_noise_bar, reducer, processes);
  const Vector of_inputs = of_all(gradient_of_inputs(t, c, reducer), reducer, processes);
  const Sweep::Rows some = sweep.gather({2, 1700, 5, 2999});
  Vector out(s[0].C.size() + s[0].beta.size() + 5 + g.theta_bar.size() + g.z_bar.size() + 1 +
             of_points.size() + of_inputs.size() + some.X.size() + some.Y.size());
  out << Eigen::Map<const Vector>(s[0].C.data(), s[0].C.size()),
      Eigen::Map<const Vector>(s[0].beta.data(), s[0].beta.size()), s[0].rr, s[0].log_w, s[0].term,
      s[0].trace, s[0].ratio, g.theta_bar, g.z_bar, g.noise_bar, of_points, of_inputs,
      Eigen::Map<const Vector>(some.X.data(), some.X.size()),
      Eigen::Map<const Vector>(some.Y.data(), some.Y.size());
  return out;
}

TEST(TwoProcesses, SameBitsAsThreads) {
  const SweepCase t(3000, 150, 2, 2, 12);
  const Vector threads = everything(t, thread_reducer(), 1);
  ASSERT_TRUE(threads.allFinite());

  // Half of 16 lanes in two sweeps, in two more over Gaussian rows and of gathered rows; and its
  // own outputs of rows, twice.
  constexpr Index computed = 5 * 8 + 2;
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
      status = everything(t, reducer, 2) == threads && reducer.computed == computed ? 0 : 2;
    } catch (...) {
    }
    _exit(status);
  }
  close(there[0]);
  close(back[1]);
  PairReducer reducer(0, back[0], there[1]);
  EXPECT_EQ(everything(t, reducer, 2), threads);
  EXPECT_EQ(reducer.computed, computed);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the other process has other sums";
  close(there[1]);
  close(back[0]);
}

}  // namespace
}  // namespace covary
