#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/inference/exact_posterior.hpp"
#include "covary/inference/sparse_posterior.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

// f(x) = R^−½ Σ_r w_r φ_r(x) with normal weights: a draw from the prior's smooth part.
class PriorFunction {
 public:
  PriorFunction(const Kernel& kernel, ConstVector theta, Index dims, Index features,
                Random& random) {
    if (features < 1)
      throw InputError(fmt::format("a draw needs at least one random feature, got {}", features));
    const double scale = 1.0 / std::sqrt(static_cast<double>(features));
    const auto terms = kernel.terms(dims);
    for (const auto& term : terms) {
      if (term.node->is_white()) continue;
      for (Index r = 0; r < features; ++r) {
        auto f = term.node->random_feature(theta.data() + term.offset, dims, random);
        if (!f)
          throw Unsupported(fmt::format(
              "{} has no random features, so its draws are not functions; sample at given inputs",
              term.node->print()));
        features_.push_back(std::move(f));
        weights_.push_back(scale * random.normal());
      }
    }
  }
  Vector operator()(ConstRows X) const {
    const RowBlock rows{X.data(), X.rows(), X.cols(), X.outerStride()};
    Vector out = Vector::Zero(X.rows()), value(X.rows());
    for (std::size_t r = 0; r < features_.size(); ++r) {
      value.setConstant(weights_[r]);
      features_[r]->multiply(rows, value.data());
      out += value;
    }
    return out;
  }

 private:
  std::vector<std::unique_ptr<RandomFeature>> features_;
  std::vector<double> weights_;
};

// What white noise anywhere in the kernel puts on one row: k(x, x) as one observation less k(x, x)
// as two.
double white_variance(const KernelNode& kernel, ConstVector theta, const RowBlock& one_row) {
  double alone = 0.0, smooth = 0.0;
  kernel.diagonal(theta.data(), one_row, &alone);
  kernel.evaluate(theta.data(), {one_row, one_row, false}, &smooth);
  return std::max(0.0, alone - smooth);
}

void check_draws(Index draws) {
  if (draws < 1)
    throw InputError(fmt::format("the number of draws must be at least 1, got {}", draws));
}

}  // namespace

Matrix sample_prior(const Kernel& kernel, ConstVector theta, ConstRows X, Index draws,
                    std::uint64_t seed) {
  check_draws(draws);
  const Cholesky factor = cholesky(gram(kernel, theta, X), "the prior covariance");
  Random random(seed);
  Matrix out(X.rows(), draws);
  for (Index s = 0; s < draws; ++s) out.col(s) = random.normal_vector(X.rows());
  multiply_lower(factor.L, out);
  return out;
}

FunctionDraw sample_prior_function(const Kernel& kernel, ConstVector theta, Index dims,
                                   std::uint64_t seed, Index features) {
  Random random(seed);
  auto f = std::make_shared<PriorFunction>(kernel, theta, dims, features, random);
  return [f](ConstRows X) -> RowMatrix { return (*f)(X); };
}

std::vector<RowMatrix> ExactPosterior::sample(ConstRows X, Index draws, std::uint64_t seed) const {
  check_draws(draws);
  const Prediction marginal = predict(X);
  std::vector<RowMatrix> out(static_cast<std::size_t>(draws), marginal.mean);
  for (const Group& g : groups_) {
    const Cholesky factor =
        cholesky(covariance(X, g.pattern.columns.front()), "the posterior covariance");
    for (const Index p : g.pattern.columns) {
      Matrix noise(X.rows(), draws);
      for (Index s = 0; s < draws; ++s) {
        Random random(seed, static_cast<std::uint64_t>(s * functions() + p));
        noise.col(s) = random.normal_vector(X.rows());
      }
      multiply_lower(factor.L, noise);
      for (Index s = 0; s < draws; ++s) out[static_cast<std::size_t>(s)].col(p) += noise.col(s);
    }
  }
  return out;
}

