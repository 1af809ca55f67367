#include "spectral_support.hpp"

#include <algorithm>
#include <cmath>

#include "covary/features/eigen.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/random/random.hpp"

namespace covary::experiments {

std::string name_of(ToyInputs inputs) {
  switch (inputs) {
    case ToyInputs::normal:
      return "N(0, 25)";
    case ToyInputs::uniform:
      return "U(±√75)";
    case ToyInputs::mixture:
      return "½N(−10, 1) + ½N(10, 1)";
  }
  return "";
}

Theta toy_truth() { return {1.0, 1.0, toy_noise}; }

Data draw_toy(ToyInputs inputs, Index N, std::uint64_t seed, std::uint64_t set) {
  Random random(seed, 0x5bec0000 + 16 * set + static_cast<std::uint64_t>(inputs));
  Data out{RowMatrix(N, 1), RowMatrix(N, 1)};
  for (Index i = 0; i < N; ++i) {
    if (inputs == ToyInputs::normal) out.X(i) = 5.0 * random.normal();
    if (inputs == ToyInputs::uniform) out.X(i) = std::sqrt(75.0) * (2.0 * random.uniform() - 1.0);
    if (inputs == ToyInputs::mixture)
      out.X(i) = (random.uniform() < 0.5 ? -10.0 : 10.0) + random.normal();
  }
  const Theta truth = toy_truth();
  Matrix K = gram(truth.kernel(), (Vector(2) << 1.0, 1.0).finished(), out.X);
  K.diagonal().array() += truth.noise;
  Matrix y = random.normal_vector(N);
  multiply_lower(cholesky(std::move(K), "the toy's covariance").L, y);
  out.Y = y;
  return out;
}

Measure moments_of(const RowMatrix& X) {
  const double mean = X.mean();
  return {mean, std::sqrt((X.array() - mean).square().mean())};
}

EigenBound eigen_bound(const Data& data, Index M, const Measure& measure, const Theta& t) {
  Eigen::MatrixX<Index> degrees(M, 1);
  for (Index m = 0; m < M; ++m) degrees(m, 0) = m;
  const Kernel kernel = "se";
  const Mean mean;
  const FeaturesPtr features = eigen_features(kernel, Vector::Constant(1, measure.mean),
                                              Vector::Constant(1, measure.sd), degrees);
  const MemoryRows rows(data.X, data.Y, Vector());
  const Sweep sweep = Sweep::for_features(rows, M);
  const SparseProblem problem{"vfe", features.get(), &kernel, &mean, &sweep, {{0}}};
  const SparseValues values{(Vector(2) << t.variance, t.lengthscale).finished(),
                            (Vector(2) << measure.mean, measure.sd).finished(),
                            t.noise,
                            {}};
  Jitter jitter;
  const SparseEvaluation e = evaluate_sparse(problem, values, jitter);
  return {e.value, e.terms.residual, e.jitter};
}

double best_sd(const Data& data, Index M, const Measure& start, const Theta& t) {
  double best = start.sd, most = eigen_bound(data, M, start, t).elbo;
  for (int i = -28; i <= 14; ++i) {
    const double sd = start.sd * std::pow(1.05, i);
    const double bound = eigen_bound(data, M, {start.mean, sd}, t).elbo;
    if (bound > most) {
      most = bound;
      best = sd;
    }
  }
  return best;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace covary::experiments
