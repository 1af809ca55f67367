#include "covary/statistics/row_terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "covary/error.hpp"
#include "covary/linalg/parallel.hpp"
#include "features/blocks.hpp"
#include "statistics/block.hpp"
#include "statistics/gaussian_row_terms.hpp"
#include "statistics/mixing.hpp"
#include "statistics/packed_rows.hpp"

namespace covary {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// Ls·Lsᵀ, of whose lower triangle every strip of columns is a product without the zeros of Ls.
Matrix square_of_lower(const Matrix& factor) {
  constexpr Index width = 64;
  const Index M = factor.rows();
  const Matrix Ls = factor.triangularView<Eigen::Lower>();
  Matrix S(M, M);
  parallel_for((M + width - 1) / width, [&](Index strip) {
    const Index c = strip * width, w = std::min(width, M - c), below = M - c;
    gemm(1.0, Ls.block(c, 0, below, c + w), Op::none, Ls.block(c, 0, w, c + w), Op::transpose, 0.0,
         S.block(c, c, below, w));
  });
  mirror_lower(S);
  return S;
}

// Where a lane's sums are.
struct Layout {
  Index parameters, mixing, mean, m, v, c, size;
  std::vector<Index> theta, z;
};

// What a lane keeps from block to block.
struct Scratch {
  std::vector<Matrix> K, A, SA;  // Kuf and Luu⁻¹Kuf of each context, SA or LsᵀA of each function
  Matrix K_bar, rooted;
  FunctionValues f;  // of the functions
  FunctionValues g;  // of the arguments, where these are mixtures
  Vector k, k_bar;
  PackedRows packed;
};

class RowTermSweep {
 public:
  RowTermSweep(std::span<const SweepContext> contexts, const RowLikelihood& likelihood,
               const WhitenedGaussian& q, const Sweep& sweep, RowAdjoints adjoints,
               RowMatrix* x_bar)
      : contexts_(contexts),
        likelihood_(likelihood),
        q_(q),
        sweep_(sweep),
        adjoints_(adjoints),
        x_bar_(x_bar),
        mixing_{likelihood.mixing},
        L_(likelihood.per_datum),
        A_(likelihood.arguments(sweep.rows().outputs())),
        F_(likelihood.functions(sweep.rows().outputs())),
        pairs_(adjoints == RowAdjoints::coupled && (L_ > 1 || likelihood.is_mixed())
                   ? F_ * (F_ - 1) / 2
                   : 0) {
    check();
    const SweepContext& c = contexts_.front();
    M_ = c.features->size();
    B_ = c.mean && !c.mean->is_zero() ? c.mean->basis_count(sweep.rows().dims()) : 0;
    Index next = 2 + likelihood.parameters;
    layout_.parameters = 2;
    const auto place = [&](Index size) { return std::exchange(next, next + size); };
    const Index gradients = adjoints_ == RowAdjoints::all ? 1 : 0;
    for (const SweepContext& part : contexts_) {
      layout_.theta.push_back(place(gradients * part.kernel->parameter_count(sweep.rows().dims())));
      layout_.z.push_back(place(gradients * part.features->parameter_count()));
    }
    layout_.mixing = place(gradients * mixing_.W.size());
    layout_.mean = place(gradients * B_ * A_);
    layout_.m = place(adjoints_ == RowAdjoints::none ? 0 : M_ * F_);
    layout_.v = place(adjoints_ == RowAdjoints::none ? 0 : M_ * width() * F_);
    layout_.c = place(M_ * M_ * pairs_);
    layout_.size = next;
    // The adjoints need S·a_n, which then gives the variance too: one product for two triangular
    // ones.
    const bool white =
        std::all_of(contexts_.begin(), contexts_.end(),
                    [](const SweepContext& part) { return part.features->is_white(); });
    // Nobody else needs S when Kuu has no adjoint, and for few rows it costs more than it saves.
    by_factor_ = white && sweep.rows().rows() < M_;
    if (adjoints_ == RowAdjoints::all && !q_.is_thin() && !by_factor_)
      for (const Matrix& Ls : q_.Ls) S_.push_back(square_of_lower(Ls));
    if (x_bar_) x_bar_->setZero(sweep.rows().rows(), sweep.rows().dims());
  }

  RowTermSums run() {
    const Vector sums = sweep_.sum(layout_.size, [&]() -> Sweep::Body {
      auto scratch = std::make_shared<Scratch>();
      for (std::size_t i = 0; i < contexts_.size(); ++i) {
        scratch->K.emplace_back(M_, sweep_.widest());
        scratch->A.emplace_back(M_, sweep_.widest());
      }
      scratch->SA.assign(at(F_), Matrix(M_, sweep_.widest()));
      scratch->K_bar.resize(M_, adjoints_ == RowAdjoints::all ? sweep_.widest() : 0);
      return [this, scratch](const DataBlock& block, double* sum) {
        forward(block, *scratch);
        expectations(block, *scratch, sum);
        if (adjoints_ != RowAdjoints::none) of_q(block.x.n, *scratch, sum);
        if (adjoints_ == RowAdjoints::all) of_parameters(block, *scratch, sum);
      };
    });
    RowTermSums out = unpack(sums);
    out.S = std::move(S_);
    return out;
  }

