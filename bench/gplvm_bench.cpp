// The bound of the Bayesian GP-LVM with the gradient in everything, q(X) and the inducing inputs
// too: SE-ARD, P = 12, hot, at changing parameters. In turn with it the limit: the exponentials of
// ½M(M+1) pairs of inducing inputs for each row, once, and the three products around them, by the
// same threads; no memory but a block's, no parameters, no factorisations. bench/peers/gplvm.py
// draws the same data.
//
//   [COVARY_NUM_THREADS=T] gplvm_bench N Q M                   one JSON line
//   [COVARY_NUM_THREADS=T] gplvm_bench wide N P ITERATIONS     training with P ≫ N, one JSON line
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/linalg/vector_math.hpp"
#include "covary/models/gplvm.hpp"
#include "measure.hpp"
#include "problem.hpp"

namespace covary {
namespace {

constexpr Index outputs = 12;
constexpr double mebibyte = 1048576.0;

struct Inputs {
  RowMatrix mean, variance, Z, Y;
};

Inputs make_inputs(Index N, Index Q, Index M) {
  Inputs out{RowMatrix(N, Q), RowMatrix(N, Q), RowMatrix(M, Q), RowMatrix(N, outputs)};
  bench::Uniform uniform(static_cast<std::uint64_t>(N));
  for (double& x : out.mean.reshaped<Eigen::RowMajor>()) x = 4.0 * uniform() - 2.0;
  for (double& s : out.variance.reshaped<Eigen::RowMajor>()) s = 0.05 + 0.5 * uniform();
  for (double& z : out.Z.reshaped<Eigen::RowMajor>()) z = 4.0 * uniform() - 2.0;
  for (Index i = 0; i < N; ++i)
    for (Index p = 0; p < outputs; ++p) {
      const auto f = static_cast<double>(p);
      out.Y(i, p) = std::sin(out.mean(i, 0) * (1.0 + f / 12.0)) + std::cos(out.mean(i, 1) + f) +
                    0.2 * (uniform() - 0.5);
    }
  return out;
}

Vector as_vector(const RowMatrix& A) { return A.reshaped<Eigen::RowMajor>(); }

// One pass of the limit, and the memory of its threads.
class Limit {
 public:
  Limit(Index N, Index Q, Index M)
      : blocks_((N + width - 1) / width),
        of_pairs_(Matrix::Constant(M * (M + 1) / 2, Q + 1, -0.1)),
        of_rows_(Matrix::Constant(Q + 1, width, 0.1)),
        scratch_(static_cast<std::size_t>(threads()),
                 {Matrix(of_pairs_.rows(), width), Matrix(Q + 1, width),
                  Matrix::Zero(of_pairs_.rows(), Q + 1)}) {}
  void operator()() {
    const auto tasks = static_cast<Index>(scratch_.size());
    parallel_for(tasks, [&](Index t) {
      auto& [values, by_rows, by_pairs] = scratch_[static_cast<std::size_t>(t)];
      for (Index b = t; b < blocks_; b += tasks) {
        gemm(1.0, of_pairs_, Op::none, of_rows_, Op::none, 0.0, values);
        vector_exp(values.data(), values.data(), values.size());
        gemm(1.0, of_pairs_, Op::transpose, values, Op::none, 0.0, by_rows);
        gemm(1.0, values, Op::none, of_rows_, Op::transpose, 1.0, by_pairs);
      }
    });
  }

