#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "covary/features/features.hpp"

namespace covary {

struct FeatureKind;

// What inducing variables a model has: one of feature_kinds(), as "points", "basis(8)" or
// "fourier(l2)"; or "stacked(KIND)" with any of them. docs/features.md says when to use which.
struct FeatureChoice {
  const FeatureKind* kind;  // never null
  Index points = 1;         // C of basis(C) and multiscale(C)
  bool stacked = false;     // "stacked(eigen)": such features for every part of a sum (stacked.hpp)

  FeatureChoice();                                                                   // points
  FeatureChoice(const std::string& expression);                                      // NOLINT
  FeatureChoice(const char* expression) : FeatureChoice(std::string(expression)) {}  // NOLINT
  std::string print() const;
  std::string name() const;  // as Features::name() has it, without C
  bool is_points() const;
  // Functions of a model of their own, which SoR alone fits; no bound holds of them.
  bool is_parametric() const;
  // Inputs that M features start around; none for those that cover all of them.
  Index inputs(Index M) const;
};

// What features of a kind are made to suit.
struct FeatureStart {
  Kernel kernel;
  Eigen::Ref<const Vector> theta;  // the kernel's values
  Eigen::Ref<const RowMatrix> X;   // rows of data
  Index M = 0;                     // how many
  std::uint64_t seed = 0;
  // Inputs to start around, where the caller gives them: M, or of sums of C points M·C, the first
  // of every sum first. Else at most n of them by the caller's selection; unset: the greedy one.
  RowMatrix Z = {};
  std::function<RowMatrix(Index n)> choose = nullptr;

  RowMatrix inputs() const;  // Z, or M that are chosen
};

// Inducing variables of a kind, a line of the table: a new kind is its source and that line.
struct FeatureKind {
  const char* expression;  // "points"; (C) at the end stands for a number from 1 to 9999
  const char* name;        // as Features::name() has it
  const char* parameters;  // below "features.", as "Z, widths"
  bool around_inputs;      // it starts around inputs, which a caller may give; else it covers all
  bool parametric;         // as FeatureChoice says
  bool gaussian_inputs;    // it has Features::expectations()
  // Features that suit a start, with C points each; it proposes itself where they begin.
  FeaturesPtr (*start)(const FeatureStart& start, Index C);
  // From what record_features() says of them; InputError where that does not belong together.
  FeaturesPtr (*restore)(const struct FeatureRecord& record, const Kernel& kernel);
  // Weighted sums of C values of the function, which a fit of more points may show where to start.
  bool sums_of_points = false;
};
const std::vector<const FeatureKind*>& feature_kinds();
// The expressions of those for which `which` holds, in a sentence.
std::string list_of_kinds(const std::function<bool(const FeatureKind&)>& which);

// Features of a choice. InputError where inputs Z are given to features that have none.
FeaturesPtr start_features(const FeatureChoice& choice, const FeatureStart& start);

}  // namespace covary
