// q(X) by its fixed point (Damianou 2015, section 3.3.3): with the rest held, the bound F − KL is
// stationary where, of a q over time, λ = −2·∂F/∂variance and v = Lᵀ·∂F/∂mean, and so for the other
// families. The spread goes there at once, the means by natural gradients, for which that λ is the
// curvature; in turn, and part of the way where the whole of it would lower the bound. Plain
// gradients find the spread slowly: it may have to change by factors of thousands.
#include <fmt/format.h>

#include <chrono>

#include "models/gplvm_impl.hpp"

namespace covary {
namespace {

constexpr double shortest_step = 1.0 / 64.0;
constexpr std::chrono::seconds patience{2};  // before a user hears of it

}  // namespace

// A step of the spread and one of the means; false where neither raises the bound.
bool Gplvm::Impl::goes_to_fixed_point(Vector& values, Jitter& jitter) const {
  const Index means = latent_->means(), spreads = latent_->spreads();
  // Moves to make(step), for the longest of halved steps at which the bound rises.
  const auto moves = [&](double before, auto make) {
    for (double step = 1.0; step >= shortest_step; step *= 0.5) {
      const Vector there = make(step);
      Jitter needed = jitter;
      if (evaluate(there, needed, nullptr) > before && needed.rung <= jitter.rung) {
        values = there;
        return true;
      }
    }
    return false;
  };
  bool moved = false;
  for (const bool of_spread : {true, false}) {
    Vector bar;
    GaussianRowGradient of_latent;
    const double before = evaluate(values, jitter, &bar, nullptr, &of_latent);
    const Vector to =
        latent_->fixed_point(values.data(), of_latent.mean_bar, of_latent.variance_bar);
    if (!of_spread && to.head(means) == values.head(means)) continue;
    moved |= moves(before, [&](double step) {
      Vector there = values;
      if (of_spread)
        there.segment(means, spreads) = values.segment(means, spreads).array().pow(1.0 - step) *
                                        to.tail(spreads).array().pow(step);
      else
        there.head(means) += step * (to.head(means) - values.head(means));
      return there;
    });
  }
  return moved;
}

void Gplvm::Impl::step_to_fixed_point(Trainer& trainer, Jitter& jitter) {
  const Index steps = options_.fixed_point >= 0 ? options_.fixed_point
                      : options_.times.size()   ? 10
                                                : 0;
  if (options_.training.max_iterations == 0 || steps == 0) return;
  for (const Parameter& p : parameters_.all())
    if (p.path.starts_with("latent.") && !p.trainable) return;
  const auto work = [&]() -> Trainer::Found {
    Vector values = parameters_.values();
    auto told = std::chrono::steady_clock::now();
    for (Index k = 0; k < steps && !trainer.wants_to_stop(); ++k) {
      if (const auto now = std::chrono::steady_clock::now(); now - told > patience) {
        say(fmt::format("moving q(X) to its fixed point: step {} of at most {}", k, steps));
        told = now;
      }
      if (!goes_to_fixed_point(values, jitter)) break;
    }
    return {{values}};
  };
  parameters_.set_values(trainer.once("fixed point", work, &jitter).blocks.at(0).reshaped());
}

}  // namespace covary
