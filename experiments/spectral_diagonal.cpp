// What a diagonal S costs (Burt 2018, section 3.3.3, Figs 3.1 and 3.2; E1 to E3, T15): the bound
// with the best S less that with the best diagonal one is ½(Σ log P_mm − log|P|), P = I + ΨᵀΨ/σ²
// with whitened features Ψ. For eigenfunctions whose measure is that of the inputs it vanishes as N
// grows; for points it does not.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "covary/features/eigen.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "spectral_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index sets = 3, count = 5;
constexpr Index rows_of[count] = {100, 300, 1000, 3000, 10000};
// The spec's own runs (T15), M = 10 and 20.
const char* const reference[2][count] = {{"0.56", "0.31", "0.13", "0.10", "0.033"},
                                         {"0.60", "0.35", "0.18", "0.20", "0.21"}};

RowMatrix normal_inputs(Index N, std::uint64_t seed, std::uint64_t set) {
  RowMatrix X(N, 1);
  Random random(seed, 0xd1a6 + set);
  for (Index i = 0; i < N; ++i) X(i) = random.normal();
  return X;
}

// Kuf of eigenfunctions under N(0, sd²), M×N: white.
Matrix eigenfunctions(const RowMatrix& X, Index M, double sd) {
  Eigen::MatrixX<Index> degrees(M, 1);
  for (Index m = 0; m < M; ++m) degrees(m, 0) = m;
  const Vector theta = Vector::Ones(2), z = (Vector(2) << 0.0, sd).finished();
  const FeaturesPtr f = eigen_features("se", Vector::Zero(1), Vector::Constant(1, sd), degrees);
  Matrix K(M, X.rows());
  f->Kuf(theta.data(), z.data(), {X.data(), X.rows(), 1, 1}, K.data());
  return K;
}

// Of points at even quantiles of N(0, sd²), whitened by the factor of Kuu.
Matrix points(const RowMatrix& X, Index M, double sd) {
  RowMatrix Z(M, 1);
  for (Index m = 0; m < M; ++m)
    Z(m) = sd * 2.5 * (2.0 * (static_cast<double>(m) + 0.5) / static_cast<double>(M) - 1.0);
  Matrix K = cross("se", Vector::Ones(2), Z, X);
  Matrix Kuu = gram("se", Vector::Ones(2), Z);
  Kuu.diagonal().array() += 1e-10;
  solve_lower(cholesky(std::move(Kuu), "Kuu").L, K);
  return K;
}

// P = I + ΨᵀΨ/σ², Ψ given as M×N.
Matrix precision(const Matrix& K) {
  Matrix P = Matrix::Identity(K.rows(), K.rows());
  syrk(1.0 / toy_noise, K, Op::none, 1.0, P);
  mirror_lower(P);
  return P;
}

double diagonal_loss(const Matrix& P) {
  return 0.5 * (P.diagonal().array().log().sum() - cholesky(P, "P").log_determinant());
}

void against_rows(Result& result, std::uint64_t seed) {
  Matrix shown(count, 4);
  double eigen_first = 0.0, eigen_last = 0.0, points_last = 0.0;
  for (Index i = 0; i < count; ++i) {
    double loss[3] = {0.0, 0.0, 0.0};
    for (Index set = 0; set < sets; ++set) {
      const RowMatrix X = normal_inputs(rows_of[i], seed, static_cast<std::uint64_t>(set));
      loss[0] += diagonal_loss(precision(eigenfunctions(X, 10, 1.0))) / sets;
      loss[1] += diagonal_loss(precision(eigenfunctions(X, 20, 1.0))) / sets;
      loss[2] += diagonal_loss(precision(points(X, 10, 1.0))) / sets;
    }
    if (i == 0) eigen_first = loss[0];
    eigen_last = loss[0];
    points_last = loss[2];
    result.add(fmt::format("N = {}: loss of eigenfunctions, M = 10; 20", rows_of[i]),
               fmt::format("{}; {} (spec)", reference[0][i], reference[1][i]),
               fmt::format("{:.3f}; {:.3f}", loss[0], loss[1]),
               fmt::format("ten points, whitened: {:.2f}", loss[2]));
    shown.row(i) << std::log10(static_cast<double>(rows_of[i])), loss[0], loss[1], loss[2];
  }
  result.series.push_back(
      {"nats lost by a diagonal S against log₁₀ N",
       {"log₁₀ N", "eigenfunctions, M = 10", "eigenfunctions, M = 20", "ten points"},
       shown});
  result.claim("eigenfunctions of the inputs' measure: the loss falls as N grows",
               eigen_last < 0.3 * eigen_first,
               fmt::format("{:.3f} at 100 rows, {:.3f} at 10 000", eigen_first, eigen_last));
  result.claim("points lose more", points_last > 10.0 * eigen_last,
               fmt::format("{:.2f} at 10 000 rows", points_last));
}

