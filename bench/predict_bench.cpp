// What a hot prediction at one row costs with a model loaded from its file.
//
//   predict_bench [MODEL_FILE]     without one: the problem of bench/problem.hpp with N = 1000
#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

#include "covary/models/regression.hpp"
#include "measure.hpp"
#include "problem.hpp"

namespace covary {
namespace {

// Median seconds of a call, after as many to warm up.
template <class Call>
double seconds(const Call& call) {
  constexpr int calls = 1000;
  std::vector<double> times;
  for (int i = 0; i < 2 * calls; ++i) {
    const double begin = bench::now();
    call();
    if (i >= calls) times.push_back(bench::now() - begin);
  }
  return bench::median(times);
}

RegressionFit example() {
  const bench::Problem p = bench::make_problem(1000);
  const auto n = static_cast<Index>(p.n), D = static_cast<Index>(bench::D);
  RegressionOptions options;
  options.training.max_iterations = 0;
  options.standard_errors = Switch::off;
  Regression model(Eigen::Map<const RowMatrix>(p.X.data(), n, D),
                   Eigen::Map<const RowMatrix>(p.y.data(), n, 1), options);
  RegressionFit saved = model.fit();
  for (Index d = 0; d < D; ++d)
    saved.input_columns.columns.push_back({"x" + std::to_string(d), {}});
  saved.output_names = {"y"};
  return load_bytes(saved.bytes()).as<RegressionFit>();
}

int measure(const char* path) {
  const RegressionFit fit = path ? load(path).as<RegressionFit>() : example();
  const RowMatrix& X = fit.posterior.as<ExactPosterior>().parts().X;
  const RowMatrix row = fit.input_scaling.undo(X.topRows(1));
  double sum = 0.0;  // so that no call may be left out
  const double mean = seconds([&] { sum += fit.predict_mean(row)(0, 0); });
  const double both = seconds([&] { sum += fit.predict(row).variance_y(0, 0); });
  const auto print = [&](const char* call, double time) {
    std::printf("{\"case\": \"predict\", \"call\": \"%s\", \"n\": %ld, \"seconds\": %.3e}\n", call,
                static_cast<long>(X.rows()), time);
  };
  print("mean", mean);
  print("mean and variance", both);
  return std::isfinite(sum) ? 0 : 1;
}

}  // namespace
}  // namespace covary

int main(int argc, char** argv) {
  if (argc > 2) {
    std::fprintf(stderr, "usage: predict_bench [MODEL_FILE]\n");
    return 2;
  }
  try {
    return covary::measure(argc == 2 ? argv[1] : nullptr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "predict_bench: %s\n", e.what());
    return 1;
  }
}
