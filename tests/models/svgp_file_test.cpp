// SVGP of rows that stay in their file.
#include <gtest/gtest.h>

#include <cmath>

#include "covary/data/npy.hpp"
#include "covary/error.hpp"
#include "covary/models/svgp.hpp"
#include "data/scratch.hpp"
#include "support/random_data.hpp"

namespace covary {
namespace {

class SvgpFile : public Scratch {
 protected:
  // A file with Y, then X, and its rows.
  std::shared_ptr<FileRows> rows(const RowMatrix& X, const RowMatrix& Y) const {
    RowMatrix all(X.rows(), X.cols() + Y.cols());
    all << Y, X;
    std::string bytes = npy_header(all.rows(), all.cols());
    bytes.append(reinterpret_cast<const char*>(all.data()),
                 static_cast<std::size_t>(8 * all.size()));
    std::vector<Index> x, y;
    for (Index j = 0; j < all.cols(); ++j) (j < Y.cols() ? y : x).push_back(j);
    return std::make_shared<FileRows>(put("rows.npy", bytes), x, y);
  }
};

TEST_F(SvgpFile, BoundAndFitOfAFile) {
  auto data = testing::small_data(400, 2, 1, 3);
  for (const char* l : {"gaussian", "bernoulli(logit)"}) {
    SCOPED_TRACE(l);
    RowMatrix Y = data.Y;
    if (std::string(l) != "gaussian") Y = (Y.array() > 0.0).cast<double>();
    SvgpOptions o;
    o.likelihood = l;
    o.inducing = 12;
    o.training.max_iterations = 10;
    Svgp memory(data.X, Y.col(0), o), file(rows(data.X, Y), o);
    EXPECT_NEAR(file.elbo(), memory.elbo(), 1e-9 * std::abs(memory.elbo()));
    EXPECT_NEAR(file.fit().value, memory.fit().value, 1e-6 * std::abs(memory.elbo()));
    o.training.batch = 64;
    o.training.steps = 200;
    Svgp streamed(rows(data.X, Y), o);
    const double before = streamed.elbo();
    const GeneralisedFit fit = streamed.fit();
    EXPECT_GT(fit.value, before);
    EXPECT_EQ(fit.summary.iterations, 200);
  }
}

TEST_F(SvgpFile, SeveralOutputs) {
  auto data = testing::small_data(300, 2, 3, 3);
  data.Y(4, 0) = data.Y(9, 1) = std::nan("");
  for (const Index functions : {0, 2}) {
    SvgpOptions o{.likelihood = "gaussian", .inducing = 10, .functions = functions};
    o.training.max_iterations = 3;
    Svgp memory(data.X, data.Y, o), file(rows(data.X, data.Y), o);
    const GeneralisedFit a = memory.fit(), b = file.fit();
    EXPECT_NEAR(a.value, b.value, 1e-6 * std::abs(a.value));
    EXPECT_LT((a.predict(data.X).mean - b.predict(data.X).mean).cwiseAbs().maxCoeff(), 1e-4);
  }
}

TEST_F(SvgpFile, Refusals) {
  const auto data = testing::small_data(40, 2, 1, 3);
  SvgpOptions o;
  o.inducing = 5;
  o.weights = Vector::Ones(40);
  EXPECT_THROW(Svgp(rows(data.X, data.Y), o), Unsupported);
  o.weights = Vector();
  o.likelihood = "bernoulli(logit)";
  EXPECT_THROW(Svgp(rows(data.X, data.Y), o), InputError);
}

// Of all rows, by their numbers in the file.
TEST_F(SvgpFile, TargetsThatDoNotSuit) {
  auto data = testing::small_data(5000, 2, 1, 3);
  RowMatrix Y = data.Y.cwiseAbs().array().round();
  Y(4500, 0) = -2.0;
  Y(4801, 0) = 0.5;
  SvgpOptions o;
  o.likelihood = "poisson";
  try {
    Svgp(rows(data.X, Y), o);
    FAIL();
  } catch (const InputError& e) {
    const std::string message = e.what();
    EXPECT_EQ(message.find("2 targets do not suit poisson, the first at row 4500: "), 0U)
        << message;
  }
}

}  // namespace
}  // namespace covary
