#include "covary/inference/natural_gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/coupled_newton.hpp"

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
  return F > 1 && (problem.likelihood.latents > 1 || problem.likelihood.is_mixed()) &&
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

}  // namespace

CovarianceForm::CovarianceForm(Kind k, Index rows) : kind(k), block(rows) {
  if ((kind == Kind::blocks) != (block > 0))
    throw InputError(
        fmt::format("blocks of a covariance need a size of at least 1, and other forms none; "
                    "got {}",
                    rows));
}

CovarianceForm::CovarianceForm(const std::string& e) {
  if (e == "full") return;
  if (e == "diagonal") {
    kind = Kind::diagonal;
    return;
  }
  kind = Kind::blocks;
  if (e.starts_with("blocks(") && e.ends_with(")") && e.size() > 8 && e.size() < 18) {
    const std::string digits = e.substr(7, e.size() - 8);
    if (digits.find_first_not_of("0123456789") == std::string::npos) block = std::stol(digits);
  }
  if (block < 1)
    throw InputError(
        fmt::format("«{}» is no form of a covariance; there are full, diagonal and blocks(20)", e));
}

std::string CovarianceForm::print() const {
  if (kind == Kind::blocks) return fmt::format("blocks({})", block);
  return kind == Kind::full ? "full" : "diagonal";
}

void CovarianceForm::mask(MatrixOut A) const {
  if (kind == Kind::full) return;
  const Index width = kind == Kind::diagonal ? 1 : block;
  for (Index j = 0; j < A.cols(); ++j) {
    const Index first = j / width * width, end = std::min(A.rows(), first + width);
    A.col(j).head(first).setZero();
    A.col(j).tail(A.rows() - end).setZero();
  }
}

NaturalGaussian::NaturalGaussian(Index M, Index functions, CovarianceForm form) : form_(form) {
  const auto F = static_cast<std::size_t>(functions);
  q_.m = Matrix::Zero(M, functions);
  q_.Ls.assign(F, Matrix::Identity(M, M));
  precision_ = q_.Ls;
}

NaturalGaussian::NaturalGaussian(const WhitenedGaussian& q, CovarianceForm form)
    : form_(form), q_(q) {
  for (Matrix& Ls : q_.Ls) {
    Ls.triangularView<Eigen::StrictlyUpper>().setZero();
    if (form_.kind != CovarianceForm::Kind::full) {
      Matrix S = product(Ls, Ls, Op::none, Op::transpose);
      form_.mask(S);
      Ls = cholesky(std::move(S), "the covariance of q").L;
    }
    precision_.push_back(Cholesky{Ls}.inverse());
  }
}

WhitenedGaussian whole(WhitenedGaussian q) {
  if (q.is_thin())
    for (Matrix& Ls : q.Ls) Ls = Matrix(Vector(Ls.col(0)).asDiagonal());
  return q;
}

void NaturalGaussian::keep_diagonals() {
  if (form_.kind != CovarianceForm::Kind::diagonal)
    throw InputError(fmt::format("a {} covariance is not its diagonal", form_.print()));
  if (q_.is_thin()) return;
  for (std::size_t f = 0; f < q_.Ls.size(); ++f) {
    precision_[f] = Matrix(precision_[f].diagonal());
    q_.Ls[f] = precision_[f].cwiseSqrt().cwiseInverse();
  }
}

void NaturalGaussian::keep_whole() {
  if (q_.is_thin())
    for (Matrix& P : precision_) P = Matrix(Vector(P.col(0)).asDiagonal());
  q_ = whole(std::move(q_));
}

bool NaturalGaussian::set(const Matrix& m, std::vector<Matrix> precision) {
  WhitenedGaussian next{m, std::vector<Matrix>(q_.Ls.size())};
  for (std::size_t f = 0; f < q_.Ls.size(); ++f) {
    if (precision[f].cols() == 1 && m.rows() > 1) {  // diagonals
      if (!(precision[f].minCoeff() > 0.0)) return false;
      next.Ls[f] = precision[f].cwiseSqrt().cwiseInverse();
      continue;
    }
    if (!factor_of_inverse(precision[f], next.Ls[f])) return false;
    if (form_.kind == CovarianceForm::Kind::full) continue;
    Matrix masked = precision[f];
    form_.mask(masked);
    if (!factor_of_inverse(masked, next.Ls[f])) return false;
  }
  q_ = std::move(next);
  precision_ = std::move(precision);
  return true;
}

Index NaturalGaussian::step(const Matrix& g, const std::vector<Matrix>& H, double gamma,
                            const Matrix* move) {
  if (!(gamma > 0.0) || gamma > 1.0)
    throw InputError(
        fmt::format("the step of a natural gradient lies above 0 and at most at 1, got {}", gamma));
  for (Index halvings = 0; halvings < 40; ++halvings, gamma *= 0.5) {
    WhitenedGaussian next{q_.m, std::vector<Matrix>(q_.Ls.size())};
    std::vector<Matrix> precision(q_.Ls.size());
    bool good = true;
    for (std::size_t f = 0; good && f < q_.Ls.size(); ++f) {
      const auto column = static_cast<Index>(f);
      Matrix& P = precision[f];
      P = (1.0 - gamma) * precision_[f] - 2.0 * gamma * H[f];
      if (q_.is_thin()) {
        P.array() += gamma;
        good = P.minCoeff() > 0.0;
        next.Ls[f] = P.cwiseSqrt().cwiseInverse();
        next.m.col(column) +=
            gamma * (move ? Vector(move->col(column))
                          : Vector((g.col(column) - q_.m.col(column)).cwiseQuotient(P.col(0))));
        good = good && next.m.col(column).allFinite();
        continue;
      }
      P.diagonal().array() += gamma;
      good = factor_of_inverse(P, next.Ls[f]);
      if (!good) break;
      if (move) {
        next.m.col(column) += gamma * move->col(column);
      } else {
        Matrix own = gamma * (g.col(column) - q_.m.col(column));
        multiply_lower(next.Ls[f], own, Op::transpose);
        multiply_lower(next.Ls[f], own);
        next.m.col(column) += own;
      }
      if (form_.kind != CovarianceForm::Kind::full) {
        Matrix masked = P;
        form_.mask(masked);
        good = factor_of_inverse(masked, next.Ls[f]);
      }
      good = good && next.m.col(column).allFinite();
    }
    if (!good) continue;
    q_ = std::move(next);
    precision_ = std::move(precision);
    return halvings;
  }
  return -1;
}

