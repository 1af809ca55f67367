#include "inference/function_arrays.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "inference/feature_arrays.hpp"
#include "inference/posterior_arrays.hpp"

namespace covary {
namespace {

using nlohmann::json;

constexpr std::size_t most_latents = 10000;

std::string array(const char* of, std::size_t i, const char* name) {
  return fmt::format("{}{}.{}", of, i, name);
}

void check_finite(const Container& c, bool finite) {
  if (!finite) throw FileError(fmt::format("{} holds values that are not finite", c.source));
}

std::size_t count(const Container& c, const json& j) {
  const auto n = j.size();
  if (!j.is_array() || n == 0 || n > most_latents)
    throw FileError(fmt::format("{} cannot have {} kernels", c.source, n));
  return n;
}

void put_rows(const std::vector<LatentPosterior>& all, Container& c, json& j) {
  c.put_rows("X", all.front().X);
  for (std::size_t l = 0; l < all.size(); ++l) {
    const LatentPosterior& p = all[l];
    j["kernels"].push_back(p.kernel.print());
    c.put_vector(array("latent", l, "theta"), p.parameters.kernel);
    c.put_vector(array("latent", l, "alpha"), p.alpha);
    c.put_vector(array("latent", l, "lambda"), p.lambda);
    if (!p.mean.is_zero())
      c.put_vector(array("latent", l, "mean_weights"), p.parameters.mean_weights);
  }
}

std::vector<LatentPosterior> get_rows(const Container& c, const json& j, const Mean& mean) {
  const RowMatrix X = c.rows("X");
  const Index N = X.rows(), D = X.cols();
  const std::size_t L = count(c, j.at("kernels"));
  check_size(c, N, D, 1);
  std::vector<LatentPosterior> out;
  for (std::size_t l = 0; l < L; ++l) {
    LatentPosterior p;
    p.kernel = Kernel(j.at("kernels").at(l).get<std::string>());
    p.kernel.node().check(D);
    p.mean = mean;
    p.X = X;
    p.parameters.kernel = c.vector(array("latent", l, "theta"), p.kernel.parameter_count(D));
    p.alpha = c.vector(array("latent", l, "alpha"), N);
    p.lambda = c.vector(array("latent", l, "lambda"), N);
    if (!mean.is_zero())
      p.parameters.mean_weights = c.vector(array("latent", l, "mean_weights"), mean.basis_count(D));
    check_finite(c, X.allFinite() && p.parameters.kernel.allFinite() && p.alpha.allFinite() &&
                        p.lambda.allFinite() && p.parameters.mean_weights.allFinite());
    if (!p.factor.compute(gram(p.kernel, p.parameters.kernel, X), p.lambda))
      throw FileError(fmt::format("{}: its sites give no covariance", c.source));
    out.push_back(std::move(p));
  }
  return out;
}

// The classes of softmax, correlated.
void put_joint(const JointPosterior& p, Container& c, json& j) {
  c.put_rows("X", p.X);
  c.put_matrix("alpha", p.alpha);
  c.put_matrix("pi", p.pi);
  for (std::size_t l = 0; l < p.kernels.size(); ++l) {
    j["kernels"].push_back(p.kernels[l].print());
    c.put_vector(array("latent", l, "theta"), p.parameters.kernels[l]);
  }
  if (!p.mean.is_zero()) c.put_matrix("mean_weights", p.parameters.mean_weights);
}

JointPosterior get_joint(const Container& c, const json& j, const Mean& mean) {
  JointPosterior p;
  p.mean = mean;
  p.X = c.rows("X");
  const Index N = p.X.rows(), D = p.X.cols();
  p.alpha = c.matrix("alpha", N);
  const Index L = p.alpha.cols();
  check_size(c, N, D, L);
  p.pi = c.matrix("pi", N, L);
  const std::size_t count_of_kernels = count(c, j.at("kernels"));
  if (count_of_kernels != 1 && static_cast<Index>(count_of_kernels) != L)
    throw FileError(
        fmt::format("{} has {} kernels for {} latent functions", c.source, count_of_kernels, L));
  check_finite(c, p.X.allFinite() && p.alpha.allFinite() && p.pi.allFinite() &&
                      p.pi.minCoeff() >= 0.0 && p.pi.rowwise().sum().minCoeff() > 0.0);
  std::vector<Matrix> K;
  p.kernels.clear();
  for (std::size_t l = 0; l < count_of_kernels; ++l) {
    p.kernels.emplace_back(j.at("kernels").at(l).get<std::string>());
    p.kernels.back().node().check(D);
    p.parameters.kernels.push_back(
        c.vector(array("latent", l, "theta"), p.kernels.back().parameter_count(D)));
    check_finite(c, p.parameters.kernels.back().allFinite());
    K.push_back(gram(p.kernels.back(), p.parameters.kernels.back(), p.X));
  }
  if (!mean.is_zero()) p.parameters.mean_weights = c.matrix("mean_weights", mean.basis_count(D), L);
  check_finite(c, p.parameters.mean_weights.allFinite());
  std::vector<const Matrix*> of_class;
  for (Index l = 0; l < L; ++l)
    of_class.push_back(&K[count_of_kernels == 1 ? 0 : static_cast<std::size_t>(l)]);
  p.factor.compute(of_class, p.pi);
  return p;
}

void put_inducing(const InducingPosterior& posterior, Container& c, json& j) {
  const InducingPosteriorParts& all = posterior.parts();
  for (std::size_t i = 0; i < all.parts.size(); ++i) {
    const InducingPart& p = all.parts[i];
    j["kernels"].push_back(p.kernel.print());
    c.put_vector(array("part", i, "theta"), p.theta);
    put_features({p.features, p.z}, array("part", i, ""), c, j);
    c.put_matrix(array("part", i, "Luu"), p.Luu);
    c.put_vector(array("part", i, "jitter"), Vector::Constant(1, p.jitter));
  }
  if (!all.mean.is_zero()) c.put_matrix("mean_weights", all.mean_weights);
  c.put_matrix("q.m", all.q.m);
  for (std::size_t l = 0; l < all.q.Ls.size(); ++l)
    c.put_matrix(array("q", l, "Ls"), Matrix(all.q.Ls[l].triangularView<Eigen::Lower>()));
}

InducingPosterior get_inducing(const Container& c, const json& j, const Mean& mean) {
  InducingPosteriorParts out;
  out.mean = mean;
  out.q.m = c.matrix("q.m");
  const Index M = out.q.m.rows();
  const std::size_t count_of_parts = count(c, j.at("kernels"));
  for (std::size_t i = 0; i < count_of_parts; ++i) {
    InducingPart p;
    p.kernel = Kernel(j.at("kernels").at(i).get<std::string>());
    StoredFeatures u = get_features(c, j, array("part", i, ""), p.kernel);
    const Index D = u.features->dims();
    check_size(c, M, D, out.q.m.cols());
    if (u.features->size() != M)
      throw FileError(fmt::format("{}: {} features for {} inducing variables", c.source,
                                  u.features->size(), M));
    p.features = std::move(u.features);
    p.z = std::move(u.z);
    p.theta = c.vector(array("part", i, "theta"), p.kernel.parameter_count(D));
    p.Luu = get_factor(c, array("part", i, "Luu"), M);
    p.jitter = c.vector(array("part", i, "jitter"), 1)(0);
    check_finite(c, p.theta.allFinite() && p.z.allFinite());
    out.parts.push_back(std::move(p));
  }
  for (Index l = 0; l < out.q.m.cols(); ++l)
    out.q.Ls.push_back(get_factor(c, array("q", static_cast<std::size_t>(l), "Ls"), M));
  if (!mean.is_zero())
    out.mean_weights = c.matrix(
        "mean_weights", mean.basis_count(out.parts.front().features->dims()), out.q.m.cols());
  check_finite(c, out.q.m.allFinite() && out.mean_weights.allFinite());
  return InducingPosterior(std::move(out));
}

}  // namespace

void put_functions(const FunctionPosterior& posterior, Container& c, json& j) {
  j["functions"] = posterior.is_sparse() ? "inducing" : posterior.is_joint() ? "joint" : "rows";
  j["mean"] = posterior.mean().print();
  j["kernels"] = json::array();
  if (posterior.is_sparse())
    put_inducing(posterior.inducing(), c, j);
  else if (posterior.is_joint())
    put_joint(posterior.joint(), c, j);
  else
    put_rows(posterior.latent(), c, j);
}

FunctionPosterior get_functions(const Container& c, const json& j) {
  const Mean mean(j.at("mean").get<std::string>());
  const auto kind = j.at("functions").get<std::string>();
  if (kind == "rows") return get_rows(c, j, mean);
  if (kind == "joint") return get_joint(c, j, mean);
  if (kind == "inducing") return get_inducing(c, j, mean);
  throw FileError(fmt::format(
      "{} holds latent functions of kind '{}', which this build does not know", c.source, kind));
}

}  // namespace covary
