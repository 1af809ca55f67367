#pragma once

#include <optional>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// Scores of class probabilities, N×K with rows that sum to one, for labels 0 … K−1. Rows whose
// label is NaN do not count, whatever is predicted there. InputError when lengths differ, when no
// label is left, for a label that is no class and for a row that is no distribution.

// N×2 from the probability of the second class.
RowMatrix two_class_probabilities(ConstVector p);

// The class decided for each row. Two classes: the second when its probability reaches `threshold`.
// More: the most probable, the first of equals; then the threshold is not used.
Vector decided_classes(ConstRows probabilities, double threshold = 0.5);

// The share of labels that are the class decided, (TP + TN)/N for two classes.
double accuracy(ConstVector labels, ConstRows probabilities, double threshold = 0.5);
// The mean of −log p(label), in nats: ∞ where a label was given probability 0.
double nlpd(ConstVector labels, ConstRows probabilities);
// The mean over rows of Σ_k (p_k − 1[label = k])², from 0 to 2: Brier's own (1950). For two classes
// it is twice the mean of (p − y)², which is also called so.
double brier(ConstVector labels, ConstRows probabilities);
// Rows: labels; columns: decided classes; entries: how many.
Matrix confusion_matrix(ConstVector labels, ConstRows probabilities, double threshold = 0.5);

// The receiver operating characteristic of scores for labels 0 and 1: the share of the ones and of
// the zeros whose score reaches each threshold. Thresholds fall from ∞, where both are 0, over the
// distinct scores. Both classes have to occur.
struct RocCurve {
  Vector thresholds, true_positive, false_positive;
};
RocCurve roc_curve(ConstVector labels, ConstVector scores);
// The area below it: P(score of a one > that of a zero) + ½ P(equal), by ranks (Mann & Whitney).
double auc(ConstVector labels, ConstVector scores);
// Two classes: of the second one's probability. More: the mean over the classes of the area for
// each against the rest, every class with the same weight; those that do not occur have none.
double macro_auc(ConstVector labels, ConstRows probabilities);

// How often what was given probability p came true, over bins of equal width: [lower, upper), the
// last with 1. Means are NaN in empty bins.
struct Reliability {
  struct Bin {
    double lower, upper;
    Index count = 0;
    double mean_probability, frequency;
  };
  std::vector<Bin> bins;
  double error = 0;  // Σ count/N |frequency − mean probability|: the expected calibration error
};
// Two classes: of the second one's probability. More: of the probability of the most probable
// class, and whether it was the label (Guo et al., 2017).
Reliability reliability(ConstVector labels, ConstRows probabilities, Index bins = 15);
double expected_calibration_error(ConstVector labels, ConstRows probabilities, Index bins = 15);

// All scores at once.
struct ClassificationScores {
  Index rows = 0;  // with a label
  double accuracy = 0, nlpd = 0, brier = 0, ece = 0;
  std::optional<double> auc;  // none when one class alone occurs
};
ClassificationScores classification_scores(ConstVector labels, ConstRows probabilities);

}  // namespace covary
