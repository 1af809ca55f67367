#include "features/gaussian_kernel.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"

namespace covary {

GaussianKernel::GaussianKernel(const Kernel& kernel, Index dims, const std::string& feature) {
  const auto form = kernel.node().gaussian_form(dims);
  bool smooth = form && !form->terms.empty();
  if (smooth)
    for (const GaussianTerm& t : form->terms) smooth = smooth && !t.is_linear();
  if (!smooth)
    throw InputError(
        fmt::format("{} features are for sums and products of se, constant and white; {} has no "
                    "closed integrals against them: use points or basis",
                    feature, kernel.print()));
  terms_ = form->terms;
}

GaussianKernel::Term GaussianKernel::at(std::size_t i, const double* theta) const {
  const GaussianTerm& t = terms_[i];
  Term out{t.factor, Vector::Zero(static_cast<Index>(t.lengthscales.size()))};
  for (const Index v : t.variances) out.v *= theta[v];
  for (std::size_t d = 0; d < t.lengthscales.size(); ++d)
    for (const Index l : t.lengthscales[d])
      out.w(static_cast<Index>(d)) += 1.0 / (theta[l] * theta[l]);
  return out;
}

void GaussianKernel::pullback(std::size_t i, const double* theta, double log_v_bar,
                              const Vector& w_bar, double* theta_bar) const {
  const GaussianTerm& t = terms_[i];
  for (const Index v : t.variances) theta_bar[v] += log_v_bar / theta[v];
  for (std::size_t d = 0; d < t.lengthscales.size(); ++d)
    for (const Index l : t.lengthscales[d])
      theta_bar[l] -= 2.0 * w_bar(static_cast<Index>(d)) / (theta[l] * theta[l] * theta[l]);
}

}  // namespace covary
