#pragma once

#include <initializer_list>
#include <span>

#include "covary/autodiff/tape.hpp"

namespace covary {

Var transpose(Var A);
Var reshape(Var A, Index rows, Index cols);  // the elements in column-major order
Var block(Var A, Index row, Index col, Index rows, Index cols);
Var hstack(std::span<const Var> parts);  // side by side
Var hstack(std::initializer_list<Var> parts);
Var vstack(std::span<const Var> parts);  // one above the other
Var vstack(std::initializer_list<Var> parts);

Var diagonal(Var A);                // the diagonal of a square matrix, N×1
Var diagonal_matrix(Var d);         // N×N from N×1
Var add_to_diagonal(Var A, Var d);  // A + diag(d), or A + d·I for a 1×1 d

}  // namespace covary
