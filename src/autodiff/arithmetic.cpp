#include "covary/autodiff/arithmetic.hpp"

#include "autodiff/operation.hpp"
#include "covary/autodiff/elementwise.hpp"

namespace covary {
namespace {

// An operand seen in the shape of the result: a dimension of one has stride zero.
template <class T>
struct Repeated {
  T* data;
  Index down, across;
  template <class M>
  explicit Repeated(M& A)
      : data(A.data()), down(A.rows() == 1 ? 0 : 1), across(A.cols() == 1 ? 0 : A.rows()) {}
  T& operator()(Index i, Index j) const { return data[down * i + across * j]; }
};

Index broadcast(const char* name, const Matrix& a, const Matrix& b, Index m, Index n) {
  if (m == n || n == 1) return m;
  if (m == 1) return n;
  TapeState::throw_shapes(name, a, b, "each dimension must be equal or one");
}

// F gives the value and the two partial derivatives, from (a, b, value).
template <class F>
void pull(Reverse& r) {
  const Matrix &A = r.input(0), &B = r.input(1), &out = r.value(), &bar = r.bar();
  const Repeated<const double> a(A), b(B);
  auto accumulate = [&](int k, auto partial) {
    if (!r.wants(k)) return;
    const Repeated<double> to(r.adjoint(k));
    for (Index j = 0; j < out.cols(); ++j) {
      auto term = [&](Index i) { return bar(i, j) * partial(a(i, j), b(i, j), out(i, j)); };
      if (to.down == 0) {  // a row or a scalar: the column is summed first
        double total = 0.0;
        for (Index i = 0; i < out.rows(); ++i) total += term(i);
        to(0, j) += total;
      } else {
        for (Index i = 0; i < out.rows(); ++i) to(i, j) += term(i);
      }
    }
  };
  accumulate(0, F::by_a);
  accumulate(1, F::by_b);
}

template <class F>
Var combine(const char* name, Var a, Var b) {
  Operation& op = TapeState::begin(name, {a, b});
  const Matrix &A = a.value(), &B = b.value();
  const Index rows = broadcast(name, A, B, A.rows(), B.rows());
  const Index cols = broadcast(name, A, B, A.cols(), B.cols());
  op.value.resize(rows, cols);
  const Repeated<const double> left(A), right(B);
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < rows; ++i) op.value(i, j) = F::value(left(i, j), right(i, j));
  return TapeState::commit(a, pull<F>);
}

struct Add {
  static double value(double a, double b) { return a + b; }
  static constexpr auto by_a = [](double, double, double) { return 1.0; };
  static constexpr auto by_b = [](double, double, double) { return 1.0; };
};
struct Subtract {
  static double value(double a, double b) { return a - b; }
  static constexpr auto by_a = [](double, double, double) { return 1.0; };
  static constexpr auto by_b = [](double, double, double) { return -1.0; };
};
struct Multiply {
  static double value(double a, double b) { return a * b; }
  static constexpr auto by_a = [](double, double b, double) { return b; };
  static constexpr auto by_b = [](double a, double, double) { return a; };
};
struct Divide {
  static double value(double a, double b) { return a / b; }
  static constexpr auto by_a = [](double, double b, double) { return 1.0 / b; };
  static constexpr auto by_b = [](double, double b, double out) { return -out / b; };
};

void pull_scale(Reverse& r) { r.add(0, r.op.number * r.bar()); }
void pull_shift(Reverse& r) { r.add(0, r.bar()); }

// factor·a + shift
Var affine(const char* name, Var a, double factor, double shift) {
  Operation& op = TapeState::begin(name, {a});
  op.number = factor;
  op.value = (factor * a.value()).array() + shift;
  return TapeState::commit(a, pull_scale);
}

}  // namespace

Var operator+(Var a, Var b) { return combine<Add>("+", a, b); }
Var operator-(Var a, Var b) { return combine<Subtract>("-", a, b); }
Var operator/(Var a, Var b) { return combine<Divide>("/", a, b); }
Var hadamard(Var a, Var b) { return combine<Multiply>("hadamard", a, b); }

Var operator+(Var a, double b) {
  Operation& op = TapeState::begin("+", {a});
  op.value = a.value().array() + b;
  return TapeState::commit(a, pull_shift);
}
Var operator+(double a, Var b) { return b + a; }
Var operator-(Var a, double b) { return a + (-b); }
Var operator-(double a, Var b) { return affine("-", b, -1.0, a); }
Var operator*(Var a, double b) {
  Operation& op = TapeState::begin("*", {a});
  op.number = b;
  op.value = b * a.value();
  return TapeState::commit(a, pull_scale);
}
Var operator*(double a, Var b) { return b * a; }
Var operator/(Var a, double b) { return a * (1.0 / b); }
Var operator/(double a, Var b) { return a * reciprocal(b); }
Var operator-(Var a) { return -1.0 * a; }

}  // namespace covary
