// The fit of same_bits_test.py through the C++ library: prints what the command line should have
// found as one JSON object, every number in digits that read back to its bits.
//
//   same_bits TRAIN TEST KERNEL MEAN SEED MODEL
#include <cstdio>
#include <nlohmann/json.hpp>

#include "covary/data/columns.hpp"
#include "covary/data/table.hpp"
#include "covary/error.hpp"
#include "covary/models/regression.hpp"

namespace {

using namespace covary;
using nlohmann::json;

json list(const Vector& v) { return std::vector<double>(v.begin(), v.end()); }

void run(char** argument) {
  const Table train = read_table(argument[1]), test = read_table(argument[2]);
  std::vector<Index> chosen = numeric_column_numbers(train);
  chosen.pop_back();  // y is the last column
  const InputColumns inputs = InputColumns::from(train, chosen);
  RegressionOptions options;
  options.kernel = Kernel(argument[3]);
  options.mean = Mean(argument[4]);
  options.seed = std::stoull(argument[5]);
  options.training.starts = 2;
  RegressionFit m =
      Regression(inputs.apply(train), numeric_columns(train, select_columns(train, {"y"})), options)
          .fit();
  m.input_columns = inputs;
  m.output_names = {"y"};
  m.save(argument[6]);
  const Prediction p = m.predict(inputs.apply(test));
  json out{{"value", m.value},
           {"iterations", m.summary.iterations},
           {"standard_errors", list(m.standard_errors)},
           {"mean", list(p.mean.col(0))},
           {"variance", list(p.variance_y.col(0))},
           {"variance_f", list(p.variance_f.col(0))}};
  for (const auto& parameter : m.parameters.all())
    out["parameters"][parameter.path] = list(parameter.value);
  std::printf("%s\n", out.dump().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 7) throw covary::InputError("same_bits TRAIN TEST KERNEL MEAN SEED MODEL");
    run(argv);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "same_bits: %s\n", e.what());
    return 1;
  }
}
