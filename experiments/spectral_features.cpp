// What inducing features look like (Burt 2018, Figs 3.3 to 3.6; E4 to E7), and what of f they can
// reach (van der Wilk 2018, Figs 4.1 and 4.2): eigenfunctions of se under a normal measure
// and of matern12 over [0, 1], their values beside reference ones and their spectra by quadrature
// of the features themselves; then f = g + h for windows, frequencies and sums of points.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "covary/features/planner.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "experiments.hpp"
#include "features/basis.hpp"
#include "features/exponential.hpp"
#include "features/windows.hpp"
#include "support.hpp"

namespace covary::experiments {
namespace {

// Kuf at the rows x for unit variance and lengthscale, the feature's parameters at their starts.
Matrix covariances(const FeaturesPtr& f, ConstVector x) {
  Parameters own;
  f->declare(own);
  const Vector theta = Vector::Ones(2), z = own.values();
  const RowMatrix X = inputs(x);
  Matrix K(f->size(), X.rows());
  f->Kuf(theta.data(), z.data(), {X.data(), X.rows(), 1, 1}, K.data());
  return K;
}

Matrix variances(const FeaturesPtr& f) {
  Parameters own;
  f->declare(own);
  const Vector theta = Vector::Ones(2), z = own.values();
  return f->Kuu(theta.data(), z.data());
}

FeaturesPtr hermite(Index M, double sd) {
  Eigen::MatrixX<Index> degrees(M, 1);
  for (Index m = 0; m < M; ++m) degrees(m, 0) = m;
  return eigen_features("se", Vector::Zero(1), Vector::Constant(1, sd), degrees);
}

FeaturesPtr exponential(Index M) { return exponential_eigen_features("matern12", 0.5, 1.0, M); }

double error_of(const Matrix& K, const Matrix& reference) {
  return (K - reference).cwiseAbs().maxCoeff();
}

// The slope of y against x by least squares.
double slope(const Vector& x, const Vector& y) {
  const Vector centred = x.array() - x.mean();
  return dot(centred, y) / centred.squaredNorm();
}

Series curves(const std::string& name, const Vector& grid, const Matrix& K,
              const std::string& symbol, Index first = 0, Index step = 1) {
  std::vector<std::string> columns{"x"};
  Matrix values(grid.size(), 1 + (K.rows() - first + step - 1) / step);
  values.col(0) = grid;
  for (Index m = first; m < K.rows(); m += step) {
    values.col(static_cast<Index>(columns.size())) = K.row(m).transpose();
    columns.push_back(fmt::format("{}{}", symbol, m));
  }
  return {name, columns, values};
}

// E4
void hermite_shapes(Result& result) {
  const Matrix at = covariances(hermite(6, 1.0), (Vector(2) << 0.0, 0.5).finished());
  Matrix reference(6, 2);
  reference.col(0) << .9613409238, 0.0, -.2596492976, 0.0, .0858899803, 0.0;
  reference.col(1) << .8898695304, .411198197, -.1059882964, -.1565182746, -.0011025137,
      .0532451896;
  for (Index j = 0; j < 2; ++j)
    result.add(fmt::format("se, ψ₀ … ψ₅ at x = {}", j == 0 ? "0" : "0.5"),
               fmt::format("{:.7g}", fmt::join(reference.col(j), ", ")),
               fmt::format("{:.7g}", fmt::join(Vector(at.col(j).array() + 0.0), ", ")),
               j == 0 ? "ℓ = s = v = 1; reported: the spec's" : "");
  result.claim("se: the reference values to 1e-9 (E4)", error_of(at, reference) < 1e-9,
               fmt::format("largest difference {:.1e}", error_of(at, reference)));
  const Matrix pair = covariances(hermite(60, 1.0), (Vector(2) << 0.5, -0.7).finished());
  const double sum = dot(pair.col(0), pair.col(1));
  result.claim("se: sixty of them make the kernel, Σψ(0.5)ψ(−0.7) = exp(−0.72)",
               std::abs(sum - std::exp(-0.72)) < 1e-12, fmt::format("{:.11f}", sum));
  const Vector grid = Vector::LinSpaced(241, -4.0, 4.0);
  result.series.push_back(
      curves("Fig. 3.3: ψ of se under N(0, 1)", grid, covariances(hermite(6, 1.0), grid), "ψ"));
}

// λ_m = ∫ψ_m² dμ for the normal measure by the trapezium rule, which is exact to rounding here.
Vector hermite_spectrum(Index M, double sd) {
  const Vector grid = Vector::LinSpaced(4001, -14.0 * sd, 14.0 * sd);
  const Vector weight = (-0.5 * (grid / sd).array().square()).exp() * (grid(1) - grid(0)) /
                        (std::sqrt(2.0 * std::numbers::pi) * sd);
  return multiply(covariances(hermite(M, sd), grid).cwiseAbs2(), weight);
}

// E5
void geometric_spectra(Result& result) {
  constexpr Index count = 7, M = 12;
  constexpr double squared[count] = {1.0 / 12.0, 0.25, 1.0, 4.0, 10.0, 25.0, 100.0};
  constexpr double ratio[count] = {.07179677, .17157288, .38196601, .6096118,
                                   .72984379, .81900249, .90487508};
  constexpr Index enough[count] = {6, 8, 15, 28, 44, 70, 139};
  const Vector m = Vector::LinSpaced(M, 0.0, M - 1.0);
  Matrix shown(M, count + 1);
  shown.col(0) = m;
  std::vector<std::string> columns{"m"};
  double worst = 0.0, before = 0.0;
  bool slower = true, tails = true;
  for (Index i = 0; i < count; ++i) {
    const double sd = std::sqrt(squared[i]);
    const Vector log_lambda = hermite_spectrum(M, sd).array().log();
    const double B = std::exp(slope(m, log_lambda));
    const Index needed =
        Spectrum::squared_exponential(1.0, Vector::Ones(1), Vector::Constant(1, sd))
            .first_below(1e-6, 1000);
    result.add(
        fmt::format("se, s² = {:.4g}: B by the slope of log λ; M for a tail of 1e-6", squared[i]),
        fmt::format("{:.8f}; {}", ratio[i], enough[i]), fmt::format("{:.8f}; {}", B, needed),
        i == 0 ? "reported: the spec's" : "");
    worst = std::max(worst, std::abs(B - ratio[i]));
    slower = slower && B > before;
    tails = tails && needed == enough[i];
    before = B;
    shown.col(i + 1) = log_lambda / std::log(10.0);
    columns.push_back(fmt::format("s² = {:.4g}", squared[i]));
  }
  result.claim("se: straight lines of slope log B (E5)", worst < 1e-7,
               fmt::format("largest difference of B {:.1e}", worst));
  result.claim("wider measures fall off slower, and as many are needed as predicted",
               slower && tails, slower && tails ? "all seven" : "no");
  result.series.push_back({"Fig. 3.4: log₁₀ λ of se, ℓ = 1", columns, shown});
}

// λ_m = ∫ψ_m² dx over [0, 1] by Simpson's rule.
Vector exponential_spectrum(Index M) {
  constexpr Index cells = 8000;
  Vector weight(cells + 1);
  for (Index i = 0; i <= cells; ++i)
    weight(i) = (i == 0 || i == cells ? 1.0 : i % 2 == 1 ? 4.0 : 2.0) / (3.0 * cells);
  const Vector grid = Vector::LinSpaced(cells + 1, 0.0, 1.0);
  return multiply(covariances(exponential(M), grid).cwiseAbs2(), weight);
}

// E6
void exponential_shapes(Result& result) {
  Matrix reference(6, 3);
  reference.col(0) << .8730995442, -.3913097283, -.0221153324, -.1368462328, -.1556362712,
      .0915400615;
  reference.col(1) << .4440003718, .2882144755, -.1761459296, -.1232938151, .0941803635,
      .0760049671;
  reference.col(2) = reference.col(1);
  for (Index m = 1; m < 6; m += 2) reference(m, 2) *= -1.0;
  const Matrix at = covariances(exponential(6), (Vector(3) << 0.25, 1.5, -0.5).finished());
  result.claim("matern12: ψ₀ … ψ₅ inside the interval and beyond it, to 1e-9 (E6)",
               error_of(at, reference) < 1e-9,
               fmt::format("largest difference {:.1e}", error_of(at, reference)));
  Vector lambda(8);
  lambda << .7388108094, .1380037754, .04508848729, .02132893129, .01227891385, .007945371034,
      .005551069348, .004093330454;
  const Vector measured = exponential_spectrum(8);
  result.add("matern12 on [0, 1]: λ₀ … λ₇", fmt::format("{:.5g}", fmt::join(lambda, ", ")),
             fmt::format("{:.5g}", fmt::join(measured, ", ")), "reported: the spec's");
  result.claim("matern12: the reference eigenvalues to 1e-9", error_of(measured, lambda) < 1e-9,
               fmt::format("largest difference {:.1e}", error_of(measured, lambda)));
  const Vector grid = Vector::LinSpaced(201, 0.0, 1.0);
  const Matrix K = covariances(exponential(8), grid);
  double odd = 0.0;
  for (Index m = 0; m < 8; ++m)
    odd = std::max(
        odd, (K.row(m) - (m % 2 == 0 ? 1.0 : -1.0) * K.row(m).reverse()).cwiseAbs().maxCoeff());
  result.claim("even m are even around the middle, odd ones odd", odd < 1e-12,
               fmt::format("largest difference {:.1e}", odd));
  result.series.push_back(curves("Fig. 3.5: ψ of matern12 on [0, 1], even", grid, K, "ψ", 0, 2));
  result.series.push_back(curves("Fig. 3.5: ψ of matern12 on [0, 1], odd", grid, K, "ψ", 1, 2));
}

// E7
void power_against_geometric(Result& result) {
  constexpr Index M = 201, few = 12, from = 20;
  const Vector rough = exponential_spectrum(M), smooth = hermite_spectrum(few, std::sqrt(1.0 / 12));
  Vector log_m(M - from), log_lambda(M - from);
  for (Index m = from; m < M; ++m) {
    log_m(m - from) = std::log(static_cast<double>(m));
    log_lambda(m - from) = std::log(rough(m));
  }
  const double power = slope(log_m, log_lambda),
               scale =
                   rough(M - 1) * std::numbers::pi * std::numbers::pi * (M - 1.0) * (M - 1.0) / 2;
  result.add("matern12: the power of m by which λ falls, m = 20 … 200", "−2",
             fmt::format("{:.4f}", power));
  result.add("matern12: λ·π²m²/2 at m = 200", "1 in the limit", fmt::format("{:.5f}", scale));
  const double tail = Spectrum::exponential(1.0, 1.0, 1.0).tail(100);
  result.add("matern12: the tail after 100", ".002036554829", fmt::format("{:.12f}", tail));
  result.claim(
      "a power law m⁻² against a geometric one of equal input variance (E7)",
      std::abs(power + 2.0) < 0.02 && std::abs(scale - 1.0) < 0.01 &&
          std::abs(tail - .002036554829) < 1e-9 && smooth(few - 1) < 1e-11,
      fmt::format("λ₁₁: {:.2g} of matern12, {:.2g} of se", rough(few - 1), smooth(few - 1)));
  Matrix shown(few, 3);
  shown << Vector::LinSpaced(few, 0.0, few - 1.0), rough.head(few).array().log10(),
      smooth.array().log10();
  result.series.push_back(
      {"Fig. 3.6: log₁₀ λ, input variance 1/12", {"m", "matern12", "se"}, shown});
}

// Var h(x) = k(x, x) − k_xu Kuu⁻¹ k_ux.
Vector unreachable(const FeaturesPtr& f, ConstVector x) {
  Matrix K = covariances(f, x);
  solve_lower(cholesky(variances(f), "Kuu").L, K);
  return 1.0 - K.colwise().squaredNorm().transpose().array();
}

Index extrema(const Matrix& K, Index m) {
  Index turns = 0;
  for (Index i = 2; i < K.cols(); ++i)
    turns += (K(m, i) - K(m, i - 1)) * (K(m, i - 1) - K(m, i - 2)) < 0.0;
  return turns;
}

// E4.1: three variables each around −2, 0 and 2.
void what_is_reached(Result& result) {
  const Vector grid = Vector::LinSpaced(401, -5.0, 5.0),
               centres = (Vector(3) << -2, 0, 2).finished();
  const RowMatrix Z = inputs(centres), omega = RowMatrix::Constant(3, 1, 3.0);
  const auto windows = [&](double width) {
    return multiscale_features("se", Z, RowMatrix::Constant(3, 1, width));
  };
  const Vector phases = Vector::Zero(3);
  const FeaturesPtr points = inducing_points("se", Z), wide = windows(1.0),
                    frequency =
                        frequency_features("se", Vector::Zero(1), Vector::Constant(1, 2.0),
                                           inputs((Vector(3) << 1, 2, 3).finished()), phases),
                    both = time_frequency_features("se", Z, RowMatrix::Ones(3, 1), omega, phases);
  RowMatrix pairs(6, 1), weights(3, 2);
  pairs << -2, 0, 2, -1.3, 0.7, 2.7;
  weights << 1, -1, 1, -1, 1, -1;
  const FeaturesPtr sums = basis_features("se", pairs, weights),
                    apart = inducing_points("se", pairs);
  const Vector h_points = unreachable(points, grid), h_narrow = unreachable(windows(0.01), grid);
  result.claim("narrow windows are points (P29)", error_of(h_narrow, h_points) < 1e-3,
               fmt::format("h differs by {:.1e} at most, δ = 0.01ℓ", error_of(h_narrow, h_points)));
  const double at_points = unreachable(points, centres).maxCoeff();
  result.claim("points leave nothing of h where they are", at_points < 1e-9,
               fmt::format("{:.1e}", at_points));
  const std::pair<const char*, FeaturesPtr> kinds[] = {{"windows, δ = ℓ", wide},
                                                       {"frequencies", frequency},
                                                       {"time and frequency", both},
                                                       {"sums of two points", sums}};
  Matrix shown(grid.size(), 6);
  shown.col(0) = grid;
  shown.col(1) = h_points;
  double least = INFINITY;
  std::string leasts;
  for (Index i = 0; i < 4; ++i) {
    shown.col(2 + i) = unreachable(kinds[i].second, grid);
    least = std::min(least, shown.col(2 + i).minCoeff());
    leasts +=
        fmt::format("{}{} {:.3f}", i ? "; " : "", kinds[i].first, shown.col(2 + i).minCoeff());
  }
  result.claim("of all others h is nowhere zero: what they reduce is spread out (E4.1)",
               least > 1e-3, "least variance of h: " + leasts);
  const Matrix K = covariances(wide, grid), narrow = covariances(points, grid),
               waves = covariances(both, grid);
  result.claim(
      "windows have wider basis functions than the kernel, with one extremum; waves several",
      K.row(1).sum() / K.row(1).maxCoeff() > narrow.row(1).sum() && extrema(K, 1) == 1 &&
          extrema(waves, 1) > 1,
      fmt::format("extrema: {}, {}", extrema(K, 1), extrema(waves, 1)));
  const double lost = (shown.col(5) - unreachable(apart, grid)).minCoeff();
  result.claim("three sums of two points reach no further than the six points (P32)", lost > -1e-9,
               fmt::format("h is larger by {:.1e} at least", lost));
  result.series.push_back({"Figs 4.1, 4.2: variance of h, three variables each",
                           {"x", "points", "windows", "frequencies", "time-frequency", "sums"},
                           shown});
  result.series.push_back(curves("cov(u, f(x)) of time and frequency, ω = 3/ℓ", grid, waves, "u"));
  result.series.push_back(curves("cov(u, f(x)) of sums of two points, weights 1 and −1", grid,
                                 covariances(sums, grid), "u"));
}

}  // namespace

Result spectral_features(std::uint64_t) {
  Result result;
  result.name = "spectral-features";
  result.source =
      "D. Burt, Spectral Methods in Gaussian Process Approximations (2018), Figs 3.3 to 3.6; M. "
      "van der Wilk, Sparse Gaussian Process Approximations and Applications (2018), Figs 4.1, 4.2";
  hermite_shapes(result);
  geometric_spectra(result);
  exponential_shapes(result);
  power_against_geometric(result);
  what_is_reached(result);
  return result;
}

}  // namespace covary::experiments
