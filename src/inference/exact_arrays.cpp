// The file of an exact posterior.
#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/inference/exact_posterior.hpp"
#include "inference/posterior_arrays.hpp"

namespace covary {

using nlohmann::json;

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

}  // namespace

void ExactPosterior::store(Archive& to) const {
  to.json["posterior"] = "exact";
  Container& c = to.arrays;
  const ExactPosteriorParts& parts = parts_;
  to.json["kernel"] = parts.kernel.print();
  to.json["mean"] = parts.mean.print();
  c.put_rows("X", parts.X);
  if (has_outputs())
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

Posterior restore_exact(const Container& c, const json& j) {
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
  check_finite(c, parts.X.allFinite() && parts.theta.allFinite() && parts.noise_variance >= 0.0 &&
                      parts.jitter >= 0.0 && parts.mean_weights.allFinite() &&
                      parts.point_noise.allFinite());
  return ExactPosterior(std::move(parts));
}

}  // namespace covary
