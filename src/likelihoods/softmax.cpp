// P(y = k) = exp(f_k)/Σ_j exp(f_j). With independent Gaussians its integrals need no sampling and
// no product of rules: softmax is the law of argmax(f_k + g_k) with standard Gumbel g_k, so with
//   F_k(x) = P(f_k + g_k ≤ x) = E exp(−exp(f_k − x))
// the probability of k is ∫ F_k′ Π_{j≠k} F_j dx, and E log Σ exp(f) = E max(f_k + g_k) − γ. All are
// sums over one lattice (gumbel_curve.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "covary/error.hpp"
#include "likelihoods/gumbel_curve.hpp"
#include "likelihoods/support.hpp"

namespace covary {
namespace {

constexpr double euler = 0.57721566490153286061;

// Where F_k goes from 0 to 1 for all k. Wide Gaussians smooth the F_k, and the step may follow.
GumbelGrid grid_of(Index K, const double* m, const double* sd) {
  double low = -std::numeric_limits<double>::infinity(), high = low, precision = 0.0;
  for (Index k = 0; k < K; ++k) {
    low = std::max(low, m[k] - gumbel_reach * sd[k]);
    high = std::max(high, m[k] + gumbel_reach * sd[k]);
    precision += 1.0 / std::max(sd[k] * sd[k], 1e-300);
  }
  low -= 3.8;                                       // exp(−e^3.8) = 4e-20
  high += 37.0 + std::log(static_cast<double>(K));  // K·e^−x of the upper tail
  GumbelGrid grid{low};
  grid.stride = std::max<Index>(1, static_cast<Index>(0.7 / std::sqrt(precision) / gumbel_step));
  grid.count = static_cast<Index>(std::ceil((high - low) / grid.step())) + 1;
  return grid;
}

// E log Σ exp(f), its derivatives by the means — the probabilities of the classes — and, unless
// null, by the variances and minus the mixed ones by pairs of means, ∫ F_k′F_l′ Π_{j≠k,l} F_j dx.
double log_sum_exp(Index K, const double* m, const double* v, double* m_bar, double* v_bar,
                   double* coupling = nullptr) {
  thread_local std::vector<double> sd;
  sd.resize(static_cast<std::size_t>(K));
  for (Index k = 0; k < K; ++k) sd[static_cast<std::size_t>(k)] = std::sqrt(std::max(v[k], 0.0));
  const GumbelGrid grid = grid_of(K, m, sd.data());
  const Index n = grid.count;
  double* product = thread_scratch((3 * K + 1) * n);
  const auto curve = [&](Index k) { return product + (3 * k + 1) * n; };  // F, F′, F″
  std::fill_n(product, n, grid.step());
  for (Index k = 0; k < K; ++k) {
    double* F = curve(k);
    gumbel_curve(m[k], sd[static_cast<std::size_t>(k)], grid, F, F + n, F + 2 * n);
    for (Index j = 0; j < n; ++j) product[j] *= F[j];
  }
  // ∫ (1 − ΠF) dx, with half a step at the lower end, where ΠF = 0; at the other nothing is left.
  double rest = -0.5 * grid.step();
  for (Index j = 0; j < n; ++j) rest += grid.step() - product[j];
  for (Index k = 0; k < K; ++k) {
    const double* F = curve(k);
    const GumbelShares share = gumbel_shares(product, F, F + n, F + 2 * n, n);
    m_bar[k] = share.first;
    if (v_bar) v_bar[k] = -0.5 * share.second;  // ∂F/∂v = ½F″, the heat equation
  }
  for (Index k = 0; coupling && k < K - 1; ++k) {
    double* shared = curve(k);  // F_k is not needed any more
    for (Index j = 0; j < n; ++j) shared[j] = product[j] / shared[j] * shared[n + j];
    for (Index l = k + 1; l < K; ++l, ++coupling) {
      const double* F = curve(l);
      *coupling = gumbel_shares(shared, F, F + n, F + 2 * n, n).first;
    }
  }
  return grid.first + rest - euler;
}

class Softmax final : public LikelihoodNode {
 public:
  explicit Softmax(Index classes) : classes_(classes) {
    if (classes < 2 || classes > 10000)
      throw InputError(fmt::format("softmax with {} classes; it takes 2 to 10000", classes));
  }

  std::string print() const override { return fmt::format("softmax({})", classes_); }
  Index functions() const override { return classes_; }
  Index classes() const override { return classes_; }
  bool multinomial_logit() const override { return true; }
  bool supports(Inference method) const override {
    return method != Inference::ep && method != Inference::sparse_ep;
  }
  std::string complaint(double y, double) const override { return not_a_label(y, classes_); }

  // gradient e_y − p, hessian ppᵀ − diag(p)
  double log_density(const Datum& d, const double* f, double* gradient,
                     double* hessian) const override {
    const Index K = classes_, y = static_cast<Index>(d.y);
    const double top = *std::max_element(f, f + K);
    double sum = 0.0;
    for (Index k = 0; k < K; ++k) sum += std::exp(f[k] - top);
    const double log_sum = top + std::log(sum);
    const auto p = [&](Index k) { return std::exp(f[k] - log_sum); };
    if (gradient)
      for (Index k = 0; k < K; ++k) gradient[k] = (k == y ? 1.0 : 0.0) - p(k);
    if (hessian)
      for (Index k = 0; k < K; ++k) {
        const double pk = p(k);
        for (Index j = 0; j < K; ++j) hessian[k * K + j] = pk * p(j);
        hessian[k * K + k] -= pk;
      }
    return f[y] - log_sum;
  }

  double expectation(const Datum& d, const double* m, const double* v, double* m_bar, double* v_bar,
                     double* theta_bar) const override {
    return coupled_expectation(d, m, v, m_bar, v_bar, theta_bar, nullptr);
  }
  double coupled_expectation(const Datum& d, const double* m, const double* v, double* m_bar,
                             double* v_bar, double*, double* coupling) const override {
    const auto y = static_cast<Index>(d.y);
    const double value = m[y] - log_sum_exp(classes_, m, v, m_bar, v_bar, coupling);
    for (Index k = 0; k < classes_; ++k) {
      m_bar[k] = (k == y ? 1.0 : 0.0) - m_bar[k];
      v_bar[k] = -v_bar[k];
    }
    return value;
  }

  Moments predictive(const Datum&, const double*, const double*) const override {
    throw Unsupported(print() + " has classes without an order; ask for their probabilities");
  }
  // Where the probability underflows, Jensen's bound E log p, which is near when p is far from 1.
  double log_predictive(const Datum& d, const double* m, const double* v) const override {
    thread_local std::vector<double> p;
    p.resize(static_cast<std::size_t>(classes_));
    const double log_sum = log_sum_exp(classes_, m, v, p.data(), nullptr);
    const auto y = static_cast<Index>(d.y);
    const double own = p[static_cast<std::size_t>(y)];
    return own > 0.0 ? std::log(own) : m[y] - log_sum;
  }
  void probabilities(const Datum&, const double* m, const double* v, double* p) const override {
    log_sum_exp(classes_, m, v, p, nullptr);
  }

 private:
  Index classes_;
};

}  // namespace

Likelihood softmax_likelihood(Index classes) { return {std::make_shared<Softmax>(classes)}; }

}  // namespace covary
