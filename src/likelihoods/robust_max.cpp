// P(y = argmax f) = 1 − ε, the rest shared by the other K − 1 labels. With independent Gaussians
//   P(f_y largest) = ∫ N(f; m_y, v_y) Π_{k≠y} Φ((f − m_k)/s_k) df,
// one dimension for any K.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/special.hpp"
#include "likelihoods/support.hpp"

namespace covary {
namespace {

// Where the pair k < l is.
Index pair_of(Index K, Index k, Index l) { return k * (2 * K - k - 1) / 2 + l - k - 1; }

// The part of one node in ∂²P/∂m_k∂m_l for k, l ≠ y.
void add_pairs(Index K, Index y, double product, const double* z, const double* cdf,
               const double* sd, double* coupling) {
  const auto slope = [&](Index k) { return normal_pdf(z[k]) / (cdf[k] * sd[k]); };
  if (product == 0.0) return;
  for (Index k = 0; k < K; ++k) {
    if (k == y) continue;
    const double own = product * slope(k);
    for (Index l = k + 1; l < K; ++l)
      if (l != y) coupling[pair_of(K, k, l)] += own * slope(l);
  }
}

// P depends on differences of the means: the derivatives by all of them add up to none.
void complete_pairs(Index K, Index y, const double* v_bar, double* coupling) {
  for (Index k = 0; k < K; ++k) {
    if (k == y) continue;
    double sum = 2.0 * v_bar[k];
    for (Index l = 0; l < K; ++l)
      if (l != k && l != y) sum += coupling[pair_of(K, std::min(k, l), std::max(k, l))];
    coupling[pair_of(K, std::min(k, y), std::max(k, y))] = -sum;
  }
}

// P(f_y is the largest), and its derivatives where not null: by means, variances and pairs of
// means.
double largest(Index K, Index y, const double* m, const double* v, double* m_bar, double* v_bar,
               double* coupling = nullptr) {
  constexpr double reach = 8.5, one_over_sqrt_two_pi = 0.39894228040143267794;
  constexpr double smallest = 1e-12;       // of the variances: a point would be a step function
  double* before = thread_scratch(4 * K);  // Π of Φ_j, j < k
  double *cdf = before + K, *z = cdf + K, *sd = z + K;
  for (Index k = 0; k < K; ++k) sd[k] = std::sqrt(std::max(v[k], smallest));
  const double s = sd[y];
  // Off the axis Φ grows as a Gaussian does: what counts is the sum of the precisions.
  double precision = 0.0;
  for (Index k = 0; k < K; ++k) precision += 1.0 / (sd[k] * sd[k]);
  const double h = std::max(0.7 / (s * std::sqrt(precision)), reach / 5000.0);
  const auto half = static_cast<Index>(std::ceil(reach / h));
  if (m_bar) {
    std::fill_n(m_bar, K, 0.0);
    std::fill_n(v_bar, K, 0.0);
  }
  if (coupling) std::fill_n(coupling, K * (K - 1) / 2, 0.0);
  double total = 0.0;
  for (Index i = -half; i <= half; ++i) {
    const double t = h * static_cast<double>(i), f = m[y] + s * t;
    const double w = one_over_sqrt_two_pi * h * std::exp(-0.5 * t * t);
    double product = w;
    for (Index k = 0; k < K; ++k) {
      before[k] = product;
      z[k] = (f - m[k]) / sd[k];
      cdf[k] = k == y ? 1.0 : normal_cdf(z[k]);
      product *= cdf[k];
    }
    total += product;
    if (!m_bar) continue;
    // ∂N/∂m_y = N·t/s and ∂N/∂v_y = N·(t² − 1)/2v
    m_bar[y] += product * t / s;
    v_bar[y] += product * 0.5 * (t * t - 1.0) / (s * s);
    double after = 1.0;
    for (Index k = K - 1; k >= 0; --k) {
      if (k == y) continue;
      const double slope = before[k] * after * normal_pdf(z[k]) / sd[k];
      m_bar[k] -= slope;
      v_bar[k] -= 0.5 * slope * z[k] / sd[k];
      after *= cdf[k];
    }
    if (coupling) add_pairs(K, y, product, z, cdf, sd, coupling);
  }
  if (coupling) complete_pairs(K, y, v_bar, coupling);
  return total;
}

class RobustMax final : public LikelihoodNode {
 public:
  RobustMax(Index classes, Given epsilon) : classes_(classes), epsilon_(epsilon) {
    if (classes < 2 || classes > 10000)
      throw InputError(fmt::format("robust_max with {} classes; it takes 2 to 10000", classes));
    if (epsilon && !(*epsilon > 0.0 && *epsilon < 1.0))
      throw InputError(
          fmt::format("the epsilon of robust_max is {}; it must lie between 0 and 1", *epsilon));
  }

