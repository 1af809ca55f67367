#include "covary/features/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "covary/features/basis.hpp"
#include "covary/features/eigen.hpp"
#include "covary/features/exponential.hpp"
#include "covary/features/fourier.hpp"
#include "covary/features/orthogonal.hpp"
#include "covary/features/parametric.hpp"
#include "covary/features/stacked.hpp"
#include "covary/features/windows.hpp"
#include "covary/parameters/suggest.hpp"
#include "covary/random/random.hpp"
#include "features/gaussian_kernel.hpp"
#include "features/stationary_kernel.hpp"

namespace covary {
namespace {

using Kind = FeatureChoice::Kind;

constexpr std::pair<const char*, Kind> names[] = {{"points", Kind::points},
                                                  {"multiscale", Kind::multiscale},
                                                  {"frequency", Kind::frequency},
                                                  {"timefrequency", Kind::time_frequency},
                                                  {"basis", Kind::basis},
                                                  {"eigen", Kind::eigen},
                                                  {"fourier", Kind::fourier},
                                                  {"fourier(l2)", Kind::l2_fourier},
                                                  {"orthogonal", Kind::orthogonal},
                                                  {"empirical", Kind::empirical},
                                                  {"rff", Kind::rff},
                                                  {"ssgp", Kind::ssgp},
                                                  {"hilbert", Kind::hilbert},
                                                  {"bumps", Kind::bumps}};

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

void one_column(const FeatureChoice& choice, ConstRows X) {
  if (X.cols() != 1)
    throw InputError(fmt::format("{} features are for one column of inputs, there are {}",
                                 choice.print(), X.cols()));
}

FeaturesPtr start_fourier(const Kernel& kernel, ConstVector theta, ConstRows X, Index M) {
  const Index D = X.cols();
  const auto interval = [&](Index d, double l) {
    const double low = X.col(d).minCoeff(), range = std::max(X.col(d).maxCoeff() - low, 1e-12);
    const double pad = std::clamp(2.0 * l, 0.1 * range, range);
    return Eigen::RowVector2d(low - pad, low + range + pad);
  };
  RowMatrix intervals(D, 2);
  for (Index d = 0; d < D; ++d) intervals.row(d) = interval(d, 0.0);
  if (D == 1)
    fourier_features(kernel, intervals(0, 0), intervals(0, 1), 0);  // refuses other kernels
  else
    largest_harmonics(kernel, theta, intervals, 1);
  for (const auto& term : kernel.terms(D)) {
    if (term.node->is_white()) continue;
    for (const KernelPart& f : kernel_factors(Kernel(term.node), D))
      intervals.row(f.columns.front()) =
          interval(f.columns.front(), theta(term.offset + f.offset + 1));
  }
  if (D == 1) return fourier_features(kernel, intervals(0, 0), intervals(0, 1), (M - 1) / 2);
  return fourier_products(kernel, intervals, largest_harmonics(kernel, theta, intervals, M));
}

// The middle of each column and half its range, with room for two lengthscales on both sides if
// `pad`.
struct Box {
  Vector centre, half;
};
Box box_of(const StationaryKernel& kernel, ConstVector theta, ConstRows X, bool pad) {
  const Vector low = X.colwise().minCoeff(), high = X.colwise().maxCoeff();
  const Vector w = kernel.at(theta.data()).w;
  Box out{0.5 * (low + high), (0.5 * (high - low)).cwiseMax(1e-12)};
  for (Index d = 0; pad && d < w.size(); ++d) {
    const double range = 2.0 * out.half(d);
    out.half(d) += w(d) > 0.0 ? std::clamp(2.0 / std::sqrt(w(d)), 0.1 * range, range) : 0.1 * range;
  }
  return out;
}

// Of one column by the kernel's spectrum; eigenfunctions where the kernel is the exponential one.
FeaturesPtr start_spectral(const FeatureChoice& choice, const Kernel& kernel, ConstVector theta,
                           ConstRows X, Index M) {
  one_column(choice, X);
  const StationaryKernel spectrum(kernel, 1, choice.print());
  const Box box = box_of(spectrum, theta, X, choice.kind == Kind::l2_fourier);
  const double centre = box.centre(0), length = 2.0 * box.half(0);
  if (choice.kind == Kind::l2_fourier)
    return l2_fourier_features(kernel, centre, length, (M - 1) / 2);
  if (choice.kind == Kind::eigen) return exponential_eigen_features(kernel, centre, length, M);
  const double mean = X.mean(), l = 1.0 / std::sqrt(spectrum.at(theta.data()).w(0)),
               sd = std::sqrt((X.array() - mean).square().mean());
  return orthogonal_features(kernel, mean, orthogonal_scale(l, sd > 0.0 ? sd : l), M);
}

// The first point of a variable counts; the others are there to be found of use.
RowMatrix first_weights(Index M, Index C, Random& random) {
  RowMatrix out = 0.1 * random.normal_matrix(M, C);
  out.col(0).setOnes();
  return out;
}

}  // namespace

FeatureChoice::FeatureChoice(const std::string& e) {
  if (e.starts_with("stacked(") && e.ends_with(")")) {
    *this = FeatureChoice(e.substr(8, e.size() - 9));
    if (stacked) throw InputError(fmt::format("stacked features are stacked once, got '{}'", e));
    stacked = true;
    return;
  }
  const std::string name = e.substr(0, e.find('('));
  bool known = false;
  std::vector<std::string> all;
  for (const auto& [text, k] : names) {
    all.emplace_back(text);
    if (e != text && (name != text || known)) continue;
    known = true;
    kind = k;
  }
  if (!known)
    throw InputError(fmt::format(
        "there are no '{}' features{}; there are points, multiscale, multiscale(C), frequency, "
        "timefrequency, basis(C), eigen, fourier, fourier(l2), orthogonal and "
        "empirical, stacked(KIND) of them for a sum of kernels, and as models of their own rff, "
        "ssgp, hilbert and bumps",
        e, did_you_mean(name, all)));
  const bool sums = kind == Kind::basis || (kind == Kind::multiscale && name != e);
  if (!sums) {
    if (this->name() != e)
      throw InputError(fmt::format("{} features take no argument{}, got '{}'", name,
                                   name == "fourier" ? " but l2, as in fourier(l2)" : "", e));
    return;
  }
  const std::string digits = e.size() > name.size() + 2 && e.back() == ')'
                                 ? e.substr(name.size() + 1, e.size() - name.size() - 2)
                                 : "";
  if (digits.empty() || digits.size() > 4 ||
      digits.find_first_not_of("0123456789") != std::string::npos || std::stol(digits) < 1)
    throw InputError(fmt::format(
        "{0} features need their number of points each, from 1 to 9999, as in {0}(8); got '{1}'",
        name, e));
  points = std::stol(digits);
}

std::string FeatureChoice::print() const {
  if (stacked) {
    FeatureChoice one = *this;
    one.stacked = false;
    return fmt::format("stacked({})", one.print());
  }
  if (kind == Kind::basis) return fmt::format("basis({})", points);
  return kind == Kind::multiscale && points > 1 ? fmt::format("multiscale({})", points) : name();
}

std::string FeatureChoice::name() const {
  if (stacked) return "stacked";
  if (kind == Kind::multiscale && points > 1) return "multiscale_basis";
  for (const auto& [text, k] : names)
    if (k == kind) return text;
  return "";
}

Index FeatureChoice::inputs(Index M) const {
  if (stacked) return 0;
  switch (kind) {
    case Kind::points:
    case Kind::multiscale:
    case Kind::time_frequency:
    case Kind::basis:
    case Kind::bumps:
      return M;
    default:
      return 0;
  }
}

bool FeatureChoice::is_parametric() const {
  return kind == Kind::rff || kind == Kind::ssgp || kind == Kind::hilbert || kind == Kind::bumps;
}

FeaturesPtr start_features(const FeatureChoice& choice, const Kernel& kernel, ConstVector theta,
                           ConstRows X, ConstRows Z, Index M, std::uint64_t seed) {
  if (Z.rows() > 0 && choice.inputs(1) == 0)
    throw InputError(fmt::format(
        "{} features cover all inputs and start from none: give their number", choice.print()));
  if (choice.stacked) return start_stacked(choice, kernel, theta, X, M, seed);
  if (choice.is_points()) return inducing_points(kernel, Z);
  Random random(seed, 0xfea7);
  const Index D = X.cols();
  // The first points of sums are Z, the others random rows, unless Z has them too.
  const auto with_others = [&] {
    if (Z.rows() == M * choice.points) return RowMatrix(Z);
    RowMatrix points(Z.rows() * choice.points, D);
    points.topRows(Z.rows()) = Z;
    for (Index i = Z.rows(); i < points.rows(); ++i)
      points.row(i) = X.row(random.integer(X.rows()));
    return points;
  };
  if (choice.kind == Kind::basis) {
    const RowMatrix points = with_others();
    return basis_features(kernel, points,
                          first_weights(points.rows() / choice.points, choice.points, random));
  }
  switch (choice.kind) {
    case Kind::fourier:
      return start_fourier(kernel, theta, X, M);
    case Kind::l2_fourier:
    case Kind::orthogonal:
      return start_spectral(choice, kernel, theta, X, M);
    case Kind::eigen:
      if (is_exponential(kernel, D)) return start_spectral(choice, kernel, theta, X, M);
      if (!kernel.node().gaussian_form(D))
        throw InputError(fmt::format(
            "eigen features are for one se or a product of them over columns, and in one column "
            "for matern12, with or without white; {} is none of them. Of one column, orthogonal "
            "features take every Matérn kernel",
            kernel.print()));
      break;
    case Kind::empirical:
      return empirical_features(kernel, theta, X, std::min(M, X.rows()));
    case Kind::rff:
      return random_fourier_features(kernel,
                                     draw_directions(kernel, std::max<Index>(1, M / 2), D, seed));
    case Kind::ssgp:
      return sparse_spectrum_features(kernel,
                                      draw_directions(kernel, std::max<Index>(1, M / 2), D, seed));
    case Kind::hilbert: {
      const Box box = box_of(StationaryKernel(kernel, D, "hilbert"), theta, X, true);
      return hilbert_features(kernel, box.centre, box.half,
                              densest_degrees(kernel, theta, box.half, M));
    }
    case Kind::bumps:
      return bump_features(kernel, Z);
    default:
      break;
  }
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
    case Kind::multiscale: {
      if (choice.points == 1) return multiscale_features(kernel, Z, half);
      const RowMatrix points = with_others();
      return multiscale_basis_features(kernel, points, half.replicate(choice.points, 1),
                                       first_weights(Z.rows(), choice.points, random));
    }
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

}  // namespace covary
