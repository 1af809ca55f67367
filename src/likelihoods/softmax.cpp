// P(y = k) = exp(f_k)/Σ_j exp(f_j). With independent Gaussians its integrals need no sampling and
// no product of rules: softmax is the law of argmax(f_k + g_k) with standard Gumbel g_k, so with
//   F_k(x) = P(f_k + g_k ≤ x) = E exp(−exp(f_k − x))
// the probability of k is ∫ F_k′ Π_{j≠k} F_j dx, and E log Σ exp(f) = E max(f_k + g_k) − γ: two
// nested integrals for any K.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "covary/error.hpp"
#include "covary/linalg/vector_math.hpp"
#include "likelihoods/support.hpp"

namespace covary {
namespace {

constexpr double reach = 8.5;         // standard deviations
constexpr double gumbel_step = 0.35;  // exp(−exp(−x)) is bounded for |Im x| < π/2: error 6e-13
constexpr double one_over_sqrt_two_pi = 0.39894228040143267794;
constexpr double euler = 0.57721566490153286061;

Index half_nodes(double sd) {
  return static_cast<Index>(std::ceil(std::max(reach / 0.7, reach * sd / gumbel_step)));
}

// E log Σ exp(f), its derivatives by the means — the probabilities of the classes — and, unless
// null, by the variances.
double log_sum_exp(Index K, const double* m, const double* v, double* m_bar, double* v_bar) {
  // The inner rule of each class: weights w and e^{sd·t}.
  Index total = 0, widest = 0;
  double low = -std::numeric_limits<double>::infinity(), high = low, precision = 0.0;
  double spread = 0.0;
  const auto sd = [&](Index k) { return std::sqrt(std::max(v[k], 0.0)); };
  for (Index k = 0; k < K; ++k) {
    const Index n = 2 * half_nodes(sd(k)) + 1;
    total += n;
    spread = std::max(spread, sd(k));
    widest = std::max(widest, n);
    low = std::max(low, m[k] - reach * sd(k));
    high = std::max(high, m[k] + reach * sd(k));
    precision += 1.0 / std::max(v[k], 1e-300);
  }
  low -= 3.8;                                       // exp(−e^3.8) = 4e-20
  high += 37.0 + std::log(static_cast<double>(K));  // K·e^−x of the upper tail
  double* weight = thread_scratch(2 * total + 2 * widest + 4 * K);
  double* factor = weight + total;
  double *z = factor + total, *e = z + widest;
  double *F = e + widest, *F1 = F + K, *F2 = F1 + K, *before = F2 + K;
  for (Index k = 0, at = 0; k < K; ++k) {
    const Index half = half_nodes(sd(k));
    const double h = reach / static_cast<double>(half);
    for (Index i = -half; i <= half; ++i, ++at) {
      const double t = h * static_cast<double>(i);
      weight[at] = one_over_sqrt_two_pi * h * std::exp(-0.5 * t * t);
      factor[at] = sd(k) * t;
    }
  }
  // e^{sd·t} once for all x, unless it would overflow: then e^{m − x + sd·t} at each.
  const bool wide = spread * reach > 600.0;
  if (!wide) vector_exp(factor, factor, total);
  // Wide Gaussians smooth the F_k, and the outer step may follow them.
  const double h = std::max(gumbel_step, 0.7 / std::sqrt(precision));
  const auto steps = static_cast<Index>(std::ceil((high - low) / h));

  std::fill_n(m_bar, K, 0.0);
  if (v_bar) std::fill_n(v_bar, K, 0.0);
  double rest = 0.0;  // ∫ (1 − ΠF) dx from `low`
  for (Index j = 0; j <= steps; ++j) {
    const double x = low + h * static_cast<double>(j);
    double product = h;
    for (Index k = 0, at = 0; k < K; ++k) {
      const Index n = 2 * half_nodes(sd(k)) + 1;
      if (wide) {
        for (Index i = 0; i < n; ++i) z[i] = std::min(m[k] - x + factor[at + i], 700.0);
        vector_exp(z, z, n);
      } else {
        const double a = std::exp(m[k] - x);
        for (Index i = 0; i < n; ++i) z[i] = a * factor[at + i];
      }
      vector_exp(z, e, n, -1.0);
      double f0 = 0.0, f1 = 0.0, f2 = 0.0;
      for (Index i = 0; i < n; ++i) {
        if (e[i] == 0.0) continue;  // z may be infinite there
        const double w = weight[at + i] * e[i];
        f0 += w;
        f1 += w * z[i];
        f2 += w * z[i] * (z[i] - 1.0);
      }
      F[k] = f0;
      F1[k] = f1;
      F2[k] = f2;
      before[k] = product;
      product *= f0;
      at += n;
    }
    // Half a step at `low`, where 1 − ΠF = 1; at the other end nothing is left.
    rest += (j == 0 ? 0.5 * h : h) - (j == 0 ? 0.5 : 1.0) * product;
    double after = 1.0;
    for (Index k = K - 1; k >= 0; --k) {
      const double others = before[k] * after;
      m_bar[k] += others * F1[k];
      // ∂F/∂v = ½F″, the heat equation
      if (v_bar) v_bar[k] -= 0.5 * others * F2[k];
      after *= F[k];
    }
  }
  return low + rest - euler;
}

class Softmax final : public LikelihoodNode {
 public:
  explicit Softmax(Index classes) : classes_(classes) {
    if (classes < 2 || classes > 10000)
      throw InputError(fmt::format("softmax with {} classes; it takes 2 to 10000", classes));
  }

  std::string print() const override { return fmt::format("softmax({})", classes_); }
  Index latents() const override { return classes_; }
  Index classes() const override { return classes_; }
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
                     double*) const override {
    const auto y = static_cast<Index>(d.y);
    const double value = m[y] - log_sum_exp(classes_, m, v, m_bar, v_bar);
    for (Index k = 0; k < classes_; ++k) {
      m_bar[k] = (k == y ? 1.0 : 0.0) - m_bar[k];
      v_bar[k] = -v_bar[k];
    }
    return value;
  }

  Moments predictive(const Datum&, const double*, const double*) const override {
    throw Unsupported(print() + " has classes without an order; ask for their probabilities");
  }
  double log_predictive(const Datum& d, const double* m, const double* v) const override {
    thread_local std::vector<double> p;
    p.resize(static_cast<std::size_t>(classes_));
    log_sum_exp(classes_, m, v, p.data(), nullptr);
    return std::log(p[static_cast<std::size_t>(d.y)]);
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
