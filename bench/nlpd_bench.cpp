// Test NLPD against the seconds of training: an SVGP by minibatches on USPS digits with loops (0 6
// 8 9) against those without (1 2 3 5), train and test pooled, every fourth row held out. SE over
// the pixels as they are, logit link; the start and the steps are those of bench/peers/nlpd.py.
//
//   [COVARY_NUM_THREADS=T] nlpd_bench SECONDS     one JSON line
//
// Without the data it says so and fails.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

#include "covary/data/split.hpp"
#include "covary/data/table.hpp"
#include "covary/error.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/models/svgp.hpp"
#include "measure.hpp"

namespace covary {
namespace {

constexpr Index pixels = 256, M = 200, batch = 256;
constexpr double variance = 4.0, lengthscale = 10.0;

struct Digits {
  RowMatrix X;
  Vector y;
};

// Training rows and test rows.
std::pair<Digits, Digits> read_digits() {
  const Table first = read_table(find_data("usps/train.csv.gz")),
              second = read_table(find_data("usps/test.csv.gz"));
  RowMatrix all(first.rows() + second.rows(), 1 + pixels);
  all << first.values, second.values;
  std::vector<Index> rows[2];
  for (Index i = 0, kept = 0; i < all.rows(); ++i) {
    const long digit = std::lround(all(i, 0));
    if (digit != 4 && digit != 7) rows[kept++ % 4 == 3].push_back(i);
  }
  const auto take = [&](const std::vector<Index>& which) {
    const RowMatrix part = take_rows(all, which);
    const auto without_loops = [](double digit) {
      return digit == 1.0 || digit == 2.0 || digit == 3.0 || digit == 5.0 ? 1.0 : 0.0;
    };
    return Digits{part.rightCols(pixels), part.col(0).unaryExpr(without_loops)};
  };
  return {take(rows[0]), take(rows[1])};
}

void measure(double limit) {
  const auto digits = read_digits();
  const Digits &train = digits.first, &test = digits.second;
  std::vector<Index> chosen;
  for (Index i = 0; i < M; ++i) chosen.push_back(i * train.X.rows() / M);
  SvgpOptions o;
  o.kernel = se(false, {variance, {lengthscale}});
  o.likelihood = "bernoulli(logit)";
  o.scale_inputs = ScaleMode::none;
  o.Z = take_rows(train.X, chosen);
  o.training.batch = batch;
  o.training.steps = 1000000;  // time ends it
  o.training.learning_rate = {0.02, LearningRate::Schedule::constant};
  o.training.final_sweeps = 0;
  double began = 0.0,
         next = 0.05;  // the clock of training stands still while the test rows are used
  Index steps = 0;
  std::string points;
  const Svgp* trained = nullptr;
  o.training.stop = [&] { return bench::now() - began >= limit; };
  o.training.after_iteration = [&](const TrainingProgress& training) {
    if (training.over) return;
    ++steps;
    const double now = bench::now(), seconds = now - began;
    if (seconds < next) return;
    const double nlpd = -trained->at(training.state()).log_density(test.X, test.y).mean();
    points += fmt::format("{}[{:.4g}, {:.6g}]", points.empty() ? "" : ", ", seconds, nlpd);
    next = 1.15 * seconds;
    began += bench::now() - now;
  };
  Svgp model(train.X, train.y, o);
  trained = &model;
  began = bench::now();
  model.fit();
  fmt::print(
      "{{\"program\": \"ours\", \"rows\": {}, \"batch\": {}, \"m\": {}, \"threads\": {}, "
      "\"steps\": {}, \"points\": [{}]}}\n",
      train.X.rows(), batch, M, threads(), steps, points);
}

}  // namespace
}  // namespace covary

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw covary::InputError("usage: nlpd_bench SECONDS");
    covary::measure(std::stod(argv[1]));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "nlpd_bench: %s\n", e.what());
    return 1;
  }
}