// f | y = f₀ + k(·, X)K⁻¹(y − m − f₀(X) − ε), f₀ a prior draw and ε of the noise (Matheron's rule).
std::vector<FunctionDraw> ExactPosterior::sample_functions(Index draws, std::uint64_t seed,
                                                           Index features) const {
  check_draws(draws);
  struct Part {
    Index output;
    PriorFunction prior;
    const Group* group;
    Vector weights;
  };
  // Draws outlive the posterior they come from.
  const auto self = std::make_shared<const ExactPosterior>(*this);
  std::vector<FunctionDraw> out;
  for (Index s = 0; s < draws; ++s) {
    auto parts = std::make_shared<std::vector<Part>>();
    for (const Group& g : self->groups_)
      for (std::size_t c = 0; c < g.pattern.columns.size(); ++c) {
        const Index p = g.pattern.columns[c];
        Random random(seed, static_cast<std::uint64_t>(s * functions() + p));
        PriorFunction prior(parts_.kernel, parts_.theta, dims(), features, random);
        Vector target = self->residual(g.pattern).col(static_cast<Index>(c)) - prior(g.X);
        for (Index i = 0; i < target.size(); ++i) {
          const RowBlock row{g.X.data() + i * g.X.outerStride(), 1, dims(), g.X.outerStride()};
          double variance = parts_.noise_variance + g.factor.jitter +
                            white_variance(parts_.kernel.node(), parts_.theta, row);
          if (parts_.point_noise.size())
            variance += parts_.point_noise(g.pattern.rows[static_cast<std::size_t>(i)]);
          target(i) -= std::sqrt(variance) * random.normal();
        }
        Vector weights = g.factor.solve(target);
        parts->push_back({p, std::move(prior), &g, std::move(weights)});
      }
    out.push_back([self, parts](ConstRows X) -> RowMatrix {
      RowMatrix f = self->mean_at(X);
      for (const Part& part : *parts)
        f.col(part.output) += part.prior(X) + multiply(cross(self->parts_.kernel,
                                                             self->parts_.theta, X, part.group->X),
                                                       part.weights);
      return f;
    });
  }
  return out;
}

// f = E f + f₀ + k(·, Z)L⁻ᵀ(LB⁻ᵀε − L⁻¹(f₀(Z) + ε′)), f₀ a prior draw, LB⁻ᵀε of q(u) about its
// mean and ε′ of the jitter on Kuu.
std::vector<FunctionDraw> SparsePosterior::sample_functions(Index draws, std::uint64_t seed,
                                                            Index features) const {
  check_draws(draws);
  const SparsePosteriorParts& parts = parts_;
  if (!can(Capability::function_draws))
    throw Unsupported(fmt::format(
        "draws as functions are not available for '{}' with features '{}'; sample at given inputs",
        parts.approximation.print(), parts.features->name()));
  struct Part {
    Index output;
    PriorFunction prior;
    Vector weights;
  };
  const auto self = std::make_shared<const SparsePosterior>(*this);
  const Index M = parts.features->size();
  const auto Z = std::make_shared<const RowMatrix>(
      inducing_inputs(*parts.features, parts.values.z.data(), "draws as functions need"));
  std::vector<FunctionDraw> out;
  for (Index s = 0; s < draws; ++s) {
    auto all = std::make_shared<std::vector<Part>>();
    for (const SparseFactors& g : parts.groups)
      for (const Index p : g.columns) {
        Random random(seed, static_cast<std::uint64_t>(s * outputs_ + p));
        PriorFunction prior(parts.kernel, parts.values.theta, dims_, features, random);
        Matrix weights = prior(*Z) + std::sqrt(parts.jitter) * random.normal_vector(M);
        Matrix about = random.normal_vector(M);
        solve_lower(g.LB, about, Op::transpose);
        solve_lower(parts.Luu, weights);
        weights = about - weights;
        solve_lower(parts.Luu, weights, Op::transpose);
        all->push_back({p, std::move(prior), weights.col(0)});
      }
    out.push_back([self, all, Z](ConstRows X) -> RowMatrix {
      RowMatrix f = self->predict_mean(X);
      const Matrix k = cross(self->parts().kernel, self->parts().values.theta, X, *Z);
      for (const Part& part : *all) f.col(part.output) += part.prior(X) + multiply(k, part.weights);
      return f;
    });
  }
  return out;
}

}  // namespace covary
