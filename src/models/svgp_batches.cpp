// Training over minibatches: natural gradients for q and Adam for the rest.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "models/batches.hpp"
#include "models/q_blocks.hpp"
#include "models/svgp_impl.hpp"

namespace covary {
namespace {

// A step takes a dozen M×M matrices from the allocator. That of glibc returns such blocks to the
// system at once, until it has seen a larger one freed; the page faults were a fifth of a step.
void keep_freed_memory() {
  Vector large(Index{3} << 20);
  large(0) = 1.0;
  volatile double used = large(0);
  static_cast<void>(used);
}

}  // namespace

// A move that is large for q and for the noise of batches.
bool Svgp::Impl::is_large_step(const RowSource& rows, const UncollapsedGradient& of_q, double gamma,
                               const NaturalGaussian& q) const {
  if (q_options().conjugate) return false;
  const double share = static_cast<double>(rows_->rows()) / static_cast<double>(rows.rows());
  const double usual =
      std::sqrt(share * static_cast<double>(q.size() * functions()));  // of the noise, for γ = 1
  double move = 0.0;
  for (Index l = 0; l < functions(); ++l) {
    Matrix e = of_q.g.col(l) - q.q().m.col(l);
    const Matrix& Ls = q.q().Ls[static_cast<std::size_t>(l)];
    if (q.q().is_thin())
      e = e.cwiseProduct(Ls).eval();
    else
      multiply_lower(Ls, e, Op::transpose);
    move += e.squaredNorm();
  }
  return gamma * std::sqrt(move) > std::max(2.0, 2.0 * gamma * usual);
}

// A natural-gradient step that is tried on its own batch: a log link from the prior to counts of
// hundreds would leap by exp of the error. Returns how often it was shortened.
Index Svgp::Impl::try_step(const RowSource& rows, double value, const Vector& u,
                           const UncollapsedGradient& of_q, double gamma, NaturalGaussian& q,
                           Jitter& jitter) const {
  UncollapsedGradient unused;
  return halved_step(q, of_q.g, of_q.H, gamma, 30,
                     [&] { return batch_objective(u, rows, q, jitter, nullptr, unused) <= value; });
}

// The bound of a batch with its gradient, and a natural-gradient step of q, which needs less of the
// gradient than the other parameters and is made beside them. `halvings` counts how often it was
// shortened.
double Svgp::Impl::batch_step(const RowSource& rows, const Vector& u, double gamma,
                              NaturalGaussian& q, Jitter& jitter, Vector* gradient,
                              Index& halvings) const {
  UncollapsedGradient of_q;
  bool large = false;
  of_q.beside = [&](double value) {
    if (!std::isfinite(value)) return;
    large = is_large_step(rows, of_q, gamma, q);
    if (!large) halvings += std::abs(q.step(of_q.g, of_q.H, gamma));  // −1: none was possible
  };
  const double value = batch_objective(u, rows, q, jitter, gradient, of_q);
  if (large && std::isfinite(value)) halvings += try_step(rows, value, u, of_q, gamma, q, jitter);
  return value;
}

Minimum Svgp::Impl::train_batches_once(Trainer& trainer, NaturalGaussian& q, Jitter& jitter) {
  Batches batches(*rows_, in_memory_, batch_, options_.seed);
  // White inducing variables ask no more than the diagonal of a diagonal covariance.
  if (options_.covariance.kind == CovarianceForm::Kind::diagonal &&
      std::all_of(features_.begin(), features_.end(), [](const auto& f) { return f->is_white(); }))
    q.keep_diagonals();
  keep_freed_memory();
  NaturalGaussian best_q = q;
  Index shortened = 0;
  MinibatchProblem problem;
  problem.parameters = &parameters_;
  problem.jitter = &jitter;
  problem.batches_per_pass = batches.per_pass();
  problem.usual_passes = 20;
  problem.usual_rate = 0.02;
  problem.step = [&](const Vector& u, const MinibatchStep& step,
                     Vector* gradient) -> std::optional<double> {
    if (step.number == 0)
      say(fmt::format(
          "{} steps of minibatches of {} rows: {:.1f} passes over {} rows", step.of, batch_,
          static_cast<double>(step.of) / static_cast<double>(batches.per_pass()), rows_->rows()));
    return batches.with(step.number, [&](const RowSource& rows) {
      return batch_step(rows, u, step.natural_step, q, jitter, gradient, shortened);
    });
  };
  problem.blocks = [&] { return blocks_of(q); };
  problem.set_blocks = [&](const Blocks& b) { q = q_of(b, prior()); };
  problem.keep_best = [&] { best_q = q; };
  problem.go_to_best = [&] { q = best_q; };
  problem.best_blocks = [&] { return blocks_of(best_q); };
  problem.set_best_blocks = [&](const Blocks& b) { best_q = q_of(b, prior()); };
  Minimum out = trainer.minimise(problem);
  q.keep_whole();
  if (shortened > 0)
    say(fmt::format(
        "natural-gradient steps were halved {} times to keep the covariance of q positive definite",
        shortened));
  return out;
}

}  // namespace covary
