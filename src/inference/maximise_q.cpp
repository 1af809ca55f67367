// The optimal q for given parameters: natural gradients, accelerated.
#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/inference/natural_gradient.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/coupled_newton.hpp"
#include "inference/uncollapsed_steps.hpp"

namespace covary {
namespace {

// Anderson's acceleration of the steps (1965; Walker & Ni 2011). Functions that matter together, as
// those of softmax, step as if each were alone, which makes what they have in common slow; the
// labels of a function with a large variance make it slow too. The last steps tell how slow.
class Acceleration {
 public:
  // `from` and where a whole step leads; false while there is nothing to learn from. `to` becomes
  // where the past says that such steps would end.
  bool extrapolate(const NaturalGaussian& from, const NaturalGaussian& there, NaturalGaussian& to) {
    const Vector x = flat(from), step = flat(there) - x;
    if (last_.size()) {
      moves_.push_back(x - last_);
      changes_.push_back(step - last_step_);
      if (moves_.size() > most) {
        moves_.erase(moves_.begin());
        changes_.erase(changes_.begin());
      }
    }
    last_ = x;
    last_step_ = step;
    const auto k = static_cast<Index>(moves_.size());
    if (k < 2) return false;
    // min |step − Σ θ_j·change_j| in the units of q
    Matrix F(x.size(), k);
    for (Index j = 0; j < k; ++j) F.col(j) = in_units(from, changes_[static_cast<std::size_t>(j)]);
    Matrix normal = product(F, F, Op::transpose);
    normal.diagonal() *= 1.0 + 1e-10;
    Matrix theta = multiply(F, in_units(from, step), Op::transpose);
    try {
      theta = cholesky(std::move(normal), "the steps of q").solve(theta);
    } catch (const NumericalError&) {
      return false;
    }
    Vector end = x + step;
    for (Index j = 0; j < k; ++j) {
      const auto i = static_cast<std::size_t>(j);
      end -= theta(j) * (moves_[i] + changes_[i]);
    }
    return end.allFinite() && set(to, end);
  }
  void forget() {
    moves_.clear();
    changes_.clear();
    last_.resize(0);
  }

 private:
  static constexpr std::size_t most = 10;

  // The means, then the precisions.
  static Vector flat(const NaturalGaussian& q) {
    const Index M = q.size(), F = q.q().m.cols();
    Vector out(M * F + M * M * F);
    out.head(M * F) = Eigen::Map<const Vector>(q.q().m.data(), M * F);
    for (Index f = 0; f < F; ++f)
      out.segment(M * F + M * M * f, M * M) =
          Eigen::Map<const Vector>(q.precision()[static_cast<std::size_t>(f)].data(), M * M);
    return out;
  }
  static bool set(NaturalGaussian& q, const Vector& x) {
    const Index M = q.size(), F = q.q().m.cols();
    std::vector<Matrix> precision;
    for (Index f = 0; f < F; ++f)
      precision.emplace_back(Eigen::Map<const Matrix>(x.data() + M * F + M * M * f, M, M));
    return q.set(Eigen::Map<const Matrix>(x.data(), M, F), std::move(precision));
  }
  // Ls⁻¹Δm and LsᵀΔΛLs/√2, whose squares are 2·KL to second order.
  static Vector in_units(const NaturalGaussian& q, Vector x) {
    const Index M = q.size(), F = q.q().m.cols();
    for (Index f = 0; f < F; ++f) {
      const Matrix& Ls = q.q().Ls[static_cast<std::size_t>(f)];
      solve_lower(Ls, Eigen::Map<Matrix>(x.data() + M * f, M, 1));
      Eigen::Map<Matrix> D(x.data() + M * F + M * M * f, M, M);
      multiply_lower(Ls, D, Op::transpose);
      D.transposeInPlace();
      multiply_lower(Ls, D, Op::transpose);
      D *= std::sqrt(0.5);
    }
    return x;
  }

