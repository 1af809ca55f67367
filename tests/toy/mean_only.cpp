#include "mean_only.hpp"

#include <cmath>
#include <numbers>

#include "covary/data/columns.hpp"
#include "covary/data/metrics.hpp"
#include "covary/error.hpp"
#include "covary/models/request.hpp"
#include "models/checks.hpp"
#include "models/fit_json.hpp"
#include "models/table_answers.hpp"
#include "storage/archive.hpp"

namespace covary::testing {
namespace {

struct MeanOnlyFit : FitNode {
  double mean = 0.0, variance = 1.0;
  Index rows = 0;

  MeanOnlyFit() { model = "mean_only"; }
  std::string kind() const override { return "mean_only"; }
  Answer details() const override {
    const nlohmann::json object{{"kernel", nullptr}, {"likelihood", "gaussian"},
                                {"n", rows},         {"d", input_names().size()},
                                {"mean", mean},      {"variance", variance}};
    return {object.dump(), "mean_only: the mean of " + target()};
  }
  void store(Archive& to) const override {
    to.json.update({{"mean", mean}, {"variance", variance}, {"rows", rows}});
  }
  NamedColumns predict(const Table& table, TableQuestion&) const override {
    const Index n = input_columns.apply(table).rows();
    NamedColumns out;
    out.add("mean", Vector::Constant(n, mean));
    out.add("variance", Vector::Constant(n, variance));
    return out;
  }
  Answer evaluate(const Table& table, const TableQuestion&) const override {
    const Vector y = outputs_of(*this, table).col(0);
    return {
        nlohmann::json{{"n", y.size()}, {"rmse", rmse(y, Vector::Constant(y.size(), mean))}}.dump(),
        "rmse done\n"};
  }
};

Fit make(FitRequest& r) {
  return r.around([&] {
    check_regression_data(r.data.X, r.data.Y, Vector());
    if (r.data.Y.cols() != 1) throw InputError("mean_only takes one output");
    const Vector y = r.data.Y.col(0);
    const auto n = static_cast<double>(y.size());
    MeanOnlyFit fit;
    fit.mean = y.mean();
    fit.variance = (y.array() - fit.mean).square().mean();
    fit.rows = y.size();
    if (!(fit.variance > 0.0 && std::isfinite(fit.variance)))
      throw InputError("the variance of the targets is zero or infinite; use other targets");
    fit.value = -0.5 * n * (std::log(2.0 * std::numbers::pi * fit.variance) + 1.0);
    fit.summary.objective = "log_likelihood";
    fit.summary.value = fit.value;
    fit.summary.converged = true;
    fit.summary.stop = Stop::converged;
    fit.summary.reason = "closed form";
    return fit;
  });
}

Fit restore(const Archive& from) {
  MeanOnlyFit fit;
  get_record(fit, from.arrays, from.json);
  fit.mean = from.json.at("mean");
  fit.variance = from.json.at("variance");
  fit.rows = from.json.at("rows");
  if (!(fit.variance >= 0.0)) throw FileError("a variance is negative");
  return fit;
}

Cost cost(const ProblemSize& s) { return {8.0 * s.rows, s.rows}; }

}  // namespace

ModelEntry mean_only() {
  return {"mean_only",
          "mean_only",
          "",
          Targets::gaussian,
          Form::plain,
          "The mean of the targets.",
          "something to beat",
          "N",
          "N",
          "models.md",
          cost,
          "",
          "target inputs header out missing",
          {{"predict", ""}, {"evaluate", ""}, {"show", ""}, {"report", "data title"}},
          make,
          "mean_only",
          restore};
}

}  // namespace covary::testing
