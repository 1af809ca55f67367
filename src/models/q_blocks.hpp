#pragma once

#include <fmt/format.h>

#include <vector>

#include "covary/error.hpp"
#include "covary/inference/natural_gradient.hpp"
#include "covary/training/problem.hpp"

namespace covary {

// q(u) as training keeps it: by its means and precisions, from which its factors come with the same
// bits.
inline Blocks blocks_of(const NaturalGaussian& q) {
  Blocks out{q.q().m};
  out.insert(out.end(), q.precision().begin(), q.precision().end());
  return out;
}

// The same of as many variables and functions, and the form, of `like`; InputError where the blocks
// are of another.
inline NaturalGaussian q_of(const Blocks& blocks, NaturalGaussian like) {
  const Index M = like.size(), L = like.q().m.cols();
  const bool may_be_thin = like.form().kind == CovarianceForm::Kind::diagonal;
  bool fits =
      static_cast<Index>(blocks.size()) == L + 1 && blocks[0].rows() == M && blocks[0].cols() == L;
  for (std::size_t l = 1; fits && l < blocks.size(); ++l)
    fits = blocks[l].rows() == M && blocks[l].cols() == blocks[1].cols() &&
           (blocks[l].cols() == M || (blocks[l].cols() == 1 && may_be_thin));
  if (!fits || !like.set(blocks[0], {blocks.begin() + 1, blocks.end()}))
    throw InputError(fmt::format(
        "the state to resume does not have a q(u) of {} inducing variables and {} functions", M,
        L));
  return like;
}

// A natural-gradient step, halved until `accepts` holds where it leads, at most so often; q stays
// where it never does. Returns how often it was halved.
template <class Accepts>
Index halved_step(NaturalGaussian& q, const Matrix& g, const std::vector<Matrix>& H, double gamma,
                  Index most, const Accepts& accepts) {
  const NaturalGaussian before = q;
  for (Index halved = 0; halved < most; ++halved, gamma *= 0.5) {
    if (q.step(g, H, gamma) >= 0 && accepts()) return halved;
    q = before;
  }
  return most;
}

}  // namespace covary
