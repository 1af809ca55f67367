#include "inference/posterior_arrays.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "inference/feature_arrays.hpp"

namespace covary {

using nlohmann::json;

void check_size(const Container& c, Index rows, Index dims, Index outputs) {
  if (rows == 0 || dims == 0 || outputs == 0)
    throw FileError(
        fmt::format("{} holds a model of {} rows, {} inputs and {} outputs: no rows or "
                    "no columns",
                    c.source, rows, dims, outputs));
  const double n = static_cast<double>(rows), bytes = 8.0 * n * n,
               memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                        static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (bytes > memory)
    throw FileError(
        fmt::format("{} holds an exact model of {} rows, whose factor takes {:.3g} GB: more than "
                    "the memory of this machine, {:.3g} GB",
                    c.source, rows, bytes / 1e9, memory / 1e9));
}

Matrix get_factor(const Container& c, const std::string& name, Index M) {
  Matrix L = c.matrix(name, M, M);
  for (Index k = 0; k < M; ++k) {
    if (!(L(k, k) > 0.0) || !L.col(k).allFinite())
      throw FileError(fmt::format("{}: {} is no factor of a covariance", c.source, name));
    L.col(k).head(k).setZero();
  }
  return L;
}

namespace {

// How many rows each update added: they are the last ones, and the first rows stay.
std::vector<Index> appended_rows(const Container& c, Index rows) {
  std::vector<Index> out;
  for (const std::int64_t m : c.integers("appended")) {
    if (m < 1 || m >= rows)
      throw FileError(
          fmt::format("{}: an update cannot have added {} of {} rows", c.source, m, rows));
    rows -= m;
    out.push_back(m);
  }
  return out;
}

void put_exact(const ExactPosterior& posterior, Container& c) {
  const ExactPosteriorParts& parts = posterior.parts();
  c.put_rows("X", parts.X);
  if (posterior.has_outputs())
    c.put_rows("Y", parts.Y);
  else
    c.put_rows("alpha", parts.alpha);
  if (!parts.appended.empty())
    c.put_integers("appended",
                   std::vector<std::int64_t>(parts.appended.begin(), parts.appended.end()));
  c.put_vector("theta", parts.theta);
  if (!parts.mean.is_zero()) c.put_matrix("mean_weights", parts.mean_weights);
  c.put_vector("noise_variance", Vector::Constant(1, parts.noise_variance));
  c.put_vector("jitter", Vector::Constant(1, parts.jitter));
  if (parts.point_noise.size()) c.put_vector("point_noise", parts.point_noise);
}

ExactPosterior get_exact(const Container& c, const json& j) {
  ExactPosteriorParts parts;
  parts.kernel = Kernel(j.at("kernel").get<std::string>());
  parts.mean = Mean(j.at("mean").get<std::string>());
  parts.noise_variance = c.vector("noise_variance", 1)(0);
  parts.jitter = c.vector("jitter", 1)(0);
  parts.X = c.rows("X");
  const bool outputs = !c.has("alpha");
  (outputs ? parts.Y : parts.alpha) = c.rows(outputs ? "Y" : "alpha", parts.X.rows());
  const Index D = parts.X.cols(), P = (outputs ? parts.Y : parts.alpha).cols();
  check_size(c, parts.X.rows(), D, P);
  if (c.has("appended")) parts.appended = appended_rows(c, parts.X.rows());
  parts.kernel.node().check(D);
  parts.theta = c.vector("theta", parts.kernel.parameter_count(D));
  if (parts.mean.is_zero())
    parts.mean_weights = Matrix(0, P);
  else
    parts.mean_weights = c.matrix("mean_weights", parts.mean.basis_count(D), P);
  if (c.has("point_noise")) parts.point_noise = c.vector("point_noise", parts.X.rows());
  if (!parts.X.allFinite() || !parts.theta.allFinite() || !(parts.noise_variance >= 0.0) ||
      !(parts.jitter >= 0.0) || !parts.mean_weights.allFinite() || !parts.point_noise.allFinite())
    throw FileError(fmt::format("{} holds values that are not finite", c.source));
  return ExactPosterior(std::move(parts));
}

std::string group_name(std::size_t g, const char* array) {
  return fmt::format("group{}.{}", g, array);
}

void put_sparse(const SparsePosterior& posterior, Container& c, json& j) {
  const SparsePosteriorParts& parts = posterior.parts();
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

SparsePosterior get_sparse(const Container& c, const json& j) {
  SparsePosteriorParts parts;
  parts.approximation = Approximation(j.at("model").get<std::string>());
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
  if (!parts.values.theta.allFinite() || !(parts.values.noise >= 0.0) || !parts.X.allFinite() ||
      !parts.v.allFinite() || !parts.values.mean_weights.allFinite())
    throw FileError(fmt::format("{} holds values that are not finite", c.source));
  return SparsePosterior(std::move(parts));
}

}  // namespace

void put_posterior(const RegressionPosterior& posterior, Container& c, json& j) {
  j["model"] = posterior.model();
  j["kernel"] = posterior.kernel().print();
  j["mean"] = posterior.mean().print();
  if (posterior.is_exact())
    put_exact(posterior.exact(), c);
  else
    put_sparse(posterior.sparse(), c, j);
}

RegressionPosterior get_posterior(const Container& c, const json& j) {
  const auto model = j.at("model").get<std::string>();
  if (model == "exact") return get_exact(c, j);
  if (j.contains("features")) return get_sparse(c, j);
  throw FileError(fmt::format("{} holds a model of kind '{}', which this build does not know",
                              c.source, model));
}

}  // namespace covary
