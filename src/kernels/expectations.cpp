#include "covary/kernels/expectations.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "covary/linalg/vector_math.hpp"
#include "kernels/gaussian_pair.hpp"
#include "kernels/linear_pairs.hpp"
#include "kernels/sampled_expectations.hpp"
#include "kernels/se_pairs.hpp"

namespace covary {
namespace {

class ClosedExpectations final : public GaussianExpectations {
 public:
  ClosedExpectations(GaussianForm form, const double* theta, const RowBlock& Z)
      : form_(std::move(form)), theta_(theta), Z_(Z) {
    values_.reserve(form_.terms.size());  // the fast terms refer to them
    for (const auto& term : form_.terms) values_.emplace_back(term, theta);
    for (const auto& term : values_)
      fast_.push_back(term.is_linear() || term.w.isZero(0.0) ? nullptr
                                                             : std::make_unique<Fast>(term, Z));
  }

  void psi0(const GaussianBlock& x, double* out) override {
    double shared = 0.0;
    for (const auto& white : form_.white) shared += white_variance(white, theta_);
    std::fill_n(out, x.mean.n, shared);
    for (const auto& s : values_)
      for (Index i = 0; i < x.mean.n; ++i) out[i] += s.variance * square(s, x, i);
  }
  void psi0_pullback(const GaussianBlock& x, const double* bar, const GaussianBars& to) override {
    double total = 0.0;
    for (Index i = 0; i < x.mean.n; ++i) total += bar[i];
    for (const auto& white : form_.white)
      for (const Index at : white.variances)
        to.theta[at] += total * white_variance(white, theta_) / theta_[at];
    const Index D = Z_.dims;
    for (std::size_t t = 0; t < values_.size(); ++t) {
      const TermValues& s = values_[t];
      TermBars s_bar(s);
      for (Index i = 0; i < x.mean.n; ++i) {
        const double g = bar[i] * s.variance;
        s_bar.log_variance += g * square(s, x, i);
        for (Index d = 0; s.is_linear() && d < D; ++d) {
          const double mean = x.mean.row(i)[d], S = x.variance[i * D + d];
          s_bar.c(d) += g * (mean * mean + S);
          to.mean[i * D + d] += 2.0 * g * s.c(d) * mean;
          to.variance[i * D + d] += g * s.c(d);
        }
      }
      s_bar.add_to(form_.terms[t], theta_, to.theta);
    }
  }

  void psi1(const GaussianBlock& x, double* out) override {
    const Index M = Z_.n;
    std::fill_n(out, M * x.mean.n, 0.0);
    Vector one(M);
    for (std::size_t t = 0; t < values_.size(); ++t) {
      if (is_fast(t, x)) {
        const double* all = fast_psi1(t, x);
        for (Index i = 0; i < x.mean.n; ++i)
          for (Index k = 0; k < M; ++k) out[i * M + k] += all[fast_[t]->points.at_point(i, k)];
        continue;
      }
      for (Index i = 0; i < x.mean.n; ++i) {
        term_psi1(values_[t], Z_, x, i, one.data());
        for (Index k = 0; k < M; ++k) out[i * M + k] += one(k);
      }
    }
  }
  void psi1_pullback(const GaussianBlock& x, const double* bar, const GaussianBars& to) override {
    Vector one(Z_.n);
    for (std::size_t t = 0; t < values_.size(); ++t) {
      TermBars s_bar(values_[t]);
      if (is_fast(t, x)) {
        SeRows& points = fast_[t]->points;
        double* all = fast_psi1(t, x);  // those of rows that are not there are zero
        for (Index i = 0; i < x.mean.n; ++i)
          for (Index k = 0; k < Z_.n; ++k) all[points.at_point(i, k)] *= bar[i * Z_.n + k];
        points.pullback(x, all, nullptr, s_bar, to);
        s_bar.add_to(form_.terms[t], theta_, to.theta);
        continue;
      }
      for (Index i = 0; i < x.mean.n; ++i) {
        term_psi1(values_[t], Z_, x, i, one.data());
        term_psi1_pullback(values_[t], Z_, x, i, one.data(), bar + i * Z_.n, s_bar, to);
      }
      s_bar.add_to(form_.terms[t], theta_, to.theta);
    }
  }

