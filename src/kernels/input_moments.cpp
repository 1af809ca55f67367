#include "covary/kernels/input_moments.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/linalg/spectrum.hpp"
#include "kernels/gaussian_pair.hpp"
#include "kernels/sampled_expectations.hpp"

namespace covary {
namespace {

// The input once it is tilted by exp(−½xᵀWx): S̃ = (S⁻¹ + W)⁻¹ = S − S√W(I + √W·S·√W)⁻¹√W·S, for
// which S may be singular, and log|I + S·W|.
class Tilted {
 public:
  Tilted(ConstMatrix S, const Vector& w) {
    if (S.cols() == 1) {
      diagonal_ = S.col(0).array() / (1.0 + w.array() * S.col(0).array());
      log_determinant = (w.array() * S.col(0).array()).log1p().sum();
      return;
    }
    const Vector root = w.cwiseSqrt();
    Matrix T = S;
    for (Index d = 0; d < T.rows(); ++d) T.row(d) *= root(d);
    Matrix B = T;
    for (Index d = 0; d < B.cols(); ++d) B.col(d) *= root(d);
    const Vector above_one = B.diagonal();
    B.diagonal().array() += 1.0;
    const Cholesky factor = cholesky(std::move(B), "the covariance of an input");
    // Of a factor with a diagonal near one log1p keeps the digits.
    for (Index d = 0; d < above_one.size(); ++d)
      log_determinant += std::log1p(above_one(d) - factor.L.row(d).head(d).squaredNorm());
    solve_lower(factor.L, T);
    full_ = S;
    syrk(-1.0, T, Op::transpose, 1.0, full_);
    mirror_lower(full_);
  }
  Matrix times(const Matrix& R) const {  // R·S̃, R with a row for each inducing input
    if (full_.size()) return product(R, full_);
    Matrix out = R;
    for (Index d = 0; d < out.cols(); ++d) out.col(d) *= diagonal_(d);
    return out;
  }
  double log_determinant = 0.0;

