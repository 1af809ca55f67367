#include "covary/data/classification_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "covary/data/labels.hpp"
#include "covary/error.hpp"

namespace covary {
namespace {

// The rows with a label, beside what was predicted for them.
struct Pairs {
  std::vector<Index> label;
  RowMatrix p;
  Index size() const { return p.rows(); }
  Index classes() const { return p.cols(); }
};

void check_row(ConstRows P, Index i) {
  double sum = 0;
  for (Index k = 0; k < P.cols(); ++k) {
    // Sums of rounded numbers may end a little outside [0, 1].
    if (!(P(i, k) >= -1e-9 && P(i, k) <= 1 + 1e-9))
      throw InputError(
          fmt::format("the probability of class {} at row {} is {}; it must lie between 0 and 1", k,
                      i, P(i, k)));
    sum += P(i, k);
  }
  if (std::abs(sum - 1) > 1e-6)
    throw InputError(fmt::format("the probabilities at row {} sum to {}, not to 1", i, sum));
}

void check_threshold(double threshold) {
  if (!(threshold >= 0 && threshold <= 1))
    throw InputError(
        fmt::format("the threshold is {}; it is a probability, between 0 and 1", threshold));
}

void check_length(Index labels, Index predictions, const char* what) {
  if (labels != predictions)
    throw InputError(fmt::format("there are {} labels but {} {}", labels, predictions, what));
}

Index labelled(ConstVector labels) { return (!labels.array().isNaN()).count(); }

void check_any(ConstVector labels) {
  if (labelled(labels) == 0)
    throw InputError(fmt::format("none of the {} rows has a label to compare with", labels.size()));
}

Pairs observed(ConstVector labels, ConstRows P) {
  check_length(labels.size(), P.rows(), "rows of probabilities");
  if (P.cols() < 2)
    throw InputError(
        fmt::format("there are {} columns of probabilities; each of two classes or more has one, "
                    "which two_class_probabilities makes from the second's",
                    P.cols()));
  class_counts(labels, P.cols());
  check_any(labels);
  Pairs out{{}, RowMatrix(labelled(labels), P.cols())};
  for (Index i = 0; i < labels.size(); ++i) {
    if (std::isnan(labels[i])) continue;
    check_row(P, i);
    out.p.row(static_cast<Index>(out.label.size())) = P.row(i).cwiseMax(0.0).cwiseMin(1.0);
    out.label.push_back(static_cast<Index>(labels[i]));
  }
  return out;
}

Index decided(ConstRows P, Index i, double threshold) {
  if (P.cols() == 2) return P(i, 1) >= threshold;
  Index most = 0;
  for (Index k = 1; k < P.cols(); ++k)
    if (P(i, k) > P(i, most)) most = k;
  return most;
}

double accuracy(const Pairs& pairs, double threshold) {
  Index right = 0;
  for (Index i = 0; i < pairs.size(); ++i)
    right += decided(pairs.p, i, threshold) == pairs.label[static_cast<std::size_t>(i)];
  return static_cast<double>(right) / static_cast<double>(pairs.size());
}

double nlpd(const Pairs& pairs) {
  double sum = 0;
  for (Index i = 0; i < pairs.size(); ++i)
    sum -= std::log(pairs.p(i, pairs.label[static_cast<std::size_t>(i)]));
  return sum / static_cast<double>(pairs.size());
}

double brier(const Pairs& pairs) {
  double sum = 0;
  for (Index i = 0; i < pairs.size(); ++i)
    for (Index k = 0; k < pairs.classes(); ++k) {
      const double came_true = k == pairs.label[static_cast<std::size_t>(i)];
      sum += (pairs.p(i, k) - came_true) * (pairs.p(i, k) - came_true);
    }
  return sum / static_cast<double>(pairs.size());
}

Reliability reliability(const Pairs& pairs, Index bins) {
  if (bins < 1) throw InputError(fmt::format("{} bins were asked for; at least 1 is needed", bins));
  const double width = 1.0 / static_cast<double>(bins);
  Reliability out;
  for (Index b = 0; b < bins; ++b)
    out.bins.push_back({static_cast<double>(b) * width,
                        b + 1 == bins ? 1.0 : static_cast<double>(b + 1) * width, 0, 0, 0});
  for (Index i = 0; i < pairs.size(); ++i) {
    const Index k = pairs.classes() == 2 ? 1 : decided(pairs.p, i, 0);
    const double p = pairs.p(i, k);
    const auto b = std::min(bins - 1, static_cast<Index>(p * static_cast<double>(bins)));
    Reliability::Bin& bin = out.bins[static_cast<std::size_t>(b)];
    ++bin.count;
    bin.mean_probability += p;
    bin.frequency += k == pairs.label[static_cast<std::size_t>(i)];
  }
  for (Reliability::Bin& bin : out.bins) {
    const double count = static_cast<double>(bin.count);
    out.error += std::abs(bin.frequency - bin.mean_probability) / static_cast<double>(pairs.size());
    bin.mean_probability /= count;  // NaN of an empty bin
    bin.frequency /= count;
  }
  return out;
}

// One class of several against the rest.
struct Scored {
  std::vector<Index> order;  // of the rows with a label, by falling score
  Vector is_one, score;
  double ones = 0, zeros = 0;
};

Scored scored(Vector is_one, Vector score) {
  Scored out{std::vector<Index>(static_cast<std::size_t>(score.size())), std::move(is_one),
             std::move(score)};
  std::iota(out.order.begin(), out.order.end(), Index{0});
  std::stable_sort(out.order.begin(), out.order.end(),
                   [&](Index a, Index b) { return out.score[a] > out.score[b]; });
  out.ones = out.is_one.sum();
  out.zeros = static_cast<double>(out.is_one.size()) - out.ones;
  return out;
}

// Calls visit(score, ones, zeros) for every distinct score, the highest first, with how many rows
// of each kind have it.
template <class Visit>
void for_each_score(const Scored& s, Visit visit) {
  for (std::size_t i = 0; i < s.order.size();) {
    const double score = s.score[s.order[i]];
    double ones = 0, all = 0;
    for (; i < s.order.size() && s.score[s.order[i]] == score; ++i) {
      ones += s.is_one[s.order[i]];
      all += 1;
    }
    visit(score, ones, all - ones);
  }
}

// Pairs of a one and a zero in the right order, ties half, over all pairs.
double area(const Scored& s) {
  double ones_above = 0, in_order = 0;
  for_each_score(s, [&](double, double ones, double zeros) {
    in_order += zeros * (ones_above + 0.5 * ones);
    ones_above += ones;
  });
  return in_order / (s.ones * s.zeros);
}

Scored two_classes(ConstVector labels, ConstVector scores) {
  check_length(labels.size(), scores.size(), "scores");
  class_counts(labels, 2);
  check_any(labels);
  Vector is_one(labelled(labels)), score(is_one.size());
  Index count = 0;
  for (Index i = 0; i < labels.size(); ++i) {
    if (std::isnan(labels[i])) continue;
    if (!std::isfinite(scores[i]))
      throw InputError(fmt::format("the score at row {} is {}; it must be finite", i, scores[i]));
    is_one[count] = labels[i];
    score[count] = scores[i];
    ++count;
  }
  Scored out = scored(std::move(is_one), std::move(score));
  if (out.ones == 0 || out.zeros == 0)
    throw InputError(
        fmt::format("all {} labels are {}: a ROC curve and its area need rows of both classes",
                    out.is_one.size(), out.ones == 0 ? 0 : 1));
  return out;
}

// None when one class alone occurs.
std::optional<double> macro_auc(const Pairs& pairs) {
  double sum = 0, count = 0;
  for (Index k = pairs.classes() == 2 ? 1 : 0; k < pairs.classes(); ++k) {
    Vector is_one(pairs.size());
    for (Index i = 0; i < pairs.size(); ++i)
      is_one[i] = pairs.label[static_cast<std::size_t>(i)] == k;
    const Scored s = scored(std::move(is_one), pairs.p.col(k));
    if (s.ones == 0 || s.zeros == 0) continue;
    sum += area(s);
    count += 1;
  }
  if (count == 0) return {};
  return sum / count;
}

}  // namespace

RowMatrix two_class_probabilities(ConstVector p) {
  RowMatrix out(p.size(), 2);
  out.col(0) = 1 - p.array();
  out.col(1) = p;
  return out;
}

Vector decided_classes(ConstRows probabilities, double threshold) {
  check_threshold(threshold);
  Vector out(probabilities.rows());
  for (Index i = 0; i < out.size(); ++i) {
    check_row(probabilities, i);
    out[i] = static_cast<double>(decided(probabilities, i, threshold));
  }
  return out;
}

double accuracy(ConstVector labels, ConstRows probabilities, double threshold) {
  check_threshold(threshold);
  return accuracy(observed(labels, probabilities), threshold);
}

double nlpd(ConstVector labels, ConstRows probabilities) {
  return nlpd(observed(labels, probabilities));
}

double brier(ConstVector labels, ConstRows probabilities) {
  return brier(observed(labels, probabilities));
}

Matrix confusion_matrix(ConstVector labels, ConstRows probabilities, double threshold) {
  check_threshold(threshold);
  const Pairs pairs = observed(labels, probabilities);
  Matrix counts = Matrix::Zero(pairs.classes(), pairs.classes());
  for (Index i = 0; i < pairs.size(); ++i)
    counts(pairs.label[static_cast<std::size_t>(i)], decided(pairs.p, i, threshold)) += 1;
  return counts;
}

RocCurve roc_curve(ConstVector labels, ConstVector scores) {
  const Scored s = two_classes(labels, scores);
  std::vector<double> at{std::numeric_limits<double>::infinity()}, ones{0}, zeros{0};
  for_each_score(s, [&](double score, double more_ones, double more_zeros) {
    at.push_back(score);
    ones.push_back(ones.back() + more_ones);
    zeros.push_back(zeros.back() + more_zeros);
  });
  const auto vector = [](const std::vector<double>& v) -> Vector {
    return Eigen::Map<const Vector>(v.data(), static_cast<Index>(v.size()));
  };
  return {vector(at), vector(ones) / s.ones, vector(zeros) / s.zeros};
}

double auc(ConstVector labels, ConstVector scores) { return area(two_classes(labels, scores)); }

double macro_auc(ConstVector labels, ConstRows probabilities) {
  const Pairs pairs = observed(labels, probabilities);
  const auto found = macro_auc(pairs);
  if (!found)
    throw InputError(
        fmt::format("all {} labels are {}: the area below a ROC curve needs rows of two classes",
                    pairs.size(), pairs.label.front()));
  return *found;
}

Reliability reliability(ConstVector labels, ConstRows probabilities, Index bins) {
  return reliability(observed(labels, probabilities), bins);
}

double expected_calibration_error(ConstVector labels, ConstRows probabilities, Index bins) {
  return reliability(labels, probabilities, bins).error;
}

ClassificationScores classification_scores(ConstVector labels, ConstRows probabilities) {
  const Pairs pairs = observed(labels, probabilities);
  return {pairs.size(), accuracy(pairs, 0.5),         nlpd(pairs),
          brier(pairs), reliability(pairs, 15).error, macro_auc(pairs)};
}

}  // namespace covary
