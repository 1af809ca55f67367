#include "covary/inference/recognition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

// Of the whitened weights of a kernel; and of the rows of a network, for its start.
constexpr double ridge = 1e-3;

class Common : public Recognition {
 public:
  Common(RecognitionOptions options, RowMatrix Y, Index dims)
      : o_(std::move(options)), Y_(std::move(Y)), dims_(dims) {}
  Index rows() const override { return Y_.rows(); }
  Index outputs() const override { return Y_.cols(); }
  Index dims() const override { return dims_; }
  const RecognitionOptions& options() const override { return o_; }
  const RowMatrix& training_outputs() const override { return Y_; }

 protected:
  void check(ConstRows Y) const {
    if (Y.cols() != outputs())
      throw InputError(fmt::format("the rows have {} outputs, the back constraint takes {}",
                                   Y.cols(), outputs()));
    if (!Y.allFinite())
      throw InputError("a back constraint needs whole rows; fill in the missing cells first");
  }

  RecognitionOptions o_;
  RowMatrix Y_;
  Index dims_;
};

// Between rows, over at most 300 of them.
double median_distance(const RowMatrix& Y) {
  const Index step = (Y.rows() + 299) / 300;
  std::vector<double> all;
  for (Index i = 0; i < Y.rows(); i += step)
    for (Index j = 0; j < i; j += step) all.push_back((Y.row(i) - Y.row(j)).norm());
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle > 0.0 ? *middle : 1.0;
}

// X = K·A with A = L⁻ᵀv and LLᵀ = K + ridge: any A is some v, and optimisers like v better.
class KernelRecognition final : public Common {
 public:
  KernelRecognition(RecognitionOptions options, RowMatrix Y, Index dims)
      : Common(std::move(options), std::move(Y), dims) {
    Parameters p = o_.kernel.parameters(DataScale::unit(Y_.cols()));
    for (const Parameter& own : std::vector<Parameter>(p.all()))
      if (own.path.ends_with(".lengthscales"))
        p.set(own.path, o_.lengthscale * median_distance(Y_));
    theta_ = p.values();
    K_ = cross(o_.kernel, theta_, Y_, Y_);
    Matrix shifted = K_;
    shifted.diagonal().array() += ridge * K_.diagonal().mean();
    L_ = cholesky(std::move(shifted), "the back constraint's Gram matrix").L;
  }
  Index parameter_count() const override { return rows() * dims_; }
  void declare(Parameters& out, ConstRows X) const override {
    Matrix v = X;
    solve_lower(L_, v);
    const RowMatrix start = v;
    out.add({"latent.weights", Eigen::Map<const Vector>(start.data(), start.size()),
             Transform::real(), rows(), dims_});
  }
  RowMatrix inputs(const double* values) const override { return product(K_, weights(values)); }
  void pullback(const double*, const RowMatrix& X_bar, double* values_bar) const override {
    Matrix v_bar = product(K_, Matrix(X_bar));  // K is symmetric
    solve_lower(L_, v_bar);
    Eigen::Map<RowMatrix>(values_bar, rows(), dims_) += v_bar;
  }
  RowMatrix at(const double* values, ConstRows Y) const override {
    check(Y);
    return product(cross(o_.kernel, theta_, Y, Y_), weights(values));
  }

 private:
  Matrix weights(const double* values) const {
    Matrix out = Eigen::Map<const RowMatrix>(values, rows(), dims_);
    solve_lower(L_, out, Op::transpose);
    return out;
  }
  Vector theta_;
  Matrix K_, L_;
};

