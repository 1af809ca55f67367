#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "covary/kernels/kernel.hpp"

namespace covary {

// Y = f(X) + noise with X unknown and the parameters given: what the referees of the bound see of a
// GP-LVM. There are no inducing inputs, and nothing is approximated but by chance.
struct UnknownInputs {
  struct View {
    Kernel kernel;
    Vector theta;
    double noise;
    Matrix Y;  // N×P, NaN where missing
  };
  std::vector<View> views;
  Index dims = 0;       // Q
  Matrix prior_factor;  // lower triangular L, N×N: columns of X ~ N(0, LLᵀ); empty: N(0, I)

  Index rows() const { return views.front().Y.rows(); }
  double log_likelihood(ConstRows X) const;      // log p(Y | X)
  RowMatrix inputs(const RowMatrix& v) const;    // L·v, v ~ N(0, I)
  RowMatrix whitened(const RowMatrix& X) const;  // and back
};

struct InputSamplingOptions {
  // "slice": f is integrated out, X moves by elliptical slices (Murray, Adams & MacKay 2010).
  // "retrospective": Metropolis within Gibbs over X and f (van der Wilk 2019, section 6.3.1). Rows
  // move, f is drawn where they come to given where it is known, p(f(X') | f(X)), and the GP
  // cancels from the ratio; then f is drawn anew given X and Y.
  std::string method = "slice";
  Index samples = 1000;
  Index burn_in = 200;   // sweeps over all rows before the first sample
  Index thin = 1;        // sweeps from a sample to the next
  Index block = 1;       // rows that move together
  double step = 0.5;     // of "retrospective": v' = √(1 − step²)·v + step·normal
  RowMatrix start = {};  // N×Q; empty: a draw of the prior
  std::uint64_t seed = 0;

  void check() const;
};

// Draws from p(X | Y): exact in the long run. O(N³) a block, N/block of them a sweep: for tables of
// some tens of rows.
struct InputSamples {
  std::vector<RowMatrix> X;  // N×Q each
  std::vector<RowMatrix> F;  // of "retrospective": f(X), N × the outputs of all views
  Vector log_likelihood;     // log p(Y | X) of each
  double acceptance = 1.0;   // the share of moves that were made
};
InputSamples sample_inputs(const UnknownInputs& problem, const InputSamplingOptions& options = {});

// log p(Y) by importance sampling, X ~ Π N(mean, broaden·variance): unbiased for p(Y), so below
// log p(Y) on average, and blind for modes that the proposal does not reach.
struct EvidenceEstimate {
  double value = 0.0, standard_error = 0.0;
  double effective_samples = 0.0;  // (Σw)²/Σw²
};
EvidenceEstimate importance_log_evidence(const UnknownInputs& problem, ConstRows mean,
                                         ConstRows variance, Index samples = 10000,
                                         double broaden = 1.5, std::uint64_t seed = 0);

}  // namespace covary
