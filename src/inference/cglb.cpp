#include "inference/cglb.hpp"

#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/kernel_product.hpp"

namespace covary {
namespace {

// The same rows with other outputs.
class ReplacedOutputs : public RowSource {
 public:
  ReplacedOutputs(const RowSource& rows, RowMatrix Y) : rows_(rows), Y_(std::move(Y)) {}
  Index rows() const override { return rows_.rows(); }
  Index dims() const override { return rows_.dims(); }
  Index outputs() const override { return rows_.outputs(); }
  Reducer& reducer() const override { return rows_.reducer(); }
  bool has_noise() const override { return rows_.has_noise(); }
  DataBlock read(Index first, Index n, ReadBuffer& buffer) const override {
    DataBlock block = rows_.read(first, n, buffer);
    block.y = Y_.data() + first * Y_.cols();
    return block;
  }

 private:
  const RowSource& rows_;
  RowMatrix Y_;
};

Matrix checked(const CglbSystem& system, ConstMatrix v) {
  const Index N = system.y.rows(), P = system.y.cols();
  if (v.rows() == 0) return Matrix::Zero(N, P);
  if (v.rows() != N || v.cols() != P)
    throw InputError(fmt::format("v is {}×{}, but the outputs are {}×{}; v needs their shape",
                                 v.rows(), v.cols(), N, P));
  Matrix out = v.cwiseProduct(system.seen);
  if (!out.allFinite()) throw InputError("v has values that are not finite; start it at zero");
  return out;
}

// Σ_n basis_n (ρ + v)_nᵀ, for the weights of the mean function.
Matrix mean_weights_bar(const CglbSystem& system, ConstMatrix rho_plus_v) {
  const Matrix& W = system.values.mean_weights;
  const Index B = W.rows(), P = W.cols();
  const Vector sums = system.problem.sweep->sum(B * P, [&]() -> Sweep::Body {
    return [&](const DataBlock& block, double* sum) {
      const Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>> X(
          block.x.data, block.x.n, block.x.dims, Eigen::OuterStride<>(block.x.stride));
      Eigen::Map<Matrix> bar(sum, B, P);
      gemm(1.0, system.problem.mean->basis(X), Op::transpose,
           rho_plus_v.middleRows(block.x.first, block.x.n), Op::none, 1.0, bar);
    };
  });
  return Eigen::Map<const Matrix>(sums.data(), B, P);
}

}  // namespace

// The lower bound is "vfe(tight)" of the residuals r, less ½(2yᵀv − vᵀAv) = ½(y + r)ᵀv. Through the
// former r has the adjoint −ρ, ρ = (Qff + S)⁻¹r, so with r = y − Av
//   Ā = ½(ρvᵀ + vρᵀ + vvᵀ),   ȳ = −ρ − v.
CglbEvaluation evaluate_cglb(const CglbSystem& system, ConstMatrix given, Jitter& jitter,
                             SweepGradient* gradient) {
  const Matrix v = checked(system, given);
  const SparseProblem& p = system.problem;
  Matrix r = system.y;
  if (!v.isZero(0.0)) r -= system.multiply(v);
  const ReplacedOutputs rows(p.sweep->rows(), r);
  const Sweep sweep = p.sweep->over(rows);
  SparseProblem residual = p;
  residual.approximation = Approximation::Kind::vfe_tight;
  residual.mean = nullptr;
  residual.sweep = &sweep;
  residual.route = Route::automatic;
  SparseValues values = system.values;
  values.mean_weights.resize(0, 0);

  CglbEvaluation out;
  out.sparse = evaluate_sparse(residual, values, jitter, gradient);
  double quadratic = 0.0;
  for (Index j = 0; j < v.cols(); ++j)
    for (Index i = 0; i < v.rows(); ++i)
      if (system.seen(i, j) != 0.0) quadratic += (system.y(i, j) + r(i, j)) * v(i, j);
  out.solve_gap = out.sparse.terms.fit;
  out.lower = out.sparse.value - 0.5 * quadratic;
  out.upper = -out.sparse.terms.complexity - 0.5 * quadratic;
  if (!gradient) return out;

  const Matrix zeroed = r.unaryExpr([](double x) { return std::isnan(x) ? 0.0 : x; });
  const Matrix rho = solve_sparse(system, out.sparse, zeroed);
  kernel_product_pullback(p.kernel->node(), values.theta.data(), *p.sweep, rho, v,
                          gradient->theta_bar);
  const Vector s_bar = (rho + 0.5 * v).cwiseProduct(v).rowwise().sum();
  gradient->noise_bar += s_bar.sum();
  if (gradient->want_point_noise) gradient->point_noise_bar += s_bar;
  if (system.values.mean_weights.size() > 0) gradient->mean_bar = mean_weights_bar(system, rho + v);
  return out;
}

CglbEvaluation evaluate_cglb(const SparseProblem& problem, const SparseValues& values,
                             ConstMatrix v, Jitter& jitter, SweepGradient* gradient) {
  return evaluate_cglb(CglbSystem(problem, values), v, jitter, gradient);
}

ConjugateGradientResult improve_cglb(const SparseProblem& problem, const SparseValues& values,
                                     Matrix& v, Jitter& jitter,
                                     const ConjugateGradientOptions& options) {
  if (options.max_iterations < 0)
    throw InputError(fmt::format("the number of iterations must not be negative, got {}",
                                 options.max_iterations));
  const CglbSystem system(problem, values);
  v = checked(system, v);
  SparseProblem factored = problem;
  factored.approximation = Approximation::Kind::dtc;
  factored.route = Route::automatic;
  return conjugate_gradients(system, evaluate_sparse(factored, values, jitter), v, options);
}

double cglb_step_flops(Index rows, Index dims, Index outputs, Index M) {
  const auto N = static_cast<double>(rows), m = static_cast<double>(M),
             D = static_cast<double>(dims), P = static_cast<double>(outputs);
  return kernel_product_flops(rows, dims, outputs) + 2.0 * N * m * (3.0 * D + 30.0 + 2.0 * P) +
         4.0 * m * m * P;
}

double cglb_step_flops(const SparseProblem& problem) {
  const RowSource& rows = problem.sweep->rows();
  return cglb_step_flops(rows.rows(), rows.dims(), rows.outputs(), problem.features->size());
}

}  // namespace covary
