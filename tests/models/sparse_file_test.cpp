// Sparse regression of rows that stay in their file.
#include <gtest/gtest.h>

#include <cmath>

#include "covary/data/npy.hpp"
#include "covary/error.hpp"
#include "covary/models/sparse_regression.hpp"
#include "data/scratch.hpp"
#include "support/random_data.hpp"

namespace covary {
namespace {

using testing::small_data;
using testing::SmallData;

class SparseFile : public Scratch {
 protected:
  // A file with Y, then X, and its rows.
  std::shared_ptr<FileRows> rows(const RowMatrix& X, const RowMatrix& Y) const {
    RowMatrix all(X.rows(), X.cols() + Y.cols());
    all << Y, X;
    std::string bytes = npy_header(all.rows(), all.cols());
    bytes.append(reinterpret_cast<const char*>(all.data()),
                 static_cast<std::size_t>(8 * all.size()));
    std::vector<Index> inputs, outputs;
    for (Index p = 0; p < Y.cols(); ++p) outputs.push_back(p);
    for (Index d = 0; d < X.cols(); ++d) inputs.push_back(Y.cols() + d);
    return std::make_shared<FileRows>(put("rows.npy", bytes), inputs, outputs);
  }
};

SparseRegressionOptions brief(Approximation approximation = {}) {
  SparseRegressionOptions options{.approximation = approximation, .inducing = 12};
  options.training.max_iterations = 15;
  options.subset = 100;
  return options;
}

TEST_F(SparseFile, TheSameBitsAsFromMemoryWhenTheSampleHoldsAllRows) {
  SmallData d = small_data(300, 2, 2, 3);
  d.Y(7, 0) = d.Y(8, 1) = d.Y(9, 1) = std::nan("");
  for (const char* a : {"vfe", "vfe(tight)", "fitc", "pep(0.5)", "dtc", "sor"})
    for (const ScaleMode mode : {ScaleMode::columns, ScaleMode::global, ScaleMode::none}) {
      SparseRegressionOptions options = brief(a);
      options.mean = "linear";
      options.scale_inputs = options.scale_outputs = mode;
      SparseRegression memory(d.X, d.Y, options), file(rows(d.X, d.Y), options);
      EXPECT_EQ(file.rows(), 300);
      EXPECT_EQ(file.log_jacobian(), memory.log_jacobian());
      const RegressionFit expected = memory.fit(), fit = file.fit();
      EXPECT_EQ(fit.value, expected.value) << a;
      EXPECT_EQ(fit.diagnostics, expected.diagnostics) << a;
      EXPECT_EQ(fit.summary.upper_bound, expected.summary.upper_bound) << a;
      EXPECT_EQ(fit.parameters.values(), expected.parameters.values()) << a;
      EXPECT_EQ(fit.predict(d.X).mean, expected.predict(d.X).mean) << a;
      if (mode != ScaleMode::columns && a != std::string("vfe")) break;
    }
}

TEST_F(SparseFile, ASampleOfTheRowsIsEnoughToStartFrom) {
  const SmallData d = small_data(6000, 2, 1, 5);
  const RowMatrix X = d.X.topRows(5500), Y = d.Y.topRows(5500);
  SparseRegressionOptions options = brief();
  options.inducing = 25;
  options.sample = 400;
  std::vector<std::string> said;
  options.training.tell = [&](const std::string& text) { said.push_back(text); };
  SparseRegression file(rows(X, Y), options);
  const RegressionFit fit = file.fit();
  EXPECT_EQ(said.front(),
            "400 of 5500 rows are kept in memory, to choose inducing inputs and to start from");
  EXPECT_EQ(said.at(1), "start: an exact fit of 100 of 5500 rows");
  // Every row counts in the bound: it is that of the same model in memory at these parameters.
  options.training.tell = nullptr;
  SparseRegression all(X, Y, options);
  all.set_parameters(fit.parameters, fit.posterior.as<SparsePosterior>().parts().features);
  EXPECT_EQ(file.evaluate().value, all.evaluate().value);
  const Prediction p = fit.predict(d.X.bottomRows(500));
  const double rmse = std::sqrt((p.mean - d.Y.bottomRows(500)).squaredNorm() / 500.0);
  const RegressionFit from_memory = SparseRegression(X, Y, options).fit();
  const double theirs = std::sqrt(
      (from_memory.predict(d.X.bottomRows(500)).mean - d.Y.bottomRows(500)).squaredNorm() / 500.0);
  EXPECT_LT(rmse, 1.05 * theirs);
}

TEST_F(SparseFile, TheNumberOfInducingInputsIsFound) {
  const SmallData d = small_data(2000, 1, 1, 7);
  SparseRegressionOptions options = brief();
  options.inducing = 0;
  options.sample = 500;
  const RegressionFit fit = SparseRegression(rows(d.X, d.Y), options).fit();
  EXPECT_NE(fit.summary.reason.find("M = "), std::string::npos);
  EXPECT_LT(*fit.summary.upper_bound - fit.value, 0.01 * 2000);
}

TEST_F(SparseFile, TheSampleIsTheSeeds) {
  const SmallData d = small_data(1500, 2, 1, 9);
  SparseRegressionOptions options = brief();
  options.sample = 100;
  const auto Z = [&](std::uint64_t seed) {
    options.seed = seed;
    return Vector(SparseRegression(rows(d.X, d.Y), options).parameters().at("features.Z").value);
  };
  EXPECT_EQ(Z(1), Z(1));
  EXPECT_NE(Z(1), Z(2));
}

TEST_F(SparseFile, ValuesThatAreNotFiniteAreNamed) {
  SmallData d = small_data(5000, 2, 1, 11);
  d.X(4321, 1) = std::nan("");
  const auto fails = [&] {
    return message_of<InputError>([&] { SparseRegression(rows(d.X, d.Y), brief()); });
  };
  EXPECT_NE(fails().find("an input that is not finite in row 4321"), std::string::npos);
  d.X(4321, 1) = 0.0;
  d.Y(17, 0) = -INFINITY;
  EXPECT_NE(fails().find("an infinite output in row 17"), std::string::npos);
}

TEST_F(SparseFile, Refusals) {
  const SmallData d = small_data(50, 2, 1, 13);
  EXPECT_THROW(SparseRegression(nullptr, brief()), InputError);
  EXPECT_NE(message_of<Unsupported>([&] {
              SparseRegression(rows(d.X, d.Y), brief("pitc"));
            }).find("in memory"),
            std::string::npos);
  const RowMatrix none = RowMatrix::Constant(50, 1, std::nan(""));
  EXPECT_NE(message_of<InputError>([&] {
              SparseRegression(rows(d.X, none), brief());
            }).find("no observed value"),
            std::string::npos);
  SparseRegressionOptions options = brief();
  options.sample = -1;
  EXPECT_THROW(SparseRegression(rows(d.X, d.Y), options), InputError);
}

}  // namespace
}  // namespace covary
