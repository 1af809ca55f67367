// Probabilities of softmax where the latent functions of a row are correlated. The Gumbel trick of
// softmax.cpp needs independent ones; here the integral over the K − 1 differences is taken itself.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "covary/error.hpp"
#include "covary/likelihoods/likelihoods.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/linalg/special.hpp"

namespace covary {
namespace {

constexpr Index block = 16;  // rows of a task

// Σ weight·g(z) for E g(z), z ~ N(0, I).
struct Rule {
  RowMatrix z;  // points × d
  Vector weight;
};

// One or two dimensions: trapezoids. Softmax of f = sd·z has its poles at a distance π/sd from the
// real axis, so the error is about exp(−2π²/(sd·h)) in the step h.
Rule trapezoids(Index d, double sd) {
  constexpr double reach = 8.5;
  const double wanted = std::clamp(reach * sd / 0.8, 17.0, d == 1 ? 4000.0 : 100.0);
  const auto half = static_cast<Index>(std::ceil(wanted));
  const Index side = 2 * half + 1, count = d == 1 ? side : side * side;
  const double h = reach / static_cast<double>(half);
  Rule out{RowMatrix(count, d), Vector(count)};
  for (Index i = 0; i < count; ++i) {
    const Index row = i / side;
    out.z(i, 0) = h * static_cast<double>(i % side - half);
    if (d == 2) out.z(i, 1) = h * static_cast<double>(row - half);
    out.weight(i) = std::exp(-0.5 * out.z.row(i).squaredNorm());
  }
  out.weight /= out.weight.sum();
  return out;
}

// More: a lattice of rank one, {i·g/n}, its generator g built component by component (Sloan &
// Reztsov 2002) among 250 candidates each. Folding u to 1 − |2u − 1| spares the integrand a jump
// where the interval closes.
Rule lattice(Index d) {
  constexpr Index n = 4093, candidates = 250;  // n is prime
  constexpr double golden = 0.61803398874989484820;
  Rule out{RowMatrix(n, d), Vector::Constant(n, 1.0 / static_cast<double>(n))};
  Vector kernel(n), product = Vector::Ones(n);
  for (Index i = 0; i < n; ++i) {
    const double x = static_cast<double>(i) / static_cast<double>(n);
    kernel(i) = 2.0 * std::numbers::pi * std::numbers::pi * (x * x - x + 1.0 / 6.0);
  }
  for (Index j = 0; j < d; ++j) {
    const double gamma = 1.0 / static_cast<double>(j + 1);
    // The worst-case error with one more component g, but for a constant; times `product` for real.
    const auto each = [&](Index g, const auto& visit) {
      for (Index i = 0, at = 0; i < n; ++i, at = (at + g) % n) visit(i, at);
    };
    Index best = 1;
    double least = std::numeric_limits<double>::infinity();
    for (Index k = 1; k <= candidates; ++k) {
      const double place = golden * static_cast<double>(k);
      const Index g =
          1 + static_cast<Index>((place - std::floor(place)) * static_cast<double>(n - 2));
      double error = 0.0;
      each(g, [&](Index i, Index at) { error += product(i) * kernel(at); });
      if (error < least) {
        least = error;
        best = g;
      }
    }
    each(best, [&](Index i, Index at) {
      product(i) *= 1.0 + gamma * kernel(at);
      const double u = (static_cast<double>(at) + 0.5) / static_cast<double>(n);
      const double folded = 1.0 - std::abs(2.0 * u - 1.0);
      out.z(i, j) = inverse_normal_cdf(std::clamp(folded, 1e-16, 1.0 - 1e-16));
    });
  }
  return out;
}

// The lower factor of the covariance of f_k − f_K, k < K; a column is zero where nothing is left.
void difference_factor(ConstMatrix covariance, Index row, Index K, Matrix& F) {
  const auto at = [&](Index i, Index j) {
    return 0.5 * (covariance(row, i * K + j) + covariance(row, j * K + i));
  };
  const Index d = K - 1;
  F.setZero(d, d);
  for (Index j = 0; j < d; ++j)
    for (Index i = j; i < d; ++i) {
      double c = at(i, j) - at(i, d) - at(j, d) + at(d, d);
      for (Index k = 0; k < j; ++k) c -= F(i, k) * F(j, k);
      if (i == j)
        F(j, j) = std::sqrt(std::max(c, 0.0));
      else
        F(i, j) = F(j, j) > 0.0 ? c / F(j, j) : 0.0;
    }
}

// Adds weight·softmax(f) to sum.
void add_softmax(Vector& f, double weight, Vector& sum) {
  f = (f.array() - f.maxCoeff()).exp();
  sum += (weight / f.sum()) * f;
}

}  // namespace

Matrix softmax_probabilities(ConstMatrix mean, ConstMatrix covariance) {
  const Index n = mean.rows(), K = mean.cols(), d = K - 1;
  if (K < 2 || covariance.rows() != n || covariance.cols() != K * K)
    throw InputError(
        fmt::format("softmax on {} rows of {} classes needs at least two of them and covariances "
                    "of {}×{}, got {}×{}",
                    n, K, n, K * K, covariance.rows(), covariance.cols()));
  const Rule shared = d > 2 ? lattice(d) : Rule{};
  Matrix out(n, K);
  parallel_for((n + block - 1) / block, [&](Index b) {
    Matrix F;
    Vector f(K), sum(K);
    Rule own;
    for (Index i = b * block; i < std::min(n, (b + 1) * block); ++i) {
      difference_factor(covariance, i, K, F);
      if (d <= 2) own = trapezoids(d, F.rowwise().norm().maxCoeff());
      const Rule& rule = d <= 2 ? own : shared;
      sum.setZero();
      for (Index s = 0; s < rule.weight.size(); ++s) {
        f = mean.row(i);
        for (Index k = 0; k < d; ++k)
          for (Index j = 0; j <= k; ++j) f(k) += F(k, j) * rule.z(s, j);
        add_softmax(f, rule.weight(s), sum);
      }
      out.row(i) = sum;
    }
  });
  return out;
}

}  // namespace covary
