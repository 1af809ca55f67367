#pragma once

#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/linalg/types.hpp"

namespace covary {

inline constexpr const char* minibatches = "minibatches";  // TrainingState::Part::work of these

[[noreturn]] inline void refuse_state(Index saved, Index own) {
  throw InputError(fmt::format(
      "the state to be resumed has {} parameters, the model has {}; resume with the same data and "
      "options",
      saved, own));
}

}  // namespace covary
