#pragma once

#include "covary/inference/exact_posterior.hpp"
#include "covary/inference/sparse_posterior.hpp"

namespace covary {

// What a regression posterior knows, as a density over f at some points p, on top of the prior:
// t(f) ∝ exp(−½vᵀCv + bᵀv) with v = L⁻¹f(p). Of an exact posterior p are its rows, L = I and C the
// inverse noise; of a sparse one p are its inducing inputs, L = Luu and C = B − I. So any smaller
// posterior can be judged and trained by KL(small ‖ given), without the data.
class CompressionTarget {
 public:
  // Unsupported of SoR, which is no posterior of the kernel's process, of CGLB, whose mean lives on
  // its rows, and of features other than points. White noise of the kernel counts as noise.
  explicit CompressionTarget(const ExactPosterior& posterior);
  explicit CompressionTarget(const SparsePosterior& posterior);
  explicit CompressionTarget(const Posterior& posterior);

  const Kernel& kernel() const { return kernel_; }
  const Vector& theta() const { return theta_; }
  const RowMatrix& points() const { return points_; }
  double rows() const { return rows_; }

  // KL(small ‖ given) in nats, over all outputs, of the best q(u) of these features at z; where not
  // null its gradient by z. Throws NumericalError where Kuu cannot be factored.
  double divergence(const Features& features, const Vector& z, Jitter& jitter,
                    Vector* z_bar = nullptr) const;
  // That posterior, by VFE: an answer to all that the given one is asked.
  SparsePosterior posterior(const FeaturesPtr& features, const Vector& z, Jitter jitter) const;

 private:
  struct Group {
    std::vector<Index> columns;
    Matrix C;                                              // n×n; of an exact posterior empty, and
    Vector diagonal;                                       // its diagonal
    Matrix b;                                              // n×P
    double evidence = 0.0;                                 // log ∫ t(f)p(f)df
    double rows = 0.0, rr = 0.0, log_w = 0.0, term = 0.0;  // as in SparseFactors, of the given one
  };
  struct Share {
    Matrix C_a;  // a·C
    Matrix LB, c;
    double value = 0.0, residual = 0.0;  // its bound; tr(C(Kvv − aᵀa))
  };
  Matrix by_C(const Group& g, const Matrix& a) const;
  Share share(const Group& g, const Matrix& a) const;
  Matrix whitened(const Features& features, const Vector& z, const Matrix& Luu, Matrix* K) const;

  explicit CompressionTarget(const PosteriorNode& of);

  Kernel kernel_;
  Vector theta_;
  Mean mean_;
  Matrix mean_weights_;
  double noise_ = 0.0, rows_ = 0.0;
  RowMatrix points_;
  Matrix L_;  // empty: the identity
  std::vector<Group> groups_;
};

// What Posterior::stored_numbers() is of one through these features.
double stored_numbers(const Features& features, Index outputs);

}  // namespace covary
