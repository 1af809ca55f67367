#pragma once

#include <vector>

#include "covary/features/choice.hpp"

namespace covary {

// A part of a kernel that is a sum: k(x, x′) = Σ parts, each over columns of its own. White noise
// is in none of them.
struct KernelPart {
  Kernel kernel;               // of those columns alone
  std::vector<Index> columns;  // of the inputs
  Index offset = 0;            // of its parameters in theta
  const KernelNode* term;      // of the sum, to which the part belongs
};
// The terms of a sum over the columns that they see, `k@0,2` and `additive(k)` taken apart.
std::vector<KernelPart> kernel_parts(const Kernel& kernel, Index dims);
// The factors of a product likewise; one for anything that is not a product.
std::vector<KernelPart> kernel_factors(const Kernel& kernel, Index dims);

// Features of each part of such a kernel, one after the other: u of part i sees f_i alone, so that
// Kuu is block-diagonal and Kuf has the rows cov(u_i, f_i(x)). Parameters: those of part i under
// features.i. There is one element of `parts` for each of kernel_parts(kernel, dims), made for that
// kernel and its columns.
FeaturesPtr stacked_features(const Kernel& kernel, Index dims,
                             const std::vector<FeaturesPtr>& parts);

// The features stacked_features() was given; none of any others.
std::vector<FeaturesPtr> stacked_parts(const Features& features);

// M features of a kind, shared evenly between the parts, that suit the rows X; see
// start_features().
FeaturesPtr start_stacked(FeatureChoice kind, const FeatureStart& start);

}  // namespace covary
