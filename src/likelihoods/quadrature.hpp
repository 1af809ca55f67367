#pragma once

#include <array>
#include <cmath>
#include <type_traits>

#include "covary/likelihoods/node.hpp"

namespace covary {

// The one place of one-dimensional integration against a Gaussian.
//
// Both rules are trapezoidal: for an integrand analytic in a strip |Im| < a the error falls as
// exp(−2πa/h), which no Gauss–Hermite rule attains when N(m, v) is much wider than the features of
// log p (its nodes crowd around m in proportion to √v; 300 of them leave 1e-7 at v = 100).

// E g(f) under f ~ N(m, v): nodes f and weights in chunks, by a step chosen beforehand from the
// singularity of g so that the error is about 1e-12 of the size of g. Where many nodes would be
// needed and the singularity has a place, f = location + width·sinh u draws them together there.
class GaussianRule {
 public:
  static constexpr Index chunk = 32;
  GaussianRule(double m, double v, const Singularity& s);
  Index size() const { return n_; }

  // visit(count, f, weights) for all nodes in order, at most `chunk` at a time.
  template <class Visit>
  void visit(Visit&& visit) const {
    std::array<double, chunk> f, w;
    for (Index begin = 0; begin < n_; begin += chunk) {
      const Index count = std::min(chunk, n_ - begin);
      fill(begin, count, f.data(), w.data());
      visit(count, f.data(), w.data());
    }
  }

 private:
  void fill(Index begin, Index count, double* f, double* w) const;

  double m_, sd_, location_ = 0.0, width_ = 0.0;
  double begin_ = 0.0, step_ = 0.0;  // of t = (f − m)/sd, or of u
  Index n_ = 0;
  bool mapped_ = false;
};

// A reference to any function of (n, f, Taylor*) that gives a log density and two derivatives.
class LogDensity {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, LogDensity>) LogDensity(const F& f)  // NOLINT
      : object_(&f), call_([](const void* o, Index n, const double* x, Taylor* out) {
          (*static_cast<const F*>(o))(n, x, out);
        }) {}
  void operator()(Index n, const double* f, Taylor* out) const { call_(object_, n, f, out); }

 private:
  const void* object_;
  void (*call_)(const void*, Index, const double*, Taylor*);
};

// log ∫ exp(α·ℓ(f)) N(f; m, v) df and its derivatives by m, in log space around the mode(s) of the
// integrand; the step is halved until nothing changes, which then is exact to some 1e-12 (each
// halving squares the error). The nodes with the normalised weights of the tilted density are
// given to `visit` (count, f, weights) when it is not null.
using TiltedVisit = void (*)(void* context, Index count, const double* f, const double* weights);
Tilted tilted_quadrature(const LogDensity& density, double alpha, double m, double v,
                         const Singularity& s, bool log_concave, TiltedVisit visit = nullptr,
                         void* context = nullptr);

}  // namespace covary