  // Every pair of terms; the square of a term without a linear factor, or with nothing else, for
  // all rows at once where it can.
  void psi2(const GaussianBlock& x, MatrixOut sum, double* keep) override {
    for (std::size_t s = 0; s < values_.size(); ++s)
      for (std::size_t t = s; t < values_.size(); ++t) {
        if (s == t && is_fast(s, x)) {
          fast_[s]->pairs.psi2(x, sum, keep ? keep + x.mean.n * kept_before(s) : nullptr);
          continue;
        }
        if (s == t && is_only_linear(values_[s])) {
          linear_psi2(values_[s], Z_, x, sum);
          continue;
        }
        for (Index i = 0; i < x.mean.n; ++i)
          pair_psi2(values_[s], values_[t], s == t, Z_, x, i, sum);
      }
  }
  void psi2_pullback(const GaussianBlock& x, ConstMatrix bar, const GaussianBars& to,
                     const double* kept) override {
    std::vector<TermBars> bars(values_.begin(), values_.end());
    for (std::size_t s = 0; s < values_.size(); ++s)
      for (std::size_t t = s; t < values_.size(); ++t) {
        if (s == t && is_fast(s, x)) {
          fast_[s]->pairs.pullback(x, bar, bars[s], to,
                                   kept ? kept + x.mean.n * kept_before(s) : nullptr);
          continue;
        }
        if (s == t && is_only_linear(values_[s])) {
          linear_psi2_pullback(values_[s], Z_, x, bar, bars[s], to);
          continue;
        }
        for (Index i = 0; i < x.mean.n; ++i)
          pair_psi2_pullback(values_[s], values_[t], s == t, Z_, x, i, bar, bars[s], bars[t], to);
      }
    for (std::size_t t = 0; t < bars.size(); ++t) bars[t].add_to(form_.terms[t], theta_, to.theta);
  }
  Index row_values() const override { return kept_before(fast_.size()); }

 private:
  // A term without a linear factor, for all rows of a block at once.
  struct Fast {
    SeRows points;
    SePairs pairs;
    Fast(const TermValues& term, const RowBlock& Z) : points(term, Z, 1.0), pairs(term, Z) {}
  };
  bool is_fast(std::size_t t, const GaussianBlock& x) const {
    return fast_[t] && fast_[t]->pairs.holds(x);  // so do the points, whose squares are smaller
  }
  // Doubles of a row that the terms before this one keep.
  Index kept_before(std::size_t term) const {
    Index out = 0;
    for (std::size_t t = 0; t < term; ++t) out += fast_[t] ? fast_[t]->pairs.row_values() : 0;
    return out;
  }
  // ψ1 as SeRows lays out exponents.
  double* fast_psi1(std::size_t t, const GaussianBlock& x) {
    SeRows& points = fast_[t]->points;
    points.evaluate(x);
    double* out = points.exponents();
    const Index n = SeRows::groups(x) * simd::pair_rows * points.padded_points();
    vector_exp(out, out, n, 1.0, values_[t].variance);
    return out;
  }
  static bool is_only_linear(const TermValues& s) { return s.is_linear() && s.w.isZero(0.0); }
  // ⟨Σ c x²⟩ of a linear term, 1 of any other.
  double square(const TermValues& s, const GaussianBlock& x, Index i) const {
    if (!s.is_linear()) return 1.0;
    double sum = 0.0;
    for (Index d = 0; d < Z_.dims; ++d)
      sum += s.c(d) * (x.mean.row(i)[d] * x.mean.row(i)[d] + x.variance[i * Z_.dims + d]);
    return sum;
  }

  GaussianForm form_;
  const double* theta_;
  RowBlock Z_;
  std::vector<TermValues> values_;
  std::vector<std::unique_ptr<Fast>> fast_;  // null: none
};

}  // namespace

bool GaussianExpectations::closed(const Kernel& kernel, Index dims) {
  return kernel.node().gaussian_form(dims).has_value();
}

std::unique_ptr<GaussianExpectations> GaussianExpectations::make(const Kernel& kernel,
                                                                 const double* theta,
                                                                 const RowBlock& Z) {
  kernel.node().check(Z.dims);
  if (auto form = kernel.node().gaussian_form(Z.dims))
    return std::make_unique<ClosedExpectations>(std::move(*form), theta, Z);
  return std::make_unique<SampledExpectations>(kernel, theta, Z);
}

}  // namespace covary
