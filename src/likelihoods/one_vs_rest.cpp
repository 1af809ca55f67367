// K models of two classes side by side: f_k tells class k from the others, whatever the rest of f.
//   log p = log F(f_y) + Σ_{k≠y} log F(−f_k)
// This is a product of Bernoulli likelihoods and no distribution of the label: it falls short of
// one when summed over the labels. The probabilities of the classes are those of the K models,
// divided by their sum.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "covary/error.hpp"
#include "likelihoods/support.hpp"

namespace covary {
namespace {

class OneVsRest final : public LikelihoodNode {
 public:
  OneVsRest(Index classes, Link link)
      : classes_(classes), link_(link), each_(bernoulli_likelihood(link)) {
    if (classes < 2 || classes > 10000)
      throw InputError(fmt::format("one_vs_rest with {} classes; it takes 2 to 10000", classes));
  }

  std::string print() const override {
    return fmt::format("one_vs_rest({}, {})", classes_, covary::print(link_));
  }
  Index functions() const override { return classes_; }
  Index classes() const override { return classes_; }
  const Likelihood& each() const { return each_; }
  bool supports(Inference) const override { return true; }
  std::string complaint(double y, double) const override { return not_a_label(y, classes_); }

  double log_density(const Datum& d, const double* f, double* gradient,
                     double* hessian) const override {
    double value = 0.0;
    if (hessian) std::fill_n(hessian, classes_ * classes_, 0.0);
    for (Index k = 0; k < classes_; ++k)
      value += each_.node().log_density(of(d, k), f + k, gradient ? gradient + k : nullptr,
                                        hessian ? hessian + k * classes_ + k : nullptr);
    return value;
  }
  double expectation(const Datum& d, const double* m, const double* v, double* m_bar, double* v_bar,
                     double*) const override {
    double value = 0.0;
    for (Index k = 0; k < classes_; ++k)
      value += each_.node().expectation(of(d, k), m + k, v + k, m_bar + k, v_bar + k, nullptr);
    return value;
  }
  Moments predictive(const Datum&, const double*, const double*) const override {
    throw Unsupported(print() + " has classes without an order; ask for their probabilities");
  }
  double log_predictive(const Datum& d, const double* m, const double* v) const override {
    thread_local std::vector<double> logs;
    logs.resize(static_cast<std::size_t>(classes_));
    return log_probabilities(m, v, logs.data())[static_cast<Index>(d.y)];
  }
  void probabilities(const Datum&, const double* m, const double* v, double* p) const override {
    log_probabilities(m, v, p);
    for (Index k = 0; k < classes_; ++k) p[k] = std::exp(p[k]);
  }

 private:
  static Datum of(const Datum& d, Index k) {
    return {static_cast<Index>(d.y) == k ? 1.0 : 0.0, d.aux, nullptr};
  }
  // By logarithms: of a row that no class claims the largest of tiny probabilities still counts.
  const double* log_probabilities(const double* m, const double* v, double* out) const {
    for (Index k = 0; k < classes_; ++k)
      out[k] = each_.node().log_predictive({1.0, 0.0, nullptr}, m + k, v + k);
    const double top = *std::max_element(out, out + classes_);
    double sum = 0.0;
    for (Index k = 0; k < classes_; ++k) sum += std::exp(out[k] - top);
    const double log_sum = top + std::log(sum);
    for (Index k = 0; k < classes_; ++k) out[k] -= log_sum;
    return out;
  }

  Index classes_;
  Link link_;
  Likelihood each_;
};

}  // namespace

Likelihood one_vs_rest_likelihood(Index classes, Link link) {
  return {std::make_shared<OneVsRest>(classes, link)};
}

std::optional<Likelihood> each_vs_rest(const Likelihood& likelihood) {
  const auto* of = dynamic_cast<const OneVsRest*>(&likelihood.node());
  return of ? std::optional(of->each()) : std::nullopt;
}

}  // namespace covary
