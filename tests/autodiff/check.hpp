#pragma once

#include <functional>
#include <random>
#include <vector>

#include "covary/autodiff/autodiff.hpp"
#include "support/gradient_check.hpp"

namespace covary::autodiff_test {

struct Shape {
  Index rows, cols;
};
using Expression = std::function<Var(Tape&, const std::vector<Var>&)>;

inline Matrix random_matrix(std::mt19937_64& engine, Index rows, Index cols, double low = -1.5,
                            double high = 1.5) {
  std::uniform_real_distribution<double> uniform(low, high);
  Matrix A(rows, cols);
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < rows; ++i) A(i, j) = uniform(engine);
  return A;
}

inline Matrix random_orthogonal(std::mt19937_64& engine, Index n) {
  Matrix Q = random_matrix(engine, n, n);  // Gram–Schmidt, twice
  for (int pass = 0; pass < 2; ++pass)
    for (Index j = 0; j < n; ++j) {
      for (Index k = 0; k < j; ++k) Q.col(j) -= Q.col(k).dot(Q.col(j)) * Q.col(k);
      Q.col(j).normalize();
    }
  return Q;
}

// The expression's elements weighted at random and summed, as a function of all inputs in one
// vector: its gradient on the tape against finite differences.
class Check {
 public:
  Check(std::vector<Shape> shapes, Expression expression)
      : shapes_(std::move(shapes)), expression_(std::move(expression)) {}

  void at(const Vector& x, unsigned seed) {
    tape_.clear();
    std::vector<Var> inputs;
    const Var total = evaluate(tape_, x, seed, inputs);
    const Gradients gradients = tape_.gradient(total);
    Vector g(x.size());
    Index offset = 0;
    for (Var input : inputs) {
      g.segment(offset, input.value().size()) = gradients[input].reshaped();
      offset += input.value().size();
    }
    auto f = [&](const Vector& y) {
      Tape other;
      std::vector<Var> unused;
      return evaluate(other, y, seed, unused).scalar();
    };
    expect_gradient(f, g, x);
  }

  // Ten random points with elements between low and high.
  void at_random_points(double low = -1.5, double high = 1.5) {
    Index n = 0;
    for (Shape s : shapes_) n += s.rows * s.cols;
    for (unsigned seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE(seed);
      std::mt19937_64 engine(seed);
      at(random_matrix(engine, n, 1, low, high), seed);
    }
  }

 private:
  Var evaluate(Tape& tape, const Vector& x, unsigned seed, std::vector<Var>& inputs) {
    Index offset = 0;
    for (Shape s : shapes_) {
      inputs.push_back(tape.input(x.segment(offset, s.rows * s.cols).reshaped(s.rows, s.cols)));
      offset += s.rows * s.cols;
    }
    const Var out = expression_(tape, inputs);
    std::mt19937_64 engine(1000 + seed);
    return frobenius(out, tape.constant(random_matrix(engine, out.rows(), out.cols())));
  }

  std::vector<Shape> shapes_;
  Expression expression_;
  Tape tape_;
};

}  // namespace covary::autodiff_test
