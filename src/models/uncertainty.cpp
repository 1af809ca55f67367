// Uncertainty about the parameters: the Hessian at the optimum and what follows from it.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "covary/error.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/models/regression.hpp"
#include "models/parameter_posterior.hpp"

namespace covary {

// Parameters along which the objective is flat (a lengthscale that ran to infinity) have no
// standard error and are held; the rest get √(H⁻¹)_ii |dx/du|.
Vector Regression::find_standard_errors(const Vector& u, Jitter jitter,
                                        std::vector<std::string>& warnings) const {
  const Index n = u.size();
  Vector out = Vector::Constant(n, std::nan(""));
  const auto gradient = [&](const Vector& at) {
    Vector g(n);
    objective(at, &g, jitter);
    return g;
  };
  try {
    const Matrix H = hessian(gradient, u);
    std::vector<Index> curved;
    for (Index i = 0; i < n; ++i)
      if (H(i, i) > 1e-4) curved.push_back(i);
    if (curved.empty()) return out;
    Jitter none;
    const Cholesky factor = cholesky(H(curved, curved), none, "the Hessian at the optimum");
    if (none.rung > 0.0)
      throw NumericalError("the Hessian at the optimum is not positive definite");
    const Vector variance = factor.inverse().diagonal();
    Vector slope(n);  // dx/du of each free entry
    Index at = 0;
    for (const auto& p : parameters_.all())
      if (p.trainable && p.tied_to.empty()) {
        slope.segment(at, p.value.size()) =
            p.transform.pullback(u.segment(at, p.value.size()), Vector::Ones(p.value.size()));
        at += p.value.size();
      }
    for (std::size_t i = 0; i < curved.size(); ++i)
      out(curved[i]) = std::sqrt(variance(static_cast<Index>(i))) * std::abs(slope(curved[i]));
    if (static_cast<Index>(curved.size()) < n)
      warnings.push_back(
          fmt::format("{} parameter{} flat at the optimum and {} no standard error: "
                      "the data do not determine them, as with the lengthscale of an "
                      "input that hardly matters",
                      n - static_cast<Index>(curved.size()),
                      n - static_cast<Index>(curved.size()) == 1 ? " is" : "s are",
                      n - static_cast<Index>(curved.size()) == 1 ? "has" : "have"));
  } catch (const NumericalError& e) {
    warnings.push_back(fmt::format("no standard errors (the parameters are valid): {}", e.what()));
  }
  return out;
}

ParameterPosterior Regression::parameter_posterior() const {
  return {parameters_, starts_, [this](ConstVector values, Jitter& jitter, Vector* bar) {
            return evidence(values, jitter, bar);
          }};
}

double Regression::laplace_log_evidence() const {
  const ParameterPosterior posterior = parameter_posterior();
  const Index n = posterior.size();
  if (n == 0) {
    Jitter jitter{options_.jitter};
    return evidence(parameters_.values(), jitter, nullptr) - log_jacobian_;
  }
  ParameterPosterior::Mode mode = posterior.mode(options_.jitter);
  const Cholesky factor = cholesky(std::move(mode.hessian), "the Hessian at the posterior mode");
  return -mode.value + 0.5 * static_cast<double>(n) * 1.83787706640934548356 -
         0.5 * factor.log_determinant() - log_jacobian_;
}

}  // namespace covary
