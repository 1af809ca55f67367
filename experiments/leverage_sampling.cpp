// Rows chosen by leverage as inducing points (Burt 2018, section 4.5; T16, and T1 to T3 of every
// choice): scores of the best space of rank M, and those of a ridge as large as the noise, against
// uniform draws and eigenfunctions. No features of rank M leave less of the trace than the first M
// eigenvectors of K do. Scores here take an eigendecomposition of K in O(N³), which is to show what
// they are worth and no way to choose points of large data.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "covary/features/planner.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/linalg/spectrum.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "small.hpp"
#include "spectral_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index N = 500, default_sets = 5, draws = 20, count = 7;
constexpr Index sizes[count] = {8, 16, 24, 32, 40, 50, 60};
// Uniform draws of Lemma 4.5.1 fail with probability at most 4δ, and ones by leverage of Lemma
// 4.5.5 with at most 0.4 + δ.
constexpr double delta = 0.1;

struct Decomposition {
  Vector values;   // falling
  Matrix vectors;  // columns
  Vector tail;     // Σ of all values but the first k, k = 0 … N

  explicit Decomposition(const RowMatrix& X) {
    SymmetricEigen e = symmetric_eigen(gram("se", Vector::Ones(2), X));
    values = e.values.reverse().cwiseMax(0.0);
    vectors = e.vectors.rowwise().reverse();
    tail = Vector::Zero(N + 1);
    for (Index k = N; k-- > 0;) tail(k) = tail(k + 1) + values(k);
  }
  // ‖row_i(U_k)‖²
  Vector leverage(Index k) const { return vectors.leftCols(k).rowwise().squaredNorm(); }
  // (K(K + σ²I)⁻¹)_ii
  Vector ridge_leverage(double ridge) const {
    return multiply(vectors.cwiseAbs2(), values.array() / (values.array() + ridge));
  }
  // log p(y) less the bound of the first M eigenvectors as features: all of it is diagonal.
  double floor_kl(ConstVector y, Index M, double noise) const {
    const Vector z = multiply(vectors, y, Op::transpose);
    double kl = 0.5 * tail(M) / noise;
    for (Index i = M; i < N; ++i)
      kl += 0.5 * (std::log(noise / (values(i) + noise)) + z(i) * z(i) / noise -
                   z(i) * z(i) / (values(i) + noise));
    return kl;
  }
};

// M distinct rows, one after the other in proportion to their scores (Efraimidis & Spirakis 2006).
RowMatrix sampled(const RowMatrix& X, const Vector& scores, Index M, Random random) {
  std::vector<double> key(static_cast<std::size_t>(N));
  for (Index i = 0; i < N; ++i)
    key[static_cast<std::size_t>(i)] = random.exponential() / std::max(scores(i), 1e-300);
  std::vector<Index> rows(static_cast<std::size_t>(N));
  std::iota(rows.begin(), rows.end(), Index{0});
  std::partial_sort(rows.begin(), rows.begin() + M, rows.end(), [&](Index a, Index b) {
    return key[static_cast<std::size_t>(a)] < key[static_cast<std::size_t>(b)];
  });
  rows.resize(static_cast<std::size_t>(M));
  return X(rows, Eigen::all);
}

// Lemma 4.5.1 with probability 1 − 4δ: t ≤ (1 + 1/(δ²(1 − ε)))·Σ_{i>k} λ_i where M ≥
// 2·N·max_i‖row_i(U_k)‖²·ε⁻²·log(k/δ), the best of all k and ε; no more than N in any case. The
// thesis has ε⁻¹ here, for which fewer points would do: ε⁻² is on the safe side.
double uniform_trace_bound(const Decomposition& K, Index M) {
  double best = N;
  for (Index k = 1; k <= M; ++k) {
    const double coherence = N * K.leverage(k).maxCoeff();
    for (double e = 0.05; e < 1.0; e += 0.05)
      if (static_cast<double>(M) >=
          2.0 * coherence / (e * e) * std::log(static_cast<double>(k) / delta))
        best = std::min(best, (1.0 + 1.0 / (delta * delta * (1.0 - e))) * K.tail(k));
  }
  return best;
}

// How many points the lemmas ask for before they promise a trace of at most t.
struct Asked {
  double uniform = INFINITY, leverage = INFINITY;
};
Asked asked_for(const Decomposition& K, double t) {
  Asked out;
  for (Index k = 1; k < N; ++k) {
    const double n = static_cast<double>(k), coherence = N * K.leverage(k).maxCoeff();
    for (double e = 0.05; e < 1.0; e += 0.05) {
      if ((1.0 + 1.0 / (delta * delta * (1.0 - e))) * K.tail(k) <= t)
        out.uniform = std::min(out.uniform, 2.0 * coherence / (e * e) * std::log(n / delta));
      if ((1.0 + e * e) * K.tail(k) <= t)
        out.leverage = std::min(out.leverage, 3200.0 * n / (e * e) * std::log(4.0 * n / delta));
    }
  }
  return out;
}

