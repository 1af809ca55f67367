// Laplace and EP on labels, D = 2: the log evidence with all gradients from a cold start, at
// changing parameters. bench/peers/latent.py draws the same data.
//
//   [COVARY_NUM_THREADS=T] latent_bench N laplace|ep LIKELIHOOD     one JSON line
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

#include "covary/error.hpp"
#include "covary/inference/ep.hpp"
#include "covary/inference/laplace.hpp"
#include "covary/linalg/parallel.hpp"
#include "measure.hpp"
#include "problem.hpp"

namespace covary {
namespace {

constexpr Index dimensions = 2;

FunctionModel make_model(std::size_t size, const std::string& likelihood) {
  const Index N = static_cast<Index>(size);
  FunctionModel model{"se(ard)", likelihood, {}, RowMatrix(N, dimensions), Vector(N)};
  bench::Uniform uniform(size);
  for (Index i = 0; i < N; ++i) {
    for (Index d = 0; d < dimensions; ++d) model.X(i, d) = 6.0 * uniform() - 3.0;
    const double f = 3.0 * std::sin(1.5 * model.X(i, 0)) + model.X(i, 1);
    model.y(i) = uniform() < 1.0 / (1.0 + std::exp(-f)) ? 1.0 : 0.0;
  }
  return model;
}

void measure(std::size_t size, const std::string& method, const std::string& likelihood) {
  const FunctionModel model = make_model(size, likelihood);
  const FunctionParameters start{(Vector(3) << 4.0, 0.9, 2.0).finished(), Vector(), Vector()};
  const auto evaluate = [&](double shift, FunctionParameters& gradient) {
    FunctionParameters at = start;
    at.kernel *= std::exp(shift);
    if (method == "laplace") return laplace_approximation(model, at, &gradient);
    if (method == "ep") return expectation_propagation(model, at, &gradient);
    throw InputError("the method is laplace or ep");
  };
  const double before = bench::process_memory("VmRSS");
  FunctionParameters gradient, other;
  const FunctionApproximation first = evaluate(0.0, gradient);
  const auto times = bench::repeat([&](int run) {
    const double begin = bench::now();
    evaluate(1e-3 * run, other);
    return bench::now() - begin;
  });
  std::printf(
      "{\"case\": \"%s %s\", \"n\": %zu, \"threads\": %d, \"seconds\": %.6g, \"fastest\": %.6g, "
      "\"iterations\": %d, \"value\": %.17g, \"gradient\": [%.17g, %.17g, %.17g], "
      "\"peak_memory_mb\": %.1f}\n",
      method.c_str(), likelihood.c_str(), size, threads(), bench::median(times),
      *std::min_element(times.begin(), times.end()), first.iterations, first.value,
      gradient.kernel(0), gradient.kernel(1), gradient.kernel(2),
      (bench::process_memory("VmHWM") - before) / 1048576);
}

}  // namespace
}  // namespace covary

int main(int argc, char** argv) {
  try {
    if (argc != 4) throw covary::InputError("usage: latent_bench N laplace|ep LIKELIHOOD");
    covary::measure(static_cast<std::size_t>(std::stol(argv[1])), argv[2], argv[3]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "latent_bench: %s\n", e.what());
    return 1;
  }
}