 private:
  Index width() const { return q_.is_thin() ? 1 : M_; }  // columns of a factor of q
  bool shared() const { return contexts_.size() == 1; }
  std::size_t context_of(Index f) const { return shared() ? 0 : at(f); }

  void check() const {
    if (likelihood_.is_mixed() && mixing_.W.rows() != A_)
      throw InputError(
          fmt::format("a mixing of {}×{} for {} outputs of {} functions each; it needs {} rows",
                      mixing_.W.rows(), mixing_.W.cols(), sweep_.rows().outputs(), L_, A_));
    if (pairs_ > 0 && !shared())
      throw InputError("functions of several kernels do not step together");
    if (x_bar_ && adjoints_ != RowAdjoints::all)
      throw InputError("the gradient by the inputs needs all adjoints");
    if (contexts_.empty() || (!shared() && static_cast<Index>(contexts_.size()) != F_))
      throw InputError(fmt::format("{} kernels for {} functions: one for all, or one for each",
                                   contexts_.size(), F_));
    const Index M = contexts_.front().features->size();
    for (const SweepContext& c : contexts_)
      if (c.features->size() != M)
        throw InputError(
            fmt::format("the functions have {} and {} inducing variables; they need equally many",
                        M, c.features->size()));
    bool square = static_cast<Index>(q_.Ls.size()) == F_;
    for (const Matrix& L : q_.Ls)
      square = square && L.rows() == M && L.cols() == (q_.is_thin() ? 1 : M);
    if (q_.m.rows() != M || q_.m.cols() != F_ || !square)
      throw InputError(
          fmt::format("q(v) has a mean of {}×{} and {} factors; {} features and {} functions need "
                      "a mean of {}×{} and {} factors of {}×{}",
                      q_.m.rows(), q_.m.cols(), q_.Ls.size(), M, F_, M, F_, F_, M, M));
  }

  using Inputs = Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>>;
  static Inputs inputs(const DataBlock& block) {
    return {block.x.data, block.x.n, block.x.dims, Eigen::OuterStride<>(block.x.stride)};
  }
  const Mean& mean() const { return *contexts_.front().mean; }
  const FunctionValues& told(const Scratch& s) const { return mixing_.is_identity() ? s.f : s.g; }

  void forward(const DataBlock& block, Scratch& s) const {
    const Index n = block.x.n;
    s.f.mean.resize(n, F_);
    s.f.variance.resize(n, F_);
    s.k.resize(n);
    for (Index f = 0; f < F_; ++f) {
      const std::size_t part = context_of(f);
      auto A = s.A[part].leftCols(n);
      if (f == 0 || !shared()) {
        const SweepContext& c = contexts_[part];
        c.features->Kuf(c.theta, c.z, block.x, s.K[part].data());
        A = s.K[part].leftCols(n);
        solve_Luu(*c.features, c.Luu, A);
        c.kernel->diagonal(c.theta, block.x, s.k.data());
        s.k = (s.k - A.colwise().squaredNorm().transpose()).cwiseMax(0.0);
      }
      auto SA = s.SA[at(f)].leftCols(n);
      if (q_.is_thin()) {
        const Vector S = q_.Ls[at(f)].col(0).cwiseAbs2();
        for (Index i = 0; i < n; ++i) {
          SA.col(i) = S.cwiseProduct(A.col(i));
          s.f.variance(i, f) = s.k(i) + A.col(i).dot(SA.col(i));
        }
      } else if (adjoints_ == RowAdjoints::all && !by_factor_) {
        gemm(1.0, S_[at(f)], Op::none, A, Op::none, 0.0, SA);
        for (Index i = 0; i < n; ++i)
          s.f.variance(i, f) = s.k(i) + std::max(0.0, A.col(i).dot(SA.col(i)));
      } else {
        SA = A;
        multiply_lower(q_.Ls[at(f)], SA, Op::transpose);
        s.f.variance.col(f) = s.k + SA.colwise().squaredNorm().transpose();
        if (adjoints_ == RowAdjoints::all) multiply_lower(q_.Ls[at(f)], SA);
      }
      if (!shared()) gemm(1.0, A, Op::transpose, q_.m.col(f), Op::none, 0.0, s.f.mean.col(f));
    }
    if (shared()) gemm(1.0, s.A[0].leftCols(n), Op::transpose, q_.m, Op::none, 0.0, s.f.mean);
    if (!mixing_.is_identity()) mixing_.forward(s.f, s.g);
    if (B_ > 0)
      gemm(1.0, mean().basis(inputs(block)), Op::none, contexts_.front().mean_weights, Op::none,
           1.0, mixing_.is_identity() ? s.f.mean : s.g.mean);
  }