// E[KL] over y ~ N(0, K + σ²I) as a multiple of t/2σ²: exactly, by dense matrices.
double expected_share(const RowMatrix& X, const RowMatrix& Z) {
  Matrix V = cross("se", Vector::Ones(2), Z, X), K = gram("se", Vector::Ones(2), X);
  solve_lower(cholesky(gram("se", Vector::Ones(2), Z), "Kuu").L, V);
  Matrix Q = product(V, V, Op::transpose);
  const double t = K.trace() - Q.trace();
  K.diagonal().array() += toy_noise;
  Q.diagonal().array() += toy_noise;
  const Cholesky exact = cholesky(K, "K + σ²I"), sparse = cholesky(std::move(Q), "Q + σ²I");
  const double mean = 0.5 * (sparse.log_determinant() - exact.log_determinant() +
                             sparse.solve(K).trace() - N + t / toy_noise);
  return mean / (0.5 * t / toy_noise);
}

enum Column { uniform, leverage, ridge, eigen, eigen_best, least, columns };
const char* const names[columns] = {"uniform rows",
                                    "leverage of rank M",
                                    "ridge leverage",
                                    "eigenfunctions, moments",
                                    "eigenfunctions, best measure",
                                    "first M eigenvectors"};

struct Curves {
  Matrix kl = Matrix::Zero(count, columns), trace = Matrix::Zero(count, columns);
  Matrix limit = Matrix::Zero(count, 2);  // of leverage: Lemma 4.1.2; of uniform rows: 4.5.1
  bool above_floor = true, below_limit = true;
  double least_share = INFINITY, most_share = 0.0;  // of E[KL] in t/2σ², by leverage
  Asked asked;
};

Curves measure(ToyInputs inputs, Index sets, std::uint64_t seed) {
  std::vector<double> kl[count][columns], trace[count][columns], limit[count][2];
  Curves out;
  for (Index set = 0; set < sets; ++set) {
    const auto stream = static_cast<std::uint64_t>(set);
    const Data data = draw_toy(inputs, N, seed, 100 + stream);
    const double exact = exact_nlml(data, toy_truth()), energy = data.Y.squaredNorm() / toy_noise;
    const Decomposition K(data.X);
    const Measure moments = moments_of(data.X);
    const Vector flat = Vector::Ones(N), by_ridge = K.ridge_leverage(toy_noise);
    if (set == 0) {
      double t = 1.0;  // that Lemma 4.1.2 turns into a KL of one nat
      while (planning::kl_bound(t, toy_noise, energy) > 1.0) t *= 0.9;
      out.asked = asked_for(K, t);
    }
    for (Index i = 0; i < count; ++i) {
      const Index M = sizes[i];
      const auto keep = [&](Index c, double bound, double t) {
        kl[i][c].push_back(-exact - bound);
        trace[i][c].push_back(t);
        out.above_floor = out.above_floor && t >= K.tail(M) * (1.0 - 1e-6) - 1e-9;
        out.below_limit =
            out.below_limit &&
            -exact - bound <= planning::kl_bound(t, toy_noise, energy) * (1 + 1e-9) + 1e-6;
      };
      const Vector by_rank = K.leverage(M);
      const Vector* const scores[] = {&flat, &by_rank, &by_ridge};
      for (Index c = uniform; c <= ridge; ++c)
        for (Index d = 0; d < few(draws, 2); ++d) {
          const Random random(seed, 0x1e0000 + 4096 * stream + 512 * static_cast<std::uint64_t>(c) +
                                        32 * static_cast<std::uint64_t>(i) +
                                        static_cast<std::uint64_t>(d));
          const RowMatrix Z = sampled(data.X, *scores[c], M, random);
          const SparseEvaluation e = sparse_at(data, "vfe", Z, toy_truth());
          keep(c, e.value, e.terms.residual);
          if (c == leverage)
            limit[i][0].push_back(planning::kl_bound(e.terms.residual, toy_noise, energy));
          // Below that the mean is a difference of numbers that agree to rounding.
          if (c == leverage && d == 0 && e.terms.residual > 1e-3) {
            const double share = expected_share(data.X, Z);
            out.least_share = std::min(out.least_share, share);
            out.most_share = std::max(out.most_share, share);
          }
        }
      const EigenBound own = eigen_bound(data, M, moments, toy_truth()),
                       best = eigen_bound(data, M,
                                          {moments.mean, best_sd(data, M, moments, toy_truth())},
                                          toy_truth());
      keep(eigen, own.elbo, own.trace);
      keep(eigen_best, best.elbo, best.trace);
      kl[i][least].push_back(K.floor_kl(data.Y.col(0), M, toy_noise));
      trace[i][least].push_back(K.tail(M));
      limit[i][1].push_back(planning::kl_bound(uniform_trace_bound(K, M), toy_noise, energy));
    }
    progress(fmt::format("{}: set {} of {}", name_of(inputs), set + 1, sets));
  }
  for (Index i = 0; i < count; ++i) {
    for (Index c = 0; c < columns; ++c) {
      out.kl(i, c) = median(kl[i][c]);
      out.trace(i, c) = median(trace[i][c]);
    }
    for (Index c = 0; c < 2; ++c) out.limit(i, c) = median(limit[i][c]);
  }
  return out;
}

}  // namespace

