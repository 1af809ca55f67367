#pragma once

#include <string>
#include <vector>

#include "covary/report/chart.hpp"
#include "covary/report/classification_report.hpp"
#include "covary/report/page.hpp"

namespace covary {

// One input: the probability of each class (of two, that of the second), with the training rows.
Figure class_curve(const ClassificationReport& report);
// Two inputs: an image for each class (of two, for the second), at most six.
std::vector<Figure> class_surfaces(const ClassificationReport& report);

// ROC curves of the classes that occur beside others, at most six; none when one class alone
// occurs.
std::vector<Figure> roc_figures(const ClassPredictions& p, const std::vector<std::string>& classes);
// The reliability diagram, and how often each probability is given.
std::vector<Figure> reliability_figures(const ClassPredictions& p,
                                        const std::vector<std::string>& classes);
HtmlTable confusion_table(const ClassPredictions& p, const std::vector<std::string>& classes);

}  // namespace covary
