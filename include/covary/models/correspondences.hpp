#pragma once

#include "covary/models/gplvm_fit.hpp"

namespace covary {

struct CorrespondenceOptions {
  Index neighbours = 1;      // 1 to predict, more to retrieve
  double relevance = 0.005;  // a view uses dimensions above this share of its largest weight
  Index iterations = 200, starts = 2;  // of the inference of q(x)
};

// What corresponds to rows of which some views are seen: the nearest training rows in the
// dimensions that the seen views and the others share, and points of the latent space for them.
struct Correspondences {
  std::vector<std::vector<Index>> rows;  // of the training data, the nearest first
  RowMatrix distances;                   // n × neighbours, of latent means scaled by √relevance
  // For the k-th neighbour, n×Q: the row's own q(x) but for the dimensions that only the unseen
  // views use, which are the neighbour's. decode() has the outputs there.
  std::vector<RowMatrix> latent;
};

// Algorithm 2 of Damianou (2015, section 5.2), for a model of several views. In Y a view with no
// output observed is to be found; at least one view must be seen and one not. Where a row is
// ambiguous q(x) may lie between modes, and dimensions private to an unseen view have nothing to
// go by: a neighbour gives them values that have been seen together. InputError where the views of
// a row share no dimension.
//
//   Correspondences c = correspondences(fit, Y, {.neighbours = 3});
//   Prediction nearest = fit.decode(c.latent.front());
Correspondences correspondences(const GplvmFit& fit, ConstRows Y,
                                const CorrespondenceOptions& options = {});

}  // namespace covary