  std::vector<Vector> moves_, changes_;
  Vector last_, last_step_;
};

// Functions of one kernel that a datum sees together, unless there are so many pairs that their
// sums would fill the memory of every lane of the sweep.
bool step_together(const UncollapsedProblem& problem, const WhitenedGaussian& q) {
  constexpr Index most = Index{1} << 22;
  const Index F = q.m.cols(), M = q.m.rows();
  return F > 1 && (problem.likelihood.per_datum > 1 || problem.likelihood.is_mixed()) &&
         problem.parts.size() == 1 && F * (F - 1) / 2 * M * M <= most;
}

// Newton's step of the means of all functions together.
Matrix coupled_move(const WhitenedGaussian& q, const UncollapsedGradient& now) {
  const Index F = q.m.cols();
  return coupled_step(
      now.g - q.m,
      [&](const Matrix& r) {
        Matrix out = r;
        for (Index f = 0; f < F; ++f) {
          const Matrix& Ls = q.Ls[static_cast<std::size_t>(f)];
          multiply_lower(Ls, out.col(f), Op::transpose);
          multiply_lower(Ls, out.col(f));
        }
        return out;
      },
      [&](const Matrix& d) {
        Matrix out = d;
        const auto add = [&](double factor, const Matrix& A, Index from, Index to) {
          gemm(factor, A, Op::none, d.col(from), Op::none, 1.0, out.col(to));
        };
        for (Index f = 0, pair = 0; f < F; ++f) {
          add(-2.0, now.H[static_cast<std::size_t>(f)], f, f);
          for (Index l = f + 1; l < F; ++l, ++pair) {
            const Matrix& C = now.C[static_cast<std::size_t>(pair)];
            add(-1.0, C, f, l);
            add(-1.0, C, l, f);
          }
        }
        return out;
      });
}

// Ascent of the bound over q alone, at held parameters.
class QAscent {
 public:
  QAscent(const UncollapsedProblem& problem, UncollapsedValues& values, NaturalGaussian& q,
          const std::vector<Cholesky>& factors)
      : problem_(problem),
        values_(values),
        q_(q),
        factors_(factors),
        coupled_(step_together(problem, q.q())),
        now_(asked()) {
    out.at = evaluate(q_.q(), now_);
  }
  // To the optimum of a conjugate likelihood, which is one step away.
  bool reach() { return q_.step(now_.g, now_.H, 1.0) == 0; }
  void measure() { out.distance = q_.distance(now_.g, now_.H); }
  // False where no step leads up.
  bool ascend() {
    const Matrix means = coupled_ ? coupled_move(q_.q(), now_) : Matrix();
    const Matrix* const move = coupled_ ? &means : nullptr;
    const bool better = accelerated(move) || halved(move);
    out.iterations += better;
    return better;
  }
  QOptimum out;

 private:
  UncollapsedGradient asked() const {
    UncollapsedGradient g;
    g.of_parameters = g.of_factors = false;
    g.coupled = coupled_;
    return g;
  }
  UncollapsedEvaluation evaluate(const WhitenedGaussian& at, UncollapsedGradient& to) {
    values_.q = at;
    return evaluate_uncollapsed(problem_, values_, factors_, &to);
  }
  // Large terms cancel in the bound: a fall within `noise` is none if q comes nearer.
  bool accept(NaturalGaussian& trial) {
    const double scale = 1.0 + std::abs(out.at.value), rounding = 1e-13 * scale,
                 noise = 1e-10 * scale;
    UncollapsedGradient there = asked();
    UncollapsedEvaluation e = evaluate(trial.q(), there);
    const double gain = e.value - out.at.value;
    const double distance = std::isfinite(gain) ? trial.distance(there.g, there.H) : std::nan("");
    if (!std::isfinite(distance) ||
        !(gain > rounding || (gain >= -noise && distance < out.distance)))
      return false;
    q_ = std::move(trial);
    now_ = std::move(there);
    out.at = std::move(e);
    out.distance = distance;
    return true;
  }
  // Beyond the whole step, by those before it.
  bool accelerated(const Matrix* move) {
    if (gamma_ != 1.0) return false;
    NaturalGaussian there = q_, trial = q_;
    if (there.step(now_.g, now_.H, 1.0, move) != 0 || !acceleration_.extrapolate(q_, there, trial))
      return false;
    if (accept(trial)) return true;
    acceleration_.forget();
    return false;
  }
  // The first of the steps γ, γ/2, … that leads up; the next begins half as long again.
  bool halved(const Matrix* move) {
    for (Index halving = 0; halving < 40; ++halving) {
      NaturalGaussian trial = q_;
      const Index own = trial.step(now_.g, now_.H, gamma_, move);
      if (own < 0) return false;
      out.halvings += own;
      gamma_ = std::ldexp(gamma_, -static_cast<int>(own));
      if (accept(trial)) {
        if (gamma_ < 1.0) acceleration_.forget();
        gamma_ = std::min(1.0, 1.5 * gamma_);
        return true;
      }
      gamma_ *= 0.5;
      ++out.halvings;
    }
    return false;
  }

  const UncollapsedProblem& problem_;
  UncollapsedValues& values_;
  NaturalGaussian& q_;
  const std::vector<Cholesky>& factors_;
  bool coupled_;
  UncollapsedGradient now_;
  double gamma_ = 1.0;
  Acceleration acceleration_;
};

}  // namespace

QOptimum maximise_q(const UncollapsedProblem& problem, UncollapsedValues& values,
                    NaturalGaussian& q, Jitter& jitter, UncollapsedGradient* gradient,
                    const QOptions& options) {
  const std::vector<Cholesky> factors = factor_parts(problem, values, jitter);
  QAscent ascent(problem, values, q, factors);
  QOptimum& out = ascent.out;
  if (!std::isfinite(out.at.value))
    throw NumericalError(
        "the expected log density under q is not finite; check the scale of the kernel");
  // The means of functions that are mixed depend on each other: they take several steps.
  if (options.conjugate && !problem.likelihood.is_mixed() && ascent.reach()) {
    values.q = q.q();
    out.at = evaluate_uncollapsed(problem, values, factors, gradient);
    out.iterations = 1;
    out.converged = true;
    return std::move(out);
  }
  ascent.measure();
  while (out.distance > options.tolerance && out.iterations < options.max_iterations)
    if (!ascent.ascend()) break;
  out.converged = out.distance <= options.tolerance;
  values.q = q.q();
  if (gradient) out.at = evaluate_uncollapsed(problem, values, factors, gradient);
  return std::move(out);
}

}  // namespace covary
