#include "covary/linalg/spectrum.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "covary/error.hpp"
#include "linalg/lapack.hpp"

namespace covary {

SymmetricEigen symmetric_eigen(Matrix A) {
  if (A.rows() != A.cols())
    throw InputError(
        fmt::format("eigenvalues need a square matrix, got {}×{}", A.rows(), A.cols()));
  SymmetricEigen out{Vector(A.rows()), std::move(A)};
  if (out.values.size() == 0) return out;
  if (!out.vectors.triangularView<Eigen::Lower>().toDenseMatrix().allFinite())
    throw InputError("eigenvalues need a matrix without NaN or infinite entries");
  const int n = static_cast<int>(out.values.size());
  const auto call = [&](double* work, int size, int* integers, int count) {
    int info = 0;
    dsyevd_("V", "L", &n, out.vectors.data(), &n, out.values.data(), work, &size, integers, &count,
            &info, 1, 1);
    return info;
  };
  double best_size = 0;
  int best_count = 0;
  call(&best_size, -1, &best_count, -1);  // asks how much memory it wants
  std::vector<double> work(static_cast<std::size_t>(best_size));
  std::vector<int> integers(static_cast<std::size_t>(best_count));
  const int info = call(work.data(), static_cast<int>(best_size), integers.data(), best_count);
  if (info != 0)
    throw NumericalError(fmt::format(
        "the eigenvalues of a {0}×{0} matrix did not converge (LAPACK says {1})", n, info));
  return out;
}

}  // namespace covary
