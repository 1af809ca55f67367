#include "covary/inference/unknown_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "covary/error.hpp"
#include "covary/inference/exact.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/random/random.hpp"
#include "inference/elliptical_slice.hpp"

namespace covary {
namespace {

Matrix normal(Random& random, Index n, Index d) { return random.normal_matrix(n, d); }

// f at the rows of X for every view, side by side.
class Functions {
 public:
  explicit Functions(const UnknownInputs& problem) : problem_(problem) {
    for (const auto& v : problem.views) columns_ += v.Y.cols();
  }

  // From p(f(X) | Y), by a draw of the prior that is corrected where there are data.
  RowMatrix given_outputs(const RowMatrix& X, Random& random) const {
    RowMatrix out(X.rows(), columns_);
    Index at = 0;
    for (const auto& v : problem_.views) {
      const Matrix K = gram(v.kernel, v.theta, X);
      Matrix f = normal(random, X.rows(), v.Y.cols());
      multiply_lower(cholesky(K, "Kff").L, f);
      const Matrix noisy = f + std::sqrt(v.noise) * normal(random, X.rows(), v.Y.cols());
      for (const Pattern& p : missing_patterns(v.Y)) {
        Matrix C = K(p.rows, p.rows);
        C.diagonal().array() += v.noise;
        const Matrix away = v.Y(p.rows, p.columns) - noisy(p.rows, p.columns);
        const Matrix weights = cholesky(std::move(C), "the covariance of y").solve(away);
        f(Eigen::all, p.columns) += product(Matrix(K(Eigen::all, p.rows)), weights);
      }
      out.middleCols(at, f.cols()) = f;
      at += f.cols();
    }
    return out;
  }

  // From p(f(moved rows of X') | f(X)).
  RowMatrix given_values(const RowMatrix& X, const RowMatrix& F, const RowMatrix& moved,
                         Random& random) const {
    RowMatrix out(moved.rows(), columns_);
    Index at = 0;
    for (const auto& v : problem_.views) {
      const Matrix L = cholesky(gram(v.kernel, v.theta, X), "Kff").L;
      Matrix A = cross(v.kernel, v.theta, X, moved), f = F.middleCols(at, v.Y.cols());
      solve_lower(L, A);
      solve_lower(L, f);
      Matrix C = gram(v.kernel, v.theta, moved);
      const double size = C.diagonal().mean();
      syrk(-1.0, A, Op::transpose, 1.0, C);
      // A row that has hardly moved has hardly another f: what is left may be rounding.
      C.diagonal().array() += 1e-10 * size;
      Matrix drawn = normal(random, moved.rows(), v.Y.cols());
      multiply_lower(cholesky(std::move(C), "the covariance of f where rows came to").L, drawn);
      gemm(1.0, A, Op::transpose, f, Op::none, 1.0, drawn);
      out.middleCols(at, v.Y.cols()) = drawn;
      at += v.Y.cols();
    }
    return out;
  }

  // log p(Y | f) of some rows.
  double log_density(const std::vector<Index>& rows, const RowMatrix& f) const {
    double value = 0.0;
    Index at = 0;
    for (const auto& v : problem_.views) {
      for (std::size_t r = 0; r < rows.size(); ++r)
        for (Index p = 0; p < v.Y.cols(); ++p) {
          const double away = v.Y(rows[r], p) - f(static_cast<Index>(r), at + p);
          if (!std::isnan(away)) value -= 0.5 * away * away / v.noise;
        }
      at += v.Y.cols();
    }
    return value;
  }

 private:
  const UnknownInputs& problem_;
  Index columns_ = 0;
};

// Where a sampler stands: X = inputs(v), and of the retrospective one f(X).
class Chain {
 public:
  Chain(const UnknownInputs& problem, const InputSamplingOptions& options)
      : problem_(problem), options_(options), functions_(problem), random_(options.seed) {
    v_ = options.start.size() ? problem.whitened(options.start)
                              : random_.normal_matrix(problem.rows(), problem.dims);
    X_ = problem.inputs(v_);
    log_p_ = problem.log_likelihood(X_);
    if (retrospective()) F_ = functions_.given_outputs(X_, random_);
  }
  bool retrospective() const { return options_.method == "retrospective"; }

  void sweep() {
    for (Index first = 0; first < v_.rows(); first += options_.block) {
      const Index n = std::min(options_.block, v_.rows() - first);
      retrospective() ? move(first, n) : slide(first, n);
    }
    if (retrospective()) log_p_ = problem_.log_likelihood(X_);
  }

  const RowMatrix& X() const { return X_; }
  const RowMatrix& F() const { return F_; }
  double log_likelihood() const { return log_p_; }
  double acceptance() const { return moves_ ? made_ / moves_ : 1.0; }

 private:
  // Along an ellipse, f integrated out.
  void slide(Index first, Index n) {
    Matrix h = v_.middleRows(first, n);
    const auto log_density = [&](const Matrix& trial) {
      RowMatrix v = v_;
      v.middleRows(first, n) = trial;
      return problem_.log_likelihood(problem_.inputs(v));
    };
    elliptical_slice_step(normal(random_, n, v_.cols()), log_density, random_, h, log_p_);
    v_.middleRows(first, n) = h;
    X_ = problem_.inputs(v_);
  }

