#include "cross_validation.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>

#include "covary/error.hpp"

namespace covary::cli {
namespace {

constexpr double log_2pi = 1.83787706640934548356;

std::vector<Split> labelled_folds(const std::vector<std::string>& labels,
                                  const std::string& column) {
  std::map<std::string, std::size_t> number;
  for (const auto& label : labels) {
    if (label.empty() || label == "nan")
      throw InputError(
          fmt::format("column '{}' labels the folds and has missing labels; fill them in", column));
    number.emplace(label, 0);
  }
  if (number.size() < 2)
    throw InputError(fmt::format("column '{}' has one label only, '{}'; folds need at least two",
                                 column, labels.front()));
  std::size_t next = 0;
  for (auto& [label, n] : number) n = next++;
  std::vector<Split> out(number.size());
  for (std::size_t i = 0; i < labels.size(); ++i)
    for (std::size_t k = 0; k < out.size(); ++k)
      (number[labels[i]] == k ? out[k].test : out[k].train).push_back(static_cast<Index>(i));
  return out;
}

}  // namespace

std::vector<Split> make_folds(const TrainingArguments& a, const TrainingData& d) {
  if (!d.fold_labels.empty()) return labelled_folds(d.fold_labels, a.folds);
  Index K = 0;
  const auto [end, error] = std::from_chars(a.folds.data(), a.folds.data() + a.folds.size(), K);
  if (error != std::errc() || end != a.folds.data() + a.folds.size())
    throw InputError(fmt::format("--folds takes a number or a column, got '{}'", a.folds));
  return k_folds(d.X.rows(), K, a.seed);
}

PredictRows predictions_of(FitRows fit) {
  return [fit = std::move(fit)](const TrainingData& train, const TrainingData& test) {
    Prediction p = fit(train).predict(test.X);
    if (test.noise.size()) p.variance_y.colwise() += test.noise;
    return p;
  };
}

HeldOut cross_validate(const TrainingData& d, const std::vector<Split>& folds,
                       const PredictRows& predict) {
  HeldOut out;
  for (const Split& fold : folds) {
    const TrainingData train = d.rows(fold.train), test = d.rows(fold.test);
    const Prediction p = predict(train, test);
    for (Index i = 0; i < test.Y.rows(); ++i)
      for (Index k = 0; k < test.Y.cols(); ++k) {
        if (std::isnan(test.Y(i, k))) continue;
        const double error = test.Y(i, k) - p.mean(i, k), variance = p.variance_y(i, k);
        out.squared_error.push_back(error * error);
        out.nlpd.push_back(0.5 * (error * error / variance + std::log(variance) + log_2pi));
      }
  }
  return out;
}

Score mean_score(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0.0, squares = 0.0;
  for (const double v : values) sum += v;
  const double mean = sum / n;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return {mean, std::sqrt(squares / (n - 1.0) / n)};
}

Score root_mean_score(const std::vector<double>& squares) {
  const Score s = mean_score(squares);
  const double root = std::sqrt(s.mean);
  return {root, root > 0.0 ? 0.5 * s.error / root : 0.0};
}

json score_json(const HeldOut& held_out, std::size_t folds) {
  const Score nlpd = mean_score(held_out.nlpd), rmse = root_mean_score(held_out.squared_error);
  return {{"folds", folds},
          {"observations", held_out.nlpd.size()},
          {"nlpd", finite(nlpd.mean)},
          {"nlpd_standard_error", finite(nlpd.error)},
          {"rmse", finite(rmse.mean)},
          {"rmse_standard_error", finite(rmse.error)}};
}

}  // namespace covary::cli
