#include "models/infer_row.hpp"

#include <algorithm>
#include <cmath>

#include "covary/training/lbfgs.hpp"

namespace covary {

InferredRow infer_row(const std::vector<UncertainInputs::RowTerm>& terms,
                      const std::vector<Index>& free, const std::vector<InferredRow>& starts,
                      Index iterations) {
  const auto F = static_cast<Index>(free.size());
  InferredRow at = starts.front();
  // u = (mean, log variance) of the free dimensions.
  const auto set = [&](const Vector& u) {
    at.mean(free) = u.head(F);
    at.variance(free) = u.tail(F).array().exp();
  };
  const Objective f = [&](const Vector& u, Vector* gradient) -> std::optional<double> {
    set(u);
    if (!at.variance.allFinite()) return std::nullopt;
    const Vector S = at.variance(free);
    double value =
        -0.5 * (u.head(F).squaredNorm() + S.sum() - u.tail(F).sum()) + 0.5 * static_cast<double>(F);
    Vector m_bar = Vector::Zero(at.mean.size()), S_bar = m_bar;
    for (const auto& term : terms)
      value +=
          term(at.mean.data(), at.variance.data(), gradient ? m_bar.data() : nullptr, S_bar.data());
    if (gradient) {
      gradient->head(F) = u.head(F) - m_bar(free);
      gradient->tail(F) = -S.cwiseProduct(S_bar(free)).array() - 0.5 * (1.0 - S.array());
    }
    return -value;
  };
  LbfgsOptions options;
  options.max_iterations = iterations;
  options.gradient_tolerance = 1e-5;
  std::optional<Minimum> best;
  for (const InferredRow& start : starts) {
    Vector u(2 * F);
    u.head(F) = start.mean(free);
    u.tail(F) = Vector(start.variance(free)).array().max(1e-4).min(1.0).log();
    Minimum found = minimise(f, u, options);
    if (!best || found.state.value < best->state.value) best = std::move(found);
  }
  set(best->state.u);
  at.bound = -best->state.value;
  return at;
}

}  // namespace covary
