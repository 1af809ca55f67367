#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "covary/statistics/weighted.hpp"

namespace covary {

// Some rows of one output, all of them observed, with what q says of the functions there,
// and the room for the answer of a likelihood: E log p(y_n | f_n) under independent
// f_nl ~ N(mean_nl, variance_nl), its derivatives, and the derivatives of the sum by the
// likelihood's parameters. Function l of row i is at [l·stride + i].
struct RowTerms {
  Index n = 0;
  const double* y = nullptr;
  const double* aux = nullptr;      // the column beside y; null where there is none
  const double* weights = nullptr;  // that multiply all of the answer; null: ones
  const double* mean = nullptr;
  const double* variance = nullptr;
  Index stride = 0;
  double* value = nullptr;  // n, overwritten
  double* mean_bar = nullptr;
  double* variance_bar = nullptr;
  double* coupling = nullptr;        // ∂²/∂mean_k∂mean_l of the pairs k < l, where not null
  double* parameters_bar = nullptr;  // added to
};
// Called from many threads at once.
using RowExpectation = std::function<void(const RowTerms&)>;

// A likelihood at its present parameters, as a sweep sees it. Datum n of output p arises from
// `per_datum` arguments, g_a(x_n) for a = p·per_datum …, and these from F functions: g = W·f +
// m(x).
struct RowLikelihood {
  RowExpectation expectation;
  Index parameters = 1;
  Index per_datum = 1;                        // arguments of a datum
  std::optional<double> gaussian_noise = {};  // where it is Gaussian, its variance σ²
  Matrix mixing = {};                         // W, arguments × F; empty: the identity

  Index arguments(Index outputs) const { return per_datum * outputs; }
  bool is_mixed() const { return mixing.size() > 0; }
  Index functions(Index outputs) const { return is_mixed() ? mixing.cols() : arguments(outputs); }
};
// Of Gaussian noise, which takes rows with Gaussian inputs too.
RowLikelihood gaussian_likelihood(double noise_variance);

// −½log 2πs − ((y − mean)² + variance)/(2s) with s = σ² + aux_n; one parameter, σ².
RowExpectation gaussian_expectation(double noise_variance);

// q(v) = N(m, Ls·Lsᵀ) of the whitened inducing variables u = Luu·v, one for each function.
struct WhitenedGaussian {
  Matrix m;                // M×F
  std::vector<Matrix> Ls;  // F lower factors; or, of diagonal ones, their diagonals alone, M×1

  bool is_thin() const { return !Ls.empty() && Ls.front().cols() == 1 && m.rows() > 1; }
};

// What a sweep of row terms computes besides the value.
enum class RowAdjoints {
  none,
  q,        // A_m and A_vA: all that a step of q needs
  coupled,  // and A_cA of functions that a datum sees together, for a step of all of them
  all       // A_m, A_vA and the derivatives by the parameters
};

// Σ over rows and observed outputs of E log p(y | g), g = W·f + m(x), where the F functions are
// independent and f has the mean a_nᵀm and the variance k_nn − |a_n|² + |Lsᵀa_n|². Value and
// adjoints of a row come at once, so one sweep does.
struct RowTermSums {
  double value = 0.0;
  double rows = 0.0;         // observed (row, output) pairs
  Matrix A_m;                // Σ m̄_n a_n, M×F
  std::vector<Matrix> A_vA;  // Σ v̄_n a_n a_nᵀ of each function, symmetric; its diagonal of a thin q
  std::vector<Matrix> A_cA;  // Σ c_n a_n a_nᵀ of each pair (0,1), (0,2), …, (1,2), …
  std::vector<Vector> theta_bar, z_bar;  // of each context, through Kuf and k_nn
  Vector parameters_bar;                 // of the likelihood
  Matrix mixing_bar;                     // where functions are mixed
  Matrix mean_bar;                       // like mean_weights
  // Ls·Lsᵀ of each function, with all adjoints; not of a thin q, nor where all features are white.
  std::vector<Matrix> S;
};
// One context for all functions, or one for each with as many features. The mean and its weights
// (basis × arguments) are those of the first; noise is not used. With all adjoints of_inputs,
// unless null, becomes the gradient by the inputs of the rows.
//
// Rows with Gaussian inputs have a closed form for Gaussian noise, one context, a zero or constant
// mean function and no mixing; for anything else their points() stand for them, whose mean is the
// bound of that rule. Unsupported where there are none.
RowTermSums row_terms(std::span<const SweepContext> contexts, const RowLikelihood& likelihood,
                      const WhitenedGaussian& q, const Sweep& sweep, RowAdjoints adjoints,
                      GaussianRowGradient* of_inputs = nullptr);

}  // namespace covary
