#include "inference/site_posterior.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/inference/uncertain_inputs.hpp"
#include "covary/linalg/blas.hpp"

namespace covary {
namespace {

bool offered(Capability c) {
  return c == Capability::components || c == Capability::gradients ||
         c == Capability::training_inputs;
}

double numbers(Index rows, Index functions, Index dims) {
  const double N = static_cast<double>(rows);
  return N * static_cast<double>(functions + dims) + N * N * static_cast<double>(functions);
}

}  // namespace

SitePosterior::SitePosterior(std::vector<FunctionPosterior> of) : of_(std::move(of)) {
  if (of_.empty()) throw InputError("a posterior needs at least one latent function");
}

bool SitePosterior::can(Capability c) const {
  return offered(c) || (c == Capability::gaussian_inputs && mean().is_zero());
}

const FunctionPosterior& SitePosterior::part(Index function) const {
  check_function(function);
  return of_[static_cast<std::size_t>(function)];
}

FunctionMarginals SitePosterior::marginals(ConstRows X) const {
  check_inputs(X);
  FunctionMarginals out{Matrix(X.rows(), functions()), Matrix(X.rows(), functions())};
  for (Index l = 0; l < functions(); ++l) {
    const FunctionMarginals one = part(l).predict(X);
    out.mean.col(l) = one.mean;
    out.variance.col(l) = one.variance;
  }
  return out;
}

std::vector<RowFunctions> SitePosterior::by_rows() const {
  std::vector<RowFunctions> out;
  for (std::size_t l = 0; l < of_.size(); ++l) {
    const FunctionPosterior& p = of_[l];
    out.push_back({{static_cast<Index>(l)},
                   p.kernel,
                   p.parameters.kernel,
                   p.X,
                   {p.alpha.data(), p.alpha.size(), 1},
                   [&p](Matrix k) { return p.factor.reduction(std::move(k)); },
                   [&p](ConstMatrix k) { return p.factor.apply_block(k); }});
  }
  return out;
}

UncertainInputs SitePosterior::at_gaussians() const {
  if (!mean().is_zero())
    refuse(fmt::format("uncertain inputs need a zero mean function, not '{}'", mean().print()));
  return UncertainInputs(*this);
}

double SitePosterior::stored_numbers() const { return numbers(rows(), functions(), dims()); }

bool SoftmaxPosterior::can(Capability c) const { return offered(c); }

std::size_t SoftmaxPosterior::part(Index function) const {
  check_function(function);
  return of_.kernels.size() == 1 ? 0 : static_cast<std::size_t>(function);
}

FunctionMarginals SoftmaxPosterior::marginals(ConstRows X) const {
  check_inputs(X);
  JointMarginals f = of_.predict(X);
  FunctionMarginals out = f.each();
  out.between = std::move(f.covariance);
  return out;
}

std::vector<RowFunctions> SoftmaxPosterior::by_rows() const {
  std::vector<RowFunctions> out;
  for (Index c = 0; c < functions(); ++c) {
    const auto R = std::make_shared<const Matrix>(of_.factor.dense(c));
    out.push_back({{c},
                   kernel(c),
                   theta(c),
                   of_.X,
                   {of_.alpha.col(c).data(), of_.alpha.rows(), 1},
                   [R](Matrix k) -> Vector {
                     return k.cwiseProduct(product(*R, k)).colwise().sum().transpose();
                   },
                   [R](ConstMatrix k) { return product(*R, k); }});
  }
  return out;
}

double SoftmaxPosterior::stored_numbers() const { return numbers(rows(), functions(), dims()); }

}  // namespace covary
