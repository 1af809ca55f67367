#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/inference/latent_inputs.hpp"
#include "covary/linalg/parallel.hpp"

namespace covary {
namespace {

constexpr Index width = 1024;  // entries of a range, one after another

class FactorisedInputs final : public LatentInputs {
 public:
  explicit FactorisedInputs(FactorisedOptions options) : o_(std::move(options)) {
    const auto shape = [&](const RowMatrix& m, const char* what) {
      if (m.size() != 0 && (m.rows() != o_.rows || m.cols() != o_.dims))
        throw InputError(fmt::format("{} are {}×{}, the latent inputs {}×{}", what, m.rows(),
                                     m.cols(), o_.rows, o_.dims));
    };
    shape(o_.given, "the known inputs");
    shape(o_.prior_mean, "the prior's means");
    shape(o_.prior_shares, "the shares of the prior's variances");
    if (o_.prior_variance.size() == 0) o_.prior_variance = Vector::Ones(o_.dims);
    if (o_.prior_variance.size() != o_.dims || !(o_.prior_variance.minCoeff() > 0.0))
      throw InputError(
          fmt::format("the prior needs a positive variance for each of {} dimensions", o_.dims));
    for (Index i = 0; i < o_.rows; ++i)
      for (Index d = 0; d < o_.dims; ++d)
        if (is_free(i, d)) {
          if (!(share(i, d) > 0.0))
            throw InputError(fmt::format(
                "the prior's variance of row {}, dimension {} is {} times that of its dimension; "
                "it must be positive",
                i, d, share(i, d)));
          free_.push_back({i, d});
        }
    if (free_.empty()) o_.train_prior_variance = false;
  }
  Index rows() const override { return o_.rows; }
  Index dims() const override { return o_.dims; }
  Index parameter_count() const override {
    return 2 * count() + (o_.train_prior_variance ? o_.dims : 0);
  }
  Index means() const override { return count(); }
  Index spreads() const override { return count(); }

  void declare(Parameters& out, ConstRows means, double variance) const override {
    if (free_.empty()) return;
    Vector start(count());
    for (Index e = 0; e < count(); ++e) start(e) = means(at(e).row, at(e).dim);
    const bool table = count() == o_.rows * o_.dims;
    const Index rows = table ? o_.rows : count(), cols = table ? o_.dims : 1;
    out.add({"latent.mean", std::move(start), Transform::real(), rows, cols});
    out.add({"latent.variance", Vector::Constant(count(), variance), Transform::positive(), rows,
             cols});
    if (o_.train_prior_variance)
      out.add({"inputs.variance", o_.prior_variance, Transform::positive()});
  }

  LatentMarginals marginals(const double* values) const override {
    LatentMarginals out{o_.given.size() ? o_.given : RowMatrix(o_.rows, o_.dims),
                        RowMatrix::Zero(o_.rows, o_.dims), 0.0, Vector::Zero(o_.dims)};
    Matrix kl = Matrix::Zero(o_.dims, (count() + width - 1) / width);  // of the ranges
    parallel_ranges(
        count(),
        [&](Index first, Index end) {
          for (Index e = first; e < end; ++e) {
            const auto [i, d] = at(e);
            const double m = values[e], S = values[count() + e], away = m - prior_mean(i, d);
            const double precision = prior_precision(values, i, d);
            out.mean(i, d) = m;
            out.variance(i, d) = S;
            kl(d, first / width) +=
                0.5 * ((S + away * away) * precision - std::log(S * precision) - 1.0);
          }
        },
        width);
    out.kl_of_dims = kl.rowwise().sum();
    out.kl = out.kl_of_dims.sum();
    return out;
  }
  void pullback(const double* values, const RowMatrix& mean_bar, const RowMatrix& variance_bar,
                double* values_bar) const override {
    Matrix log_bar = Matrix::Zero(o_.dims, (count() + width - 1) / width);  // of the ranges
    parallel_ranges(
        count(),
        [&](Index first, Index end) {
          for (Index e = first; e < end; ++e) {
            const auto [i, d] = at(e);
            const double precision = prior_precision(values, i, d);
            const double m = values[e], S = values[count() + e], away = m - prior_mean(i, d);
            values_bar[e] += mean_bar(i, d) - away * precision;
            values_bar[count() + e] += variance_bar(i, d) - 0.5 * (precision - 1.0 / S);
            log_bar(d, first / width) += 0.5 * ((S + away * away) * precision - 1.0);
          }
        },
        width);
    if (!o_.train_prior_variance) return;
    Eigen::Map<Vector> prior_bar(values_bar + 2 * count(), o_.dims);
    const Eigen::Map<const Vector> prior(values + 2 * count(), o_.dims);
    prior_bar += log_bar.rowwise().sum().cwiseQuotient(prior);
  }
  // variance = 1/(1/v − 2·∂F/∂variance), v the prior's; mean = mean + variance·∂(F − KL)/∂mean, a
  // natural-gradient step of unit length
  Vector fixed_point(const double* values, const RowMatrix& mean_bar,
                     const RowMatrix& variance_bar) const override {
    Vector out(2 * count());
    for (Index e = 0; e < count(); ++e) {
      const auto [i, d] = at(e);
      const double precision = prior_precision(values, i, d);
      const double variance = 1.0 / std::max(precision - 2.0 * variance_bar(i, d), least_precision);
      out(count() + e) = variance;
      out(e) = values[e] + variance * (mean_bar(i, d) - (values[e] - prior_mean(i, d)) * precision);
    }
    return out;
  }
  // 1/variance of a mean, ½/variance² of a variance
  Matrix natural(const double* values, const Matrix& r) const override {
    Matrix out = r;
    for (Index e = 0; e < count(); ++e) {
      const double variance = values[count() + e];
      out.row(e) *= variance;
      out.row(count() + e) *= 2.0 * variance * variance;
    }
    return out;
  }

 private:
  struct Entry {
    Index row, dim;
  };
  bool is_free(Index i, Index d) const {
    return o_.given.size() == 0 || std::isnan(o_.given(i, d));
  }
  Index count() const { return static_cast<Index>(free_.size()); }
  const Entry& at(Index e) const { return free_[static_cast<std::size_t>(e)]; }
  double prior_mean(Index i, Index d) const {
    return o_.prior_mean.size() ? o_.prior_mean(i, d) : 0.0;
  }

  double share(Index i, Index d) const {
    return o_.prior_shares.size() ? o_.prior_shares(i, d) : 1.0;
  }
  double prior_precision(const double* values, Index i, Index d) const {
    const double v = o_.train_prior_variance ? values[2 * count() + d] : o_.prior_variance(d);
    return 1.0 / (v * share(i, d));
  }

  FactorisedOptions o_;
  std::vector<Entry> free_;
};

}  // namespace

std::unique_ptr<LatentInputs> factorised_inputs(FactorisedOptions options) {
  return std::make_unique<FactorisedInputs>(std::move(options));
}

}  // namespace covary
