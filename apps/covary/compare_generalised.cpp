// Models of another likelihood than Gaussian regression side by side, and what they have to beat.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "covary/error.hpp"
#include "covary/models/baselines.hpp"
#include "generalised.hpp"

namespace covary::cli {
namespace {

struct Row {
  std::string name, model, kernel;
  double value = std::nan("");
  std::vector<double> nlpd;
  double accuracy = std::nan("");
  double seconds = 0.0;
  std::string note;
};

// Probabilities of the test rows' classes by something that is no Gaussian process.
using Baseline = std::function<RowMatrix(const TrainingData& train, const TrainingData& test)>;

Row run_baseline(const std::string& name, const TrainingData& d, const std::vector<Split>& folds,
                 const Baseline& predict) {
  const auto began = std::chrono::steady_clock::now();
  Row row{name, name, "", std::nan(""), {}, 0.0, 0.0, ""};
  double right = 0.0;
  for (const Split& fold : folds) {
    const TrainingData train = d.rows(fold.train), test = d.rows(fold.test);
    try {
      const RowMatrix p = predict(train, test);
      for (Index n = 0; n < p.rows(); ++n) {
        if (std::isnan(test.Y(n, 0))) continue;
        Index best = 0;
        p.row(n).maxCoeff(&best);
        right += static_cast<double>(best) == test.Y(n, 0);
        row.nlpd.push_back(-std::log(p(n, static_cast<Index>(test.Y(n, 0)))));
      }
    } catch (const NumericalError& e) {  // separated classes, repeated columns
      row.note = e.what();
      row.nlpd.clear();
      row.accuracy = std::nan("");
      break;
    }
  }
  if (!row.nlpd.empty()) row.accuracy = right / static_cast<double>(row.nlpd.size());
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return row;
}

std::vector<Row> baselines(const TrainingData& d, const std::vector<Split>& folds) {
  const Index K = d.likelihood->classes();
  if (K == 0) return {};
  const auto labels = [](const TrainingData& rows) -> Vector { return rows.Y.col(0); };
  const auto logistic = [&, K](double ridge) -> Baseline {
    return [=](const TrainingData& train, const TrainingData& test) -> RowMatrix {
      LogisticOptions options;
      options.ridge = ridge;
      return fit_logistic_regression(train.X, train.Y.col(0), K, options).predict(test.X);
    };
  };
  return {run_baseline("logistic regression", d, folds, logistic(0.0)),
          run_baseline("logistic regression, ridge 1", d, folds, logistic(1.0)),
          run_baseline("5 nearest neighbours", d, folds,
                       [&](const TrainingData& train, const TrainingData& test) -> RowMatrix {
                         return NeighbourClassifier(train.X, labels(train), K).predict(test.X);
                       }),
          run_baseline("majority", d, folds,
                       [&](const TrainingData& train, const TrainingData& test) -> RowMatrix {
                         return MajorityPredictor(labels(train), K).predict(test.X.rows());
                       })};
}

}  // namespace

Outcome compare_generalised(const TrainingArguments& a, const SparseArguments& sparse,
                            const std::vector<std::string>& kernels,
                            const std::vector<std::string>& models, const TrainingData& d,
                            const std::vector<Split>& folds, const Common& common) {
  std::vector<Row> rows;
  for (const auto& model : models)
    for (const auto& kernel : kernels) {
      const auto began = std::chrono::steady_clock::now();
      SparseArguments one = sparse;
      one.model = model;
      TrainingHooks hooks;
      hooks.settings = [&](Parameters& p) { apply_settings(a, p); };
      const GeneralisedFit fit = fit_generalised(a, one, d, kernel, hooks);
      const FoldScores scores = cross_validate_generalised(a, one, d, kernel, folds);
      Row row{fmt::format("{} [{}]", fit.posterior.kernel().print(), fit.model),
              fit.model,
              fit.posterior.kernel().print(),
              fit.value,
              scores.nlpd,
              scores.object.value("accuracy", std::nan("")),
              0.0,
              ""};
      row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      tell(common, fmt::format("{}: nlpd {:.4f} after {:.1f} s", row.name,
                               mean_score(row.nlpd).mean, row.seconds));
      rows.push_back(std::move(row));
    }
  for (Row& row : baselines(d, folds)) rows.push_back(std::move(row));
  std::stable_sort(rows.begin(), rows.end(), [](const Row& x, const Row& y) {
    if (x.nlpd.empty() || y.nlpd.empty()) return !x.nlpd.empty() && y.nlpd.empty();
    return mean_score(x.nlpd).mean < mean_score(y.nlpd).mean;
  });
  Outcome out;
  std::size_t width = 6;
  for (const Row& row : rows) width = std::max(width, row.name.size());
  out.text = fmt::format("{:<{}} {:>14} {:>20} {:>10} {:>9}\n", "model", width, "log evidence",
                         "nlpd", "accuracy", "seconds");
  const auto shown = [](double v) {
    return std::isnan(v) ? std::string("-") : fmt::format("{:.4f}", v);
  };
  json models_out = json::array();
  for (const Row& row : rows) {
    const Score nlpd = row.nlpd.empty() ? Score{std::nan(""), std::nan("")} : mean_score(row.nlpd);
    models_out.push_back({{"model", row.model},
                          {"kernel", row.kernel.empty() ? json(nullptr) : json(row.kernel)},
                          {"value", finite(row.value)},
                          {"nlpd", finite(nlpd.mean)},
                          {"nlpd_standard_error", finite(nlpd.error)},
                          {"accuracy", finite(row.accuracy)},
                          {"seconds", finite(row.seconds)},
                          {"note", row.note.empty() ? json(nullptr) : json(row.note)}});
    out.text +=
        fmt::format("{:<{}} {:>14} {:>20} {:>10} {:>9.2f}\n", row.name, width, shown(row.value),
                    row.nlpd.empty() ? "-" : fmt::format("{:.4f} ± {:.4f}", nlpd.mean, nlpd.error),
                    shown(row.accuracy), row.seconds);
    if (!row.note.empty()) out.text += fmt::format("  {}\n", row.note);
  }
  out.object = {{"folds", folds.size()},
                {"likelihood", d.likelihood->print()},
                {"models", models_out},
                {"n", d.X.rows()},
                {"outputs", d.output_names}};
  return out;
}

}  // namespace covary::cli
