#include "models/table_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "covary/data/classification_metrics.hpp"
#include "covary/data/decisions.hpp"
#include "covary/data/labels.hpp"
#include "covary/data/metrics.hpp"
#include "covary/error.hpp"
#include "covary/models/fit_options.hpp"
#include "covary/models/model_data.hpp"
#include "models/fit_json.hpp"
#include "models/roles.hpp"
#include "models/words.hpp"

namespace covary {

using nlohmann::json;

namespace {

bool has_learned_missing(const FitRecord& fit) { return fit.form.ends_with("--missing learn"); }

}  // namespace

RowMatrix inputs_of(const FitRecord& fit, const Table& table, bool may_be_missing) {
  RowMatrix X = fit.input_columns.apply(table);
  const auto missing = [](const auto& row) { return row.array().isNaN().any(); };
  for (Index i = 0; i < X.rows() && !may_be_missing; ++i)
    if (missing(X.row(i)))
      throw InputError(
          missing_cell(table, fit.input_columns.find(table), i) +
          ", which is an input; --missing drop leaves such rows out, --missing learn averages over "
          "what the input may be");
  refuse_infinities(X, fit.input_names(), table);
  return X;
}

AskedInputs input_rows_of(const FitRecord& fit, const Table& table, const TableQuestion& q,
                          const Scaling& scaling) {
  const bool learn = q.missing == "learn" || (q.missing == "auto" && has_learned_missing(fit));
  AskedInputs out{inputs_of(fit, table, learn), input_variance_of(fit, table, q)};
  if (learn && out.mean.array().isNaN().any()) out.average_over_missing(scaling);
  return out;
}

void AskedInputs::average_over_missing(const Scaling& scaling) {
  if (variance.size() == 0) variance.setZero(mean.rows(), mean.cols());
  for (Index i = 0; i < mean.rows(); ++i)
    for (Index d = 0; d < mean.cols(); ++d)
      if (std::isnan(mean(i, d))) {
        mean(i, d) = scaling.shift(d);
        variance(i, d) = scaling.scale(d) * scaling.scale(d);
      }
}

Table asked_rows(const FitNode& fit, Table table, const TableQuestion& q) {
  if (q.missing != "drop" && q.missing != "error") return table;
  const auto keep = fit.input_columns.complete_rows(table);
  const Index dropped = table.rows() - static_cast<Index>(keep.size());
  if (dropped == 0) return table;
  if (q.missing == "error") {
    Index first = 0;  // the first row that is not complete
    while (first < static_cast<Index>(keep.size()) &&
           keep[static_cast<std::size_t>(first)] == first)
      ++first;
    throw InputError(missing_cell(table, fit.input_columns.find(table), first) +
                     ", which is an input; --missing drop leaves such rows out");
  }
  q.say(fmt::format("skipping {} of {} rows: an input is missing", dropped, table.rows()));
  return table.take(keep);
}

void check_missing(const FitNode& fit, const std::string& policy) {
  if (policy != "auto" && (fit.input_columns.columns.empty() || fit.lags() > 0))
    throw Unsupported(
        "--missing is for models with inputs; this one takes missing cells as they "
        "are");
}

RowMatrix outputs_of(const FitRecord& fit, const Table& table) {
  RowMatrix Y = columns_of(table, fit.output_names);
  refuse_infinities(Y, fit.output_names, table);
  return Y;
}

Vector exposure_of(const Table& table, const TableQuestion& question) {
  if (question.exposure.empty()) return {};
  return columns_of(table, {question.exposure}).col(0);
}

RowMatrix input_variance_of(const FitRecord& fit, const Table& table, const TableQuestion& q) {
  if (q.input_variance.empty()) return {};
  RowMatrix out = columns_of(table, split_lists(q.input_variance));
  const auto names = fit.input_names();
  if (out.cols() != static_cast<Index>(names.size()))
    throw InputError(fmt::format("--input-variance names {} columns; the model has {} inputs ({})",
                                 out.cols(), names.size(), fmt::join(names, ", ")));
  return out;
}

std::string suffix_of(const FitRecord& fit, Index output) {
  return fit.output_names.size() <= 1 ? ""
                                      : "_" + fit.output_names[static_cast<std::size_t>(output)];
}

std::vector<std::string> suffixes_of(const FitRecord& fit) {
  std::vector<std::string> out;
  for (std::size_t k = 0; k < fit.output_names.size(); ++k)
    out.push_back(suffix_of(fit, static_cast<Index>(k)));
  return out;
}

void add_classes(const Matrix& probabilities, const std::vector<std::string>& classes,
                 const TableQuestion& question, NamedColumns& out) {
  std::vector<std::string> names = classes;
  for (Index k = 0; classes.empty() && k < probabilities.cols(); ++k)
    names.push_back(fmt::format("{}", k));
  Vector decided;
  if (question.loss.empty()) {
    decided = decided_classes(RowMatrix(probabilities), question.threshold);
  } else {
    const std::string& loss = question.loss;
    if (loss == "squared" || loss == "absolute" || loss.starts_with("quantile("))
      throw Unsupported(
          fmt::format("--loss {} is for numbers; for classes give a table of costs, with a column "
                      "'class' and one for each of {}",
                      loss, fmt::join(names, ", ")));
    Decisions d = decide_classes(probabilities, read_costs(read_table(question.loss), names));
    out.add("expected_loss", d.expected_loss);
    decided = std::move(d.decided);
  }
  for (const double label : decided) out.classes.push_back(names[static_cast<std::size_t>(label)]);
  for (Index k = 0; k < probabilities.cols(); ++k)
    out.add("p_" + names[static_cast<std::size_t>(k)], probabilities.col(k));
}

void add_score(json& object, std::string& text, const char* name, double value) {
  object[name] = number(value);
  text += fmt::format("{:<11} {}\n", name,
                      std::isfinite(value) ? fmt::format("{:.6g}", value) : "not defined");
}

Answer class_scores(const RowMatrix& probabilities, ConstVector y,
                    const std::vector<std::string>& classes, double threshold) {
  const ClassificationScores s = classification_scores(y, probabilities);
  const Matrix counts = confusion_matrix(y, probabilities, threshold);
  json object{{"n", y.size()}, {"classes", classes}, {"confusion", json::array()}};
  std::string text;
  add_score(object, text, "accuracy", accuracy(y, probabilities, threshold));
  add_score(object, text, "nlpd", s.nlpd);
  add_score(object, text, "auc", s.auc.value_or(std::nan("")));
  add_score(object, text, "brier", s.brier);
  add_score(object, text, "ece", s.ece);
  for (Index i = 0; i < counts.rows(); ++i) object["confusion"].push_back(numbers(counts.row(i)));
  if (!classes.empty()) text += "confusion (rows: label, columns: decision)\n";
  for (std::size_t k = 0; k < classes.size(); ++k)
    text += fmt::format("  {:<10} {}\n", classes[k],
                        fmt::join(object["confusion"][k].get<std::vector<double>>(), " "));
  return {object.dump(), std::move(text)};
}

double smse_or_nan(ConstVector y, ConstVector mean) {
  double low = INFINITY, high = -INFINITY;
  for (const double v : y)
    if (!std::isnan(v)) low = std::min(low, v), high = std::max(high, v);
  return low < high ? smse(y, mean) : std::nan("");
}

namespace {

constexpr double normal_975 = 1.959963984540054;  // Φ⁻¹(0.975)

}  // namespace

// mean, variance, variance_f, lower and upper of y, of each output.
void add_moments(const FitRecord& fit, const Prediction& p, NamedColumns& out) {
  for (Index k = 0; k < p.mean.cols(); ++k) {
    const std::string suffix = suffix_of(fit, k);
    const Vector half = normal_975 * p.variance_y.col(k).array().sqrt();
    out.add("mean" + suffix, p.mean.col(k));
    out.add("variance" + suffix, p.variance_y.col(k));
    out.add("sd" + suffix, p.variance_y.col(k).array().sqrt().matrix());
    out.add("variance_f" + suffix, p.variance_f.col(k));
    out.add("lower" + suffix, p.mean.col(k) - half);
    out.add("upper" + suffix, p.mean.col(k) + half);
    if (is_date(fit.formats, fit.output_names[static_cast<std::size_t>(k)]))
      for (const char* name : {"mean", "lower", "upper"}) out.dates.push_back(name + suffix);
  }
}

void add_decisions(const FitRecord& fit, const Prediction& p, const std::string& loss,
                   NamedColumns& out) {
  for (Index k = 0; k < p.mean.cols(); ++k) {
    const Decisions d = decide(Loss(loss), p.mean.col(k), p.variance_y.col(k));
    out.add("decision" + suffix_of(fit, k), d.decided);
    out.add("expected_loss" + suffix_of(fit, k), d.expected_loss);
  }
}

Answer number_scores(const RowMatrix& Y, const Prediction& p,
                     const std::vector<std::string>& output_names) {
  using Metric = double (*)(ConstVector, ConstVector, ConstVector);
  const std::pair<const char*, Metric> metrics[] = {
      {"rmse", [](ConstVector y, ConstVector m, ConstVector) { return rmse(y, m); }},
      {"mae", [](ConstVector y, ConstVector m, ConstVector) { return mae(y, m); }},
      {"smse", [](ConstVector y, ConstVector m, ConstVector) { return smse_or_nan(y, m); }},
      {"nlpd", [](ConstVector y, ConstVector m, ConstVector v) { return nlpd(y, m, v); }},
      {"crps", [](ConstVector y, ConstVector m, ConstVector v) { return crps(y, m, v); }},
      {"coverage95",
       [](ConstVector y, ConstVector m, ConstVector v) { return coverage(y, m, v, 0.95); }}};
  json object{{"n", Y.rows()}}, each = json::object();
  std::string text;
  for (const auto& [name, score] : metrics) {
    double sum = 0.0;
    for (Index k = 0; k < Y.cols(); ++k) {
      const double own =
          score(Vector(Y.col(k)), Vector(p.mean.col(k)), Vector(p.variance_y.col(k)));
      each[output_names[static_cast<std::size_t>(k)]][name] = number(own);
      sum += own;
    }
    add_score(object, text, name, sum / static_cast<double>(Y.cols()));  // the mean over outputs
  }
  if (Y.cols() > 1) object["outputs"] = each;
  return {object.dump(), std::move(text)};
}

std::string input_variance_name(Index column) { return fmt::format("input_variance_{}", column); }
std::string input_factor_name(Index column) { return fmt::format("input_noise_factor_{}", column); }

HeldOut gaussian_held_out(const RowMatrix& Y, const Prediction& p) {
  constexpr double log_2pi = 1.83787706640934548356;
  HeldOut out;
  for (Index i = 0; i < Y.rows(); ++i)
    for (Index k = 0; k < Y.cols(); ++k) {
      if (std::isnan(Y(i, k))) continue;
      const double error = Y(i, k) - p.mean(i, k), variance = p.variance_y(i, k);
      out.squared_error.push_back(error * error);
      out.nlpd.push_back(0.5 * (error * error / variance + std::log(variance) + log_2pi));
    }
  return out;
}

NamedColumns named_draws(const std::vector<RowMatrix>& draws,
                         const std::vector<std::string>& suffixes) {
  NamedColumns out;
  for (std::size_t s = 0; s < draws.size(); ++s)
    for (std::size_t k = 0; k < suffixes.size(); ++k)
      out.add(fmt::format("draw_{}{}", s, suffixes[k]), draws[s].col(static_cast<Index>(k)));
  return out;
}

void add_components(const std::vector<ComponentPrediction>& parts,
                    const std::vector<std::string>& suffixes, NamedColumns& out) {
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (Index k = 0; k < parts[i].mean.cols(); ++k) {
      const std::string which = fmt::format("{}{}", i, suffixes[static_cast<std::size_t>(k)]);
      out.add("mean_" + which, parts[i].mean.col(k));
      out.add("variance_" + which, parts[i].variance.col(k));
    }
}

void tell_components(const Posterior& posterior, const TableQuestion& question, NamedColumns& out) {
  json names = json::array();
  for (const auto& term : posterior.kernel().terms(posterior.dims())) {
    question.say(fmt::format("component {}: {}", names.size(), term.node->print()));
    names.push_back(term.node->print());
  }
  out.facts.emplace_back("components", names.dump());
}

void add_gradients(const PredictionGradient& gradient, const std::vector<std::string>& inputs,
                   const std::string& suffix, NamedColumns& out) {
  for (std::size_t d = 0; d < inputs.size(); ++d) {
    out.add(fmt::format("dmean_{}{}", inputs[d], suffix), gradient.mean.col(static_cast<Index>(d)));
    out.add(fmt::format("dvariance_{}{}", inputs[d], suffix),
            gradient.variance.col(static_cast<Index>(d)));
  }
}

bool has_columns(const Table& table, const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::find(table.names.begin(), table.names.end(), name) != table.names.end();
  });
}

