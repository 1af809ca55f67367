#pragma once

#include <tuple>

#include "covary/training/trainer.hpp"

namespace covary {

// Trainer::best_of() where a start is a state: each begins where the state is now, and it becomes
// that of the best.
template <class Train, class... State>
Minimum best_start(Trainer& trainer, Index first, Index count, const Train& train,
                   State&... state) {
  if (count == 1) return trainer.best_of(first, 1, train, {});  // a state may be large: no copies
  const std::tuple<State...> begun(state...);
  std::tuple<State...> best(state...);
  Minimum out = trainer.best_of(
      first, count,
      [&](Index start) {
        std::tie(state...) = begun;
        return train(start);
      },
      [&] { best = std::tie(state...); });
  std::tie(state...) = std::move(best);
  return out;
}

}  // namespace covary
