#pragma once

#include <optional>
#include <vector>

#include "covary/kernels/kernel.hpp"

namespace covary {

// Starts for a kernel's parameters. Empty means: chosen from the data.
struct Start {
  std::optional<double> variance;
  std::vector<double> lengthscales;  // one for all dimensions, or one each with ard
};

// Stationary kernels of r² = Σ_d (x_d − x'_d)²/ℓ_d²; `ard` gives each dimension its own ℓ_d.
Kernel se(bool ard = false, Start start = {});        // σ² exp(−r²/2)
Kernel matern12(bool ard = false, Start start = {});  // σ² exp(−r)
Kernel matern32(bool ard = false, Start start = {});  // σ² (1 + √3 r) exp(−√3 r)
Kernel matern52(bool ard = false, Start start = {});  // σ² (1 + √5 r + 5r²/3) exp(−√5 r)
Kernel rq(bool ard = false, Start start = {},
          std::optional<double> alpha = {});  // σ² (1 + r²/2α)^−α

// σ² exp(−2 Σ_d sin²(π(x_d − x'_d)/period)/ℓ_d²)
Kernel periodic(bool ard = false, Start start = {}, std::optional<double> period = {});
// σ² cos(2π Σ_d (x_d − x'_d)/period_d)
Kernel cosine(std::optional<double> variance = {}, std::vector<double> period = {},
              bool ard = false);
// Σ_d σ_d² x_d x'_d, one σ² for all dimensions unless ard
Kernel linear(bool ard = false, std::vector<double> variances = {});
// σ² (offset + xᵀx')^degree
Kernel polynomial(int degree, std::optional<double> variance = {},
                  std::optional<double> offset = {});
Kernel constant(std::optional<double> variance = {});
// σ² where x and x' are one observation: part of f by row identity, absent from cross blocks.
Kernel white(std::optional<double> variance = {});
// Of categories, a row being that of its largest entry, as text coded one-hot is: σ² if the two are
// the same, else 0.
Kernel overlap(std::optional<double> variance = {});
// The same with correlations between categories, W·Wᵀ + own·I, W of this rank.
Kernel lowrank(Index rank, std::optional<double> own = {});

Kernel operator+(const Kernel& a, const Kernel& b);
// In a product only the first factor's variance is free by default: the others would be redundant.
Kernel operator*(const Kernel& a, const Kernel& b);
Kernel operator*(double scale, const Kernel& k);  // a fixed factor
// k on the given input columns only.
Kernel on_dims(const Kernel& k, std::vector<Index> dims);
// Σ_d k(x_d, x'_d): one k shared by all columns.
Kernel additive(const Kernel& k);

}  // namespace covary
