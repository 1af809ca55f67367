#include "covary/models/input_map.hpp"

#include <cmath>

#include "covary/error.hpp"
#include "covary/models/gplvm_fit.hpp"

namespace covary {

LatentFeatures::LatentFeatures(GplvmFit fit)
    : fit_(std::make_shared<const GplvmFit>(std::move(fit))), used_(fit_->active()) {
  if (used_.empty())
    throw InputError("the GP-LVM found no latent dimension; use the inputs themselves or --pca");
  const Vector relevance = fit_->relevance().colwise().maxCoeff();
  scale_ = relevance(used_).cwiseSqrt();
}

Index LatentFeatures::inputs() const { return fit_->outputs(); }

RowMatrix LatentFeatures::scaled(const RowMatrix& mean) const {
  RowMatrix out = mean(Eigen::all, used_);
  out.array().rowwise() *= scale_.transpose().array();
  return out;
}

RowMatrix LatentFeatures::of_fit() const { return scaled(fit_->mean); }

RowMatrix LatentFeatures::transform(ConstRows X) const { return scaled(fit_->infer(X).mean); }

RowMatrix LatentFeatures::inverse(ConstRows features) const {
  RowMatrix x = RowMatrix::Zero(features.rows(), fit_->latent());
  x(Eigen::all, used_) = features.array().rowwise() / scale_.transpose().array();
  return fit_->decode(x).mean;
}

RowMatrix InputMap::transform(ConstRows X) const {
  return pca() ? pca()->transform(X) : gplvm() ? gplvm()->transform(X) : RowMatrix(X);
}

RowMatrix InputMap::inverse(ConstRows features) const {
  return pca()     ? pca()->inverse(features)
         : gplvm() ? gplvm()->inverse(features)
                   : RowMatrix(features);
}

}  // namespace covary
