#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "covary/kernels/kernel.hpp"

namespace covary {

// How inducing inputs are chosen before any training; docs/inducing-inputs.md says when to use
// which.
enum class Selection {
  greedy_variance,  // the row whose value the rows chosen so far leave most uncertain, and again
  kmeans,           // the centres of clusters of rows
  hierarchical_kmeans,  // the same by repeated halving, for many of them
  random,               // distinct rows
  grid,                 // a regular grid over the box of the data, in at most 3 columns
  informative_vectors,  // by the targets, for a likelihood of one latent function
  leverage,             // distinct rows drawn in proportion to their ridge leverage scores
  bound_gain,       // of sparse regression: the row that raises the bound of VFE most, and again
  information_gain  // likewise: the row that changes the posterior of DTC most
};

// From its name as written above; print() writes it back.
Selection parse_selection(const std::string& name);
std::string print(Selection how);

// Whether the choice depends on the kernel, so that it may be made again when that is trained.
inline bool looks_at_parameters(Selection how) {
  return how != Selection::kmeans && how != Selection::hierarchical_kmeans &&
         how != Selection::random && how != Selection::grid;
}
// Whether it depends on the outputs through the approximation of sparse regression.
inline bool is_by_gain(Selection how) {
  return how == Selection::bound_gain || how == Selection::information_gain;
}

struct SelectionResult {
  RowMatrix Z;              // no two rows are equal
  std::vector<Index> rows;  // of X, where the rows of Z are rows of the data; else empty
  // tr(Kff − Qff) over the rows looked at, white noise left out; of the greedy choice, else 0.
  double residual = 0.0;
  bool on_subset = false;  // not all rows were looked at
  std::string note;        // what a user should know: a subset, fewer inputs than asked for
};

// At most M inducing inputs for the rows of X (N×D): fewer where the data have fewer distinct rows,
// or where more would say nothing new, and then the note says so. theta: the kernel's values, which
// the greedy choice and leverage look at. They and k-means look at all rows while N·M doubles fit
// in 1 GB, else at rows_to_look_at. The same bits for any number of threads. Refuses
// informative_vectors and the gains, which need targets.
SelectionResult select_inducing(Selection how, Index M, ConstRows X, const Kernel& kernel,
                                ConstVector theta, std::uint64_t seed);

// The rows that a choice with N·M numbers looks at: all while those fit in 1 GB, else a random
// max(20 000, 40·M) of them, ascending.
std::vector<Index> rows_to_look_at(Index N, Index M, std::uint64_t seed);

// k(x_i, x_i) of the smooth part, white noise left out: what inducing inputs can explain.
Vector smooth_diagonal(const Kernel& kernel, ConstVector theta, ConstRows X);

// n of N row numbers without repeats, ascending; every set of n is equally likely. O(n·log n).
std::vector<Index> sample_rows(Index N, Index n, Random random);

}  // namespace covary
