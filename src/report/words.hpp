#pragma once

#include <string>
#include <vector>

#include "covary/models/regression.hpp"

namespace covary {

// Plain words about a fit.
std::string input_name(const RegressionFit& fit, Index d);
std::string output_name(const RegressionFit& fit, Index p);
std::string lead_sentence(const RegressionFit& fit);
// What each term of the kernel says about the function.
std::vector<std::string> kernel_words(const RegressionFit& fit);
std::string noise_words(const RegressionFit& fit);
// The warnings of the summary, each with what to make of it, and what the numbers say besides.
std::vector<std::string> fit_warnings(const RegressionFit& fit);

}  // namespace covary
