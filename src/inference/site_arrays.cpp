// The files of posteriors through sites.
#include <fmt/format.h>

#include "covary/error.hpp"
#include "inference/posterior_arrays.hpp"
#include "inference/site_posterior.hpp"

namespace covary {

using nlohmann::json;

void SitePosterior::store(Archive& to) const {
  to.json["posterior"] = "rows";
  Container& c = to.arrays;
  json& j = to.json;
  const std::vector<FunctionPosterior>& all = of_;
  j["mean"] = mean().print();
  j["kernels"] = json::array();
  c.put_rows("X", all.front().X);
  for (std::size_t l = 0; l < all.size(); ++l) {
    const FunctionPosterior& p = all[l];
    j["kernels"].push_back(p.kernel.print());
    c.put_vector(numbered("latent", l, "theta"), p.parameters.kernel);
    c.put_vector(numbered("latent", l, "alpha"), p.alpha);
    c.put_vector(numbered("latent", l, "lambda"), p.lambda);
    if (!p.mean.is_zero())
      c.put_vector(numbered("latent", l, "mean_weights"), p.parameters.mean_weights);
  }
}

Posterior restore_rows(const Container& c, const json& j) {
  const Mean mean(j.at("mean").get<std::string>());
  const RowMatrix X = c.rows("X");
  const Index N = X.rows(), D = X.cols();
  const std::vector<Kernel> kernels = get_kernels(c, j.at("kernels"));
  check_size(c, N, D, 1);
  std::vector<FunctionPosterior> out;
  for (std::size_t l = 0; l < kernels.size(); ++l) {
    FunctionPosterior p;
    p.kernel = kernels[l];
    p.kernel.node().check(D);
    p.mean = mean;
    p.X = X;
    p.parameters.kernel = c.vector(numbered("latent", l, "theta"), p.kernel.parameter_count(D));
    p.alpha = c.vector(numbered("latent", l, "alpha"), N);
    p.lambda = c.vector(numbered("latent", l, "lambda"), N);
    if (!mean.is_zero())
      p.parameters.mean_weights =
          c.vector(numbered("latent", l, "mean_weights"), mean.basis_count(D));
    check_finite(c, X.allFinite() && p.parameters.kernel.allFinite() && p.alpha.allFinite() &&
                        p.lambda.allFinite() && p.parameters.mean_weights.allFinite());
    if (!p.factor.compute(gram(p.kernel, p.parameters.kernel, X), p.lambda))
      throw FileError(fmt::format("{}: its sites give no covariance", c.source));
    out.push_back(std::move(p));
  }
  return SitePosterior(std::move(out));
}

void SoftmaxPosterior::store(Archive& to) const {
  to.json["posterior"] = "joint";
  Container& c = to.arrays;
  json& j = to.json;
  const JointPosterior& p = of_;
  j["mean"] = p.mean.print();
  j["kernels"] = json::array();
  c.put_rows("X", p.X);
  c.put_matrix("alpha", p.alpha);
  c.put_matrix("pi", p.pi);
  for (std::size_t l = 0; l < p.kernels.size(); ++l) {
    j["kernels"].push_back(p.kernels[l].print());
    c.put_vector(numbered("latent", l, "theta"), p.parameters.kernels[l]);
  }
  if (!p.mean.is_zero()) c.put_matrix("mean_weights", p.parameters.mean_weights);
}

Posterior restore_joint(const Container& c, const json& j) {
  const Mean mean(j.at("mean").get<std::string>());
  JointPosterior p;
  p.mean = mean;
  p.X = c.rows("X");
  const Index N = p.X.rows(), D = p.X.cols();
  p.alpha = c.matrix("alpha", N);
  const Index L = p.alpha.cols();
  check_size(c, N, D, L);
  p.pi = c.matrix("pi", N, L);
  p.kernels = get_kernels(c, j.at("kernels"));
  if (p.kernels.size() != 1 && static_cast<Index>(p.kernels.size()) != L)
    throw FileError(
        fmt::format("{} has {} kernels for {} functions", c.source, p.kernels.size(), L));
  check_finite(c, p.X.allFinite() && p.alpha.allFinite() && p.pi.allFinite() &&
                      p.pi.minCoeff() >= 0.0 && p.pi.rowwise().sum().minCoeff() > 0.0);
  std::vector<Matrix> K;
  for (std::size_t l = 0; l < p.kernels.size(); ++l) {
    const Kernel& kernel = p.kernels[l];
    kernel.node().check(D);
    p.parameters.kernels.push_back(
        c.vector(numbered("latent", l, "theta"), kernel.parameter_count(D)));
    check_finite(c, p.parameters.kernels.back().allFinite());
    K.push_back(gram(kernel, p.parameters.kernels.back(), p.X));
  }
  if (!mean.is_zero()) p.parameters.mean_weights = c.matrix("mean_weights", mean.basis_count(D), L);
  check_finite(c, p.parameters.mean_weights.allFinite());
  std::vector<const Matrix*> of_class;
  for (Index l = 0; l < L; ++l)
    of_class.push_back(&K[p.kernels.size() == 1 ? 0 : static_cast<std::size_t>(l)]);
  p.factor.compute(of_class, p.pi);
  return SoftmaxPosterior(std::move(p));
}

}  // namespace covary