// The last rows of both tables of weights are what is added.
class NetworkRecognition final : public Common {
 public:
  using Common::Common;
  Index parameter_count() const override {
    return (outputs() + 1) * o_.hidden + (o_.hidden + 1) * dims_;
  }
  void declare(Parameters& out, ConstRows X) const override {
    const Index P = outputs(), H = o_.hidden;
    const RowMatrix first = Random(o_.seed, 0x7265).normal_matrix(P + 1, H) /
                            std::sqrt(static_cast<double>(P) * mean_square());
    const Matrix A = with_one(activations(first, Y_));
    Matrix moments = Matrix::Identity(H + 1, H + 1) * (ridge * static_cast<double>(rows()));
    syrk(1.0, A, Op::transpose, 1.0, moments);
    const RowMatrix second = cholesky(std::move(moments), "the network's hidden units")
                                 .solve(product(A, Matrix(X), Op::transpose));
    out.add({"latent.hidden", Eigen::Map<const Vector>(first.data(), first.size()),
             Transform::real(), P + 1, H});
    out.add({"latent.weights", Eigen::Map<const Vector>(second.data(), second.size()),
             Transform::real(), H + 1, dims_});
  }
  RowMatrix inputs(const double* values) const override { return forward(values, Y_); }
  void pullback(const double* values, const RowMatrix& X_bar, double* values_bar) const override {
    const Index P = outputs(), H = o_.hidden, first = (P + 1) * H;
    const Matrix A = activations(hidden(values), Y_), bar = X_bar;
    Eigen::Map<RowMatrix>(values_bar + first, H + 1, dims_) +=
        product(with_one(A), bar, Op::transpose);
    const Matrix W = Eigen::Map<const RowMatrix>(values + first, H, dims_);
    Matrix through = product(bar, W, Op::none, Op::transpose);
    through.array() *= 1.0 - A.array().square();
    Eigen::Map<RowMatrix>(values_bar, P + 1, H) +=
        product(with_one(Matrix(Y_)), through, Op::transpose);
  }
  RowMatrix at(const double* values, ConstRows Y) const override {
    check(Y);
    return forward(values, Y);
  }

 private:
  double mean_square() const {
    const double out = Y_.squaredNorm() / static_cast<double>(Y_.size());
    return out > 0.0 ? out : 1.0;
  }
  static Matrix with_one(const Matrix& A) {
    Matrix out(A.rows(), A.cols() + 1);
    out << A, Vector::Ones(A.rows());
    return out;
  }
  Eigen::Map<const RowMatrix> hidden(const double* values) const {
    return {values, outputs() + 1, o_.hidden};
  }
  static Matrix activations(const RowMatrix& weights, ConstRows Y) {
    return product(with_one(Matrix(Y)), Matrix(weights)).array().tanh();
  }
  RowMatrix forward(const double* values, ConstRows Y) const {
    const Matrix W =
        Eigen::Map<const RowMatrix>(values + (outputs() + 1) * o_.hidden, o_.hidden + 1, dims_);
    return product(with_one(activations(hidden(values), Y)), W);
  }
};

}  // namespace

void RecognitionOptions::check() const {
  if (form != "kernel" && form != "network")
    throw InputError(fmt::format("unknown back constraint '{}'; choose kernel or network", form));
  if (!(lengthscale > 0.0) || !std::isfinite(lengthscale))
    throw InputError(
        fmt::format("the back constraint's lengthscale must be positive, got {}", lengthscale));
  if (hidden < 1)
    throw InputError(fmt::format(
        "the back constraint's network needs at least one hidden unit, got {}", hidden));
}

std::shared_ptr<const Recognition> make_recognition(RecognitionOptions options, RowMatrix Y,
                                                    Index dims) {
  options.check();
  if (Y.rows() < 2 || Y.cols() < 1 || dims < 1)
    throw InputError(
        fmt::format("a back constraint needs rows to learn from, got {}×{}", Y.rows(), Y.cols()));
  if (!Y.allFinite())
    throw InputError(
        "a back constraint needs complete rows, but some cells are missing: fill them in, drop the "
        "rows or omit the back constraint");
  if (options.form == "network")
    return std::make_shared<NetworkRecognition>(std::move(options), std::move(Y), dims);
  options.kernel.node().check(Y.cols());
  return std::make_shared<KernelRecognition>(std::move(options), std::move(Y), dims);
}

}  // namespace covary
