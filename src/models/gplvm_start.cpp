// Where a latent-variable model starts: principal components, of several views also what they
// share, and a high ratio of signal to noise.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/data/kmeans.hpp"
#include "covary/data/pca.hpp"
#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/random/random.hpp"
#include "data/canonical.hpp"
#include "models/gplvm_impl.hpp"
#include "models/latent_views.hpp"

namespace covary {
namespace {

// Q principal components with unit variance; what the table does not have is small noise.
RowMatrix components(const RowMatrix& Y, Index Q, Random random) {
  const RowMatrix table = filled(Y);
  RowMatrix out = 0.1 * random.normal_matrix(Y.rows(), Q);
  const Index most = std::min({Q, Y.cols(), Y.rows() - 1});
  for (Index q = most; q > 0; --q) try {
      const Pca pca = Pca::fit(table, q);
      const RowMatrix scores = pca.transform(table);
      for (Index d = 0; d < q; ++d)
        out.col(d) = scores.col(d) / std::sqrt(std::max(pca.variances(d), 1e-12));
      break;
    } catch (const InputError&) {  // fewer directions than that
    }
  return out;
}

}  // namespace

double Gplvm::Impl::View::mean_square() const {
  double sum = 0.0, count = silent() * static_cast<double>(Y.rows());
  for (const double y : Y.reshaped())
    if (!std::isnan(y)) {
      sum += y * y;
      count += 1.0;
    }
  return std::max(sum / count, 1e-12);
}

// Those of each view side by side: dimensions of their own to begin with. Before them come
// dimensions that the views share, if there are any, of which the views keep what is left.
RowMatrix Gplvm::Impl::components_by_view(ConstRows shared, Random& random) const {
  const Index N = views_.front().Y.rows(), Q = options_.latent;
  const auto V = static_cast<Index>(views_.size());
  RowMatrix out(N, Q);
  out.leftCols(shared.cols()) = shared;
  Index at = shared.cols();
  for (Index v = 0; v < V; ++v) {
    const Index share = (Q - at) / (V - v);
    if (share == 0) continue;
    RowMatrix left = filled(views_[static_cast<std::size_t>(v)].Y);
    if (shared.cols()) {  // uncorrelated, of mean zero and unit variance
      const Matrix S = shared;
      const Matrix weights = product(S, left, Op::transpose) / static_cast<double>(N);
      left -= product(S, weights);
    }
    out.middleCols(at, share) = components(left, share, Random(options_.seed, 0x70ca));
    at += share;
  }
  if (at < Q) out.rightCols(Q - at) = 0.1 * random.normal_matrix(N, Q - at);
  return out;
}

// What the views have in common by more than chance, from as many components of each as the latent
// space has dimensions. It gets no more of them than each view for its own; all of them, if there
// are more views than dimensions.
RowMatrix Gplvm::Impl::shared_directions() const {
  std::vector<RowMatrix> tables;
  for (const View& v : views_) tables.push_back(filled(v.Y));
  const Index Q = options_.latent, part = Q / (static_cast<Index>(views_.size()) + 1);
  const SharedDirections all = SharedDirections::fit(tables, Q);
  return all.scores.leftCols(std::min(all.clear(), part ? part : Q));
}

// Those of all views together, each of the same weight: shared dimensions to begin with.
RowMatrix Gplvm::Impl::joint_components() const {
  Index columns = 0;
  for (const View& v : views_) columns += v.Y.cols();
  RowMatrix all(views_.front().Y.rows(), columns);
  Index at = 0;
  for (const View& v : views_) {
    const double outputs = static_cast<double>(v.Y.cols()) + v.silent();
    all.middleCols(at, v.Y.cols()) = v.Y / std::sqrt(outputs * v.mean_square());
    at += v.Y.cols();
  }
  return components(all, options_.latent, Random(options_.seed, 0x70ca));
}

RowMatrix Gplvm::Impl::start_means(Index start) const {
  const Index N = views_.front().Y.rows(), Q = options_.latent;
  Random random(options_.seed, 0x6c76 + static_cast<std::uint64_t>(start));
  RowMatrix out = options_.start_mean;
  bool shaken = start > 0;
  if (out.size() == 0 && !options_.start_view.empty()) {
    const auto named = std::find_if(views_.begin(), views_.end(), [&](const View& v) {
      return v.view.name == options_.start_view;
    });
    if (named == views_.end())
      throw InputError(
          fmt::format("there is no view '{}' to start from; views are named where they are given",
                      options_.start_view));
    out = components(filled(named->Y), Q, Random(options_.seed, 0x70ca));
  } else if (out.size() == 0) {
    const bool several = views_.size() > 1, joint = several && start == 2;
    const RowMatrix shared = several && start == 1 ? shared_directions() : RowMatrix(N, 0);
    out = joint ? joint_components() : components_by_view(shared, random);
    if (joint || shared.cols()) shaken = false;
  }
  if (shaken) {  // turned, too
    const Matrix turn = random.normal_matrix(Q, Q) * 0.3 + Matrix::Identity(Q, Q);
    out = RowMatrix(out.lazyProduct(turn)) + 0.3 * random.normal_matrix(N, Q);
    for (Index q = 0; q < Q; ++q)
      out.col(q) /= std::sqrt(out.col(q).squaredNorm() / static_cast<double>(N));
  }
  const RowMatrix& known = options_.given.size() ? options_.given : options_.prior_mean;
  for (Index i = 0; i < known.rows(); ++i)
    for (Index q = 0; q < known.cols(); ++q)
      if (!std::isnan(known(i, q))) out(i, q) = known(i, q);
  return out;
}

void Gplvm::Impl::declare(ConstRows means, std::uint64_t seed) {
  Parameters all;
  latent_->declare(all, means, options_.start_variance);
  latent_size_ = all.size();
  const Index Q = options_.latent, M = std::min(options_.inducing, means.rows());
  DataScale scale = DataScale::unit(Q);
  for (Index q = 0; q < Q; ++q) {
    const Vector x = means.col(q);
    scale.x_range(q) = std::max(x.maxCoeff() - x.minCoeff(), 1e-6);
    scale.x_sd(q) = std::max(std::sqrt((x.array() - x.mean()).square().mean()), 1e-6);
  }
  for (View& v : views_) {
    if (v.columns.empty()) {
      const MemoryRows rows(means, v.Y, Vector());
      v.columns = columns_by_pattern(rows);
    }
    scale.y_variance = v.mean_square();
    const Parameters of_kernel = options_.kernel.parameters(scale);
    v.features = start_features(
        options_.features, {.kernel = options_.kernel,
                            .theta = of_kernel.values(),
                            .X = means,
                            .M = M,
                            .seed = seed,
                            .choose = [&](Index n) { return kmeans(means, n, seed).centres; }});
    v.offset = all.size();
    const auto add = [&](const Parameters& own) {
      for (Parameter p : own.all()) {
        p.path = path(v, p.path);
        all.add(std::move(p));
      }
    };
    add(of_kernel);
    all.add({path(v, "likelihood.variance"), Vector::Constant(1, scale.y_variance / options_.snr),
             Transform::positive()});
    Parameters own;
    v.features->declare(own);
    add(own);
  }
  parameters_ = std::move(all);
}

}  // namespace covary