Result leverage_sampling(const Settings& settings) {
  Result result;
  result.name = "leverage-sampling";
  result.source =
      "D. Burt, Spectral Methods in Gaussian Process Approximations (2018), section 4.5";
  const Index sets = settings.repeats ? settings.repeats : few(default_sets, 1);
  for (const ToyInputs inputs : {ToyInputs::normal, ToyInputs::uniform}) {
    const Curves f = measure(inputs, sets, settings.seed);
    Matrix shown(count, columns + 1), traces(count, columns + 1), limits(count, 6);
    bool ahead = true;
    for (Index i = 0; i < count; ++i) {
      result.add(fmt::format("{}, M = {}: KL of uniform rows; leverage; ridge leverage; "
                             "eigenfunctions, moments; best measure; first eigenvectors",
                             name_of(inputs), sizes[i]),
                 "",
                 fmt::format("{:.3g}; {:.3g}; {:.3g}; {:.3g}; {:.3g}; {:.3g}", f.kl(i, uniform),
                             f.kl(i, leverage), f.kl(i, ridge), f.kl(i, eigen), f.kl(i, eigen_best),
                             f.kl(i, least)),
                 fmt::format("limits on KL, leverage by Lemma 4.1.2: {:.3g}; uniform rows by Lemma "
                             "4.5.1: {:.3g}",
                             f.limit(i, 0), f.limit(i, 1)));
      if (sizes[i] >= 16) ahead = ahead && f.kl(i, leverage) < f.kl(i, uniform);
      shown.row(i) << static_cast<double>(sizes[i]), f.kl.row(i).cwiseMax(1e-8).array().log10();
      const double half = 0.5 * f.trace(i, leverage) / toy_noise;
      limits.row(i) << static_cast<double>(sizes[i]), shown(i, 1 + leverage), std::log10(half),
          std::log10(2.0 * half), f.limit.row(i).array().log10();
      traces.row(i) << static_cast<double>(sizes[i]),
          f.trace.row(i).cwiseMax(1e-10).array().log10();
    }
    std::vector<std::string> heads{"M"};
    heads.insert(heads.end(), names, names + columns);
    result.series.push_back(
        {fmt::format("log₁₀ t against M, inputs {}", name_of(inputs)), heads, traces});
    result.series.push_back(
        {fmt::format("log₁₀ KL against M, inputs {}", name_of(inputs)), heads, shown});
    result.series.push_back({fmt::format("log₁₀ of limits on KL, inputs {}", name_of(inputs)),
                             {"M", "KL of leverage", "t/2σ²", "t/σ²", "its limit (4.1.2)",
                              "limit of uniform rows (4.5.1)"},
                             limits});
    result.add(fmt::format("{}: points that the lemmas ask for, KL ≤ 1 nat: uniform (4.5.1); "
                           "leverage (4.5.5)",
                           name_of(inputs)),
               "more than 3200", fmt::format("{:.2g}; {:.2g}", f.asked.uniform, f.asked.leverage),
               fmt::format("of {} rows", N));
    result.claim(fmt::format("{}: the mean of KL over y from the model is 1 to 2 times t/2σ² (T3)",
                             name_of(inputs)),
                 f.least_share >= 1.0 && f.most_share <= 2.0,
                 fmt::format("{:.3f} to {:.3f}, one draw by leverage a set and M", f.least_share,
                             f.most_share));
    result.claim(fmt::format("{}: no choice leaves less than the first M eigenvectors (T2)",
                             name_of(inputs)),
                 f.above_floor, f.above_floor ? "in every draw" : "no");
    result.claim(fmt::format("{}: KL below its limit (T1)", name_of(inputs)), f.below_limit,
                 f.below_limit ? "in every draw" : "no");
    result.claim(
        fmt::format("{}: from M = 16 on leverage is ahead of uniform rows", name_of(inputs)), ahead,
        ahead ? "at every M, by medians" : "no");
  }
  return result;
}

}  // namespace covary::experiments
