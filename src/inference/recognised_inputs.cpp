#include "inference/recognised_inputs.hpp"

namespace covary {
namespace {

class RecognisedInputs final : public LatentInputs {
 public:
  explicit RecognisedInputs(std::shared_ptr<const Recognition> recognition)
      : recognition_(std::move(recognition)) {}
  Index rows() const override { return recognition_->rows(); }
  Index dims() const override { return recognition_->dims(); }
  Index parameter_count() const override { return weights() + rows() * dims(); }
  Index means() const override { return weights(); }
  Index spreads() const override { return rows() * dims(); }

  void declare(Parameters& out, ConstRows means, double variance) const override {
    recognition_->declare(out, means);
    out.add({"latent.variance", Vector::Constant(rows() * dims(), variance), Transform::positive(),
             rows(), dims()});
  }
  LatentMarginals marginals(const double* values) const override {
    LatentMarginals out{recognition_->inputs(values), variances(values), 0.0, Vector()};
    out.kl_of_dims =
        0.5 * (out.mean.array().square() + out.variance.array() - out.variance.array().log() - 1.0)
                  .colwise()
                  .sum()
                  .transpose();
    out.kl = out.kl_of_dims.sum();
    return out;
  }
  void pullback(const double* values, const RowMatrix& mean_bar, const RowMatrix& variance_bar,
                double* values_bar) const override {
    recognition_->pullback(values, mean_bar - recognition_->inputs(values), values_bar);
    Eigen::Map<RowMatrix>(values_bar + weights(), rows(), dims()).array() +=
        variance_bar.array() - 0.5 * (1.0 - variances(values).array().inverse());
  }
  Vector fixed_point(const double* values, const RowMatrix&,
                     const RowMatrix& variance_bar) const override {
    Vector out(parameter_count());
    out.head(weights()) = Eigen::Map<const Vector>(values, weights());
    Eigen::Map<RowMatrix>(out.data() + weights(), rows(), dims()) =
        (1.0 - 2.0 * variance_bar.array()).cwiseMax(least_precision).inverse();
    return out;
  }
  Matrix natural(const double* values, const Matrix& r) const override {
    Matrix out = r;
    const Eigen::Map<const Vector> variance(values + weights(), rows() * dims());
    out.bottomRows(variance.size()).array().colwise() *= 2.0 * variance.array().square();
    return out;
  }

 private:
  Index weights() const { return recognition_->parameter_count(); }
  Eigen::Map<const RowMatrix> variances(const double* values) const {
    return {values + weights(), rows(), dims()};
  }
  std::shared_ptr<const Recognition> recognition_;
};

}  // namespace

std::unique_ptr<LatentInputs> recognised_inputs(std::shared_ptr<const Recognition> recognition) {
  return std::make_unique<RecognisedInputs>(std::move(recognition));
}

}  // namespace covary
