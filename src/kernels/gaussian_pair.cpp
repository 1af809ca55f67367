#include "kernels/gaussian_pair.hpp"

#include <cmath>

#include "covary/linalg/vector_math.hpp"

namespace covary {

TermValues::TermValues(const GaussianTerm& term, const double* theta)
    : variance(term.factor), w(Vector::Zero(static_cast<Index>(term.lengthscales.size()))) {
  for (const Index at : term.variances) variance *= theta[at];
  for (Index d = 0; d < w.size(); ++d)
    for (const Index at : term.lengthscales[static_cast<std::size_t>(d)])
      w(d) += 1.0 / (theta[at] * theta[at]);
  if (!term.is_linear()) return;
  c = Vector::Zero(w.size());
  for (Index d = 0; d < w.size(); ++d) {
    const Index at = term.linear[static_cast<std::size_t>(d)];
    if (at >= 0) c(d) = theta[at];
  }
}

double white_variance(const WhiteTerm& term, const double* theta) {
  double v = term.factor;
  for (const Index at : term.variances) v *= theta[at];
  return v;
}

TermBars::TermBars(const TermValues& at)
    : w(Vector::Zero(at.w.size())), c(Vector::Zero(at.c.size())) {}

void TermBars::add_to(const GaussianTerm& term, const double* theta, double* theta_bar) const {
  for (const Index at : term.variances) theta_bar[at] += log_variance / theta[at];
  for (Index d = 0; d < w.size(); ++d)
    for (const Index at : term.lengthscales[static_cast<std::size_t>(d)])
      theta_bar[at] -= 2.0 * w(d) / (theta[at] * theta[at] * theta[at]);
  for (Index d = 0; d < c.size(); ++d) {
    const Index at = term.linear[static_cast<std::size_t>(d)];
    if (at >= 0) theta_bar[at] += c(d);
  }
}

void term_psi1(const TermValues& s, const RowBlock& Z, const GaussianBlock& x, Index i,
               double* out) {
  const Index D = Z.dims, M = Z.n;
  const double* mean = x.mean.row(i);
  const double* S = x.variance + i * D;
  double factor = s.variance;
  std::fill_n(out, M, 0.0);
  for (Index d = 0; d < D; ++d) {
    if (s.w(d) == 0.0) continue;
    const double C = 1.0 + s.w(d) * S[d], slope = -0.5 * s.w(d) / C;
    factor /= std::sqrt(C);
    for (Index k = 0; k < M; ++k) {
      const double e = mean[d] - Z.row(k)[d];
      out[k] += slope * e * e;
    }
  }
  vector_exp(out, out, M, 1.0, factor);
  if (!s.is_linear()) return;
  for (Index k = 0; k < M; ++k) {
    double P = 0.0;
    for (Index d = 0; d < D; ++d) {
      const double z = Z.row(k)[d], C = 1.0 + s.w(d) * S[d];
      P += s.c(d) * z * (mean[d] - S[d] * s.w(d) * (mean[d] - z) / C);
    }
    out[k] *= P;
  }
}

void term_psi1_pullback(const TermValues& s, const RowBlock& Z, const GaussianBlock& x, Index i,
                        const double* values, const double* bar, TermBars& s_bar,
                        const GaussianBars& to) {
  const Index D = Z.dims, M = Z.n;
  const double* mean = x.mean.row(i);
  const double* S = x.variance + i * D;
  // Of a linear term `smooth` is the exponential part, whose gradient is P times as large, and P
  // has one of its own.
  std::vector<double> smooth;
  if (s.is_linear()) {
    TermValues plain = s;
    plain.c.resize(0);
    smooth.resize(static_cast<std::size_t>(M));
    term_psi1(plain, Z, x, i, smooth.data());
  }
  for (Index k = 0; k < M; ++k) s_bar.log_variance += bar[k] * values[k];
  for (Index d = 0; d < D; ++d) {
    const double w = s.w(d), C = 1.0 + w * S[d], c = s.is_linear() ? s.c(d) : 0.0;
    double mean_bar = 0.0, S_bar = 0.0, w_bar = 0.0, c_bar = 0.0;
    for (Index k = 0; k < M; ++k) {
      const double g = bar[k] * values[k], z = Z.row(k)[d], e = (mean[d] - z) / C;
      double z_bar = g * w * e;
      mean_bar -= g * w * e;
      S_bar += 0.5 * g * w * (w * e * e - 1.0 / C);
      w_bar -= 0.5 * g * (e * e + S[d] / C);
      if (c != 0.0) {  // P = Σ c z m̃, m̃ = μ − Swe
        const double p = bar[k] * smooth[static_cast<std::size_t>(k)];
        const double m = mean[d] - S[d] * w * e, m_bar = p * c * z;
        c_bar += p * z * m;
        z_bar += p * c * m + m_bar * S[d] * w / C;
        mean_bar += m_bar / C;
        S_bar -= m_bar * w * e / C;
        w_bar -= m_bar * S[d] * e / C;
      }
      to.z[k * D + d] += z_bar;
    }
    to.mean[i * D + d] += mean_bar;
    to.variance[i * D + d] += S_bar;
    s_bar.w(d) += w_bar;
    if (c != 0.0) s_bar.c(d) += c_bar;
  }
}

namespace {

// What a pair of inducing inputs needs of one column.
struct Column {
  double e, e2, r, C, m, S;  // e' is e2; m, S of the tilted input
  Column(double w, double w2, double mean, double S0, double z, double z2)
      : e(mean - z),
        e2(mean - z2),
        r(w * e + w2 * e2),
        C(1.0 + (w + w2) * S0),
        m(mean - S0 * r / C),
        S(S0 / C) {}
};

struct PairValue {
  double smooth = 0.0, P = 1.0, P2 = 1.0, R = 0.0;
  double poly() const { return P * P2 + R; }
};

PairValue pair_value(const TermValues& s, const TermValues& t, const double* mean, const double* S,
                     const double* z, const double* z2) {
  PairValue out;
  const bool a = s.is_linear(), b = t.is_linear();
  double exponent = 0.0, determinant = 1.0, P = 0.0, P2 = 0.0;
  for (Index d = 0; d < s.w.size(); ++d) {
    const Column at(s.w(d), t.w(d), mean[d], S[d], z[d], z2[d]);
    exponent += -0.5 * (s.w(d) * at.e * at.e + t.w(d) * at.e2 * at.e2) + 0.5 * at.S * at.r * at.r;
    determinant *= at.C;
    if (a) P += s.c(d) * z[d] * at.m;
    if (b) P2 += t.c(d) * z2[d] * at.m;
    if (a && b) out.R += s.c(d) * z[d] * t.c(d) * z2[d] * at.S;
  }
  out.smooth = s.variance * t.variance * std::exp(exponent) / std::sqrt(determinant);
  if (a) out.P = P;
  if (b) out.P2 = P2;
  return out;
}

}  // namespace

void pair_psi2(const TermValues& s, const TermValues& t, bool same, const RowBlock& Z,
               const GaussianBlock& x, Index i, MatrixOut sum) {
  const double* mean = x.mean.row(i);
  const double* S = x.variance + i * Z.dims;
  for (Index j = 0; j < Z.n; ++j)
    for (Index k = j; k < Z.n; ++k) {
      const PairValue v = pair_value(s, t, mean, S, Z.row(k), Z.row(j));
      sum(k, j) += v.smooth * v.poly();
      if (same) continue;
      const PairValue other = pair_value(s, t, mean, S, Z.row(j), Z.row(k));
      sum(k, j) += other.smooth * other.poly();
    }
}

void pair_psi2_pullback(const TermValues& s, const TermValues& t, bool same, const RowBlock& Z,
                        const GaussianBlock& x, Index i, ConstMatrix bar, TermBars& s_bar,
                        TermBars& t_bar, const GaussianBars& to) {
  const Index D = Z.dims;
  const double* mean = x.mean.row(i);
  const double* S = x.variance + i * D;
  const bool a = s.is_linear(), b = t.is_linear();
  for (Index j = 0; j < Z.n; ++j)
    for (Index k = 0; k < Z.n; ++k) {
      const double *z = Z.row(k), *z2 = Z.row(j);
      const PairValue v = pair_value(s, t, mean, S, z, z2);
      const double weight = same ? bar(k, j) : 2.0 * bar(k, j);
      const double g = weight * v.smooth * v.poly();  // by the logarithm of the smooth part
      const double p = weight * v.smooth;             // by the polynomial
      s_bar.log_variance += g;
      t_bar.log_variance += g;
      for (Index d = 0; d < D; ++d) {
        const double w = s.w(d), w2 = t.w(d), S0 = S[d];
        const Column at(w, w2, mean[d], S0, z[d], z2[d]);
        double m_bar = 0.0, tilted_bar = 0.0, z_bar = 0.0, z2_bar = 0.0;
        if (a) {
          const double other = b ? t.c(d) * z2[d] * at.S : 0.0;
          const double form = v.P2 * at.m + other;  // by a_d
          s_bar.c(d) += p * form * z[d];
          z_bar += p * form * s.c(d);
          m_bar += p * v.P2 * s.c(d) * z[d];
        }
        if (b) {
          const double other = a ? s.c(d) * z[d] * at.S : 0.0;
          const double form = v.P * at.m + other;
          t_bar.c(d) += p * form * z2[d];
          z2_bar += p * form * t.c(d);
          m_bar += p * v.P * t.c(d) * z2[d];
        }
        if (a && b) tilted_bar = p * s.c(d) * z[d] * t.c(d) * z2[d];
        // e, e' through the exponent and, by r, through m̃
        const double e_bar = g * w * (at.S * at.r - at.e) - m_bar * at.S * w;
        const double e2_bar = g * w2 * (at.S * at.r - at.e2) - m_bar * at.S * w2;
        const double CC = at.C * at.C;
        to.mean[i * D + d] += e_bar + e2_bar + m_bar;
        to.z[k * D + d] += z_bar - e_bar;
        to.z[j * D + d] += z2_bar - e2_bar;
        to.variance[i * D + d] +=
            g * 0.5 * (at.r * at.r / CC - (w + w2) / at.C) - m_bar * at.r / CC + tilted_bar / CC;
        const double shared =  // of C: by w and w' alike
            -0.5 * g * (at.S + at.S * at.S * at.r * at.r) + m_bar * at.S * at.S * at.r -
            tilted_bar * at.S * at.S;
        s_bar.w(d) += shared + g * at.e * (at.S * at.r - 0.5 * at.e) - m_bar * at.S * at.e;
        t_bar.w(d) += shared + g * at.e2 * (at.S * at.r - 0.5 * at.e2) - m_bar * at.S * at.e2;
      }
    }
}

}  // namespace covary