double NaturalGaussian::distance(const Matrix& g, const std::vector<Matrix>& H) const {
  double sum = 0.0;
  for (std::size_t f = 0; f < q_.Ls.size(); ++f) {
    const auto column = static_cast<Index>(f);
    const Matrix& Ls = q_.Ls[f];
    // LsᵀΔLs with Δ = I − 2H − S⁻¹ is Lsᵀ(I − 2H)Ls − I.
    Matrix T = -2.0 * H[f];
    T.diagonal().array() += 1.0;
    form_.mask(T);
    multiply_lower(Ls, T, Op::transpose);
    T = T.transpose().eval();
    multiply_lower(Ls, T, Op::transpose);
    T.diagonal().array() -= 1.0;
    Matrix e = g.col(column) - q_.m.col(column);
    multiply_lower(Ls, e, Op::transpose);
    sum += 0.5 * T.squaredNorm() + e.squaredNorm();
  }
  return std::sqrt(sum);
}

QOptimum maximise_q(const UncollapsedProblem& problem, UncollapsedValues& values,
                    NaturalGaussian& q, Jitter& jitter, UncollapsedGradient* gradient,
                    const QOptions& options) {
  const std::vector<Cholesky> factors = factor_parts(problem, values, jitter);
  const bool coupled = step_together(problem, q.q());
  UncollapsedGradient now;
  now.of_parameters = now.of_factors = false;
  now.coupled = coupled;
  const auto evaluate = [&](const WhitenedGaussian& at, UncollapsedGradient& to) {
    values.q = at;
    return evaluate_uncollapsed(problem, values, factors, &to);
  };
  QOptimum out;
  out.at = evaluate(q.q(), now);
  if (!std::isfinite(out.at.value))
    throw NumericalError(
        "the expected log density under q is not finite; check the scale of the kernel");
  // The means of functions that are mixed depend on each other: they take several steps.
  if (options.conjugate && !problem.likelihood.is_mixed() && q.step(now.g, now.H, 1.0) == 0) {
    values.q = q.q();
    out.at = evaluate_uncollapsed(problem, values, factors, gradient);
    out.iterations = 1;
    out.converged = true;
    return out;
  }
  out.distance = q.distance(now.g, now.H);
  double gamma = 1.0;
  Acceleration acceleration;
  while (out.distance > options.tolerance && out.iterations < options.max_iterations) {
    // Large terms cancel in the bound: a fall within `noise` is none if q comes nearer.
    const double scale = 1.0 + std::abs(out.at.value), rounding = 1e-13 * scale,
                 noise = 1e-10 * scale;
    const auto accept = [&](NaturalGaussian& trial) {
      UncollapsedGradient there;
      there.of_parameters = there.of_factors = false;
      there.coupled = coupled;
      UncollapsedEvaluation e = evaluate(trial.q(), there);
      const double gain = e.value - out.at.value;
      const double distance = std::isfinite(gain) ? trial.distance(there.g, there.H) : std::nan("");
      if (!std::isfinite(distance) ||
          !(gain > rounding || (gain >= -noise && distance < out.distance)))
        return false;
      q = std::move(trial);
      now = std::move(there);
      out.at = std::move(e);
      out.distance = distance;
      return true;
    };
    const Matrix means = coupled ? coupled_move(q.q(), now) : Matrix();
    const Matrix* const move = coupled ? &means : nullptr;
    bool better = false;
    if (gamma == 1.0) {
      NaturalGaussian there = q, trial = q;
      if (there.step(now.g, now.H, 1.0, move) == 0 && acceleration.extrapolate(q, there, trial)) {
        better = accept(trial);
        if (!better) acceleration.forget();
      }
    }
    for (Index halving = 0; halving < 40 && !better; ++halving) {
      NaturalGaussian trial = q;
      const Index own = trial.step(now.g, now.H, gamma, move);
      if (own < 0) break;
      out.halvings += own;
      gamma = std::ldexp(gamma, -static_cast<int>(own));
      better = accept(trial);
      if (better) {
        if (gamma < 1.0) acceleration.forget();
        gamma = std::min(1.0, 1.5 * gamma);
      } else {
        gamma *= 0.5;
        ++out.halvings;
      }
    }
    if (!better) break;
    ++out.iterations;
  }
  out.converged = out.distance <= options.tolerance;
  values.q = q.q();
  if (gradient) out.at = evaluate_uncollapsed(problem, values, factors, gradient);
  return out;
}

}  // namespace covary
