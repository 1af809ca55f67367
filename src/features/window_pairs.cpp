// A product of cosines is half the sum of two, sign = ±1 for ω′ and phase′: each gives
//   ½v·exp(re)·cos(im),  re = Σ −½log R − ½a/R,  im = Σ b/R − (phase − phase′),
//   R = 1 + w(s + s′),  a = wτ² + sω² + s′ω′² + w·s·s′(ω − ω′)²,  b = w(sω + s′ω′)τ,  τ = μ − μ′.
#include "features/window_pairs.hpp"

#include <cmath>

namespace covary {
namespace {

struct Pair {
  double tau, s, S, o, O, w;  // of one column; capitals are the second window's

  double R() const { return 1.0 + w * (s + S); }
  double a() const { return w * tau * tau + s * o * o + S * O * O + w * s * S * (o - O) * (o - O); }
  double b() const { return w * (s * o + S * O) * tau; }
};

Pair column(const Windows& u, Index i, Index j, Index d, double sign, const Vector& w) {
  return {u.mu(i, d) - u.mu(j, d), u.s(i, d), u.s(j, d), u.omega(i, d), sign * u.omega(j, d), w(d)};
}

struct Value {
  double size, im;  // ½v·exp(re)
};

Value value(const Windows& u, Index i, Index j, double v, const Vector& w, double sign) {
  double re = 0.0, im = sign * u.phase(j) - u.phase(i);
  for (Index d = 0; d < w.size(); ++d) {
    const Pair p = column(u, i, j, d, sign, w);
    const double R = p.R();
    re -= 0.5 * (std::log(R) + p.a() / R);
    im += p.b() / R;
  }
  return {0.5 * v * std::exp(re), im};
}

}  // namespace

double window_pair(const Windows& u, Index i, Index j, double v, const Vector& w) {
  double sum = 0.0;
  for (const double sign : {1.0, -1.0}) {
    const Value k = value(u, i, j, v, w, sign);
    sum += k.size * std::cos(k.im);
  }
  return sum;
}

void window_pair_pullback(const Windows& u, Index i, Index j, double v, const Vector& w,
                          double K_bar, WindowBar& to) {
  for (const double sign : {1.0, -1.0}) {
    const Value k = value(u, i, j, v, w, sign);
    const double re_bar = K_bar * k.size * std::cos(k.im),
                 im_bar = -K_bar * k.size * std::sin(k.im);
    to.log_v += re_bar;
    to.u.phase(i) -= im_bar;
    to.u.phase(j) += sign * im_bar;
    for (Index d = 0; d < w.size(); ++d) {
      const Pair p = column(u, i, j, d, sign, w);
      const double R = p.R(), a_bar = -0.5 * re_bar / R, b_bar = im_bar / R,
                   R_bar = a_bar - (a_bar * p.a() + b_bar * p.b()) / R;
      const double apart = p.o - p.O, mixed = p.s * p.o + p.S * p.O,
                   tau_bar = p.w * (2.0 * a_bar * p.tau + b_bar * mixed);
      to.u.mu(i, d) += tau_bar;
      to.u.mu(j, d) -= tau_bar;
      to.u.s(i, d) +=
          a_bar * (p.o * p.o + p.w * p.S * apart * apart) + b_bar * p.w * p.o * p.tau + R_bar * p.w;
      to.u.s(j, d) +=
          a_bar * (p.O * p.O + p.w * p.s * apart * apart) + b_bar * p.w * p.O * p.tau + R_bar * p.w;
      to.u.omega(i, d) += 2.0 * a_bar * p.s * (p.o + p.w * p.S * apart) + b_bar * p.w * p.s * p.tau;
      to.u.omega(j, d) +=
          sign * (2.0 * a_bar * p.S * (p.O - p.w * p.s * apart) + b_bar * p.w * p.S * p.tau);
      to.w(d) += a_bar * (p.tau * p.tau + p.s * p.S * apart * apart) + b_bar * mixed * p.tau +
                 R_bar * (p.s + p.S);
    }
  }
}

}  // namespace covary
