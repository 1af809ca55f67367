#pragma once

#include <string>

#include "covary/inference/sparse_posterior.hpp"
#include "covary/models/sparse_regression.hpp"

namespace covary::experiments {

// One input, one output, in the units of the file; nothing is centred or scaled.
struct Data {
  RowMatrix X, Y;

  Index size() const { return X.rows(); }
};
Data snelson();
// Rows first, first + 2, first + 4, … in the order of the file: the subset of the thesis (Fig. 3.4)
// is that of first = 0.
Data every_second(const Data& data, Index first);

// A squared exponential with its noise, all as variances and lengths.
struct Theta {
  double variance = 1.0, lengthscale = 1.0, noise = 0.1;

  Kernel kernel() const;
  double noise_sd() const;
};

// Negative log evidences and bounds at given values, in nats. No jitter unless Kuu needs it.
double exact_nlml(const Data& data, const Theta& theta);
SparseEvaluation sparse_at(const Data& data, const Approximation& a, ConstRows Z, const Theta& t);
SparsePosterior sparse_posterior(const Data& data, const Approximation& a, ConstRows Z,
                                 const Theta& t);
// The smaller of the two upper bounds on the exact log evidence, as a lower bound on the NLML.
double nlml_floor(const Data& data, ConstRows Z, const Theta& t);
// Z from here to where the trace bound is tightest.
RowMatrix tighten_upper_bound(const Data& data, const RowMatrix& Z, const Theta& t);
// N(y; 0, s²) with the best s.
double independent_nlml(const Data& data);

struct Found {
  double nlml = 0.0;
  Theta theta;
  RowMatrix Z;  // ascending
};
Found fit_exact(const Data& data, std::uint64_t seed = 0);
// Joint optimisation of everything from one start, or with theta_held of Z alone. jitter: absolute.
Found fit_sparse(const Data& data, const Approximation& a, ConstRows Z, const Theta& start,
                 bool theta_held = false, double jitter = 0.0, Index iterations = 1000);
// Start r of a search: distinct rows of the data, and parameters drawn log-uniformly: the
// lengthscale from 0.2 to 2, the noise sd from 0.1 to 0.7 of that of y, the variance that of y.
Found fit_from_random(const Data& data, const Approximation& a, Index M, std::uint64_t seed,
                      Index r);
// The best of `starts` such starts.
Found search(const Data& data, const Approximation& a, Index M, Index starts, std::uint64_t seed);
// The same values with one more inducing input, where it lowers the NLML most on a grid of 131
// places over [−0.25, 6.25].
RowMatrix add_best(const Data& data, const Approximation& a, const Found& at);

// Neighbours (of Z in order) closer than 0.001.
Index coincident(const RowMatrix& Z);
RowMatrix with_row(const RowMatrix& Z, double z);
RowMatrix random_rows(const RowMatrix& X, Index M, std::uint64_t seed, std::uint64_t stream);

// A line on standard error, for what takes long.
void progress(const std::string& text);

}  // namespace covary::experiments
