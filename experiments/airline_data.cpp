#include "airline_data.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "covary/data/npy.hpp"
#include "covary/data/pca.hpp"
#include "covary/data/scaling.hpp"
#include "covary/data/split.hpp"
#include "covary/data/table.hpp"
#include "covary/error.hpp"
#include "covary/linalg/special.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "small.hpp"

namespace covary::experiments {
namespace {

constexpr Index generated_inputs = 8;

// Into principal components of standardised columns, or as they are.
class Rotation {
 public:
  Rotation() = default;
  explicit Rotation(const RowMatrix& X)
      : scaling_(fit_scaling(X, ScaleMode::columns).scaling), pca_(Pca::fit(scaling_.apply(X))) {}
  RowMatrix operator()(const RowMatrix& X) const {
    return pca_.size() ? pca_.transform(scaling_.apply(X)) : X;
  }

 private:
  Scaling scaling_;
  Pca pca_ = {};
};

// Two columns that are all but equal (departure and arrival), two that are nearly so and have heavy
// tails (time in the air and distance), calendars; Φ of a sum of curves, one of them of the
// difference of the last two.
Classes draw_flights(Index N, Random& random) {
  Classes out{RowMatrix(N, generated_inputs), Vector(N)};
  for (Index i = 0; i < N; ++i) {
    const double day = random.normal(), long_haul = std::exp(0.8 * random.normal());
    auto x = out.X.row(i);
    x(0) = 12.0 * random.uniform();
    x(1) = 31.0 * random.uniform();
    x(2) = 7.0 * random.uniform();
    x(3) = random.gamma(2.0);
    x(4) = 13.5 + 4.5 * day;
    x(5) = 15.0 + 4.4 * day + 0.6 * random.normal();
    x(6) = 100.0 * long_haul;
    x(7) = 800.0 * long_haul * std::exp(0.1 * random.normal());
    const double f = 0.3 * std::sin(0.8 * x(0)) + 0.15 * std::cos(1.8 * x(2)) + 0.05 * x(3) +
                     0.5 * std::tanh(0.4 * (x(5) - 14.0)) +
                     0.4 * std::sin(0.02 * (x(6) - x(7) / 8.0)) - 0.32;
    out.y(i) = random.uniform() < normal_cdf(f) ? 1.0 : 0.0;
  }
  return out;
}

// An unnamed file of rows (X, y), written block by block.
class Writer {
 public:
  explicit Writer(Index rows) : file_(std::tmpfile()) {
    if (!file_) throw FileError("cannot make a temporary file for the generated flights");
    const std::string head = npy_header(rows, generated_inputs + 1);
    put(head.data(), head.size());
  }
  ~Writer() { std::fclose(file_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void add(const RowMatrix& X, const Vector& y) {
    RowMatrix both(X.rows(), X.cols() + 1);
    both << X, y;
    put(both.data(), static_cast<std::size_t>(8 * both.size()));
  }
  std::shared_ptr<FileRows> finish() {
    std::fflush(file_);
    std::vector<Index> inputs(generated_inputs);
    std::iota(inputs.begin(), inputs.end(), Index{0});
    return std::make_shared<FileRows>(dup(fileno(file_)), "generated flights", inputs,
                                      std::vector<Index>{generated_inputs});
  }

 private:
  void put(const void* bytes, std::size_t size) {
    if (std::fwrite(bytes, 1, size, file_) != size)
      throw FileError(
          "cannot write the generated flights: set TMPDIR to a folder with room for them");
  }
  std::FILE* file_;
};

}  // namespace

Flights real_flights(bool rotated, std::uint64_t seed) {
  const RowMatrix all = read_data("airline_delays/gp_table.csv").values;
  const RowMatrix X = all(Eigen::all, {0, 2, 3, 4, 5, 6, 7});  // all are of the first month
  const Vector late = (all.col(8).array() > 0.0).cast<double>();
  const Split split = train_test_split(X.rows(), 1.0 / 3.0, seed);
  const RowMatrix own = take_rows(X, split.train);
  const Rotation turn = rotated ? Rotation(own) : Rotation();
  return {fmt::format("{} flights", X.rows()),
          {turn(own), late(split.train)},
          {turn(take_rows(X, split.test)), late(split.test)}};
}

Flights generated_flights(Index N, bool rotated, std::uint64_t seed) {
  Random random(seed, 0xa1f), apart(seed, 0xa1f7);
  Classes train = draw_flights(std::min(N, flights_in_memory()), random),
          test = draw_flights(flights_in_memory(), apart);
  const Rotation turn = rotated ? Rotation(train.X) : Rotation();
  Writer writer(N);
  train.X = turn(train.X);
  writer.add(train.X, train.y);
  for (Index done = train.size(); done < N; done += flights_in_memory()) {
    const Classes block = draw_flights(std::min(N - done, flights_in_memory()), random);
    writer.add(turn(block.X), block.y);
  }
  return {fmt::format("{} generated rows", N), train, {turn(test.X), test.y}, writer.finish()};
}

}  // namespace covary::experiments
