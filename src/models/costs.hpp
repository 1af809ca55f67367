#pragma once

#include "covary/models/table.hpp"

// Forecasts of the models of the table, to about a factor of two.
namespace covary::costs {

Cost exact(const ProblemSize& s);
Cost vfe(const ProblemSize& s);    // by the safe route; dtc and sor too
Cost power(const ProblemSize& s);  // with a weight of each row: fitc, pep, vfe(tight)
Cost pitc(const ProblemSize& s);
Cost cglb(const ProblemSize& s);
Cost laplace(const ProblemSize& s);
Cost ep(const ProblemSize& s);  // the variational method too
Cost svgp(const ProblemSize& s);
Cost sparse_ep(const ProblemSize& s);
Cost gplvm(const ProblemSize& s);
Cost stochastic_gplvm(const ProblemSize& s);
Cost map_gplvm(const ProblemSize& s);
Cost class_density(const ProblemSize& s);
Cost missing_inputs(const ProblemSize& s);
Cost noisy_inputs(const ProblemSize& s);
Cost warped(const ProblemSize& s);
Cost ppca(const ProblemSize& s);

}  // namespace covary::costs
