#include "covary/report/classification_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "covary/data/classification_metrics.hpp"
#include "covary/data/labels.hpp"
#include "covary/error.hpp"
#include "covary/report/page.hpp"
#include "report/class_pictures.hpp"
#include "report/text.hpp"

namespace covary {
namespace {

// A row with a label, and how it was decided.
struct Case {
  Index row, label, decided;
  double surest, second;  // probabilities of the class decided and of the next
};

std::vector<Case> cases_of(const ClassPredictions& p) {
  std::vector<Case> out;
  for (Index i = 0; i < p.labels.size(); ++i) {
    if (std::isnan(p.labels[i])) continue;
    const auto row = p.probabilities.row(i);
    Case c{i, static_cast<Index>(p.labels[i]), 0, 0.0, 0.0};
    c.decided = static_cast<Index>(decided_classes(row)[0]);
    c.surest = row[c.decided];
    for (Index k = 0; k < row.size(); ++k)
      if (k != c.decided) c.second = std::max(c.second, row[k]);
    out.push_back(c);
  }
  return out;
}

HtmlTable case_table(const ClassificationReport& r, const ClassPredictions& p, std::string caption,
                     const std::vector<Case>& cases) {
  constexpr Index most_inputs = 6;
  const Index inputs = std::min(p.X.cols(), most_inputs);
  HtmlTable table{
      std::move(caption), {"row", "label", "decided", "probability", "of the next"}, {}, "lllrr"};
  for (Index d = 0; d < inputs; ++d)
    table.header.push_back(d < static_cast<Index>(r.input_names.size())
                               ? r.input_names[static_cast<std::size_t>(d)]
                               : fmt::format("input {}", d));
  table.align.append(static_cast<std::size_t>(inputs), 'r');
  for (const Case& c : cases) {
    std::vector<std::string> row{fmt::format("{}", c.row),
                                 r.classes[static_cast<std::size_t>(c.label)],
                                 r.classes[static_cast<std::size_t>(c.decided)],
                                 fmt::format("{:.3f}", c.surest), fmt::format("{:.3f}", c.second)};
    for (Index d = 0; d < inputs; ++d) row.push_back(short_number(p.X(c.row, d)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_cases(Page& page, const ClassificationReport& r, const ClassPredictions& p) {
  constexpr std::size_t most = 10;
  std::vector<Case> cases = cases_of(p), wrong;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(wrong),
               [](const Case& c) { return c.label != c.decided; });
  std::stable_sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) {
    return a.surest - a.second < b.surest - b.second;
  });
  std::stable_sort(wrong.begin(), wrong.end(),
                   [](const Case& a, const Case& b) { return a.surest > b.surest; });
  const std::size_t errors = wrong.size();
  if (cases.size() > most) cases.resize(most);
  if (wrong.size() > most) wrong.resize(most);
  page.table(case_table(r, p, "The most uncertain: the two most probable classes are nearly even.",
                        cases));
  if (wrong.empty())
    page.paragraph("Every label was predicted correctly.");
  else
    page.table(case_table(
        r, p,
        fmt::format("The surest of {} wrong decision{}: check their labels and inputs first.",
                    errors, errors == 1 ? "" : "s"),
        wrong));
}

// What the numbers warn of, in plain words.
std::vector<std::string> prediction_warnings(const ClassificationReport& r,
                                             const ClassPredictions& p) {
  std::vector<std::string> out;
  const auto cases = cases_of(p);
  const auto n = static_cast<double>(cases.size());
  double right = 0.0, expected = 0.0, variance = 0.0;
  std::vector<double> counts(r.classes.size());
  for (const Case& c : cases) {
    right += c.label == c.decided;
    expected += c.surest;
    variance += c.surest * (1.0 - c.surest);
    counts[static_cast<std::size_t>(c.label)] += 1.0;
  }
  const auto common = std::max_element(counts.begin(), counts.end());
  if (right <= *common)
    out.push_back(fmt::format(
        "{}: {:.1f} % of the decisions are correct, no more than by always deciding for {}.",
        p.name, 100.0 * right / n, r.classes[static_cast<std::size_t>(common - counts.begin())]));
  for (std::size_t k = 0; k < counts.size(); ++k)
    if (counts[k] == 0.0)
      out.push_back(fmt::format("{}: no row is labelled {}, so its recall is unknown.", p.name,
                                r.classes[k]));
  // Three standard deviations of the number of right decisions if the probabilities are true.
  const double away = right - expected, scatter = 3.0 * std::sqrt(variance);
  if (cases.size() >= 20 && std::abs(away) > scatter)
    out.push_back(fmt::format(
        "{}: the probabilities are {}: {:.0f} of {} decisions are correct, {:.0f} were expected.",
        p.name, away < 0.0 ? "overconfident" : "underconfident", right, cases.size(), expected));
  return out;
}

std::string score_or_dash(const std::optional<double>& score) {
  return score ? fmt::format("{:.4f}", *score) : "–";
}

}  // namespace

void ClassificationReport::check() const {
  const auto K = static_cast<Index>(classes.size());
  if (K < 2) throw InputError(fmt::format("a report names {} classes; two are needed", K));
  for (const ClassPredictions& p : predictions) {
    classification_scores(p.labels, p.probabilities);  // refuses what cannot be scored
    if (p.probabilities.cols() != K)
      throw InputError(fmt::format("the predictions '{}' have {} classes, the report names {}",
                                   p.name, p.probabilities.cols(), K));
    if (p.X.rows() != 0 && p.X.rows() != p.labels.size())
      throw InputError(fmt::format("the predictions '{}' have {} rows of inputs but {} labels",
                                   p.name, p.X.rows(), p.labels.size()));
  }
  if (!grid) return;
  const RowMatrix inputs = grid->inputs();
  if (grid->probabilities.rows() != inputs.rows() || grid->probabilities.cols() != K)
    throw InputError(fmt::format("the probabilities over the grid are {}×{}, expected {}×{}",
                                 grid->probabilities.rows(), grid->probabilities.cols(),
                                 inputs.rows(), K));
  for (const Vector& axis : grid->axes)
    if (axis.size() < 2 || !axis.allFinite() ||
        !(axis.tail(axis.size() - 1).array() > axis.head(axis.size() - 1).array()).all())
      throw InputError("an axis of the grid needs two values or more, each above the one before");
  if (X.rows() != labels.size())
    throw InputError(
        fmt::format("there are {} training rows but {} labels", X.rows(), labels.size()));
  for (const RowMatrix* rows : {&X, &Z})
    if (rows->rows() > 0 && rows->cols() != inputs.cols())
      throw InputError(fmt::format("{} has {} columns, the grid {} axes", rows == &X ? "X" : "Z",
                                   rows->cols(), inputs.cols()));
  class_counts(labels, K);
}

std::string classification_report(const ClassificationReport& r) {
  r.check();
  std::vector<ClassificationScores> scores;
  std::vector<std::string> warnings = r.warnings;
  for (const ClassPredictions& p : r.predictions) {
    scores.push_back(classification_scores(p.labels, p.probabilities));
    for (auto& w : prediction_warnings(r, p)) warnings.push_back(std::move(w));
  }

  Page page(r.title, r.lead);
  page.section("At a glance");
  std::vector<std::pair<std::string, std::string>> numbers{
      {"classes", fmt::format("{}", r.classes.size())}};
  for (std::size_t i = 0; i < scores.size(); ++i) {
    numbers.emplace_back(r.predictions[i].name + " accuracy",
                         fmt::format("{:.1f} %", 100.0 * scores[i].accuracy));
    numbers.emplace_back(r.predictions[i].name + " NLPD", short_number(scores[i].nlpd));
  }
  page.key_numbers(numbers);

  page.section("Warnings");
  if (warnings.empty()) page.paragraph("None.");
  page.list(warnings, true);

  if (r.grid) {
    page.section("The probabilities");
    if (r.grid->axes.size() == 1)
      page.figures({class_curve(r)});
    else
      page.figures(class_surfaces(r));
  }

  page.section("Scores");
  if (r.predictions.empty()) {
    page.paragraph("There are no labelled predictions to score: give held-out data.");
  } else {
    HtmlTable table{
        "Accuracy and AUC are best at 1 and, of two even classes, ½ by chance; NLPD (in nats), "
        "Brier (summed over "
        "the classes) and ECE, the expected calibration error, are best at 0.",
        {"predictions", "rows", "accuracy", "NLPD", "Brier", "AUC", "ECE"},
        {},
        "lrrrrrr"};
    for (std::size_t i = 0; i < scores.size(); ++i)
      table.rows.push_back({r.predictions[i].name, fmt::format("{}", scores[i].rows),
                            fmt::format("{:.4f}", scores[i].accuracy), short_number(scores[i].nlpd),
                            fmt::format("{:.4f}", scores[i].brier), score_or_dash(scores[i].auc),
                            fmt::format("{:.4f}", scores[i].ece)});
    page.table(table);
  }
  for (const ClassPredictions& p : r.predictions) {
    const std::string of = r.predictions.size() == 1 ? "" : ", " + p.name;
    page.section("Discrimination and calibration" + of);
    std::vector<Figure> figures = roc_figures(p, r.classes);
    for (Figure& f : reliability_figures(p, r.classes)) figures.push_back(std::move(f));
    page.figures(figures);
    page.section("Confusion" + of).table(confusion_table(p, r.classes));
    page.section("Cases to look at" + of);
    add_cases(page, r, p);
  }
  if (!r.summary.empty()) {
    HtmlTable table{"The fit.", {"quantity", "value"}, {}, "ll"};
    for (const auto& [what, value] : r.summary) table.rows.push_back({what, value});
    page.section("The fit").table(table);
  }
  return page.html();
}

}  // namespace covary