  // The proposal keeps the prior of v, and the GP that of f: what is left of the ratio is p(Y | f).
  void move(Index first, Index n) {
    const double step = options_.step;
    RowMatrix v = v_;
    v.middleRows(first, n) = std::sqrt(1.0 - step * step) * v_.middleRows(first, n) +
                             step * random_.normal_matrix(n, v_.cols());
    const RowMatrix X = problem_.inputs(v);
    std::vector<Index> moved;
    for (Index i = 0; i < X.rows(); ++i)
      if (X.row(i) != X_.row(i)) moved.push_back(i);
    const RowMatrix f = functions_.given_values(X_, F_, RowMatrix(X(moved, Eigen::all)), random_);
    const double ratio = functions_.log_density(moved, f) -
                         functions_.log_density(moved, RowMatrix(F_(moved, Eigen::all)));
    moves_ += 1.0;
    if (std::log(random_.uniform()) < ratio) {
      made_ += 1.0;
      v_ = std::move(v);
      X_ = X;
    }
    F_ = functions_.given_outputs(X_, random_);
  }

  const UnknownInputs& problem_;
  const InputSamplingOptions& options_;
  Functions functions_;
  Random random_;
  RowMatrix v_, X_, F_;
  double log_p_ = 0.0, moves_ = 0.0, made_ = 0.0;
};

}  // namespace

double UnknownInputs::log_likelihood(ConstRows X) const {
  double value = 0.0;
  for (const View& v : views) {
    Jitter jitter;
    value += exact_log_evidence(v.kernel, v.theta, X, v.Y, v.noise, Vector(), jitter);
  }
  return value;
}

RowMatrix UnknownInputs::inputs(const RowMatrix& v) const {
  if (prior_factor.size() == 0) return v;
  Matrix out = v;
  multiply_lower(prior_factor, out);
  return out;
}

RowMatrix UnknownInputs::whitened(const RowMatrix& X) const {
  if (prior_factor.size() == 0) return X;
  Matrix out = X;
  solve_lower(prior_factor, out);
  return out;
}

void InputSamplingOptions::check() const {
  if (method != "slice" && method != "retrospective")
    throw InputError(fmt::format("unknown sampler '{}'; choose slice or retrospective", method));
  if (samples < 1 || burn_in < 0 || thin < 1 || block < 1)
    throw InputError(
        fmt::format("samples ≥ 1, burn_in ≥ 0, thin ≥ 1, block ≥ 1 required; got {}, {}, {}, {}",
                    samples, burn_in, thin, block));
  if (!(step > 0.0 && step <= 1.0))
    throw InputError(fmt::format("the sampler's step must be above 0 and at most 1, got {}", step));
}

InputSamples sample_inputs(const UnknownInputs& problem, const InputSamplingOptions& options) {
  options.check();
  const RowMatrix& start = options.start;
  if (start.size() && (start.rows() != problem.rows() || start.cols() != problem.dims))
    throw InputError(fmt::format("the start is {}×{}, the inputs are {}×{}", start.rows(),
                                 start.cols(), problem.rows(), problem.dims));
  Chain chain(problem, options);
  for (Index i = 0; i < options.burn_in; ++i) chain.sweep();
  InputSamples out;
  out.log_likelihood.resize(options.samples);
  for (Index s = 0; s < options.samples; ++s) {
    for (Index i = 0; i < options.thin; ++i) chain.sweep();
    out.X.push_back(chain.X());
    if (chain.retrospective()) out.F.push_back(chain.F());
    out.log_likelihood(s) = chain.log_likelihood();
  }
  out.acceptance = chain.acceptance();
  return out;
}

EvidenceEstimate importance_log_evidence(const UnknownInputs& problem, ConstRows mean,
                                         ConstRows variance, Index samples, double broaden,
                                         std::uint64_t seed) {
  const Index N = problem.rows(), Q = problem.dims;
  if (mean.rows() != N || mean.cols() != Q || variance.rows() != N || variance.cols() != Q ||
      !(variance.minCoeff() > 0.0))
    throw InputError(
        fmt::format("the proposal needs means and positive variances of {}×{} inputs", N, Q));
  if (samples < 2 || !(broaden >= 1.0))
    throw InputError(
        fmt::format("importance sampling needs at least 2 samples and a proposal at least as wide "
                    "as q, got {} and {}",
                    samples, broaden));
  const RowMatrix sd = (broaden * variance).cwiseSqrt();
  const double log_sd = sd.array().log().sum(),
               log_prior_sd = problem.prior_factor.size()
                                  ? static_cast<double>(Q) *
                                        problem.prior_factor.diagonal().array().log().sum()
                                  : 0.0;
  Vector log_w(samples);
  parallel_for(samples, [&](Index s) {
    const RowMatrix z = Random(seed, static_cast<std::uint64_t>(s)).normal_matrix(N, Q);
    const RowMatrix X = mean + sd.cwiseProduct(z);
    log_w(s) = problem.log_likelihood(X) - 0.5 * problem.whitened(X).squaredNorm() - log_prior_sd +
               0.5 * z.squaredNorm() + log_sd;
  });
  const double most = log_w.maxCoeff(), count = static_cast<double>(samples);
  const Vector w = (log_w.array() - most).exp();
  const double average = w.mean();
  return {most + std::log(average),
          std::sqrt((w.array() - average).square().sum() / (count - 1.0) / count) / average,
          w.sum() * w.sum() / w.squaredNorm()};
}

}  // namespace covary
