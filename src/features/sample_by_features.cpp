#include <fmt/format.h>

#include <algorithm>

#include "covary/error.hpp"
#include "covary/features/parametric.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/random/random.hpp"

namespace covary {

Matrix sample_by_features(const Features& white, ConstVector theta, ConstVector z, ConstRows X,
                          Index draws, std::uint64_t seed) {
  if (!white.is_white())
    throw InputError(fmt::format("draws need white features, which {} are not", white.name()));
  if (X.cols() != white.dims())
    throw InputError(
        fmt::format("{} features of {} columns, X has {}", white.name(), white.dims(), X.cols()));
  if (draws < 1) throw InputError(fmt::format("draws must be at least 1, got {}", draws));
  const Matrix w = Random(seed, 0x4a11).normal_matrix(white.size(), draws);
  const RowMatrix rows = X;
  Matrix out(X.rows(), draws);
  constexpr Index height = 256;
  parallel_for((X.rows() + height - 1) / height, [&](Index b) {
    const Index first = b * height, n = std::min(height, X.rows() - first);
    Matrix K(white.size(), n);
    white.Kuf(theta.data(), z.data(), {rows.row(first).data(), n, X.cols(), X.cols(), first},
              K.data());
    out.middleRows(first, n) = product(K, w, Op::transpose);
  });
  return out;
}

}  // namespace covary
