// Agreement with scikit-learn, GPy and GPflow at given parameters; tests/oracles/make_exact.py made
// the values, with the peers' jitter made equal.
#include <gtest/gtest.h>

#include <fstream>

#include "covary/inference/exact_posterior.hpp"
#include "covary/models/regression.hpp"
#include "support/json_arrays.hpp"

namespace covary {
namespace {

using nlohmann::json;
using testing::rows_of;
using testing::vector_of;

TEST(Oracles, ExactRegressionAgreesWithPeers) {
  std::ifstream file(COVARY_TEST_DIR "/oracles/exact.json");
  const json all = json::parse(file);
  ASSERT_GE(all.at("cases").size(), 40u);
  for (const json& c : all.at("cases")) {
    const json& data = all.at("datasets").at(c.at("dataset").get<std::string>());
    RegressionOptions options;
    options.kernel = Kernel(c.at("kernel").get<std::string>());
    options.scale_inputs = options.scale_outputs = ScaleMode::none;
    options.training.max_iterations = 0;
    const RowMatrix X = rows_of(data.at("X"));
    Regression model(X, vector_of(data.at("y")), options);
    for (const auto& [path, value] : c.at("parameters").items())
      model.parameters().set(path, vector_of(value));
    const std::string name = c.at("dataset").get<std::string>() + " " +
                             c.at("kernel").get<std::string>() + " (" +
                             c.at("peer").get<std::string>() + ")";
    const double expected = c.at("log_marginal_likelihood");
    EXPECT_NEAR(model.log_marginal_likelihood(), expected, 1e-8) << name;
    const Prediction p = model.fit().predict(rows_of(data.at("Xstar")));
    EXPECT_LT((p.mean.col(0) - vector_of(c.at("mean"))).cwiseAbs().maxCoeff(), 1e-8) << name;
    EXPECT_LT((p.variance_f.col(0) - vector_of(c.at("variance_f"))).cwiseAbs().maxCoeff(), 1e-8)
        << name;
    // Gradients by the constrained parameters.
    const Parameters& parameters = model.parameters();
    Jitter jitter;
    ExactGradient g;
    const Index K = options.kernel.parameter_count(X.cols());
    exact_log_evidence(options.kernel, parameters.values().head(K), X, vector_of(data.at("y")),
                       parameters.values()(K), Vector(), jitter, &g);
    for (const auto& [path, value] : c.at("gradient").items()) {
      const Vector expected_g = vector_of(value);
      for (Index i = 0; i < expected_g.size(); ++i) {
        const Index at = parameters.offset(path) + i;
        EXPECT_NEAR(at < K ? g.theta_bar(at) : g.noise_bar, expected_g(i),
                    1e-7 * std::max(1.0, std::abs(expected_g(i))))
            << name << " " << path;
      }
    }
  }
}

}  // namespace
}  // namespace covary
