#pragma once

#include "covary/models/model_choice.hpp"

namespace covary {

// Whether training reads its rows from a file, in memory that does not grow with them: when it was
// asked for (InputError if something else that was asked for forbids it), or when a sparse model's
// table would be too large, and then a line says so.
bool streams(const std::string& train, const FitOptions& o, const ModelChoice& choice,
             const Tell& tell);

// As read_training, but the rows stay in a file: in the table itself, if it is an NPY file whose
// target is no class and every row is kept, else in a temporary one.
ModelData stream_training(const std::string& train, const FitOptions& o, const Tell& tell);

}  // namespace covary
