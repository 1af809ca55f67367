// The file of a posterior by the factors of a collapsed bound.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/inference/sparse_posterior.hpp"
#include "inference/feature_arrays.hpp"
#include "inference/posterior_arrays.hpp"

namespace covary {

using nlohmann::json;

namespace {

std::string group_name(std::size_t g, const char* array) {
  return fmt::format("group{}.{}", g, array);
}

}  // namespace

void SparsePosterior::store(Archive& to) const {
  to.json["posterior"] = "factors";
  Container& c = to.arrays;
  json& j = to.json;
  const SparsePosteriorParts& parts = parts_;
  j["kernel"] = parts.kernel.print();
  j["mean"] = parts.mean.print();
  j["approximation"] = parts.approximation.print();
  j["groups"] = parts.groups.size();
  c.put_vector("theta", parts.values.theta);
  put_features({parts.features, parts.values.z}, "", c, j);
  c.put_vector("noise_variance", Vector::Constant(1, parts.values.noise));
  c.put_vector("jitter", Vector::Constant(1, parts.jitter));
  if (!parts.mean.is_zero()) c.put_matrix("mean_weights", parts.values.mean_weights);
  c.put_matrix("Luu", parts.Luu);
  if (parts.v.rows() > 0) {
    c.put_rows("X", parts.X);
    c.put_matrix("v", parts.v);
  }
  for (std::size_t g = 0; g < parts.groups.size(); ++g) {
    const SparseFactors& f = parts.groups[g];
    c.put_integers(group_name(g, "columns"),
                   std::vector<std::int64_t>(f.columns.begin(), f.columns.end()));
    c.put_matrix(group_name(g, "LB"), f.LB);
    c.put_matrix(group_name(g, "c"), f.c);
    c.put_vector(group_name(g, "sums"), (Vector(4) << f.rows, f.rr, f.log_w, f.term).finished());
  }
}

Posterior restore_factors(const Container& c, const json& j) {
  SparsePosteriorParts parts;
  parts.approximation = Approximation(
      j.at(j.contains("approximation") ? "approximation" : "model").get<std::string>());
  parts.kernel = Kernel(j.at("kernel").get<std::string>());
  parts.mean = Mean(j.at("mean").get<std::string>());
  StoredFeatures u = get_features(c, j, "", parts.kernel);
  const Index M = u.features->size(), D = u.features->dims();
  parts.features = std::move(u.features);
  parts.values.z = std::move(u.z);
  parts.values.theta = c.vector("theta", parts.kernel.parameter_count(D));
  parts.values.noise = c.vector("noise_variance", 1)(0);
  parts.jitter = c.vector("jitter", 1)(0);
  parts.Luu = get_factor(c, "Luu", M);
  const auto groups = j.at("groups").get<std::size_t>();
  if (groups == 0 || groups > c.tensors.size())
    throw FileError(fmt::format("{} cannot have {} groups of outputs", c.source, groups));
  std::vector<std::int64_t> seen;
  for (std::size_t g = 0; g < groups; ++g) {
    SparseFactors f;
    const auto columns = c.integers(group_name(g, "columns"));
    f.columns.assign(columns.begin(), columns.end());
    seen.insert(seen.end(), columns.begin(), columns.end());
    f.LB = get_factor(c, group_name(g, "LB"), M);
    f.c = c.matrix(group_name(g, "c"), M, static_cast<Index>(columns.size()));
    const Vector sums = c.vector(group_name(g, "sums"), 4);
    f.rows = sums(0), f.rr = sums(1), f.log_w = sums(2), f.term = sums(3);
    if (!f.c.allFinite() || !sums.allFinite() || !(f.rows >= 0.0 && f.rows < 1e15))
      throw FileError(fmt::format("{} holds values that are not finite", c.source));
    parts.groups.push_back(std::move(f));
  }
  std::sort(seen.begin(), seen.end());
  for (std::size_t p = 0; p < seen.size(); ++p)
    if (seen[p] != static_cast<std::int64_t>(p))
      throw FileError(fmt::format("{}: its groups do not have every output once", c.source));
  if (seen.empty()) throw FileError(fmt::format("{} has no outputs", c.source));
  if (!parts.mean.is_zero())
    parts.values.mean_weights =
        c.matrix("mean_weights", parts.mean.basis_count(D), static_cast<Index>(seen.size()));
  if (parts.approximation.kind == Approximation::Kind::cglb) {
    parts.X = c.rows("X");
    parts.v = c.matrix("v", parts.X.rows(), static_cast<Index>(seen.size()));
    if (parts.X.rows() == 0 || parts.X.cols() != D)
      throw FileError(fmt::format("{}: its rows are {}×{}, its inducing inputs have {} columns",
                                  c.source, parts.X.rows(), parts.X.cols(), D));
  }
  check_finite(c, parts.values.theta.allFinite() && !(parts.values.noise < 0.0) &&
                      !std::isinf(parts.values.noise) && parts.X.allFinite() &&
                      parts.v.allFinite() && parts.values.mean_weights.allFinite());
  return SparsePosterior(std::move(parts));
}

}  // namespace covary
