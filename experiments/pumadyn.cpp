// pumadyn32nm (van der Wilk 2018, Table 3.1): 7168 rows, 32 inputs of which four matter, 40
// inducing inputs. From random starts FITC finds the four inputs and VFE's joint training does not,
// though its bound ranks the solutions rightly; from the start that sparse models have by default
// it does. Inputs and outputs as in the files (standardised there). A random start takes Z from
// distinct rows of the data and the kernel's own starts; three seeds, and the thesis shows one
// 'representative' run. 300 iterations each, fixed before any score on the test set was seen. VFE
// from FITC starts with FITC's kernel and Z; for the noise it takes the mean of FITC's whole
// diagonal, because FITC's own noise is at its floor, where VFE's trace term is enormous.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "covary/data/metrics.hpp"
#include "covary/data/table.hpp"
#include "experiments.hpp"
#include "small.hpp"
#include "sparse_support.hpp"
#include "support.hpp"

namespace covary::experiments {
namespace {

constexpr Index M = 40, runs = 3, iterations = 300;
constexpr double relevant = 0.1;  // of the largest inverse lengthscale

struct Split {
  Data train, test;
};

Data read(const std::string& name) {
  const Table t = read_data("pumadyn32nm/" + name + ".csv.gz");
  return {t.values.leftCols(32), t.values.col(32)};
}

struct Scores {
  Matrix values = Matrix::Zero(runs, 4);  // NLML/N, σ_n, RMSE, number of relevant inputs
  std::string inputs;                     // those of the first run
  Vector relevance;                       // inverse lengthscales of the first run
};

// In the units of the data, whatever the model scaled by.
void score(const RegressionFit& fit, double N, const Split& data, Index run, Scores& out) {
  const Prediction p = fit.predict(data.test.X);
  const Vector relevance = fit.parameters.at("kernel.lengthscales")
                               .value.cwiseProduct(fit.input_scaling.scale)
                               .cwiseInverse();
  const Vector share = relevance / relevance.maxCoeff();
  const double noise = fit.posterior.noise_variance();
  // With all of them alike and a signal of nothing, none is relevant.
  const bool signal = fit.parameters.at("kernel.variance").value[0] > 0.01 * noise;
  std::string names;
  Index found = 0;
  for (Index d = 0; d < share.size(); ++d)
    if (signal && share[d] > relevant) {
      ++found;
      names += fmt::format("{}x{}", names.empty() ? "" : " ", d);
    }
  out.values.row(run) << -fit.value / N, std::sqrt(noise) * fit.output_scaling.scale[0],
      rmse(data.test.Y.col(0), p.mean.col(0)), static_cast<double>(found);
  progress(fmt::format("  NLML/N {:.4f}, σ_n {:.4f}, RMSE {:.4f}, {} inputs: {}",
                       out.values(run, 0), out.values(run, 1), out.values(run, 2), found,
                       found > 6 ? "…" : names));
  if (run == 0) {
    out.inputs = found > 6 ? fmt::format("{} inputs", found) : names.empty() ? "none" : names;
    out.relevance = signal ? relevance : Vector::Zero(share.size());
  }
}

SparseRegressionOptions options(const Approximation& a, const RowMatrix& Z, std::uint64_t seed) {
  SparseRegressionOptions o;
  o.approximation = a;
  o.Z = Z;
  o.scale_inputs = o.scale_outputs = ScaleMode::none;
  o.subset = 0;
  o.seed = seed;
  o.training.max_iterations = few(iterations, 3);
  o.certificate_flops = 0;
  return o;
}

// With the parameters of another fit, Z included, if there is one, and another noise.
RegressionFit train(const Split& data, const SparseRegressionOptions& o,
                    const RegressionFit* from = nullptr, double noise = 0.0) {
  SparseRegression model(data.train.X, data.train.Y, o);
  if (from) model.parameters().set_values(from->parameters.values());
  if (noise > 0.0) model.parameters().set("likelihood.variance", noise);
  return model.fit();
}

// The mean of FITC's diagonal, noise and residual variance: what is noise to VFE.
double mean_diagonal(const RegressionFit& fitc, double N) {
  for (const auto& [name, value] : fitc.diagnostics)
    if (name == "residual_variance") return fitc.posterior.noise_variance() + value / N;
  throw std::logic_error("a sparse fit knows its residual variance");
}

RegressionFit frozen_first(const Split& data, const SparseRegressionOptions& o) {
  SparseRegression model(data.train.X, data.train.Y, o);
  model.parameters().fix("kernel");
  model.parameters().fix("likelihood.variance");
  model.fit();
  model.parameters().unfix("kernel");
  model.parameters().unfix("likelihood.variance");
  return model.fit();
}

// The subset of data: an exact GP, its parameters first on 512 of the rows.
RegressionFit subset_of_data(const Split& data, std::uint64_t seed) {
  std::optional<Vector> values;
  for (const Index rows : {512, 2048}) {
    const auto chosen = sample_rows(data.train.size(), few(rows, rows / 16), Random(seed, 7));
    RegressionOptions o;
    o.scale_inputs = o.scale_outputs = ScaleMode::none;
    o.training.starts = rows == 512 ? 3 : 1;
    o.seed = seed;
    o.standard_errors = Switch::off;
    o.training.max_iterations = few(rows == 512 ? 200 : 40, 3);
    Regression model(data.train.X(chosen, Eigen::all), data.train.Y(chosen, Eigen::all), o);
    if (values) model.parameters().set_values(*values);
    progress(fmt::format("an exact fit of {} rows", rows));
    RegressionFit fit = model.fit();
    if (rows == 2048) return fit;
    values = fit.parameters.values();
  }
  throw std::logic_error("not reached");
}

}  // namespace

Result pumadyn(std::uint64_t seed) {
  Result result;
  result.name = "pumadyn";
  result.source =
      "M. van der Wilk, Sparse Gaussian Process Approximations and Applications (2018), Table 3.1";
  const Split data{read("train"), read("test")};
  const double N = static_cast<double>(data.train.size());
  Scores exact, fitc, joint, frozen, from_fitc, at_once, ours;
  for (Index r = 0; r < runs; ++r) {
    const std::uint64_t own = seed + static_cast<std::uint64_t>(r);
    const RowMatrix Z = random_rows(data.train.X, M, own, 1);
    const auto tell = [&](const char* what) {
      progress(fmt::format("run {} of {}: {}", r + 1, runs, what));
    };
    tell("FITC");
    const RegressionFit f = train(data, options("fitc", Z, own));
    score(f, N, data, r, fitc);
    tell("VFE from FITC, noise from its diagonal");
    score(train(data, options("vfe", Z, own), &f, mean_diagonal(f, N)), N, data, r, from_fitc);
    tell("VFE from FITC, its noise as it is");
    score(train(data, options("vfe", Z, own), &f), N, data, r, at_once);
    tell("VFE, joint");
    score(train(data, options("vfe", Z, own)), N, data, r, joint);
    tell("VFE, θ frozen first");
    score(frozen_first(data, options("vfe", Z, own)), N, data, r, frozen);
    tell("VFE, default start");
    SparseRegressionOptions o;  // as `covary fit --model vfe --inducing 40` has it
    o.inducing = M;
    o.seed = own;
    o.subset = few(o.subset, 50);
    o.training.max_iterations = few(iterations, 3);
    o.certificate_flops = 0;
    score(train(data, o), N, data, r, ours);
  }
  score(subset_of_data(data, seed), 2048, data, 0, exact);

  const auto report = [&](const std::string& name, const char* reported, const Scores& s) {
    result.add(name + ": NLML/N; σ_n; RMSE", reported,
               fmt::format("{}; {}; {}", mean_sd(s.values.col(0)), mean_sd(s.values.col(1)),
                           mean_sd(s.values.col(2), 4)),
               "first run: " + s.inputs);
  };
  result.add("GP, 2048 rows: NLML/N; σ_n; RMSE", "-0.099; 0.196; 0.209",
             fmt::format("{:.3f}; {:.3f}; {:.4f}", exact.values(0, 0), exact.values(0, 1),
                         exact.values(0, 2)),
             exact.inputs);
  report("FITC", "-0.145; 0.004; 0.212", fitc);
  report("VFE, joint", "1.419; 1; 0.979", joint);
  report("VFE, θ frozen first", "0.151; 0.278; 0.276", frozen);
  report("VFE, from FITC", "-0.096; 0.213; 0.212", from_fitc);
  result.add("VFE, from FITC with its vanishing noise: runs that end below NLML/N = 0", "",
             fmt::format("{} of {}", (at_once.values.col(0).array() < 0).count(), runs),
             "the trace term is of the order of 10⁶ a row there");
  report("VFE, default start", "to beat: 0.979", ours);
  result.claim("VFE from its default start solves it (RMSE below 0.22), in every run",
               ours.values.col(2).maxCoeff() < 0.22,
               fmt::format("at most {:.4f}", ours.values.col(2).maxCoeff()));
  result.claim("VFE from FITC does too where FITC did",
               (from_fitc.values.col(2) - fitc.values.col(2)).maxCoeff() < 0.02,
               fmt::format("RMSE at most {:.4f}", from_fitc.values.col(2).maxCoeff()));
  result.claim("FITC's noise is far below the full GP's, VFE's above it",
               fitc.values.col(1).minCoeff() < 0.5 * exact.values(0, 1) &&
                   ours.values.col(1).minCoeff() > exact.values(0, 1),
               fmt::format("σ_n {:.3f}, {:.3f}, {:.3f}", fitc.values.col(1).minCoeff(),
                           exact.values(0, 1), ours.values.col(1).minCoeff()));
  const auto ranked = [&](Index column) {
    return ours.values.col(column).maxCoeff() < frozen.values.col(column).minCoeff() &&
           frozen.values.col(column).maxCoeff() < joint.values.col(column).minCoeff();
  };
  result.claim("the bound ranks joint, frozen and default start as the test set does",
               ranked(0) && ranked(2),
               fmt::format("NLML/N at most {:.3f}", ours.values.col(0).maxCoeff()));
  result.claim("the same four inputs by the full GP and VFE's default start",
               exact.values(0, 3) == 4 && ours.inputs == exact.inputs, ours.inputs);
  Matrix picture(32, 6);
  picture << Vector::LinSpaced(32, 0, 31), exact.relevance, fitc.relevance, joint.relevance,
      frozen.relevance, ours.relevance;
  result.series.push_back({"inverse lengthscales of the inputs, first run",
                           {"input", "GP, 2048 rows", "FITC", "VFE joint", "VFE frozen", "VFE"},
                           picture});
  return result;
}

}  // namespace covary::experiments
