#pragma once

#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// 1/J with J = tr(Sw⁻¹Sb), the criterion of linear discriminant analysis: how small the scatter
// between classes is beside that within them. Labels count from 0, and −1 is a row of unknown
// class, which has no part in it. Adds weight · ∂(1/J)/∂X to X_bar unless null.
double class_overlap(ConstRows X, const std::vector<Index>& labels, double weight,
                     RowMatrix* X_bar);
// InputError unless there are N labels of two classes or more, and rows enough for Sw to have an
// inverse in so many dimensions.
void check_class_overlap(const std::vector<Index>& labels, Index N, Index dims);

}  // namespace covary
