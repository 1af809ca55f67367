#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "covary/inference/natural_gradient.hpp"
#include "support/random_data.hpp"

namespace covary::testing {

// A bound of any likelihood with everything it can be given: one kernel for all latent functions or
// one for each, a mean, weights, the column beside y, a missing target.
struct SvgpCase {
  std::vector<Kernel> kernels;
  Likelihood likelihood;
  Mean mean = "constant";
  RowMatrix X, Y;
  Vector aux, weights, theta;  // theta: of the likelihood
  std::vector<FeaturesPtr> features;
  UncollapsedValues values;

  SvgpCase(const char* l, bool separate, Index N, Index M, std::uint64_t seed) : likelihood(l) {
    const auto data = small_data(N, 2, 1, seed);
    X = data.X;
    Y = data.Y;
    Random random(seed, 1);
    const Index L = likelihood.functions(), K = likelihood.classes();
    for (Index n = 0; n < N; ++n) {
      double& y = Y(n, 0);
      if (K == 2)
        y = y + random.normal() > 0 ? 1 : 0;
      else if (K > 2)
        y = std::clamp(std::floor(y + 2), 0.0, static_cast<double>(K - 1));
      else if (likelihood.aux() == Aux::trials)
        y = std::clamp(std::floor(y + 2.5), 0.0, 5.0);
      else if (likelihood.aux() == Aux::exposure)
        y = std::floor(std::exp(y) + random.uniform());
    }
    theta = likelihood.parameters().values();
    for (Index i = 0; i < (separate ? L : 1); ++i) {
      kernels.emplace_back(i % 2 ? "matern32(ard)" : "se(ard) + white(variance=0.02)");
      const RowMatrix Z = random.normal_matrix(M, 2);
      features.push_back(inducing_points(kernels.back(), Z));
      values.theta.push_back(kernels.back().parameters(2).values());
      values.z.emplace_back(Eigen::Map<const Vector>(Z.data(), Z.size()));
    }
    values.mean_weights = Matrix::Constant(1, L, 0.2);
    values.q.m = random.normal_matrix(M, L);
    for (Index l_ = 0; l_ < L; ++l_) {
      Matrix F = 0.3 * random.normal_matrix(M, M);
      F.triangularView<Eigen::StrictlyUpper>().setZero();
      F.diagonal() = F.diagonal().cwiseAbs().array() + 0.4;
      values.q.Ls.push_back(F);
    }
  }
  void add_weights() { weights = Vector::LinSpaced(X.rows(), 0.2, 2.0); }
  void add_aux() {
    if (likelihood.aux() == Aux::trials) aux = Vector::Constant(X.rows(), 5.0);
    if (likelihood.aux() == Aux::exposure) aux = Vector::LinSpaced(X.rows(), 0.5, 3.0);
    if (likelihood.aux() == Aux::noise) aux = Vector::LinSpaced(X.rows(), 0.05, 0.5);
  }

  // use(problem) with the rows first … first+n−1.
  template <class Use>
  auto with_rows(Index first, Index n, double scale, const Use& use) const {
    const RowMatrix x = X.middleRows(first, n), y = Y.middleRows(first, n);
    const Vector a = aux.size() ? Vector(aux.segment(first, n)) : Vector();
    const Vector w = weights.size() ? Vector(weights.segment(first, n)) : Vector();
    const MemoryRows rows(x, y, a, w);
    const Sweep sweep = Sweep::for_features(rows, features[0]->size());
    UncollapsedProblem problem;
    for (std::size_t i = 0; i < kernels.size(); ++i)
      problem.parts.push_back({features[i].get(), &kernels[i]});
    problem.mean = &mean;
    problem.sweep = &sweep;
    problem.scale = scale;
    problem.likelihood = row_likelihood(likelihood, theta);
    return use(problem);
  }
  UncollapsedEvaluation evaluate(UncollapsedGradient* g = nullptr) const {
    return batch(0, X.rows(), 1.0, g);
  }
  UncollapsedEvaluation batch(Index first, Index n, double scale,
                              UncollapsedGradient* g = nullptr) const {
    return with_rows(first, n, scale, [&](const UncollapsedProblem& p) {
      Jitter jitter;
      return evaluate_uncollapsed(p, values, jitter, g);
    });
  }
  QOptimum maximise(NaturalGaussian& q, const QOptions& options = {},
                    UncollapsedGradient* g = nullptr) {
    return with_rows(0, X.rows(), 1.0, [&](const UncollapsedProblem& p) {
      Jitter jitter;
      return maximise_q(p, values, q, jitter, g, options);
    });
  }
  NaturalGaussian prior(const CovarianceForm& form = {}) const {
    return {features[0]->size(), likelihood.functions(), form};
  }

  // All values end to end, and the gradient in the same order.
  Vector flat() const {
    std::vector<double> out;
    visit(*this, [&](const double* x, Index n) { out.insert(out.end(), x, x + n); });
    return Eigen::Map<const Vector>(out.data(), static_cast<Index>(out.size()));
  }
  SvgpCase at(const Vector& x) const {
    SvgpCase out = *this;
    Index place = 0;
    visit(out, [&](double* to, Index n) {
      std::copy_n(x.data() + place, n, to);
      place += n;
    });
    return out;
  }
  static Vector flat(const UncollapsedGradient& g) {
    std::vector<double> out;
    const auto add = [&](const double* x, Index n) { out.insert(out.end(), x, x + n); };
    for (std::size_t i = 0; i < g.theta_bar.size(); ++i) {
      add(g.theta_bar[i].data(), g.theta_bar[i].size());
      add(g.z_bar[i].data(), g.z_bar[i].size());
    }
    add(g.likelihood_bar.data(), g.likelihood_bar.size());
    add(g.mean_bar.data(), g.mean_bar.size());
    add(g.m_bar.data(), g.m_bar.size());
    for (const Matrix& L : g.Ls_bar)
      for (Index j = 0; j < L.cols(); ++j) add(L.col(j).data() + j, L.rows() - j);
    return Eigen::Map<const Vector>(out.data(), static_cast<Index>(out.size()));
  }

 private:
  template <class Self, class Each>
  static void visit(Self& self, const Each& each) {
    for (std::size_t i = 0; i < self.values.theta.size(); ++i) {
      each(self.values.theta[i].data(), self.values.theta[i].size());
      each(self.values.z[i].data(), self.values.z[i].size());
    }
    each(self.theta.data(), self.theta.size());
    each(self.values.mean_weights.data(), self.values.mean_weights.size());
    each(self.values.q.m.data(), self.values.q.m.size());
    for (auto& L : self.values.q.Ls)
      for (Index j = 0; j < L.cols(); ++j) each(L.col(j).data() + j, L.rows() - j);
  }
};

}  // namespace covary::testing
