// first_version.cov was written by the first version of the format and stays as it is: whatever
// comes later must load it and predict what it predicted then. Two outputs, one of them missing
// once, a text column, noise of the rows, a mean function, a prior, a tie and bounds.
#include <gtest/gtest.h>

#include "covary/models/regression.hpp"

namespace covary {
namespace {

TEST(FirstVersion, LoadsAndPredictsWhatItDid) {
  const RegressionFit m = load(COVARY_TEST_DIR "/models/first_version.cov").as<RegressionFit>();
  ASSERT_EQ(m.input_columns.columns.size(), 2u);
  EXPECT_EQ(m.input_columns.columns[1].levels, (std::vector<std::string>{"blue", "green", "red"}));
  EXPECT_EQ(m.output_names, (std::vector<std::string>{"y", "z"}));
  EXPECT_EQ(m.posterior.as<ExactPosterior>().parts().kernel.print(),
            "se(ard) + matern32@0 * periodic@0 + white");
  EXPECT_EQ(m.posterior.as<ExactPosterior>().parts().mean.print(), "linear");
  EXPECT_EQ(m.parameters.at("kernel.2.variance").tied_to, "likelihood.variance");
  EXPECT_EQ(m.parameters.at("kernel.0.lengthscales").prior->describe(), "gamma(2,1)");
  EXPECT_EQ(m.summary.iterations, 6);
  EXPECT_DOUBLE_EQ(m.value, -13.110829665477553);

  RowMatrix X(3, 4);  // x, colour=blue, colour=green, colour=red
  X << 0.2, 0, 0, 1, 2.5, 1, 0, 0, 7.0, 0, 1, 0;
  RowMatrix mean(3, 2), variance_f(3, 2), variance_y(3, 2);
  mean << 0.26854196802387753, 1.5390672779163599, 0.5054929961091968, -0.7895380732826646,
      -0.8065017156946781, -1.361044855167803;
  variance_f << 0.04343579241885314, 0.043452552562547715, 0.08182928216354875, 0.08193812457691188,
      0.31352887084410636, 0.3135288714621834;
  variance_y << 0.05378444155392446, 0.05380120169761903, 0.09217793129862006, 0.0922867737119832,
      0.3238775199791777, 0.3238775205972547;
  // Another processor may round otherwise.
  const Prediction p = m.predict(X);
  EXPECT_LT((p.mean - mean).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LT((p.variance_f - variance_f).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LT((p.variance_y - variance_y).cwiseAbs().maxCoeff(), 1e-10);
}

}  // namespace
}  // namespace covary