std::optional<RowMatrix> latent_points(const Table& table, Index latent) {
  std::vector<std::string> names;
  for (Index q = 0; q < latent; ++q) names.push_back(fmt::format("x{}", q));
  if (!has_columns(table, names)) return std::nullopt;
  return columns_of(table, names);
}

NamedColumns latent_columns(const RowMatrix& mean, const RowMatrix& variance, const Prediction& p,
                            const std::vector<std::string>& output_names) {
  NamedColumns out;
  for (const auto& [name, values] : {std::pair{"x", &mean}, {"variance_x", &variance}})
    for (Index q = 0; q < values->cols(); ++q)
      out.add(fmt::format("{}{}", name, q), values->col(q));
  for (const auto& [name, values] : {std::pair{"mean_", &p.mean}, {"variance_", &p.variance_y}})
    for (Index k = 0; k < values->cols(); ++k)
      out.add(name + output_names[static_cast<std::size_t>(k)], values->col(k));
  return out;
}

double reconstruction_error(ConstRows Y, ConstRows mean) {
  double squares = 0.0, count = 0.0;
  for (Index i = 0; i < Y.rows(); ++i)
    for (Index k = 0; k < Y.cols(); ++k)
      if (!std::isnan(Y(i, k))) {
        squares += std::pow(Y(i, k) - mean(i, k), 2);
        count += 1.0;
      }
  if (count == 0.0) throw InputError("the table has no observed output to score");
  return std::sqrt(squares / count);
}

void add_label_errors(const std::vector<std::string>& row_labels, ConstRows X, json& object,
                      std::string& text) {
  std::set<std::string> different(row_labels.begin(), row_labels.end());
  different.erase("");
  if (different.size() < 2) return;  // no neighbour can have another
  std::vector<Index> codes;
  for (const double c : Labels::from(row_labels).encode(row_labels))
    codes.push_back(std::isnan(c) ? -1 : static_cast<Index>(c));
  const Index errors = neighbour_errors(X, codes);
  object["neighbour_errors"] = errors;
  text +=
      fmt::format("{} of {} rows have a nearest neighbour of another label\n", errors, X.rows());
}

std::string dimension_line(Index latent) {
  std::string out = "dimension ";
  for (Index q = 0; q < latent; ++q) out += fmt::format("{:>8}", q);
  return out + "\n";
}

std::string numbers_line(const std::string& name, ConstVector values) {
  std::string out = fmt::format("{:<10}", name);
  for (const double v : values) out += fmt::format("{:>8.4f}", v);
  return out + "\n";
}

}  // namespace covary
