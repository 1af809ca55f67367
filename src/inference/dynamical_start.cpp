// Where dynamics start: how fast the means that a model starts from move is found by likelihood.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

#include "covary/error.hpp"
#include "covary/inference/latent_inputs.hpp"
#include "inference/dynamical_site.hpp"

namespace covary {
namespace {

// Of the lengthscales, as shares of what would be usual for inputs; and of what is not smooth.
constexpr double speeds[] = {2.0,    1.0,     0.5,      0.25,      0.125,
                             0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625};
constexpr double rough[] = {1e-3, 1e-2, 1e-1, 1.0};
// What a trained nugget would go to zero from; it keeps K well conditioned.
constexpr double nugget = 1e-3;

DataScale scale_of(const RowMatrix& times, double speed) {
  DataScale out = DataScale::unit(times.cols());
  for (Index c = 0; c < times.cols(); ++c) {
    const Vector t = times.col(c);
    out.x_range(c) = std::max(t.maxCoeff() - t.minCoeff(), 1e-12);
    out.x_sd(c) = speed * std::max(std::sqrt((t.array() - t.mean()).square().mean()), 1e-12);
  }
  return out;
}

}  // namespace

// The size of the latent space is the mappings' business: the first variance stays one.
Parameters DynamicalInputs::prior_parameters(double speed) const {
  const Index d = options_.times.cols();
  Parameters out = options_.kernel.parameters(scale_of(options_.times, speed), "dynamics");
  for (const Parameter& p : out.all())
    if (p.path.ends_with(".variance")) {
      out.set(p.path, 1.0);
      out.fix(p.path);
      break;
    }
  for (const auto& term : options_.kernel.terms(d))
    if (term.node->is_white()) {
      const std::string path =
          "dynamics" + term.path.substr(std::string("kernel").size()) + ".variance";
      out.set(path, nugget);
      out.fix(path);
    }
  return out;
}

// log N(X; 0, K + rough·I) of all columns.
double DynamicalInputs::likelihood_of(ConstRows means, const Vector& theta, double noise) const {
  double sum = 0.0;
  for (const Block& b : blocks_) {
    Matrix A = gram_of(theta.data(), b);
    A.diagonal().array() += noise;
    const Matrix L = cholesky(std::move(A), "the dynamics' Gram matrix").L;
    Matrix X = means.middleRows(b.first, b.n);
    solve_lower(L, X);
    sum -= 0.5 * X.squaredNorm() + static_cast<double>(dims()) * L.diagonal().array().log().sum();
  }
  return sum;
}

// The smooth part of the means, K(K + rough·I)⁻¹X = Lv; one λ for all, such that the variances are
// about what is asked.
void DynamicalInputs::declare(Parameters& out, ConstRows means, double variance) const {
  const Index N = rows(), Q = dims();
  Parameters kernel = prior_parameters(1.0);
  std::vector<Parameters> tried;
  if (const Index given = options_.start.size()) {
    if (given != kernel.size())
      throw InputError(fmt::format("{} has {} parameters, and {} values to start from",
                                   options_.kernel.print(), kernel.size(), given));
    kernel.set_values(options_.start);
    tried.push_back(kernel);
  } else {
    for (const double speed : speeds) tried.push_back(prior_parameters(speed));
  }
  double noise = rough[0], best = -std::numeric_limits<double>::infinity();
  for (const Parameters& one : tried)
    for (const double r : rough) {
      const double value = likelihood_of(means, one.values(), r);
      if (!(value > best)) continue;
      best = value;
      kernel = one;
      noise = r;
    }
  const Vector theta = kernel.values();
  RowMatrix whitened(N, Q);
  for (const Block& b : blocks_) {
    const Gram gram = factored(theta.data(), b);
    Matrix A = gram.K, X = means.middleRows(b.first, b.n);
    A.diagonal().array() += noise;
    X = cholesky(std::move(A), "the dynamics' Gram matrix").solve(X);
    multiply_lower(gram.L, X, Op::transpose);
    whitened.middleRows(b.first, b.n) = X;
  }
  const auto typical = [&](double lambda) {
    Vector all(N);
    for (const Block& b : blocks_) {
      const Matrix K = gram_of(theta.data(), b);
      all.segment(b.first, b.n) = Site(K, Vector::Constant(b.n, lambda)).variances(K);
    }
    return all.mean();
  };
  double low = std::log(1e-4), high = std::log(1e6);
  for (int step = 0; step < 30; ++step) {
    const double middle = 0.5 * (low + high);
    (typical(std::exp(middle)) > variance ? low : high) = middle;
  }
  out.add({"latent.whitened", Eigen::Map<const Vector>(whitened.data(), N * Q), Transform::real(),
           N, Q});
  out.add(
      {"latent.precisions", Vector::Constant(N * Q, std::exp(low)), Transform::positive(), N, Q});
  for (const Parameter& p : kernel.all()) out.add(p);
}

}  // namespace covary
