#include "covary/report/latent_report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "covary/error.hpp"
#include "covary/models/gplvm.hpp"
#include "covary/random/random.hpp"
#include "covary/report/latent_explorer.hpp"
#include "svg.hpp"

namespace covary {
namespace {

// A few iterations are enough: the pages show whatever there is.
GplvmFit trained(Index P, std::vector<LatentView> views = {}, Kernel kernel = "se(ard)") {
  Random random(3);
  RowMatrix Y(24, P);
  for (Index i = 0; i < Y.rows(); ++i)
    for (Index p = 0; p < P; ++p)
      Y(i, p) = 5.0 + std::sin(0.3 * static_cast<double>(i) + 0.2 * static_cast<double>(p));
  GplvmOptions o;
  o.latent = 2;
  o.inducing = 8;
  o.training.starts = 1;
  o.held_iterations = 5;
  o.training.max_iterations = 10;
  o.views = std::move(views);
  o.kernel = std::move(kernel);
  GplvmFit fit = Gplvm(Y + 0.05 * random.normal_matrix(Y.rows(), P), o).fit();
  for (Index p = 0; p < P; ++p) fit.output_names.push_back("</script> & y" + std::to_string(p));
  return fit;
}

nlohmann::json model_in(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"model\">";
  const auto begin = page.find(open) + open.size();
  return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

// What the script of the page does with the numbers in it.
Vector decoded(const nlohmann::json& view, const std::vector<double>& x) {
  const auto shift = view["shift"].get<std::vector<double>>(),
             scale = view["scale"].get<std::vector<double>>();
  Vector out = Vector::Zero(static_cast<Index>(shift.size()));
  for (std::size_t j = 0; j < view["Z"].size(); ++j) {
    double k = 0.0;
    for (const auto& term : view["terms"]) {
      double distance = 0.0, linear = term.contains("c") ? 0.0 : 1.0;
      for (std::size_t q = 0; q < x.size(); ++q) {
        const double z = view["Z"][j][q];
        distance += term["w"][q].get<double>() * (x[q] - z) * (x[q] - z);
        if (term.contains("c")) linear += term["c"][q].get<double>() * x[q] * z;
      }
      k += term["variance"].get<double>() * std::exp(-0.5 * distance) * linear;
    }
    for (Index p = 0; p < out.size(); ++p)
      out(p) += k * view["weights"][j][static_cast<std::size_t>(p)].get<double>();
  }
  for (Index p = 0; p < out.size(); ++p)
    out(p) = shift[static_cast<std::size_t>(p)] + scale[static_cast<std::size_t>(p)] * out(p);
  return out;
}

TEST(LatentExplorer, ThePageHoldsWhatDecodes) {
  for (const char* kernel : {"se(ard)", "se(ard) + linear(ard)"}) {
    const GplvmFit fit = trained(5, {{"a", {0, 2}}, {"b", {1, 3, 4}}}, kernel);
    const auto model = model_in(latent_explorer(fit));
    const std::vector<double> x{0.3, -0.6};
    const Prediction p = fit.decode(Eigen::Map<const RowMatrix>(x.data(), 1, 2));
    const Vector a = decoded(model["views"][0], x), b = decoded(model["views"][1], x);
    EXPECT_NEAR(a(0), p.mean(0, 0), 1e-9);
    EXPECT_NEAR(a(1), p.mean(0, 2), 1e-9);
    EXPECT_NEAR(b(2), p.mean(0, 4), 1e-9);
    EXPECT_EQ(model["views"][1]["draw"], "bars");
    EXPECT_EQ(model["views"][1]["names"][0], "</script> & y1");
    EXPECT_EQ(model["mean"].size(), 24U);
  }
}

TEST(LatentExplorer, WaysToDraw) {
  const GplvmFit fit = trained(64);
  const auto drawn = [&](const std::string& how) {
    LatentExplorerOptions options;
    options.draw = how;
    return model_in(latent_explorer(fit, options))["views"][0];
  };
  EXPECT_EQ(drawn("auto")["draw"], "image");
  EXPECT_EQ(drawn("auto")["rows"], 8);
  EXPECT_EQ(drawn("image(4x16)")["columns"], 16);
  EXPECT_EQ(drawn("points(2)")["draw"], "points");
  EXPECT_EQ(drawn("curve")["draw"], "curve");
  EXPECT_THROW(drawn("image(5x5)"), InputError);
  EXPECT_THROW(drawn("points(3)"), InputError);
  EXPECT_THROW(drawn("image(8x)"), InputError);
  EXPECT_THROW(drawn("points(4)"), InputError);
  EXPECT_THROW(latent_explorer(trained(2, {}, "matern32")), Unsupported);
}

TEST(LatentReport, TheMapHasABackgroundAndRowsAreGivenBack) {
  GplvmFit fit = trained(6);
  for (Index i = 0; i < 24; ++i) fit.row_labels.emplace_back(i < 12 ? "early" : "late");
  LatentReportOptions options;
  HeldOutRows rows{"table.csv", RowMatrix::Constant(3, 6, 5.0), Prediction()};
  rows.Y(1, 2) = std::nan("");
  const auto found = fit.infer(rows.Y);
  rows.decoded = fit.decode(found.mean, found.variance);
  options.held_out = rows;
  const std::string page = latent_report(fit, options);
  EXPECT_NE(page.find("of the prior&#39;s variance"), std::string::npos);
  EXPECT_NE(page.find("class=\"image\""), std::string::npos);
  EXPECT_NE(page.find("spot b"), std::string::npos);
  EXPECT_NE(page.find("Rows of table.csv"), std::string::npos);
  EXPECT_NE(page.find("Row 2"), std::string::npos);
  EXPECT_EQ(page.find("nan", page.find("</style>")), std::string::npos);
}

}  // namespace
}  // namespace covary
