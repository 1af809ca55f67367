#pragma once

#include <cstdint>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

struct Clusters {
  RowMatrix centres;         // K×D; each is the mean of its rows
  std::vector<Index> label;  // of each row, its centre
  double spread = 0.0;       // Σ |x − centre|² over the rows
  int iterations = 0;
};

// Lloyd's iterations from a k-means++ start (Arthur & Vassilvitskii 2007), until the spread falls
// by less than 1e-4 of itself, 50 at most. A centre left without rows moves to the row furthest
// from its own. O(N·K·D) an iteration; the same bits for any number of threads. X with fewer
// distinct rows than K gives one centre for each of them.
Clusters kmeans(ConstRows X, Index K, std::uint64_t seed);

// For many centres: the cluster of the largest spread is split in two by k-means, until there are
// K. Near O(N·D·log K) in all, the clusters a little looser than those of kmeans().
Clusters hierarchical_kmeans(ConstRows X, Index K, std::uint64_t seed);

}  // namespace covary
