#include "covary/features/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "covary/features/basis.hpp"
#include "covary/features/eigen.hpp"
#include "covary/features/fourier.hpp"
#include "covary/features/windows.hpp"
#include "covary/parameters/suggest.hpp"
#include "covary/random/random.hpp"
#include "features/gaussian_kernel.hpp"

namespace covary {
namespace {

using Kind = FeatureChoice::Kind;

constexpr std::pair<const char*, Kind> names[] = {
    {"points", Kind::points},       {"multiscale", Kind::multiscale},
    {"frequency", Kind::frequency}, {"timefrequency", Kind::time_frequency},
    {"basis", Kind::basis},         {"eigen", Kind::eigen},
    {"fourier", Kind::fourier}};

// Lengthscales of the columns by the first term; the spread of X where the kernel has none.
Vector lengthscales_of(const FeatureChoice& choice, const Kernel& kernel, ConstVector theta,
                       const Vector& sd) {
  const GaussianKernel gaussian(kernel, sd.size(), choice.print());
  const Vector w = gaussian.at(0, theta.data()).w;
  Vector out = sd;
  for (Index d = 0; d < sd.size(); ++d)
    if (w(d) > 0.0) out(d) = 1.0 / std::sqrt(w(d));
  return out;
}

FeaturesPtr start_fourier(const Kernel& kernel, ConstVector theta, ConstRows X, Index M) {
  if (X.cols() != 1)
    throw InputError(
        fmt::format("fourier features are for one column of inputs, there are {}", X.cols()));
  const double low = X.minCoeff(), high = X.maxCoeff(), range = std::max(high - low, 1e-12);
  fourier_features(kernel, low, low + range, 0);  // refuses other kernels
  double l = range;
  for (const auto& term : kernel.terms(1))
    if (!term.node->is_white()) l = theta(term.offset + 1);
  const double pad = std::clamp(2.0 * l, 0.1 * range, range);
  return fourier_features(kernel, low - pad, low + range + pad, (M - 1) / 2);
}

// The first point of a variable counts; the others are there to be found of use.
RowMatrix first_weights(Index M, Index C, Random& random) {
  RowMatrix out = 0.1 * random.normal_matrix(M, C);
  out.col(0).setOnes();
  return out;
}

}  // namespace

FeatureChoice::FeatureChoice(const std::string& e) {
  const std::string name = e.substr(0, e.find('('));
  bool known = false;
  std::vector<std::string> all;
  for (const auto& [text, k] : names) {
    all.emplace_back(text);
    if (name != text) continue;
    known = true;
    kind = k;
  }
  if (!known)
    throw InputError(
        fmt::format("there are no '{}' features{}; there are points, multiscale, "
                    "frequency, timefrequency, basis(C), eigen and fourier",
                    e, did_you_mean(name, all)));
  if (kind != Kind::basis) {
    if (name != e) throw InputError(fmt::format("{} features take no argument, got '{}'", name, e));
    return;
  }
  const std::string digits =
      e.size() > name.size() + 2 && e.back() == ')' ? e.substr(6, e.size() - 7) : "";
  if (digits.empty() || digits.size() > 4 ||
      digits.find_first_not_of("0123456789") != std::string::npos || std::stol(digits) < 1)
    throw InputError(fmt::format(
        "basis features need their number of points each, from 1 to 9999, as in basis(8); got '{}'",
        e));
  points = std::stol(digits);
}

std::string FeatureChoice::print() const {
  return kind == Kind::basis ? fmt::format("basis({})", points) : name();
}

std::string FeatureChoice::name() const {
  for (const auto& [text, k] : names)
    if (k == kind) return text;
  return "";
}

Index FeatureChoice::inputs(Index M) const {
  return kind == Kind::frequency || kind == Kind::eigen || kind == Kind::fourier ? 0 : M;
}

FeaturesPtr start_features(const FeatureChoice& choice, const Kernel& kernel, ConstVector theta,
                           ConstRows X, ConstRows Z, Index M, std::uint64_t seed) {
  if (choice.is_points()) return inducing_points(kernel, Z);
  Random random(seed, 0xfea7);
  const Index D = X.cols();
  if (choice.kind == Kind::basis) {
    const Index own = Z.rows();
    RowMatrix points(own * choice.points, D);
    points.topRows(own) = Z;
    for (Index i = own; i < points.rows(); ++i) points.row(i) = X.row(random.integer(X.rows()));
    return basis_features(kernel, points, first_weights(own, choice.points, random));
  }
  if (choice.kind == Kind::fourier) return start_fourier(kernel, theta, X, M);
  const Vector mean = X.colwise().mean();
  Vector sd =
      ((X.rowwise() - mean.transpose()).colwise().squaredNorm() / static_cast<double>(X.rows()))
          .cwiseSqrt();
  for (double& s : sd)
    if (!(s > 0.0)) s = 1.0;
  const Vector l = lengthscales_of(choice, kernel, theta, sd);
  const RowMatrix half = (0.5 * l).transpose().replicate(Z.rows(), 1);
  // The spectrum of se is normal with standard deviation 1/ℓ.
  const auto frequencies = [&](Index n) {
    return RowMatrix(random.normal_matrix(n, D) * l.cwiseInverse().asDiagonal());
  };
  const auto phases = [&](Index n) {
    Vector out(n);
    for (double& p : out) p = std::numbers::pi * random.uniform();
    return out;
  };
  switch (choice.kind) {
    case Kind::multiscale:
      return multiscale_features(kernel, Z, half);
    case Kind::time_frequency: {
      const RowMatrix omega = frequencies(Z.rows());
      return time_frequency_features(kernel, Z, half, omega, phases(Z.rows()));
    }
    case Kind::frequency: {
      const RowMatrix omega = frequencies(M);
      return frequency_features(kernel, mean, 2.0 * sd, omega, phases(M));
    }
    default: {
      Vector ratios(D);
      for (Index d = 0; d < D; ++d) ratios(d) = eigenvalue_ratio(l(d), sd(d));
      return eigen_features(kernel, mean, sd, largest_degrees(ratios, M));
    }
  }
}

FeaturesPtr restore_features(const std::string& name, const Kernel& kernel, Index M, Index D,
                             ConstVector z, const std::vector<std::int64_t>& degrees) {
  const bool basis = name == "basis";
  const FeatureChoice choice(basis ? "basis(1)" : name);
  const Index MD = M * D, S = z.size();
  const double* at = z.data();
  const auto expect = [&](bool fits) {
    if (M < 1 || D < 1 || !fits || (degrees.empty() == (choice.kind == Kind::eigen)))
      throw InputError(
          fmt::format("{} features in {} columns do not have {} parameters and {} "
                      "degrees when there are {} of them",
                      name, D, S, degrees.size(), M));
  };
  const auto rows = [&](Index n, Index cols) {
    const RowMatrix out = Eigen::Map<const RowMatrix>(at, n, cols);
    at += n * cols;
    return out;
  };
  switch (choice.kind) {
    case Kind::points:
      expect(S == MD);
      return inducing_points(kernel, rows(M, D));
    case Kind::basis: {
      expect(M > 0 && S > 0 && S % (M * (D + 1)) == 0);
      const Index C = S / (M * (D + 1));
      const RowMatrix Z = rows(M * C, D);
      return basis_features(kernel, Z, rows(M, C));
    }
    case Kind::multiscale: {
      expect(S == 2 * MD);
      const RowMatrix Z = rows(M, D);
      return multiscale_features(kernel, Z, rows(M, D));
    }
    case Kind::frequency: {
      expect(S == 2 * D + MD + M);
      const RowMatrix centre = rows(1, D), widths = rows(1, D), omega = rows(M, D);
      return frequency_features(kernel, centre.row(0).transpose(), widths.row(0).transpose(), omega,
                                rows(M, 1).col(0));
    }
    case Kind::time_frequency: {
      expect(S == 3 * MD + M);
      const RowMatrix Z = rows(M, D), widths = rows(M, D), omega = rows(M, D);
      return time_frequency_features(kernel, Z, widths, omega, rows(M, 1).col(0));
    }
    case Kind::fourier:
      expect(S == 2 && D == 1 && M % 2 == 1);
      return fourier_features(kernel, z(0), z(1), (M - 1) / 2);
    case Kind::eigen: {
      expect(S == 2 * D && static_cast<Index>(degrees.size()) == MD);
      constexpr Index most = 100000;
      Eigen::MatrixX<Index> own(M, D);
      for (Index m = 0; m < M; ++m)
        for (Index d = 0; d < D; ++d) {
          own(m, d) = degrees[static_cast<std::size_t>(m * D + d)];
          if (own(m, d) < 0 || own(m, d) > most)
            throw InputError(
                fmt::format("an eigenfunction of degree {}: from 0 to {}", own(m, d), most));
        }
      return eigen_features(kernel, z.head(D), z.tail(D), own);
    }
  }
  return nullptr;
}

}  // namespace covary
