// The file of a posterior by q(u).
#include <fmt/format.h>

#include "covary/error.hpp"
#include "inference/feature_arrays.hpp"
#include "inference/inducing_posterior.hpp"
#include "inference/posterior_arrays.hpp"

namespace covary {

using nlohmann::json;

void InducingPosterior::store(Archive& to) const {
  to.json["posterior"] = "inducing";
  Container& c = to.arrays;
  json& j = to.json;
  const InducingPosteriorParts& all = parts_;
  j["mean"] = all.mean.print();
  j["approximation"] = all.approximation.print();
  j["kernels"] = json::array();
  for (std::size_t i = 0; i < all.parts.size(); ++i) {
    const InducingPart& p = all.parts[i];
    j["kernels"].push_back(p.kernel.print());
    c.put_vector(numbered("part", i, "theta"), p.theta);
    put_features({p.features, p.z}, numbered("part", i, ""), c, j);
    c.put_matrix(numbered("part", i, "Luu"), p.Luu);
    c.put_vector(numbered("part", i, "jitter"), Vector::Constant(1, p.jitter));
  }
  if (!all.mean.is_zero()) c.put_matrix("mean_weights", all.mean_weights);
  if (is_mixed()) c.put_matrix("mixing", all.mixing);
  c.put_matrix("q.m", all.q.m);
  for (std::size_t l = 0; l < all.q.Ls.size(); ++l)
    c.put_matrix(numbered("q", l, "Ls"), Matrix(all.q.Ls[l].triangularView<Eigen::Lower>()));
}

Posterior restore_inducing(const Container& c, const json& j) {
  const Mean mean(j.at("mean").get<std::string>());
  InducingPosteriorParts out;
  out.mean = mean;
  out.approximation = Approximation(j.value("approximation", std::string("vfe")));
  out.q.m = c.matrix("q.m");
  const Index M = out.q.m.rows();
  const std::vector<Kernel> kernels = get_kernels(c, j.at("kernels"));
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    InducingPart p;
    p.kernel = kernels[i];
    StoredFeatures u = get_features(c, j, numbered("part", i, ""), p.kernel);
    const Index D = u.features->dims();
    check_size(c, M, D, out.q.m.cols());
    if (u.features->size() != M)
      throw FileError(fmt::format("{}: {} features for {} inducing variables", c.source,
                                  u.features->size(), M));
    p.features = std::move(u.features);
    p.z = std::move(u.z);
    p.theta = c.vector(numbered("part", i, "theta"), p.kernel.parameter_count(D));
    p.Luu = get_factor(c, numbered("part", i, "Luu"), M);
    p.jitter = c.vector(numbered("part", i, "jitter"), 1)(0);
    check_finite(c, p.theta.allFinite() && p.z.allFinite());
    out.parts.push_back(std::move(p));
  }
  for (Index l = 0; l < out.q.m.cols(); ++l)
    out.q.Ls.push_back(get_factor(c, numbered("q", static_cast<std::size_t>(l), "Ls"), M));
  if (c.has("mixing")) out.mixing = c.matrix("mixing", -1, out.q.m.cols());
  const Index outputs = out.mixing.size() ? out.mixing.rows() : out.q.m.cols();
  if (!mean.is_zero())
    out.mean_weights =
        c.matrix("mean_weights", mean.basis_count(out.parts.front().features->dims()), outputs);
  check_finite(c, out.q.m.allFinite() && out.mean_weights.allFinite() && out.mixing.allFinite());
  return InducingPosterior(std::move(out));
}

}  // namespace covary
