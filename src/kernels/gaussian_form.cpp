#include "covary/kernels/gaussian_form.hpp"

namespace covary {
namespace {

void append(std::vector<Index>& to, const std::vector<Index>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

void GaussianForm::shift(Index offset) {
  for (auto& w : white)
    for (Index& at : w.variances) at += offset;
  for (auto& t : terms) {
    for (Index& at : t.variances) at += offset;
    for (auto& column : t.lengthscales)
      for (Index& at : column) at += offset;
    for (Index& at : t.linear)
      if (at >= 0) at += offset;
  }
}

void GaussianForm::scale(double factor) {
  for (auto& w : white) w.factor *= factor;
  for (auto& t : terms) t.factor *= factor;
}

void GaussianForm::place(const std::vector<Index>& chosen, Index dims) {
  for (auto& t : terms) {
    std::vector<std::vector<Index>> lengthscales(static_cast<std::size_t>(dims));
    std::vector<Index> linear(t.is_linear() ? static_cast<std::size_t>(dims) : 0, -1);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const auto d = static_cast<std::size_t>(chosen[i]);
      lengthscales[d] = t.lengthscales[i];
      if (t.is_linear()) linear[d] = t.linear[i];
    }
    t.lengthscales = std::move(lengthscales);
    t.linear = std::move(linear);
  }
}

void GaussianForm::add(GaussianForm other) {
  for (auto& t : other.terms) terms.push_back(std::move(t));
  for (auto& w : other.white) white.push_back(std::move(w));
}

std::optional<GaussianForm> product(const GaussianForm& a, const GaussianForm& b) {
  if (!a.white.empty() || !b.white.empty()) return {};
  GaussianForm out;
  for (const auto& s : a.terms)
    for (const auto& t : b.terms) {
      if (s.is_linear() && t.is_linear()) return {};
      GaussianTerm both = s;
      both.factor *= t.factor;
      append(both.variances, t.variances);
      for (std::size_t d = 0; d < both.lengthscales.size(); ++d)
        append(both.lengthscales[d], t.lengthscales[d]);
      if (t.is_linear()) both.linear = t.linear;
      out.terms.push_back(std::move(both));
    }
  return out;
}

}  // namespace covary