 private:
  Vector diagonal_;
  Matrix full_;
};

Vector row_dots(const Matrix& A, const Matrix& B) { return A.cwiseProduct(B).rowwise().sum(); }

// One term at one input: with e = μ − z, r = we and the input tilted by the term, N(m̃, S̃) with
// m̃ = μ − S̃r, ψ1 = exp(logs)·P.
struct TermAt {
  TermAt(const TermValues& s, const RowMatrix& Z, ConstVector mean, ConstMatrix S)
      : term(s), r(Z.rows(), Z.cols()), logs(Z.rows()) {
    for (Index d = 0; d < Z.cols(); ++d) r.col(d) = mean(d) - Z.col(d).array();
    logs = Vector::Zero(Z.rows());
    for (Index d = 0; d < Z.cols(); ++d) {
      logs.array() -= 0.5 * s.w(d) * r.col(d).array().square();
      r.col(d) *= s.w(d);
    }
    const Tilted tilted(S, s.w);
    shift = tilted.times(r);
    square = row_dots(r, shift);
    log_determinant = tilted.log_determinant;
    logs.array() += 0.5 * square.array() - 0.5 * log_determinant;
    smooth = s.variance * logs.array().exp();
    if (!s.is_linear()) return;
    a = Z;
    for (Index d = 0; d < a.cols(); ++d) a.col(d) *= s.c(d);
    P = multiply(a, mean) - row_dots(a, shift);
    spread = tilted.times(a);
  }
  const TermValues& term;
  Matrix r, shift;  // M×D: r, S̃r
  Vector square;    // rᵀS̃r
  double log_determinant = 0.0;
  Vector logs, smooth;
  Matrix a, spread;  // of a linear term, c∘z and S̃a
  Vector P;          // of a linear term, aᵀm̃
};

// cov(s(z_k, x), t(z_j, x)) for all k, j. By the tilt S̃ of both terms, log of the ratio of
// ⟨s_k t_j⟩ to ⟨s_k⟩⟨t_j⟩, linear factors apart, is
//   δ = ½r_kᵀ(S̃ − S̃_s)r_k + ½r_jᵀ(S̃ − S̃_t)r_j + r_kᵀS̃r_j − ½(log|I + SW| − that of s − that of t).
Matrix pair_covariance(const TermAt& s, const TermAt& t, ConstMatrix S) {
  const Tilted both(S, s.term.w + t.term.w);
  const Matrix Gs = both.times(s.r), Gt = both.times(t.r);
  const Vector of_s = 0.5 * (row_dots(s.r, Gs) - s.square),
               of_t = 0.5 * (row_dots(t.r, Gt) - t.square);
  const double constant = -0.5 * (both.log_determinant - s.log_determinant - t.log_determinant);
  Matrix out = product(Gs, t.r, Op::none, Op::transpose);  // δ, then what it stands for
  const bool a = s.term.is_linear(), b = t.term.is_linear();
  Matrix from_s, from_t, together;
  Vector own_s, own_t;
  if (a) {
    from_s = product(s.a, Gt, Op::none, Op::transpose);
    own_s = row_dots(s.a, Gs - s.shift);
  }
  if (b) {
    from_t = product(Gs, t.a, Op::none, Op::transpose);
    own_t = row_dots(t.a, Gt - t.shift);
  }
  if (a && b) together = product(both.times(s.a), t.a, Op::none, Op::transpose);
  for (Index j = 0; j < out.cols(); ++j)
    for (Index k = 0; k < out.rows(); ++k) {
      const double delta = out(k, j) + of_s(k) + of_t(j) + constant;
      const double ps = a ? s.P(k) : 1.0, pt = b ? t.P(j) : 1.0;
      double more = 0.0;  // of the linear factors: their mean product less the product of means
      if (a || b) {
        const double ms = a ? -(own_s(k) + from_s(k, j)) : 0.0,
                     mt = b ? -(own_t(j) + from_t(k, j)) : 0.0;
        more = ps * mt + pt * ms + ms * mt + (a && b ? together(k, j) : 0.0);
      }
      // Far out the means vanish where the ratio overflows.
      const double product_of_means = s.smooth(k) * t.smooth(j);
      const double ratio = delta < 1.0 ? product_of_means * std::expm1(delta)
                                       : s.term.variance * t.term.variance *
                                                 std::exp(s.logs(k) + t.logs(j) + delta) -
                                             product_of_means;
      out(k, j) = ratio * (ps * pt + more) + product_of_means * more;
    }
  return out;
}

KernelMoments closed_moments(const GaussianForm& form, const Vector& theta, const RowMatrix& Z,
                             ConstVector mean, ConstMatrix S) {
  const Index M = Z.rows(), D = Z.cols();
  std::vector<TermValues> values;
  values.reserve(form.terms.size());  // terms refer to them
  for (const auto& term : form.terms) values.emplace_back(term, theta.data());
  std::vector<TermAt> terms;
  terms.reserve(values.size());
  for (const auto& v : values) terms.emplace_back(v, Z, mean, S);
  KernelMoments out{0.0, Vector::Zero(M), Matrix::Zero(M, M), Matrix::Zero(D, M)};
  for (const auto& white : form.white) out.psi0 += white_variance(white, theta.data());
  for (const TermAt& s : terms) {
    if (!s.term.is_linear()) {
      out.psi0 += s.term.variance;
      out.psi1 += s.smooth;
      out.with_input -= (s.shift.array().colwise() * s.smooth.array()).matrix().transpose();
      continue;
    }
    for (Index d = 0; d < D; ++d)
      out.psi0 +=
          s.term.variance * s.term.c(d) * (mean(d) * mean(d) + (S.cols() == 1 ? S(d, 0) : S(d, d)));
    out.psi1 += s.smooth.cwiseProduct(s.P);
    for (Index k = 0; k < M; ++k)
      out.with_input.col(k) += s.smooth(k) * (s.spread.row(k) - s.P(k) * s.shift.row(k));
  }
  for (std::size_t s = 0; s < terms.size(); ++s)
    for (std::size_t t = s; t < terms.size(); ++t) {
      const Matrix pair = pair_covariance(terms[s], terms[t], S);
      out.covariance += pair;
      if (s != t) out.covariance += pair.transpose();
    }
  return out;
}

// S = R·Rᵀ, R = V√values.
Matrix root_of(ConstMatrix S) {
  if (S.cols() == 1 && S.rows() > 1) return S.col(0).cwiseSqrt().asDiagonal();
  SymmetricEigen e = symmetric_eigen(S);
  for (Index d = 0; d < e.values.size(); ++d)
    e.vectors.col(d) *= std::sqrt(std::max(0.0, e.values(d)));
  return e.vectors;
}

KernelMoments ruled_moments(const KernelNode& kernel, const NormalRule& rule, const Vector& theta,
                            const RowMatrix& Z, ConstVector mean, ConstMatrix S) {
  const Index M = Z.rows(), D = Z.cols(), n = rule.weights.size();
  const RowMatrix away = product(rule.deviates, root_of(S), Op::none, Op::transpose);
  const RowMatrix points = away.rowwise() + mean.transpose();
  const RowBlock at{points.data(), n, D, D};
  Vector k(n);
  kernel.diagonal(theta.data(), at, k.data());
  Matrix K(M, n);
  kernel.evaluate(theta.data(), {{Z.data(), M, D, D}, at, false}, K.data());
  KernelMoments out{dot(rule.weights, k), multiply(K, rule.weights), Matrix(), Matrix()};
  K.colwise() -= out.psi1;
  Matrix weighted = K;
  for (Index s = 0; s < n; ++s) weighted.col(s) *= rule.weights(s);
  out.covariance = product(weighted, K, Op::none, Op::transpose);
  out.with_input = product(away, weighted, Op::transpose, Op::transpose);
  return out;
}

KernelMoments sums_of(const KernelMoments& points, const RowMatrix& w) {
  const Index M = w.rows(), C = w.cols(), D = points.with_input.rows();
  KernelMoments out{points.psi0, Vector::Zero(M), Matrix::Zero(M, M), Matrix::Zero(D, M)};
  for (Index a = 0; a < C; ++a) {
    out.psi1 += w.col(a).cwiseProduct(points.psi1.segment(a * M, M));
    out.with_input += points.with_input.middleCols(a * M, M) * w.col(a).asDiagonal();
    for (Index b = 0; b < C; ++b)
      out.covariance += w.col(a).asDiagonal() *
                        Matrix(points.covariance.block(a * M, b * M, M, M)) * w.col(b).asDiagonal();
  }
  return out;
}

}  // namespace

struct InputMoments::Parts {
  Kernel kernel;
  Vector theta;
  RowMatrix Z;
  std::optional<GaussianForm> form;
  std::optional<NormalRule> rule;  // where there is no form
  RowMatrix weights;               // of sums; else empty
};

InputMoments::InputMoments(const Kernel& kernel, Vector theta, RowMatrix Z)
    : InputMoments(kernel, std::move(theta), std::move(Z), RowMatrix()) {}

InputMoments::InputMoments(const Kernel& kernel, Vector theta, RowMatrix Z, RowMatrix weights) {
  const Index D = Z.cols();
  kernel.node().check(D);
  auto parts = std::make_shared<Parts>(Parts{kernel,
                                             std::move(theta),
                                             std::move(Z),
                                             kernel.node().gaussian_form(D),
                                             {},
                                             std::move(weights)});
  if (!parts->form) parts->rule.emplace(D);
  parts_ = std::move(parts);
}

KernelMoments InputMoments::operator()(ConstVector mean, ConstMatrix S) const {
  const Parts& p = *parts_;
  const Index D = p.Z.cols();
  if (mean.size() != D || S.rows() != D || (S.cols() != 1 && S.cols() != D))
    throw InputError(
        fmt::format("an input of {} columns has a covariance of {}×{}; the kernel's have {}",
                    mean.size(), S.rows(), S.cols(), D));
  KernelMoments m = p.form ? closed_moments(*p.form, p.theta, p.Z, mean, S)
                           : ruled_moments(p.kernel.node(), *p.rule, p.theta, p.Z, mean, S);
  return p.weights.size() ? sums_of(m, p.weights) : m;
}

}  // namespace covary
