#include "covary/models/logistic_regression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "models/class_rows.hpp"
#include "models/logistic_design.hpp"

namespace covary {
namespace {

// log p(class) at each row from the logits of classes 1 …, that of class 0 being zero.
Matrix log_probabilities(ConstMatrix logits) {
  Matrix out(logits.rows(), logits.cols() + 1);
  out.col(0).setZero();
  out.rightCols(logits.cols()) = logits;
  const Vector most = out.rowwise().maxCoeff();
  out.colwise() -= most;
  const Vector log_sum = out.array().exp().rowwise().sum().log();
  out.colwise() -= log_sum;
  return out;
}

struct Problem {
  const LogisticDesign& design;
  const std::vector<Index>& label;
  Index K;
  double ridge;

  Index inputs() const { return design.inputs(); }

  double likelihood(const Matrix& log_p) const {
    double sum = 0;
    for (std::size_t i = 0; i < label.size(); ++i) sum += log_p(static_cast<Index>(i), label[i]);
    return sum;
  }
  // The coupling of the penalty between classes k and l, which are counted from 1.
  double coupling(bool same) const {
    return K == 2 ? ridge : ridge * ((same ? 1.0 : 0.0) - 1.0 / static_cast<double>(K));
  }
  Matrix penalty_gradient(const Matrix& W) const {
    Matrix out = Matrix::Zero(W.rows(), W.cols());
    for (Index k = 0; k < W.cols(); ++k)
      for (Index l = 0; l < W.cols(); ++l)
        out.col(k).head(inputs()) += coupling(k == l) * W.col(l).head(inputs());
    return out;
  }
  double objective(const Matrix& W, const Matrix& log_p) const {
    return likelihood(log_p) - 0.5 * frobenius(W, penalty_gradient(W));
  }
  Matrix gradient(const Matrix& W, const Matrix& P) const {
    Matrix error = -P.rightCols(K - 1);
    for (std::size_t i = 0; i < label.size(); ++i)
      if (label[i] > 0) error(static_cast<Index>(i), label[i] - 1) += 1;
    return product(design.B, error, Op::transpose) - penalty_gradient(W);
  }
  // Minus the second derivatives, class by class: XᵀW_klX with W_kl = diag(p_k (δ_kl − p_l)).
  Matrix curvature(const Matrix& P) const {
    const Index F = design.B.cols();
    Matrix H((K - 1) * F, (K - 1) * F), block = Matrix::Zero(F, F);
    for (Index k = 0; k < K - 1; ++k)
      for (Index l = 0; l <= k; ++l) {
        const auto p = P.col(k + 1).array(), q = P.col(l + 1).array();
        const Vector root = k == l ? Vector((p * (1 - p)).sqrt()) : Vector((p * q).sqrt());
        syrk(k == l ? 1 : -1, design.B.array().colwise() * root.array(), Op::transpose, 0, block);
        mirror_lower(block);
        H.block(k * F, l * F, F, F) = block;
        H.block(k * F, l * F, F, F).diagonal().head(inputs()).array() += coupling(k == l);
      }
    return H;
  }
};

// How far logits E favour the label of each row over the other classes: the least over rows and
// classes, and the most. Logits of which the least is positive separate the classes.
struct Margins {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  Index rows = 0;  // with a margin above a thousandth of the largest
};

Margins margins(const Matrix& E, const std::vector<Index>& label) {
  Margins out;
  Vector largest = Vector::Constant(E.rows(), -std::numeric_limits<double>::infinity());
  for (Index i = 0; i < E.rows(); ++i) {
    const Index y = label[static_cast<std::size_t>(i)];
    const auto logit = [&](Index k) { return k == 0 ? 0.0 : E(i, k - 1); };
    for (Index k = 0; k <= E.cols(); ++k) {
      if (k == y) continue;
      out.least = std::min(out.least, logit(y) - logit(k));
      largest[i] = std::max(largest[i], logit(y) - logit(k));
    }
  }
  out.most = largest.maxCoeff();
  out.rows = (largest.array() > 1e-3 * out.most).count();
  return out;
}

// When going further along the step never lowers the probability of any label, and raises some, the
// likelihood has no maximum. Of the weights themselves this says that the classes are separated.
// Steps towards a maximum shrink instead, so only large ones are asked.
std::string separation(const Matrix& weights, const Matrix& step, const Problem& problem,
                       const InputNames& name) {
  const char* way_out = "give a ridge penalty, such as ridge = 1";
  const Margins now = margins(product(problem.design.B, weights), problem.label);
  if (now.most > 0 && now.least > 1e-10 * now.most)
    return fmt::format(
        "a hyperplane separates the classes without an error, so that the likelihood grows as long "
        "as "
        "the weights do and has no maximum; {}",
        way_out);
  const Margins further = margins(product(problem.design.B, step), problem.label);
  if (further.most > 0.5 && further.least >= -1e-6 * further.most) {
    Index column = 0, which = 0;
    step.cwiseAbs().maxCoeff(&column, &which);
    return fmt::format(
        "a class can be ruled out for {} of {} rows at no cost to the others, mostly by the weight "
        "of column {}, which diverges: the likelihood has no maximum; {}",
        further.rows, problem.label.size(), name(column), way_out);
  }
  return "";
}

LogisticFit failed(LogisticOutcome outcome, std::string message, Index iterations = 0) {
  LogisticFit out;
  out.outcome = outcome;
  out.message = "logistic regression has no estimate: " + std::move(message);
  out.iterations = iterations;
  return out;
}

// Weights in the units of the data.
LogisticFit fitted(const LogisticDesign& design, const Matrix& W, double log_likelihood,
                   Index iterations) {
  const Index D = design.inputs();
  LogisticFit out;
  out.outcome = LogisticOutcome::fitted;
  out.log_likelihood = log_likelihood;
  out.iterations = iterations;
  out.weights = Matrix::Zero(D, W.cols() + 1);
  out.intercepts = Vector::Zero(W.cols() + 1);
  for (Index k = 0; k < W.cols(); ++k) {
    out.weights.col(k + 1) = W.col(k).head(D).array() / design.scale.array();
    if (design.intercept)
      out.intercepts[k + 1] = W(D, k) - dot(out.weights.col(k + 1), design.shift);
  }
  return out;
}

}  // namespace

void LogisticOptions::check() const {
  if (!(ridge >= 0) || std::isinf(ridge))
    throw InputError(fmt::format("the ridge penalty is {}; it is finite and not negative", ridge));
  if (max_iterations < 1)
    throw InputError(fmt::format("max_iterations is {}; at least 1 is needed", max_iterations));
  if (!(tolerance > 0))
    throw InputError(fmt::format("the tolerance is {}; it must be positive", tolerance));
}

LogisticFit fit_logistic_regression(ConstRows X, ConstVector labels, Index classes,
                                    const LogisticOptions& options) {
  options.check();
  const ClassRows rows = class_rows(X, labels, classes);
  for (Index k = 0; k < classes; ++k)
    if (rows.counts[static_cast<std::size_t>(k)] == 0)
      throw InputError(fmt::format(
          "class {} of {} has no row; logistic regression needs one of each class", k, classes));
  constexpr Index most_weights = 10000;  // their second derivatives take 800 MB
  const LogisticDesign design = standardised_design(rows.X, options.intercept);
  const Index F = design.B.cols(), N = design.B.rows();
  if (F * (classes - 1) > most_weights)
    throw Unsupported(
        fmt::format("{} inputs and {} classes make {} weights; at most {} are offered", X.cols(),
                    classes, F * (classes - 1), most_weights));
  const InputNames name{options.input_names, X.cols()};
  const Problem problem{design, rows.label, classes, options.ridge};
  if (options.ridge == 0)
    if (std::string why = singularity(design, name); !why.empty())
      return failed(LogisticOutcome::singular, std::move(why));

  Matrix W = Matrix::Zero(F, classes - 1);
  Matrix log_p = log_probabilities(product(design.B, W));
  double value = problem.objective(W, log_p);
  for (Index iteration = 0; iteration < options.max_iterations; ++iteration) {
    const Matrix P = log_p.array().exp();
    const Matrix gradient = problem.gradient(W, P);
    if (gradient.cwiseAbs().maxCoeff() <= options.tolerance * static_cast<double>(N))
      return fitted(design, W, problem.likelihood(log_p), iteration);
    const Cholesky factor = cholesky(problem.curvature(P), "the curvature of logistic regression");
    const Matrix step =
        factor.solve(gradient.reshaped()).reshaped(gradient.rows(), gradient.cols());
    // Newton's step may overshoot, where halving it helps; the objective is concave.
    const Matrix from = W;
    const double before = value;
    double share = 1;
    for (int halvings = 0; halvings < 20; ++halvings, share /= 2) {
      W = from + share * step;
      log_p = log_probabilities(product(design.B, W));
      value = problem.objective(W, log_p);
      if (value >= before - 1e-12 * std::abs(before)) break;
    }
    if (options.ridge == 0)
      if (std::string why = separation(W, step, problem, name); !why.empty())
        return failed(LogisticOutcome::separated, std::move(why), iteration + 1);
  }
  return failed(
      LogisticOutcome::not_converged,
      fmt::format("it did not converge in {} iterations; allow more, or give a ridge penalty",
                  options.max_iterations),
      options.max_iterations);
}

RowMatrix LogisticFit::predict(ConstRows X) const {
  if (!fitted())
    throw NumericalError(message.empty() ? "logistic regression was not fitted" : message);
  check_new_inputs(X, weights.rows());
  Matrix logits = product(Matrix(X), weights.rightCols(weights.cols() - 1));
  logits.rowwise() += intercepts.tail(intercepts.size() - 1).transpose();
  return log_probabilities(logits).array().exp();
}

}  // namespace covary
