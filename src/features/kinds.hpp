#pragma once

#include "covary/features/choice.hpp"
#include "covary/features/record.hpp"
#include "covary/random/random.hpp"

namespace covary {

// The kinds, each defined beside its features; feature_kinds() lists them.
extern const FeatureKind points_kind, multiscale_kind, multiscale_sums_kind, frequency_kind,
    time_frequency_kind, basis_kind, eigen_kind, fourier_kind, l2_fourier_kind, orthogonal_kind,
    empirical_kind, rff_kind, ssgp_kind, hilbert_kind, bumps_kind;

// What starts draw from.
inline Random start_random(const FeatureStart& s) { return Random(s.seed, 0xfea7); }
// Mean and standard deviation of each column; 1 for a constant one.
struct ColumnSpread {
  Vector mean, sd;
};
ColumnSpread spread_of(ConstRows X);
void need_one_column(const FeatureStart& s, const char* kind);
// Of sums of C points: the first points are the inputs, the others random rows, unless the inputs
// have them too; the first point of a sum counts, the others are there to be found of use.
RowMatrix with_other_points(const FeatureStart& s, const RowMatrix& Z, Index C, Random& random);
RowMatrix first_weights(Index M, Index C, Random& random);

// The parameters of a record, taken one after the other.
class RecordReader {
 public:
  // Sizes that can be multiplied without overflow, and degrees where they belong.
  RecordReader(const FeatureRecord& record, bool with_degrees = false);
  Index M() const { return record_.size; }
  Index D() const { return record_.dims; }
  Index S() const { return record_.z.size(); }
  // InputError unless the sizes fit together.
  void expect(bool fits) const;
  RowMatrix rows(Index n, Index cols);
  Vector vector(Index n) { return rows(n, 1).col(0); }
  Eigen::MatrixX<Index> degrees(Index least, Index most) const;

 private:
  const FeatureRecord& record_;
  const double* at_;
};

}  // namespace covary
