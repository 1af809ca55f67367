// The kernels' share: Gram matrices and their pullbacks by all threads, D = 8, N = 2000, in
// nanoseconds an entry of the N×N matrix; and the exponential on one thread, an element.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "covary/kernels/kernels.hpp"
#include "covary/linalg/vector_math.hpp"
#include "problem.hpp"

namespace covary {
namespace {

constexpr Index N = 2000;

void per_entry(benchmark::State& state, double entries) {
  state.counters["ns"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * entries * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void gram_of(benchmark::State& state, const Kernel& kernel) {
  const bench::Problem p = bench::make_problem(N);
  const Eigen::Map<const RowMatrix> X(p.X.data(), N, bench::D);
  const Vector theta = kernel.parameters(bench::D).values();
  for (auto _ : state) benchmark::DoNotOptimize(gram(kernel, theta, X).data());
  per_entry(state, static_cast<double>(N * N));
}

void pullback_of(benchmark::State& state, const Kernel& kernel) {
  const bench::Problem p = bench::make_problem(N);
  const Eigen::Map<const RowMatrix> X(p.X.data(), N, bench::D);
  const Vector theta = kernel.parameters(bench::D).values();
  const auto ones = [](Index, Index ni, Index, Index nj, double* Kbar) {
    std::fill(Kbar, Kbar + ni * nj, 1.0);
  };
  for (auto _ : state) {
    Vector theta_bar = Vector::Zero(theta.size());
    gram_pullback(kernel.node(), theta.data(), X, ones, theta_bar);
    benchmark::DoNotOptimize(theta_bar.data());
  }
  per_entry(state, static_cast<double>(N * N));
}

void exponential(benchmark::State& state, const char* level) {
  set_simd_level(level);
  std::vector<double> x(4096), out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = -0.005 * static_cast<double>(i);
  for (auto _ : state) {
    vector_exp(x.data(), out.data(), static_cast<Index>(x.size()));
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  per_entry(state, static_cast<double>(x.size()));
  set_simd_level("auto");
}

}  // namespace
}  // namespace covary

int main(int argc, char** argv) {
  using covary::Kernel;
  for (const char* text : {"se(ard)", "matern52(ard)", "periodic", "rq(ard)"}) {
    const std::string name = text;
    const Kernel kernel(name);
    for (const bool back : {false, true})
      benchmark::RegisterBenchmark((name + (back ? " pullback" : " gram")).c_str(),
                                   back ? covary::pullback_of : covary::gram_of, kernel)
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
  }
  benchmark::RegisterBenchmark("exp baseline", covary::exponential, "baseline");
  const std::string best = covary::simd_level();
  if (best != "baseline") benchmark::RegisterBenchmark("exp avx2", covary::exponential, "avx2");
  if (best == "avx512") benchmark::RegisterBenchmark("exp avx512", covary::exponential, "avx512");
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
