#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "covary/features/features.hpp"

namespace covary {

// What inducing variables a model has: "points", "multiscale", "frequency", "timefrequency",
// "basis(C)", "eigen" or "fourier"; docs/features.md says when to use which.
struct FeatureChoice {
  enum class Kind { points, multiscale, frequency, time_frequency, basis, eigen, fourier };
  Kind kind = Kind::points;
  Index points = 1;  // C of basis

  FeatureChoice() = default;
  FeatureChoice(const std::string& expression);                                      // NOLINT
  FeatureChoice(const char* expression) : FeatureChoice(std::string(expression)) {}  // NOLINT
  std::string print() const;
  std::string name() const;  // as Features::name() has it, without C
  bool is_points() const { return kind == Kind::points; }
  // Inputs among the rows that M features start from; none for those that cover all of them.
  Index inputs(Index M) const;
};

// M features that suit the rows X and a kernel at the values theta: around the inputs Z, if they
// have any, with windows of half a lengthscale; frequencies drawn from the kernel's spectrum; the
// measure of eigenfunctions has the moments of X, and their largest eigenvalues are taken; the
// interval of Fourier features reaches two lengthscales beyond X, at most its range, and of an even
// M one is left out.
FeaturesPtr start_features(const FeatureChoice& choice, const Kernel& kernel, ConstVector theta,
                           ConstRows X, ConstRows Z, Index M, std::uint64_t seed);

// From Features::name(), their parameters z and, of eigenfunctions, the degrees (row by row).
// Throws InputError where these do not belong together.
FeaturesPtr restore_features(const std::string& name, const Kernel& kernel, Index M, Index D,
                             ConstVector z, const std::vector<std::int64_t>& degrees);

}  // namespace covary
