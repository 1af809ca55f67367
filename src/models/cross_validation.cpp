#include "covary/models/cross_validation.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "covary/error.hpp"

namespace covary {
namespace {

using nlohmann::json;

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

std::vector<Split> make_folds(const FitOptions& o, const ModelData& d) {
  if (!d.fold_labels.empty()) return labelled_folds(d.fold_labels, o.folds);
  Index K = 0;
  const auto [end, error] = std::from_chars(o.folds.data(), o.folds.data() + o.folds.size(), K);
  if (error != std::errc() || end != o.folds.data() + o.folds.size())
    throw InputError(fmt::format("--folds takes a number or a column, got '{}'", o.folds));
  return k_folds(d.X.rows(), K, o.seed);
}

void FoldScores::add(const HeldOut& fold) {
  const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  ++folds;
  append(held_out.nlpd, fold.nlpd);
  append(held_out.squared_error, fold.squared_error);
  append(held_out.right, fold.right);
}

double FoldScores::accuracy() const {
  return has_classes() ? mean_score(held_out.right).mean : std::nan("");
}

Answer FoldScores::answer() const {
  const auto finite = [](double v) { return std::isfinite(v) ? json(v) : json(nullptr); };
  const Score nlpd = mean_score(held_out.nlpd);
  json out{{"folds", folds},
           {"observations", held_out.nlpd.size()},
           {"nlpd", finite(nlpd.mean)},
           {"nlpd_standard_error", finite(nlpd.error)}};
  std::string text = fmt::format("{} folds: nlpd {:.4f} ± {:.4f}", folds, nlpd.mean, nlpd.error);
  if (!held_out.squared_error.empty()) {
    const Score rmse = root_mean_score(held_out.squared_error);
    out.update({{"rmse", finite(rmse.mean)}, {"rmse_standard_error", finite(rmse.error)}});
    text += fmt::format(", rmse {:.6g} ± {:.2g}", rmse.mean, rmse.error);
  }
  if (has_classes()) {
    out["accuracy"] = accuracy();
    text += fmt::format(", accuracy {:.4f}", accuracy());
  }
  return {out.dump(), text + "\n"};
}

FoldScores cross_validate(const FitRequest& request, const std::vector<Split>& folds) {
  FoldScores out;
  for (const Split& fold : folds) {
    FitRequest rows = request.with_rows(fold.train);
    out.add(request.entry->make(rows)->held_out(request.data.rows(fold.test)));
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

}  // namespace covary
