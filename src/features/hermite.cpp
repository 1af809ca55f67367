#include "features/hermite.hpp"

#include <cmath>

namespace covary {

Hermite::Hermite(double w_, double mean_, double sd_)
    : w(w_),
      mean(mean_),
      sd(sd_),
      q(std::sqrt(1.0 + 4.0 * sd_ * sd_ * w_)),
      B(4.0 * sd_ * sd_ * w_ / ((q + 1.0) * (q + 1.0))),
      c(q / (4.0 * sd_ * sd_)) {}

// ψ_{m+1} = z√(2B/(m+1))·ψ_m − B√(m/(m+1))·ψ_{m−1},  z = √(q/2)(x − mean)/sd
Matrix Hermite::values(const Vector& x, Index degree) const {
  const Eigen::ArrayXd apart = x.array() - mean, z = std::sqrt(0.5 * q) / sd * apart;
  Matrix out(x.size(), degree + 1);
  out.col(0) = std::sqrt(2.0 / (q + 1.0) * std::sqrt(q)) * (-w / (q + 1.0) * apart.square()).exp();
  if (degree > 0) out.col(1) = std::sqrt(2.0 * B) * z * out.col(0).array();
  for (Index m = 1; m < degree; ++m) {
    const double n = static_cast<double>(m + 1);
    out.col(m + 1) = std::sqrt(2.0 * B / n) * z * out.col(m).array() -
                     B * std::sqrt((n - 1.0) / n) * out.col(m - 1).array();
  }
  return out;
}

// ∂ψ_m/∂x = −2(c − a)(x − mean)ψ_m + 2√(mcB)ψ_{m−1} with a = 1/(4·sd²) and c − a = w/(q + 1); for
// θ = w, sd: ψ_m(q′/(4q) − q′/(2(q + 1)) + m·q′/(q² − 1) − (c′ − a′)(x − mean)²)
//            + c′(x − mean)√(mB/c)ψ_{m−1}.
void Hermite::pullback(const Vector& x, const Matrix& values, const Matrix& bar, Bar& to,
                       Vector* x_bar) const {
  const Eigen::ArrayXd apart = x.array() - mean;
  const double s2 = sd * sd, q_w = 2.0 * s2 / q, q_s = 4.0 * sd * w / q;
  const double c_w = q_w / (4.0 * s2), c_s = q_s / (4.0 * s2) - q / (2.0 * s2 * sd),
               a_s = -1.0 / (2.0 * s2 * sd);
  Eigen::ArrayXd moved = Eigen::ArrayXd::Zero(x.size());
  for (Index m = 0; m < values.cols(); ++m) {
    const double n = static_cast<double>(m);
    const Eigen::ArrayXd own = bar.col(m).array() * values.col(m).array();
    const Eigen::ArrayXd below =
        m > 0 ? Eigen::ArrayXd(bar.col(m).array() * values.col(m - 1).array())
              : Eigen::ArrayXd::Zero(x.size());
    // m·q′/(q² − 1), where q² − 1 = 4·sd²·w
    const double sum = own.sum(), squares = (own * apart.square()).sum(),
                 mixed = std::sqrt(n * B / c) * (below * apart).sum();
    const double level = 1.0 / (4.0 * q) - 1.0 / (2.0 * (q + 1.0));
    to.w += sum * (level * q_w + (w > 0.0 ? n / (2.0 * q * w) : 0.0)) - c_w * squares + c_w * mixed;
    to.sd += sum * (level * q_s + n / (q * sd)) - (c_s - a_s) * squares + c_s * mixed;
    moved += -2.0 * w / (q + 1.0) * apart * own + 2.0 * std::sqrt(n * c * B) * below;
  }
  to.mean -= moved.sum();
  if (x_bar) *x_bar += moved.matrix();
}

}  // namespace covary
