// The vectorised calls: loops over rows, whose memory is taken once a call.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "covary/error.hpp"
#include "covary/likelihoods/likelihood.hpp"
#include "covary/linalg/parallel.hpp"

namespace covary {
namespace {

void check_shapes(const Likelihood& l, ConstVector theta, Index n, Index mean_rows, Index mean_cols,
                  Index variance_rows, Index variance_cols, ConstVector aux) {
  const Index L = l.functions();
  if (theta.size() != l.parameter_count())
    throw InputError(
        fmt::format("{} has {} parameters, got {}", l.print(), l.parameter_count(), theta.size()));
  if (mean_rows != n || mean_cols != L || variance_rows != n || variance_cols != L)
    throw InputError(
        fmt::format("{} on {} rows needs mean and variance of {}×{}, got {}×{} and {}×{}",
                    l.print(), n, n, L, mean_rows, mean_cols, variance_rows, variance_cols));
  if (aux.size() != 0 && (aux.size() != n || l.aux() == Aux::none))
    throw InputError(fmt::format("{} on {} rows got an exposure, trials or noise column of {}",
                                 l.print(), n, aux.size()));
}

// work(datum, m, v, row) for the rows begin … end with the functions of a row side by side.
template <class Work>
void each_row(const Likelihood& l, const double* theta, const LikelihoodRows& rows, Index begin,
              Index end, const Work& work) {
  const Index L = l.functions();
  const double fallback = l.node().default_aux();
  std::vector<double> gathered(static_cast<std::size_t>(2 * L));
  double *m = gathered.data(), *v = m + L;
  for (Index i = begin; i < end; ++i) {
    for (Index k = 0; k < L; ++k) {
      m[k] = rows.mean[k * rows.stride + i];
      v[k] = rows.variance[k * rows.stride + i];
    }
    work(Datum{rows.y ? rows.y[i] : 0.0, rows.aux ? rows.aux[i] : fallback, theta}, m, v, i);
  }
}

LikelihoodRows whole(ConstVector y, ConstMatrix mean, ConstMatrix variance, ConstVector aux) {
  return {mean.rows(),
          y.size() != 0 ? y.data() : nullptr,
          aux.size() != 0 ? aux.data() : nullptr,
          mean.data(),
          variance.data(),
          mean.rows()};
}

constexpr Index block = 64;  // rows of a task
Index blocks_of(Index n) { return (n + block - 1) / block; }

}  // namespace

void expectation(const Likelihood& l, const double* theta, const LikelihoodRows& rows,
                 double* value, double* mean_bar, double* variance_bar, double* theta_bar) {
  const LikelihoodNode& node = l.node();
  const Index L = l.functions();
  if (L == 1) {
    const double fallback = node.default_aux();
    for (Index i = 0; i < rows.n; ++i)
      value[i] =
          node.expectation({rows.y[i], rows.aux ? rows.aux[i] : fallback, theta}, rows.mean + i,
                           rows.variance + i, mean_bar + i, variance_bar + i, theta_bar);
    return;
  }
  std::vector<double> bars(static_cast<std::size_t>(2 * L));
  double *m_bar = bars.data(), *v_bar = m_bar + L;
  each_row(l, theta, rows, 0, rows.n,
           [&](const Datum& d, const double* m, const double* v, Index i) {
             value[i] = node.expectation(d, m, v, m_bar, v_bar, theta_bar);
             for (Index k = 0; k < L; ++k) {
               mean_bar[k * rows.stride + i] = m_bar[k];
               variance_bar[k * rows.stride + i] = v_bar[k];
             }
           });
}

Expectations expectations(const Likelihood& l, ConstVector theta, ConstVector y, ConstMatrix mean,
                          ConstMatrix variance, ConstVector aux, Matrix* coupling) {
  const Index n = y.size(), L = l.functions(), P = l.parameter_count();
  check_shapes(l, theta, n, mean.rows(), mean.cols(), variance.rows(), variance.cols(), aux);
  const Matrix m = mean, v = variance;  // without gaps between columns
  Expectations out{Vector(n), Matrix(n, L), Matrix(n, L), Vector::Zero(P)};
  const LikelihoodRows all = whole(y, m, v, aux);
  Matrix theta_bars = Matrix::Zero(P, blocks_of(n));  // summed in order: the same for any threads
  if (coupling) coupling->resize(n, L * (L - 1) / 2);
  parallel_for(blocks_of(n), [&](Index b) {
    const Index begin = b * block;
    if (coupling) {
      Vector m_bar(L), v_bar(L), pairs(coupling->cols());
      double* theta_bar = P > 0 ? theta_bars.col(b).data() : nullptr;
      each_row(l, theta.data(), all, begin, std::min(n, begin + block),
               [&](const Datum& d, const double* mi, const double* vi, Index i) {
                 out.value(i) = l.node().coupled_expectation(d, mi, vi, m_bar.data(), v_bar.data(),
                                                             theta_bar, pairs.data());
                 out.mean_bar.row(i) = m_bar;
                 out.variance_bar.row(i) = v_bar;
                 coupling->row(i) = pairs;
               });
      return;
    }
    LikelihoodRows some = all;
    some.n = std::min(block, n - begin);
    some.y += begin;
    if (some.aux) some.aux += begin;
    some.mean += begin;
    some.variance += begin;
    expectation(l, theta.data(), some, out.value.data() + begin, out.mean_bar.data() + begin,
                out.variance_bar.data() + begin, P > 0 ? theta_bars.col(b).data() : nullptr);
  });
  for (Index b = 0; b < theta_bars.cols(); ++b) out.theta_bar += theta_bars.col(b);
  return out;
}

PredictiveMoments predictive_moments(const Likelihood& l, ConstVector theta, ConstMatrix mean,
                                     ConstMatrix variance, ConstVector aux) {
  const Index n = mean.rows();
  check_shapes(l, theta, n, n, mean.cols(), variance.rows(), variance.cols(), aux);
  const Matrix m = mean, v = variance;
  PredictiveMoments out{Vector(n), Vector(n)};
  const LikelihoodRows all = whole(Vector(), m, v, aux);
  parallel_for(blocks_of(n), [&](Index b) {
    each_row(l, theta.data(), all, b * block, std::min(n, (b + 1) * block),
             [&](const Datum& d, const double* mi, const double* vi, Index i) {
               const Moments moments = l.node().predictive(d, mi, vi);
               out.mean[i] = moments.mean;
               out.variance[i] = moments.variance;
             });
  });
  return out;
}

Vector log_predictive_density(const Likelihood& l, ConstVector theta, ConstVector y,
                              ConstMatrix mean, ConstMatrix variance, ConstVector aux) {
  const Index n = y.size();
  check_shapes(l, theta, n, mean.rows(), mean.cols(), variance.rows(), variance.cols(), aux);
  const Matrix m = mean, v = variance;
  Vector out(n);
  const LikelihoodRows all = whole(y, m, v, aux);
  parallel_for(blocks_of(n), [&](Index b) {
    each_row(l, theta.data(), all, b * block, std::min(n, (b + 1) * block),
             [&](const Datum& d, const double* mi, const double* vi, Index i) {
               out[i] = l.node().log_predictive(d, mi, vi);
             });
  });
  return out;
}

Matrix class_probabilities(const Likelihood& l, ConstVector theta, ConstMatrix mean,
                           ConstMatrix variance) {
  const Index n = mean.rows(), K = l.classes();
  check_shapes(l, theta, n, n, mean.cols(), variance.rows(), variance.cols(), Vector());
  const Matrix m = mean, v = variance;
  RowMatrix out(n, std::max<Index>(K, 1));
  const LikelihoodRows all = whole(Vector(), m, v, Vector());
  parallel_for(blocks_of(n), [&](Index b) {
    each_row(l, theta.data(), all, b * block, std::min(n, (b + 1) * block),
             [&](const Datum& d, const double* mi, const double* vi, Index i) {
               l.node().probabilities(d, mi, vi, out.row(i).data());
             });
  });
  return out;
}

std::vector<Taylor> log_densities(const Likelihood& l, ConstVector theta, ConstVector y,
                                  ConstVector f, ConstVector aux) {
  const OneFunction& node = l.one_function();
  const Index n = y.size();
  check_shapes(l, theta, n, f.size(), 1, f.size(), 1, aux);
  std::vector<Taylor> out(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i)
    node.taylor({y[i], aux.size() != 0 ? aux[i] : node.default_aux(), theta.data()}, 1,
                f.data() + i, out.data() + i);
  return out;
}

Vector log_densities_pullback(const Likelihood& l, ConstVector theta, ConstVector y, ConstVector f,
                              const std::vector<Taylor>& weights, ConstVector aux) {
  const OneFunction& node = l.one_function();
  const Index n = y.size();
  check_shapes(l, theta, n, f.size(), 1, f.size(), 1, aux);
  if (weights.size() != static_cast<std::size_t>(n))
    throw InputError(fmt::format("{} rows have {} weights", n, weights.size()));
  Vector theta_bar = Vector::Zero(theta.size());
  for (Index i = 0; i < n; ++i)
    node.parameter_pullback({y[i], aux.size() != 0 ? aux[i] : node.default_aux(), theta.data()}, 1,
                            f.data() + i, weights.data() + i, theta_bar.data());
  return theta_bar;
}

Tilted tilted_moments(const Likelihood& l, const Datum& datum, double alpha, double mean,
                      double variance, double* theta_bar) {
  if (!(alpha > 0.0) || !std::isfinite(alpha))
    throw InputError(fmt::format("the power of EP is {}; it must be positive, 1 for EP", alpha));
  if (!(variance >= 0.0) || !std::isfinite(mean) || !std::isfinite(variance))
    throw InputError(
        fmt::format("a cavity of mean {} and variance {}; it needs a finite mean and variance ≥ 0",
                    mean, variance));
  return l.one_function().tilted(datum, alpha, mean, variance, theta_bar);
}

}  // namespace covary
