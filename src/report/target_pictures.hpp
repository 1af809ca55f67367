#pragma once

#include <string>
#include <vector>

#include "covary/models/generalised_fit.hpp"
#include "covary/report/chart.hpp"
#include "covary/report/target_report.hpp"

namespace covary {

// What the posterior says of y at some rows, in the units of the data. lower, upper: the ends of
// the 95 % interval.
struct TargetPredictions {
  std::vector<Index> rows;  // in the table they come from
  Vector y, mean, lower, upper;
  Vector below, at_most;  // P(Y < y), P(Y ≤ y)
  Vector expected = {};   // of counts: how many observations of 0, 1, … were predicted
  bool whole_numbers = false;

  Index size() const { return y.size(); }
  double inside() const;  // the share of observations in their 95 % interval
};
TargetPredictions target_predictions(const GeneralisedFit& fit, const TargetData& data,
                                     Index most_rows);

// One input: the mean of y, the band of that mean as f varies, the band of new observations, the
// rows and the inducing inputs.
Figure target_curve(const GeneralisedFit& fit, const TargetData& data);
// How often each count was observed beside how often it was predicted, as square roots (Kleiber &
// Zeileis 2016).
Figure rootogram(const TargetPredictions& p, const std::string& output);

}  // namespace covary