  void expectations(const DataBlock& block, Scratch& s, double* sum) const {
    FunctionValues& g = mixing_.is_identity() ? s.f : s.g;
    const Index own_pairs = pairs_ > 0 ? L_ * (L_ - 1) / 2 : 0;
    g.mean_bar.setZero(block.x.n, A_);
    g.variance_bar.setZero(block.x.n, A_);
    g.coupling.setZero(block.x.n, own_pairs * block.outputs);
    for (Index p = 0; p < block.outputs; ++p) {
      s.packed.load(block, p, g.mean, g.variance, p * L_, L_, own_pairs);
      likelihood_.expectation(s.packed.terms(sum + layout_.parameters));
      sum[0] += s.packed.value.sum();
      sum[1] += static_cast<double>(s.packed.value.size());
      s.packed.spread(g.mean_bar, g.variance_bar, g.coupling, p * L_, p * own_pairs);
    }
    if (pairs_ > 0 && (!mixing_.is_identity() || block.outputs > 1))
      s.f.coupling = mixing_.couplings(g, L_, F_);
    if (mixing_.is_identity()) return;
    mixing_.pullback(s.f, s.g, adjoints_ == RowAdjoints::all ? sum + layout_.mixing : nullptr);
  }

  void of_q(Index n, Scratch& s, double* sum) const {
    Eigen::Map<Matrix> A_m(sum + layout_.m, M_, F_);
    if (shared()) gemm(1.0, s.A[0].leftCols(n), Op::none, s.f.mean_bar, Op::none, 1.0, A_m);
    for (Index f = 0; f < F_; ++f) {
      const Matrix& A = s.A[context_of(f)];
      if (!shared())
        gemm(1.0, A.leftCols(n), Op::none, s.f.mean_bar.col(f), Op::none, 1.0, A_m.col(f));
      if (q_.is_thin()) {
        Eigen::Map<Vector> diagonal(sum + layout_.v + M_ * f, M_);
        for (Index i = 0; i < n; ++i) diagonal += s.f.variance_bar(i, f) * A.col(i).cwiseAbs2();
      } else {
        add_weighted(A, n, s.f.variance_bar.col(f), s.rooted, sum + layout_.v + M_ * M_ * f);
      }
    }
    for (Index c = 0; c < pairs_; ++c)
      add_weighted(s.A[0], n, s.f.coupling.col(c), s.rooted, sum + layout_.c + M_ * M_ * c);
  }

  // ā_n = m·m̄_n + 2v̄_n(S − I)a_n, then K̄uf = Luu⁻ᵀĀ.
  void of_parameters(const DataBlock& block, Scratch& s, double* sum) const {
    const Index n = block.x.n;
    auto bar = s.K_bar.leftCols(n);
    s.k_bar.setZero(n);
    for (Index f = 0; f < F_; ++f) {
      const std::size_t part = context_of(f);
      const bool begins = f == 0 || !shared(), ends = f == F_ - 1 || !shared();
      if (begins) {
        bar.setZero();
        s.k_bar.setZero();
      }
      for (Index i = 0; i < n; ++i)
        bar.col(i) += 2.0 * s.f.variance_bar(i, f) * (s.SA[at(f)].col(i) - s.A[part].col(i)) +
                      s.f.mean_bar(i, f) * q_.m.col(f);
      s.k_bar += s.f.variance_bar.col(f);
      if (!ends) continue;
      const SweepContext& c = contexts_[part];
      solve_Luu(*c.features, c.Luu, bar, Op::transpose);
      double *theta_bar = sum + layout_.theta[part], *z_bar = sum + layout_.z[part];
      double* to_x = x_bar_ ? x_bar_->row(block.x.first).data() : nullptr;
      c.features->Kuf_pullback(c.theta, c.z, block.x, s.K[part].data(), bar.data(), theta_bar,
                               z_bar, to_x);
      c.kernel->diagonal_pullback(c.theta, block.x, s.k_bar.data(), theta_bar, to_x);
    }
    if (B_ == 0) return;
    const Matrix& bar_of_mean = told(s).mean_bar;
    gemm(1.0, mean().basis(inputs(block)), Op::transpose, bar_of_mean, Op::none, 1.0,
         Eigen::Map<Matrix>(sum + layout_.mean, B_, A_));
    for (Index a = 0; x_bar_ && a < A_; ++a)
      x_bar_->middleRows(block.x.first, n) +=
          bar_of_mean.col(a).asDiagonal() *
          mean().gradient(inputs(block), contexts_.front().mean_weights.col(a));
  }

