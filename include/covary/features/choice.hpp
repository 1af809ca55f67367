#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "covary/features/features.hpp"

namespace covary {

// What inducing variables a model has: "points", "multiscale", "multiscale(C)", "frequency",
// "timefrequency", "basis(C)", "eigen", "fourier", "fourier(l2)", "orthogonal" or "empirical"; or
// whose functions are a model of their own: "rff", "ssgp", "hilbert" or "bumps"; or "stacked(KIND)"
// with any of them. docs/features.md says when to use which.
struct FeatureChoice {
  enum class Kind {
    points,
    multiscale,
    frequency,
    time_frequency,
    basis,
    eigen,
    fourier,
    l2_fourier,
    orthogonal,
    empirical,
    rff,
    ssgp,
    hilbert,
    bumps
  };
  Kind kind = Kind::points;
  Index points = 1;      // C of basis and multiscale
  bool stacked = false;  // "stacked(eigen)": such features for every part of a sum (stacked.hpp)

  FeatureChoice() = default;
  FeatureChoice(const std::string& expression);                                      // NOLINT
  FeatureChoice(const char* expression) : FeatureChoice(std::string(expression)) {}  // NOLINT
  std::string print() const;
  std::string name() const;  // as Features::name() has it, without C
  bool is_points() const { return kind == Kind::points && !stacked; }
  // Functions of a model of their own, which SoR alone fits; no bound holds of them.
  bool is_parametric() const;
  // Inputs among the rows that M features start from; none for those that cover all of them.
  Index inputs(Index M) const;
};

// M features that suit the rows X and a kernel at the values theta: around the inputs Z, if they
// have any (M of them, or of sums of C points M·C, the first of every sum first; else the others
// are random rows), with windows of half a lengthscale; frequencies drawn from the kernel's
// spectrum; the measure of eigenfunctions has the moments of X, and their largest eigenvalues are
// taken; the interval of Fourier features and the box of Hilbert-space ones reach two lengthscales
// beyond X, at most its range, and of an even M of the former one is left out. InputError where
// inputs Z are given to features that have none.
FeaturesPtr start_features(const FeatureChoice& choice, const Kernel& kernel, ConstVector theta,
                           ConstRows X, ConstRows Z, Index M, std::uint64_t seed);

}  // namespace covary
