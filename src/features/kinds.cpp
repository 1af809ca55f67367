#include "features/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "covary/error.hpp"
#include "covary/features/selection.hpp"
#include "features/stacked.hpp"

namespace covary {

const std::vector<const FeatureKind*>& feature_kinds() {
  static const std::vector<const FeatureKind*> all = {
      &points_kind,     &multiscale_kind,     &multiscale_sums_kind,
      &frequency_kind,  &time_frequency_kind, &basis_kind,
      &eigen_kind,      &fourier_kind,        &l2_fourier_kind,
      &orthogonal_kind, &empirical_kind,      &rff_kind,
      &ssgp_kind,       &hilbert_kind,        &bumps_kind};
  return all;
}

std::string list_of_kinds(const std::function<bool(const FeatureKind&)>& which) {
  std::vector<std::string> found;
  for (const FeatureKind* kind : feature_kinds())
    if (which(*kind)) found.emplace_back(kind->expression);
  std::string out;
  for (std::size_t i = 0; i < found.size(); ++i)
    out += (i == 0 ? "" : i + 1 == found.size() ? " and " : ", ") + found[i];
  return out;
}

RowMatrix FeatureStart::inputs() const {
  if (Z.size()) return Z;
  const Index n = std::min(M, X.rows());
  return choose ? choose(n)
                : select_inducing(Selection::greedy_variance, n, X, kernel, theta, seed).Z;
}

FeaturesPtr start_features(const FeatureChoice& choice, const FeatureStart& start) {
  if (start.Z.rows() > 0 && choice.inputs(1) == 0)
    throw InputError(fmt::format(
        "{} features have no inducing inputs; give --inducing in place of --inducing-file",
        choice.print()));
  return choice.stacked ? start_stacked(choice, start) : choice.kind->start(start, choice.points);
}

ColumnSpread spread_of(ConstRows X) {
  ColumnSpread out{X.colwise().mean(), {}};
  out.sd =
      ((X.rowwise() - out.mean.transpose()).colwise().squaredNorm() / static_cast<double>(X.rows()))
          .cwiseSqrt();
  for (double& s : out.sd)
    if (!(s > 0.0)) s = 1.0;
  return out;
}

void need_one_column(const FeatureStart& s, const char* kind) {
  if (s.X.cols() != 1)
    throw InputError(fmt::format("{} features are for one input column, got {}", kind, s.X.cols()));
}

RowMatrix with_other_points(const FeatureStart& s, const RowMatrix& Z, Index C, Random& random) {
  if (Z.rows() == s.M * C) return Z;
  RowMatrix out(Z.rows() * C, s.X.cols());
  out.topRows(Z.rows()) = Z;
  for (Index i = Z.rows(); i < out.rows(); ++i) out.row(i) = s.X.row(random.integer(s.X.rows()));
  return out;
}

RowMatrix first_weights(Index M, Index C, Random& random) {
  RowMatrix out = 0.1 * random.normal_matrix(M, C);
  out.col(0).setOnes();
  return out;
}

RecordReader::RecordReader(const FeatureRecord& record, bool with_degrees)
    : record_(record), at_(record.z.data()) {
  constexpr Index largest = 1 << 28;
  expect(M() >= 1 && D() >= 1 && M() <= largest && D() <= largest &&
         record.degrees.empty() != with_degrees &&
         (!with_degrees || static_cast<Index>(record.degrees.size()) == M() * D()));
}

void RecordReader::expect(bool fits) const {
  if (!fits)
    throw InputError(
        fmt::format("{} features in {} columns do not have {} parameters and {} degrees when there "
                    "are {} of them",
                    record_.name, D(), S(), record_.degrees.size(), M()));
}

RowMatrix RecordReader::rows(Index n, Index cols) {
  RowMatrix out = Eigen::Map<const RowMatrix>(at_, n, cols);
  at_ += n * cols;
  return out;
}

Eigen::MatrixX<Index> RecordReader::degrees(Index least, Index most) const {
  Eigen::MatrixX<Index> own(M(), D());
  for (Index m = 0; m < M(); ++m)
    for (Index d = 0; d < D(); ++d) {
      own(m, d) = record_.degrees[static_cast<std::size_t>(m * D() + d)];
      if (own(m, d) < least || own(m, d) > most)
        throw InputError(
            fmt::format("a feature of degree {}: from {} to {}", own(m, d), least, most));
    }
  return own;
}

}  // namespace covary
