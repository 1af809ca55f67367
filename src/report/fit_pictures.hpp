#pragma once

#include <string>
#include <vector>

#include "covary/models/regression.hpp"
#include "covary/report/chart.hpp"
#include "covary/report/regression_report.hpp"

namespace covary {

// Rows that cover the inputs, in the units of the data: the training inputs, or the inducing inputs
// of a sparse model, which does not keep the others.
RowMatrix shown_inputs(const RegressionFit& fit);

// How much each input matters, relative to the one that matters most.
struct Relevance {
  Vector values;      // D
  std::string name;   // of the measure
  std::string words;  // what it is
};
// One for each parameter of lengthscales with an entry for each input (inverse lengthscales, in
// units of the spread of the inputs); when there is none, or the terms see different inputs, the
// slope of the posterior mean.
std::vector<Relevance> relevances(const RegressionFit& fit);
// The largest of them for each input.
Vector overall_relevance(const std::vector<Relevance>& all, Index dims);
Figure relevance_figure(const RegressionFit& fit, const Relevance& relevance);

std::vector<Figure> training_figures(const Summary& summary);

// One input: data, mean, bands and draws of one output.
Figure curve_figure(const RegressionFit& fit, Index output, const RegressionReportOptions& options);
// One input: how each inducing variable of a sparse model goes with the function at x.
Figure features_figure(const RegressionFit& fit, ConstVector x);
// The inputs that curve_figure() draws at.
Vector curve_inputs(const RegressionFit& fit);
// One input: the terms of a kernel that is a sum, white noise left out.
std::vector<Figure> component_figures(const RegressionFit& fit, Index output);
// More inputs: along each of the given ones, with the others at their medians.
std::vector<Figure> slice_figures(const RegressionFit& fit, Index output,
                                  const std::vector<Index>& inputs);

}  // namespace covary
