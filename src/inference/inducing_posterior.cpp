#include "inference/inducing_posterior.hpp"

#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/inference/compression.hpp"
#include "covary/inference/uncertain_inputs.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/sparse_blocks.hpp"

namespace covary {

InducingPosterior::InducingPosterior(InducingPosteriorParts parts) : parts_(std::move(parts)) {
  const auto& q = parts_.q;
  const Index L = q.m.cols(), M = q.m.rows();
  const auto count = static_cast<Index>(parts_.parts.size());
  if (L == 0 || static_cast<Index>(q.Ls.size()) != L || (count != 1 && count != L))
    throw InputError(
        fmt::format("q(v) has {} means and {} factors for {} kernels: a posterior needs one of "
                    "each, and one kernel or as many",
                    L, q.Ls.size(), count));
  for (const auto& p : parts_.parts)
    if (!p.features || p.features->size() != M || p.Luu.rows() != M || p.Luu.cols() != M ||
        p.features->dims() != dims())
      throw InputError(fmt::format("q(v) has {} rows, which its inducing variables do not fit", M));
  for (const Matrix& factor : q.Ls)
    if (factor.rows() != M || factor.cols() != M)
      throw InputError(fmt::format("a factor of q(v) is {}×{} for {} inducing variables",
                                   factor.rows(), factor.cols(), M));
  if (is_mixed() && (parts_.mixing.cols() != L || !parts_.mixing.allFinite()))
    throw InputError(
        fmt::format("a mixing of {}×{} for {} functions; it needs finite weights of each",
                    parts_.mixing.rows(), parts_.mixing.cols(), L));
  if (!parts_.mean.is_zero() && (parts_.mean_weights.rows() != parts_.mean.basis_count(dims()) ||
                                 parts_.mean_weights.cols() != functions()))
    throw InputError("the weights of the mean function do not fit it");
}

FunctionMarginals InducingPosterior::marginals(ConstRows X) const {
  check_inputs(X);
  const Index n = X.rows(), L = own_functions();
  FunctionMarginals out{Matrix::Zero(n, L), Matrix(n, L)};
  const auto mean = [&] { return product(parts_.mean.basis(X), parts_.mean_weights); };
  if (!parts_.mean.is_zero() && !is_mixed()) out.mean = mean();
  for_blocks(n, [&](Index first, Index size) {
    const RowBlock x = rows_of(X, first, size);
    Matrix a;
    Vector residual(size);
    for (Index l = 0; l < L; ++l) {
      if (l < static_cast<Index>(parts_.parts.size())) {  // else shared with the one before
        const InducingPart& p = parts_.parts[static_cast<std::size_t>(l)];
        a = whitened(*p.features, p.theta.data(), p.z.data(), p.Luu, x);
        p.kernel.node().diagonal(p.theta.data(), x, residual.data());
        residual = (residual - a.colwise().squaredNorm().transpose()).cwiseMax(0.0).eval();
      }
      out.mean.col(l).segment(first, size) += multiply(a, parts_.q.m.col(l), Op::transpose);
      Matrix spread = a;
      multiply_lower(parts_.q.Ls[static_cast<std::size_t>(l)], spread, Op::transpose);
      out.variance.col(l).segment(first, size) =
          residual + spread.colwise().squaredNorm().transpose();
    }
  });
  if (!is_mixed()) return out;
  const Matrix& W = parts_.mixing;
  out.mean = product(out.mean, W, Op::none, Op::transpose);
  out.variance = product(out.variance, W.cwiseAbs2(), Op::none, Op::transpose);
  if (!parts_.mean.is_zero()) out.mean += mean();
  return out;
}

void InducingPosterior::check_inputs(ConstRows X) const {
  if (X.cols() != dims())
    throw InputError(fmt::format(
        "the model was trained on {} input columns, the new inputs have {}", dims(), X.cols()));
  if (!X.allFinite()) throw InputError("predictions need finite inputs");
}

bool InducingPosterior::can(Capability c) const {
  const bool shared = parts_.parts.size() == 1,
             points =
                 parts_.parts.front().features->inputs(parts_.parts.front().z.data()).has_value();
  switch (c) {
    case Capability::components:
    case Capability::gradients:
    case Capability::inducing:
      return true;
    case Capability::further_rows:
      return shared && !is_mixed();
    case Capability::compression:
    case Capability::function_draws:
      return shared && points && !is_mixed();
    case Capability::gaussian_inputs:
      return shared && parts_.mean.is_zero() && !is_mixed() &&
             parts_.parts.front().features->input_moments(parts_.parts.front().theta.data(),
                                                          parts_.parts.front().z.data());
    default:
      return false;
  }
}

void InducingPosterior::check_function(Index function) const {
  if (function < 0 || function >= functions())
    throw InputError(
        fmt::format("there is no function {}, the model has {}", function, functions()));
}

const InducingPart& InducingPosterior::part(Index function) const {
  if (!is_mixed()) check_function(function);
  if (function < 0 || function >= own_functions())
    throw InputError(fmt::format("there is no function {} behind the outputs, which mix {}",
                                 function, own_functions()));
  return parts_.parts[parts_.parts.size() == 1 ? 0 : static_cast<std::size_t>(function)];
}

SparsePosterior InducingPosterior::by_precision(Index number) const {
  const InducingPart& p = parts_.parts[static_cast<std::size_t>(number)];
  const bool shared = parts_.parts.size() == 1;
  // The mean is one of the mixtures, where there are any.
  const Mean mean = is_mixed() ? Mean() : parts_.mean;
  SparseValues values{p.theta, p.z, std::nan(""), is_mixed() ? Matrix() : parts_.mean_weights};
  if (!shared && values.mean_weights.size())
    values.mean_weights = Matrix(parts_.mean_weights.col(number));
  std::vector<SparseFactors> factors;
  for (Index l = shared ? 0 : number; l < (shared ? own_functions() : number + 1); ++l) {
    const Matrix& Ls = parts_.q.Ls[static_cast<std::size_t>(l)];
    SparseFactors f;
    f.columns = {shared ? l : 0};
    f.LB = cholesky(Cholesky{Ls.triangularView<Eigen::Lower>(), 0.0}.inverse(),
                    "the precision of q(u)")
               .L;
    f.c = parts_.q.m.col(l);
    multiply_lower(f.LB, f.c, Op::transpose);
    factors.push_back(std::move(f));
  }
  return SparsePosterior({parts_.approximation, p.kernel, mean, p.features, std::move(values),
                          p.Luu, p.jitter, std::move(factors)});
}

SparsePosterior InducingPosterior::by_precision() const {
  if (is_mixed())
    refuse(fmt::format("this is not available for mixtures of {} functions", own_functions()));
  if (parts_.parts.size() > 1)
    refuse(fmt::format("this needs one kernel for all functions and there are {}",
                       parts_.parts.size()));
  return by_precision(0);
}

double InducingPosterior::log_evidence() const {
  double sum = 0.0;
  for (std::size_t i = 0; i < parts_.parts.size(); ++i)
    sum += by_precision(static_cast<Index>(i)).log_evidence();
  return sum;
}

std::vector<ComponentPrediction> InducingPosterior::components(ConstRows X) const {
  auto out = by_precision(0).components(X);
  for (std::size_t l = 1; l < parts_.parts.size(); ++l) {
    const auto own = by_precision(static_cast<Index>(l)).components(X);
    for (std::size_t t = 0; t < out.size(); ++t) {
      out[t].mean.conservativeResize(Eigen::NoChange, static_cast<Index>(l) + 1);
      out[t].variance.conservativeResize(Eigen::NoChange, static_cast<Index>(l) + 1);
      out[t].mean.rightCols(1) = own[t].mean;
      out[t].variance.rightCols(1) = own[t].variance;
    }
  }
  if (!is_mixed()) return out;
  const Matrix& W = parts_.mixing;
  for (ComponentPrediction& term : out) {
    term.mean = product(Matrix(term.mean), W, Op::none, Op::transpose);
    term.variance = product(Matrix(term.variance), W.cwiseAbs2(), Op::none, Op::transpose);
  }
  return out;
}

PredictionGradient InducingPosterior::gradient(ConstRows X, Index function) const {
  check_function(function);
  if (is_mixed()) {
    PredictionGradient out{RowMatrix::Zero(X.rows(), dims()), RowMatrix::Zero(X.rows(), dims())};
    if (!parts_.mean.is_zero())
      out.mean = parts_.mean.gradient(X, parts_.mean_weights.col(function));
    const bool shared = parts_.parts.size() == 1;
    for (Index l = 0; l < own_functions(); ++l) {
      const double w = parts_.mixing(function, l);
      const PredictionGradient own = by_precision(shared ? 0 : l).gradient(X, shared ? l : 0);
      out.mean += w * own.mean;
      out.variance += w * w * own.variance;
    }
    return out;
  }
  return parts_.parts.size() == 1 ? by_precision(0).gradient(X, function)
                                  : by_precision(function).gradient(X, 0);
}

std::vector<FunctionDraw> InducingPosterior::sample_functions(Index draws, std::uint64_t seed,
                                                              Index features) const {
  return by_precision().sample_functions(draws, seed, features);
}

UncertainInputs InducingPosterior::at_gaussians() const { return by_precision().at_gaussians(); }

Posterior InducingPosterior::further(ConstRows X, ConstRows Y, ConstVector point_noise) const {
  return by_precision().with(X, Y, point_noise);
}

CompressionTarget InducingPosterior::compression_target() const {
  return by_precision().compression_target();
}

double InducingPosterior::stored_numbers() const {
  double sum = 0.0;
  for (const auto& p : parts_.parts) sum += covary::stored_numbers(*p.features, own_functions());
  return sum + static_cast<double>(parts_.mixing.size());
}

}  // namespace covary