 private:
  struct Scratch {
    Matrix values, by_rows, by_pairs;
  };
  static constexpr Index width = 32;
  Index blocks_;
  Matrix of_pairs_, of_rows_;
  std::vector<Scratch> scratch_;
};

void measure(Index N, Index Q, Index M) {
  const Inputs in = make_inputs(N, Q, M);
  GplvmOptions o;
  o.latent = Q;
  o.inducing = M;
  o.scale_outputs = ScaleMode::none;
  o.start_mean = in.mean;
  Gplvm model(in.Y, o);
  Parameters& p = model.parameters();
  p.set("latent.variance", as_vector(in.variance));
  p.set("kernel.variance", 1.3);
  p.set("kernel.lengthscales", Vector::LinSpaced(Q, 1.0, 1.0 + 0.3 * static_cast<double>(Q - 1)));
  p.set("likelihood.variance", 0.05);
  p.set("features.Z", as_vector(in.Z));
  const Vector start = p.flatten();
  const auto evaluate = [&](double shift, Vector& gradient) {
    Jitter jitter;
    return model.objective(start.array() + shift, &gradient, jitter).value();
  };
  bench::reset_peak_memory();
  const double before = bench::process_memory("VmRSS");
  Vector first_gradient, gradient;
  const double first = -evaluate(0.0, first_gradient);
  const double peak = bench::process_memory("VmHWM") - before;
  Limit limit(N, Q, M);
  const auto timed = [](auto&& work) {
    const double begin = bench::now();
    work();
    return bench::now() - begin;
  };
  std::vector<double> of_limit;
  const auto times = bench::repeat(
      [&](int run) {
        of_limit.push_back(timed(limit));
        return timed([&] { evaluate(1e-4 * run, gradient); });
      },
      500);
  std::printf(
      "{\"case\": \"evaluation\", \"n\": %td, \"q\": %td, \"m\": %td, \"threads\": %d, "
      "\"seconds\": %.6g, \"fastest\": %.6g, \"limit_seconds\": %.6g, \"value\": %.17g, "
      "\"slope\": %.17g, \"parameters\": %td, \"peak_memory_mb\": %.1f, "
      "\"parameters_mb\": %.3f}\n",
      N, Q, M, threads(), bench::median(times), *std::min_element(times.begin(), times.end()),
      bench::median(of_limit), first, -first_gradient.sum(), start.size(), peak / mebibyte,
      8.0 * static_cast<double>(start.size()) / mebibyte);
}

// Curves of two hidden coordinates, of P phases: a table such as a film's.
void train_wide(Index N, Index P, Index iterations) {
  RowMatrix Y(N, P);
  bench::Uniform uniform(static_cast<std::uint64_t>(N));
  Vector t(N), s(N);
  for (Index i = 0; i < N; ++i) t(i) = 6.0 * uniform(), s(i) = 2.0 * uniform();
  for (Index i = 0; i < N; ++i)
    for (Index p = 0; p < P; ++p) {
      const double at = 6.0 * static_cast<double>(p) / static_cast<double>(P);
      Y(i, p) = std::sin(t(i) + at) + s(i) * std::cos(2.0 * at) + 0.2 * (uniform() - 0.5);
    }
  GplvmOptions o;
  o.latent = 5;
  o.inducing = 50;
  o.training.starts = 1;
  o.training.max_iterations = iterations;
  bench::reset_peak_memory();
  const double before = bench::process_memory("VmRSS"), begin = bench::now();
  Gplvm model(Y, o);
  const GplvmFit fit = model.fit();
  std::printf(
      "{\"case\": \"wide\", \"n\": %td, \"p\": %td, \"m\": %td, \"threads\": %d, "
      "\"seconds\": %.6g, \"iterations\": %td, \"converged\": %s, \"active\": %zu, "
      "\"value\": %.17g, \"data_mb\": %.0f, \"peak_memory_mb\": %.1f}\n",
      N, P, o.inducing, threads(), bench::now() - begin, fit.summary.iterations,
      fit.summary.converged ? "true" : "false", fit.active().size(), fit.value,
      8.0 * static_cast<double>(Y.size()) / mebibyte,
      (bench::process_memory("VmHWM") - before) / mebibyte);
}

}  // namespace
}  // namespace covary

int main(int argc, char** argv) {
  try {
    if (argc == 5 && std::string(argv[1]) == "wide") {
      covary::train_wide(std::stol(argv[2]), std::stol(argv[3]), std::stol(argv[4]));
    } else if (argc == 4) {
      covary::measure(std::stol(argv[1]), std::stol(argv[2]), std::stol(argv[3]));
    } else {
      throw covary::InputError("usage: gplvm_bench N Q M, or gplvm_bench wide N P ITERATIONS");
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gplvm_bench: %s\n", e.what());
    return 1;
  }
}
