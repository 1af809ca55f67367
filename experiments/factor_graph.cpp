// Slides 'Factor Graphs: introduction/reminder': pairwise factors read off the non-zero
// off-diagonal entries of a precision. The 4-D Gaussian is printed there with its inverse; it is
// the tree x1 ~ N(0,1), x2 = x1/2 + e, x3 = x1/2 + e, x4 = x3/2 + e.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "covary/inference/gaussian.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "support.hpp"

namespace covary::experiments {
namespace {

// "12 13 34", counting variables from 1 as the slides do.
std::string edges(const Gaussian& g, double tolerance = 1e-10) {
  std::string text;
  for (const auto& [i, j] : factor_graph_edges(g, tolerance))
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", i + 1, j + 1);
  return text;
}

Gaussian centred(const Matrix& S) { return {Vector::Zero(S.rows()), S}; }

// n draws from the tree, one a column.
Matrix tree_draws(Index n, std::uint64_t seed) {
  Random random(seed);
  Matrix x(4, n);
  for (Index i = 0; i < n; ++i) {
    x(0, i) = random.normal();
    x(1, i) = 0.5 * x(0, i) + random.normal();
    x(2, i) = 0.5 * x(0, i) + random.normal();
    x(3, i) = 0.5 * x(2, i) + random.normal();
  }
  return x;
}

void from_samples(Result& result, const Matrix& S, std::uint64_t seed) {
  constexpr Index sets = 10, n = 100000;
  // A partial correlation is known to 1/√n = 0.003 here; those of the edges exceed 0.36.
  constexpr double tolerance = 0.02;
  Index right = 0;
  double worst = 0.0;
  for (Index s = 0; s < sets; ++s) {
    const Matrix x = tree_draws(n, seed + static_cast<std::uint64_t>(s));
    const Matrix C = product(x, x, Op::none, Op::transpose) / static_cast<double>(n);
    right += edges(centred(C), tolerance) == "12 13 34";
    for (Index i = 0; i < 4; ++i)
      for (Index j = 0; j <= i; ++j)
        worst = std::max(worst, std::abs(C(i, j) - S(i, j)) /
                                    std::sqrt((S(i, i) * S(j, j) + S(i, j) * S(i, j)) / n));
  }
  result.claim("the tree's draws have the covariance (below 4.5 errors, 100 entries)", worst < 4.5,
               fmt::format("{:.2f}", worst));
  result.claim(fmt::format("edges recovered from {} draws, {} data sets", n, sets), right == sets,
               fmt::format("{} of {}", right, sets));
}

}  // namespace

Result factor_graph(std::uint64_t seed) {
  Result result;
  result.name = "factor-graph";
  result.source = "C. Savin, Gaussian Processes for Time Series (lecture slides)";

  Matrix S(4, 4), P(4, 4);
  S << 1, 0.5, 0.5, 0.25, 0.5, 1.25, 0.25, 0.125, 0.5, 0.25, 1.25, 0.625, 0.25, 0.125, 0.625,
      1.3125;
  P << 1.5, -0.5, -0.5, 0, -0.5, 1, 0, 0, -0.5, 0, 1.25, -0.5, 0, 0, -0.5, 1;
  const Gaussian g = centred(S);

  // All entries are small multiples of 1/16, so that the product rounds nowhere.
  const double exact = (product(S, P) - Matrix::Identity(4, 4)).cwiseAbs().maxCoeff();
  result.claim("the printed matrices are inverse to each other, exactly", exact == 0.0,
               fmt::format("largest entry of SP − I: {}", exact));
  const Cholesky factor = cholesky(S, "S");
  const double precision_error = (factor.inverse() - P).cwiseAbs().maxCoeff();
  result.add("largest error of our precision", "", fmt::format("{:.1e}", precision_error));
  const double determinant = std::exp(factor.log_determinant());
  result.claim("det S = 1, and our inverse is the printed one",
               std::abs(determinant - 1) < 1e-14 && precision_error < 1e-14,
               fmt::format("det S − 1 = {:.1e}", determinant - 1));
  result.add("edges", "12 13 34", edges(g));
  result.claim("minimal factor graph 12, 13, 34", edges(g) == "12 13 34", edges(g));

  // What an absent edge means: independent when the variables between them are fixed.
  struct Absent {
    Index i, j;
    std::vector<Index> given;
    Index a, b;  // numbers of i and j among what remains
  };
  double dependence = 0.0;
  for (const Absent& e :
       {Absent{0, 3, {2}, 0, 2}, Absent{1, 2, {0}, 0, 1}, Absent{1, 3, {0}, 0, 2}}) {
    const Gaussian rest = condition(g, e.given, Vector::Constant(1, 0.7));
    dependence = std::max(dependence, std::abs(rest.covariance(e.a, e.b)));
    result.add(fmt::format("cov(x{}, x{}), and given x{}", e.i + 1, e.j + 1, e.given[0] + 1), "",
               fmt::format("{:.4f}, {:.1e}", S(e.i, e.j), std::abs(rest.covariance(e.a, e.b))));
  }
  result.claim("absent edges are conditional independences", dependence < 1e-15,
               fmt::format("largest covariance {:.1e}", dependence));

  // The reminder: g1(x1,x2) g2(x2,x3) against g(x1,x2,x3). The chain is our variables 2-1-3.
  const std::string chain = edges(marginal(g, {1, 0, 2}));
  result.claim("a chain of three has edges 12, 23", chain == "12 23", chain);
  Matrix full(3, 3);
  full << 1, 0.5, 0.5, 0.5, 1, 0.5, 0.5, 0.5, 1;
  result.claim("three variables without structure have all edges",
               edges(centred(full)) == "12 13 23", edges(centred(full)));

  from_samples(result, S, seed);
  result.series.push_back({"covariance", {"x1", "x2", "x3", "x4"}, S});
  result.series.push_back({"precision", {"x1", "x2", "x3", "x4"}, P});
  return result;
}

}  // namespace covary::experiments