  std::string print() const override {
    return expression_of("robust_max",
                         {fmt::format("{}", classes_), argument("epsilon", epsilon_)});
  }
  Index functions() const override { return classes_; }
  Index classes() const override { return classes_; }
  Index parameter_count() const override { return 1; }
  // ε is fixed by default: trained, it would explain errors away.
  void declare(Parameters& out, const std::string& path) const override {
    Parameter p{path + ".epsilon", Vector::Constant(1, epsilon_.value_or(1e-3)),
                Transform::bounded(0.0, 1.0)};
    p.trainable = false;
    out.add(std::move(p));
  }
  // The density is flat but for jumps: nothing that needs its derivatives.
  bool supports(Inference method) const override {
    return method == Inference::vi || method == Inference::svgp;
  }
  std::string complaint(double y, double) const override { return not_a_label(y, classes_); }

  double log_density(const Datum& d, const double* f, double* gradient,
                     double* hessian) const override {
    if (gradient) std::fill_n(gradient, classes_, 0.0);
    if (hessian) std::fill_n(hessian, classes_ * classes_, 0.0);
    const auto top = std::max_element(f, f + classes_) - f;
    return top == static_cast<Index>(d.y) ? std::log1p(-d.theta[0]) : log_other(d.theta[0]);
  }

  double expectation(const Datum& d, const double* m, const double* v, double* m_bar, double* v_bar,
                     double* theta_bar) const override {
    return coupled_expectation(d, m, v, m_bar, v_bar, theta_bar, nullptr);
  }
  double coupled_expectation(const Datum& d, const double* m, const double* v, double* m_bar,
                             double* v_bar, double* theta_bar, double* coupling) const override {
    const double epsilon = d.theta[0], hit = std::log1p(-epsilon), miss = log_other(epsilon);
    const double p = largest(classes_, static_cast<Index>(d.y), m, v, m_bar, v_bar, coupling);
    for (Index k = 0; k < classes_; ++k) {
      m_bar[k] *= hit - miss;
      v_bar[k] *= hit - miss;
    }
    for (Index i = 0; coupling && i < classes_ * (classes_ - 1) / 2; ++i) coupling[i] *= hit - miss;
    if (theta_bar) theta_bar[0] += (1.0 - p) / epsilon - p / (1.0 - epsilon);
    return p * hit + (1.0 - p) * miss;
  }

  Moments predictive(const Datum&, const double*, const double*) const override {
    throw Unsupported(print() + " has classes without an order; ask for their probabilities");
  }
  double log_predictive(const Datum& d, const double* m, const double* v) const override {
    return std::log(probability(d, static_cast<Index>(d.y), m, v));
  }
  void probabilities(const Datum& d, const double* m, const double* v, double* p) const override {
    for (Index k = 0; k < classes_; ++k) p[k] = probability(d, k, m, v);
  }

 private:
  double log_other(double epsilon) const {
    return std::log(epsilon / static_cast<double>(classes_ - 1));
  }
  double probability(const Datum& d, Index k, const double* m, const double* v) const {
    const double p = largest(classes_, k, m, v, nullptr, nullptr);
    return p * (1.0 - d.theta[0]) + (1.0 - p) * d.theta[0] / static_cast<double>(classes_ - 1);
  }

  Index classes_;
  Given epsilon_;
};

}  // namespace

Likelihood robust_max_likelihood(Index classes, Given epsilon) {
  return {std::make_shared<RobustMax>(classes, epsilon)};
}

}  // namespace covary
