#include "statistics/sampled_rows.hpp"

#include "covary/random/random.hpp"

namespace covary {
namespace {

// Each row as often as there are draws of it.
RowMatrix repeated(const RowMatrix& rows, Index draws) {
  RowMatrix out(rows.rows() * draws, rows.cols());
  for (Index i = 0; i < out.rows(); ++i) out.row(i) = rows.row(i / draws);
  return out;
}

}  // namespace

RowMatrix row_deviates(std::span<const Index> rows, Index Q, Index draws, std::uint64_t seed) {
  RowMatrix out(static_cast<Index>(rows.size()) * draws, Q);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Random random(seed, 0x5a3d00000000u + static_cast<std::uint64_t>(rows[i]));
    for (Index s = 0; s < draws; ++s)
      for (Index q = 0; q < Q; ++q) {
        const Index at = static_cast<Index>(i) * draws + s;
        out(at, q) = s % 2 ? -out(at - 1, q) : random.normal();
      }
  }
  return out;
}

SampledRows::SampledRows(const RowMatrix& mean, const RowMatrix& variance, const RowMatrix& Y,
                         const RowMatrix& deviates)
    : deviates_(deviates.data(), deviates.rows(), deviates.cols()),
      sd_(variance.cwiseSqrt()),
      X_(repeated(mean, deviates.rows() / mean.rows())),
      Y_(repeated(Y, deviates.rows() / mean.rows())),
      weights_(Vector::Constant(
          X_.rows(), static_cast<double>(mean.rows()) / static_cast<double>(deviates.rows()))),
      points_(X_, Y_, Vector(), weights_) {
  const Index draws = deviates.rows() / mean.rows();
  for (Index i = 0; i < X_.rows(); ++i)
    X_.row(i).array() += sd_.row(i / draws).array() * deviates.row(i).array();
}

void SampledRows::pull_inputs(RowMatrix x_bar, GaussianRowGradient& out) const {
  const Index draws = X_.rows() / sd_.rows();
  out.mean_bar = RowMatrix::Zero(sd_.rows(), sd_.cols());
  out.variance_bar = out.mean_bar;
  for (Index i = 0; i < X_.rows(); ++i)
    for (Index d = 0; d < X_.cols(); ++d) {
      const double bar = x_bar(i, d);
      out.mean_bar(i / draws, d) += bar;
      const double sd = sd_(i / draws, d);
      if (sd > 0.0) out.variance_bar(i / draws, d) += 0.5 * bar * deviates_(i, d) / sd;
    }
}

}  // namespace covary
