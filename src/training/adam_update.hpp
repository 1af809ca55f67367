#pragma once

#include <cmath>

#include "covary/linalg/types.hpp"

namespace covary {

// The k-th step of Adam (Kingma & Ba 2015), k = 1, 2, …: moves u against the gradient g by its
// moments. Arguments are arrays of one shape, or views of them.
template <class U, class First, class Second, class Gradient>
void adam_update(U&& u, First&& first, Second&& second, const Gradient& g, double k, double rate,
                 double beta1 = 0.9, double beta2 = 0.999, double epsilon = 1e-8) {
  first = beta1 * first + (1.0 - beta1) * g;
  second = beta2 * second + (1.0 - beta2) * g.square();
  const double c1 = 1.0 - std::pow(beta1, k), c2 = 1.0 - std::pow(beta2, k);
  u -= rate / c1 * first / ((second / c2).sqrt() + epsilon);
}

}  // namespace covary
