#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "covary/data/pca.hpp"

namespace covary {

struct GplvmFit;

// The latent space of a Bayesian GP-LVM of some rows, for what comes after it: the means of q(x)
// along the dimensions in use, each times √relevance, as distances in it should be taken.
class LatentFeatures {
 public:
  // InputError where the fit has no dimension in use.
  explicit LatentFeatures(GplvmFit fit);

  const GplvmFit& fit() const { return *fit_; }
  const std::vector<Index>& used() const { return used_; }  // dimensions of the fit
  Index inputs() const;
  Index size() const { return static_cast<Index>(used_.size()); }

  RowMatrix of_fit() const;                // n×size, of the rows that the fit was trained on
  RowMatrix transform(ConstRows X) const;  // of further rows, whose q(x) is inferred one by one
  RowMatrix inverse(ConstRows features) const;  // the mean of the inputs there

 private:
  RowMatrix scaled(const RowMatrix& mean) const;

  std::shared_ptr<const GplvmFit> fit_;
  std::vector<Index> used_;
  Vector scale_;
};

// What a model sees of its scaled inputs: themselves, their principal components, or the latent
// space that a GP-LVM found for them.
class InputMap {
 public:
  InputMap() = default;  // themselves
  explicit InputMap(Pca pca) : map_(std::move(pca)) {}
  explicit InputMap(LatentFeatures features) : map_(std::move(features)) {}

  explicit operator bool() const { return map_.index() != 0; }  // whether there is one at all
  const Pca* pca() const { return std::get_if<Pca>(&map_); }
  const LatentFeatures* gplvm() const { return std::get_if<LatentFeatures>(&map_); }
  // D and Q of a map that there is.
  Index inputs() const { return pca() ? pca()->inputs() : gplvm()->inputs(); }
  Index size() const { return pca() ? pca()->size() : gplvm()->size(); }

  RowMatrix transform(ConstRows X) const;
  RowMatrix inverse(ConstRows features) const;

 private:
  std::variant<std::monostate, Pca, LatentFeatures> map_;
};

}  // namespace covary
