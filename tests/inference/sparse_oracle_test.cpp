// Agreement with GPflow's SGPR and GPRFITC and GPy's VarDTC, FITC and PEP at given parameters and
// inducing inputs; tests/oracles/make_sparse.py made the values, with the jitter of each peer.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "covary/inference/sparse_posterior.hpp"
#include "inference/sparse_problem.hpp"
#include "inference/upper_bound.hpp"
#include "support/json_arrays.hpp"

namespace covary {
namespace {

using nlohmann::json;
using testing::BuiltProblem;
using testing::rows_of;
using testing::SparseCase;
using testing::vector_of;

SparseCase case_of(const json& c, const json& data) {
  const RowMatrix X = rows_of(data.at("X")), Z = rows_of(data.at("Z"));
  const std::string kernel = c.at("kernel");
  SparseCase t(X.rows(), Z.rows(), X.cols(), 1, 0, kernel.c_str());
  t.X = X;
  t.Y = rows_of(data.at("Y")).leftCols(c.at("outputs").get<Index>());
  t.Z = Z;
  t.features = inducing_points(t.kernel, t.Z);
  t.values.z = Eigen::Map<const Vector>(t.Z.data(), t.Z.size());
  Parameters theta = t.kernel.parameters(X.cols());
  for (const auto& [path, value] : c.at("parameters").items())
    if (path == "likelihood.variance")
      t.values.noise = value;
    else
      theta.set(path, vector_of(value));
  t.values.theta = theta.values();
  if (c.contains("mean_weights")) {
    t.mean = "linear";
    t.values.mean_weights = rows_of(c.at("mean_weights"));
  }
  return t;
}

double gap(const Matrix& ours, const Matrix& theirs) {
  return (ours - theirs).cwiseAbs().maxCoeff() / std::max(1e-3, theirs.cwiseAbs().maxCoeff());
}

TEST(SparseOracles, AgreeWithPeers) {
  std::ifstream file(COVARY_TEST_DIR "/oracles/sparse.json");
  const json all = json::parse(file);
  std::set<std::string> kinds;
  int upper_bounds = 0;
  for (const json& c : all.at("cases")) {
    const json& data = all.at("datasets").at(c.at("dataset").get<std::string>());
    const SparseCase t = case_of(c, data);
    const Approximation a = c.at("approximation").get<std::string>();
    const std::string peer = c.at("peer");
    SCOPED_TRACE(peer + " " + a.print() + ", " + c.at("dataset").get<std::string>() + " " +
                 t.kernel.print() + ", outputs " + std::to_string(t.Y.cols()) +
                 (t.mean.is_zero() ? "" : ", linear mean"));
    kinds.insert(peer + " " + a.print());
    const double asked = c.at("jitter"), value = c.at("value");
    for (const Route route : {Route::automatic, Route::fast, Route::safe, Route::stable}) {
      SparseEvaluation e = t.evaluate(a, nullptr, route, asked);
      EXPECT_EQ(e.jitter, asked);
      EXPECT_NEAR(e.value, value, 1e-7 * std::abs(value));
      const SparsePosterior posterior(
          {a, t.kernel, t.mean, t.features, t.values, e.Luu, e.jitter, std::move(e.factors)});
      const Prediction p = posterior.predict(rows_of(data.at("Xstar")));
      EXPECT_LT(gap(p.mean, rows_of(c.at("mean"))), 1e-7);
      for (Index output = 0; output < t.Y.cols(); ++output)
        for (Index i = 0; i < p.variance_f.rows(); ++i) {
          const double v = c.at("variance_f")[static_cast<std::size_t>(i)];
          EXPECT_NEAR(p.variance_f(i, output), v, 1e-7 * v);
        }
    }
    if (!c.contains("upper_bound")) continue;
    ++upper_bounds;
    const BuiltProblem built(t, a);
    Jitter jitter{asked};
    const double upper = c.at("upper_bound");
    EXPECT_NEAR(trace_upper_bound(built.problem, t.values, jitter), upper, 1e-7 * std::abs(upper));
  }
  const std::set<std::string> expected{"gpflow vfe",   "gpflow fitc",  "gpy vfe",     "gpy fitc",
                                       "gpy pep(0.1)", "gpy pep(0.5)", "gpy pep(0.9)"};
  EXPECT_EQ(kinds, expected);
  EXPECT_GE(upper_bounds, 4);
}

}  // namespace
}  // namespace covary