  RowTermSums unpack(const Vector& sums) const {
    RowTermSums out;
    out.value = sums(0);
    out.rows = sums(1);
    if (adjoints_ == RowAdjoints::none) return out;
    out.A_m = Eigen::Map<const Matrix>(sums.data() + layout_.m, M_, F_);
    const auto symmetric = [&](Index place, Index count, Index cols, std::vector<Matrix>& to) {
      for (Index i = 0; i < count; ++i) {
        to.emplace_back(Eigen::Map<const Matrix>(sums.data() + place + M_ * cols * i, M_, cols));
        if (cols == M_) mirror_lower(to.back());
      }
    };
    symmetric(layout_.v, F_, width(), out.A_vA);
    symmetric(layout_.c, pairs_, M_, out.A_cA);
    if (adjoints_ != RowAdjoints::all) return out;
    out.parameters_bar = sums.segment(layout_.parameters, likelihood_.parameters);
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
      const SweepContext& c = contexts_[i];
      out.theta_bar.emplace_back(
          sums.segment(layout_.theta[i], c.kernel->parameter_count(sweep_.rows().dims())));
      out.z_bar.emplace_back(sums.segment(layout_.z[i], c.features->parameter_count()));
    }
    out.mixing_bar =
        Eigen::Map<const Matrix>(sums.data() + layout_.mixing, mixing_.W.rows(), mixing_.W.cols());
    out.mean_bar = Eigen::Map<const Matrix>(sums.data() + layout_.mean, B_, A_);
    return out;
  }

  std::span<const SweepContext> contexts_;
  const RowLikelihood& likelihood_;
  const WhitenedGaussian& q_;
  const Sweep& sweep_;
  RowAdjoints adjoints_;
  RowMatrix* x_bar_;
  Mixing mixing_;
  Index L_, A_, F_, pairs_, M_ = 0, B_ = 0;
  Layout layout_;
  bool by_factor_ = false;
  std::vector<Matrix> S_;  // Ls·Lsᵀ of each function
};

}  // namespace

RowExpectation gaussian_expectation(double noise_variance) {
  if (!(noise_variance > 0.0))
    throw InputError(fmt::format("the noise variance must be positive, got {}", noise_variance));
  return [noise_variance](const RowTerms& t) {
    for (Index i = 0; i < t.n; ++i) {
      const double s = noise_variance + (t.aux ? t.aux[i] : 0.0), e = t.y[i] - t.mean[i];
      const double spread = e * e + t.variance[i], w = t.weights ? t.weights[i] : 1.0;
      t.value[i] = -0.5 * w * (std::log(2.0 * std::numbers::pi * s) + spread / s);
      t.mean_bar[i] = w * e / s;
      t.variance_bar[i] = -0.5 * w / s;
      t.parameters_bar[0] += 0.5 * w * (spread / s - 1.0) / s;
    }
  };
}

RowLikelihood gaussian_likelihood(double noise_variance) {
  RowLikelihood out{gaussian_expectation(noise_variance)};
  out.gaussian_noise = noise_variance;
  return out;
}

RowTermSums row_terms(std::span<const SweepContext> contexts, const RowLikelihood& likelihood,
                      const WhitenedGaussian& q, const Sweep& sweep, RowAdjoints adjoints,
                      GaussianRowGradient* of_inputs) {
  if (sweep.rows().has_gaussian_inputs()) {
    const Mean* mean = contexts.empty() ? nullptr : contexts.front().mean;
    if (likelihood.gaussian_noise && !likelihood.is_mixed() && contexts.size() == 1 &&
        !q.is_thin() && (!mean || mean->basis_count(sweep.rows().dims()) <= 1)) {
      SweepContext c = contexts.front();
      c.noise = *likelihood.gaussian_noise;
      return gaussian_row_terms(c, q, sweep, adjoints, of_inputs);
    }
    const RowSource* points = sweep.rows().points();
    if (!points)
      throw Unsupported(
          "rows with Gaussian inputs need Gaussian noise, one kernel, a zero or constant mean "
          "function, no mixing and full covariances of q; give them deviates to average over "
          "points instead");
    return row_terms(contexts, likelihood, q, Sweep::for_features(*points, q.m.rows()), adjoints,
                     of_inputs);
  }
  const bool wanted = of_inputs && adjoints == RowAdjoints::all;
  RowMatrix x_bar;
  RowTermSums out =
      RowTermSweep(contexts, likelihood, q, sweep, adjoints, wanted ? &x_bar : nullptr).run();
  if (wanted) sweep.rows().pull_inputs(std::move(x_bar), *of_inputs);
  return out;
}

}  // namespace covary
