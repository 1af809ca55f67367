#pragma once

#include "covary/features/selection.hpp"
#include "covary/inference/function_model.hpp"

namespace covary {

// How many inducing inputs a model of any likelihood begins with: those given (in Z), those asked
// for, or of 0 100, or all rows when they are fewer. Throws InputError where so many observed rows
// of so many columns cannot have them.
Index inducing_count(Index asked, ConstRows Z, Index rows, Index dims);

// select_inducing over the rows with a target, or the informative vectors of the model.
SelectionResult choose_inducing(Selection how, Index M, const FunctionModel& model,
                                const FunctionParameters& at, std::uint64_t seed);

}  // namespace covary