// E2: the bounds themselves against M, at N = 500.
void against_features(Result& result, std::uint64_t seed) {
  const Data data = draw_toy(ToyInputs::normal, 500, seed, 0);
  const Index sizes[] = {8, 16, 24, 32, 40, 50};
  Matrix shown(6, 5);
  for (Index i = 0; i < 6; ++i) {
    const Index M = sizes[i];
    const Matrix eigen = eigenfunctions(data.X, M, 5.0), inducing = points(data.X, M, 5.0);
    const auto bound = [&](const Matrix& K) {
      const Matrix P = precision(K);
      const Cholesky factor = cholesky(P, "P");
      Matrix c = product(K, Matrix(data.Y));
      const double yy = data.Y.squaredNorm();
      solve_lower(factor.L, c);
      const auto N = static_cast<double>(data.size());
      return -0.5 *
             (N * std::log(2.0 * std::numbers::pi * toy_noise) + factor.log_determinant() +
              (yy - c.squaredNorm() / toy_noise) / toy_noise + (N - K.squaredNorm()) / toy_noise);
    };
    const double e = bound(eigen), p = bound(inducing), lost = diagonal_loss(precision(eigen)),
                 lost_points = diagonal_loss(precision(inducing));
    result.add(fmt::format("N = 500, M = {}: bound of eigenfunctions; with diagonal S", M), "",
               fmt::format("{:.2f}; {:.2f}", e, e - lost),
               fmt::format("points on a grid: {:.2f}; {:.2f}", p, p - lost_points));
    shown.row(i) << static_cast<double>(M), e, e - lost, p, p - lost_points;
  }
  result.series.push_back(
      {"bound against M, N = 500",
       {"M", "eigenfunctions", "eigenfunctions, diagonal S", "points", "points, diagonal S"},
       Matrix(shown.bottomRows(4))});
}

// E3: the best S of each, as images of correlations.
void images(Result& result, std::uint64_t seed) {
  const RowMatrix X = normal_inputs(500, seed, 7);
  for (const bool eigen : {true, false}) {
    const Matrix K = eigen ? eigenfunctions(X, 10, 1.0) : points(X, 10, 1.0);
    Matrix S = cholesky(precision(K), "P").inverse();
    const Vector sd = S.diagonal().cwiseSqrt();
    S = sd.cwiseInverse().asDiagonal() * S * sd.cwiseInverse().asDiagonal();
    result.series.push_back(
        {eigen ? "S of eigenfunctions, as correlations" : "S of points, as correlations", {}, S});
    S.diagonal().setZero();
    result.add(eigen ? "largest correlation in S, eigenfunctions" : "the same, points", "",
               fmt::format("{:.2f}", S.cwiseAbs().maxCoeff()), "N = 500, M = 10");
  }
}

}  // namespace

Result spectral_diagonal(std::uint64_t seed) {
  Result result;
  result.name = "spectral-diagonal";
  result.source =
      "D. Burt, Spectral Methods in Gaussian Process Approximations (2018), section 3.3.3, Figs "
      "3.1 and 3.2";
  against_rows(result, seed);
  against_features(result, seed);
  images(result, seed);
  return result;
}

}  // namespace covary::experiments
