#include "covary/linalg/special.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "covary/error.hpp"

namespace covary {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

struct Known {
  double x, value;
};

// The tables are by mpmath at 50 digits, the argument being the double nearest to what is written:
// erfc(−x/√2)/2 and its logarithm, √2·erfinv(2p − 1), log1p(exp(x)), log(expm1(y)), 1/(1 +
// exp(−x)).
void expect_table(double (*f)(double), double tolerance, const std::vector<Known>& table) {
  for (const Known& k : table)
    EXPECT_NEAR(f(k.x), k.value, tolerance * std::abs(k.value) + 1e-323) << "at " << k.x;
}

TEST(Special, NormalCdf) {
  expect_table(normal_cdf, 1e-15,
               {{-38.0, 2.8854283600687843084e-316},
                {-37.3, 8.2054948449307733469e-305},
                {-30.7, 2.8458302208738191641e-207},
                {-20.1, 3.6896808637213895544e-90},
                {-10.3, 3.5230650789264125919e-25},
                {-5.7, 5.9903714010635281878e-9},
                {-2.1, 0.017864420562816552877},
                {-1.0, 0.15865525393145705141},
                {-0.3, 0.38208857781104736693},
                {0.0, 0.5},
                {0.3, 0.61791142218895263307},
                {1.1, 0.86433393905361734418},
                {3.3, 0.99951657585761622249},
                {8.0, 0.9999999999999993779}});
  EXPECT_EQ(normal_cdf(-inf), 0.0);
  EXPECT_EQ(normal_cdf(inf), 1.0);
  EXPECT_EQ(normal_cdf(-1e300), 0.0);
  EXPECT_EQ(normal_cdf(1e300), 1.0);
  EXPECT_TRUE(std::isnan(normal_cdf(nan)));
}

TEST(Special, NormalPdf) {
  expect_table(normal_pdf, 1e-15,
               {{-38.1, 2.4423259731384404691e-316},
                {-30.7, 8.7459490160240639233e-206},
                {-5.3, 3.171349216715978156e-7},
                {-0.7, 0.31225393336676126681},
                {0.0, 0.39894228040143267794},
                {1.9, 0.065615814774676602338},
                {12.3, 5.6066569263038404561e-34},
                {37.7, 9.3693178766401462766e-310}});
  EXPECT_EQ(normal_pdf(-inf), 0.0);
  EXPECT_EQ(normal_pdf(1e300), 0.0);
  EXPECT_TRUE(std::isnan(normal_pdf(nan)));
  for (double x : {-3.0, -0.5, 0.0, 2.0})
    EXPECT_NEAR(normal_log_pdf(x), std::log(normal_pdf(x)), 1e-15 * (1 + x * x));
  EXPECT_EQ(normal_log_pdf(1e8), -5e15 - 0.91893853320467274178);
}

TEST(Special, NormalLogCdf) {
  expect_table(normal_log_cdf, 1e-15,
               {{-1e150, -4.9999999999999998084e+299}, {-1e8, -5000000000000019.3396},
                {-12345.6, -76206930.019993547528},    {-1000.3, -500307.87199476654809},
                {-100.1, -5015.5302079949368804},      {-38.3, -738.01006898581871015},
                {-20.7, -218.19639254814761327},       {-15.1, -117.6429719711326451},
                {-15.0, -116.13138484571169524},       {-14.9, -114.62975441814695193},
                {-10.3, -56.305295953074973135},       {-5.7, -18.93311242322474297},
                {-3.1, -6.9406884584212281182},        {-1.3, -2.335103278662442499},
                {-0.9, -1.6924928065613382014},        {-0.2, -0.86573952268159529799},
                {0.0, -0.69314718055994530942},        {0.2, -0.54600435372277411758},
                {1.7, -0.045589029170068935216},       {3.3, -0.00048354102950671999735},
                {6.1, -5.3034232643551564406e-10},     {8.4, -2.2323931972880436121e-17},
                {20.3, -6.4292444676983463386e-92},    {37.4, -1.953681561648992248e-306}});
  EXPECT_EQ(normal_log_cdf(-inf), -inf);
  EXPECT_EQ(normal_log_cdf(inf), 0.0);
  EXPECT_TRUE(std::isnan(normal_log_cdf(nan)));
  // No step where the formulas meet.
  for (double at : {-15.0, 0.0}) {
    const double below = std::nextafter(at, -inf), above = std::nextafter(at, inf);
    EXPECT_NEAR(normal_log_cdf(below), normal_log_cdf(above), 2e-15 * std::abs(at) * 15 + 1e-15);
  }
}

TEST(Special, InverseNormalCdf) {
  expect_table(inverse_normal_cdf, 2e-15,
               {{5e-324, -38.467405617144346251},
                {1e-300, -37.047096299361199237},
                {1e-100, -21.273453560965324294},
                {1e-20, -9.2623400897984075796},
                {1e-11, -6.7060231554951362961},
                {1e-05, -4.2648907939228246102},
                {0.01, -2.3263478740408410931},
                {0.074, -1.4466320671589785099},
                {0.0751, -1.4388253927525399824},
                {0.2, -0.84162123357291416552},
                {0.4, -0.25334710313579974132},
                {0.49999, -0.000025066282748960008527},
                {0.5, 0.0},
                {0.55, 0.12566134685507414641},
                {0.7, 0.52440051270804065631},
                {0.925, 1.4395314709384562291},
                {0.9251, 1.4402382675279638594},
                {0.99, 2.3263478740408407676},
                {0.99999999, 5.6120012433055049826},
                {0.9999999999999999, 8.2095361516013868556}});
  EXPECT_EQ(inverse_normal_cdf(0.0), -inf);
  EXPECT_EQ(inverse_normal_cdf(1.0), inf);
  EXPECT_TRUE(std::isnan(inverse_normal_cdf(nan)));
  EXPECT_THROW(inverse_normal_cdf(-1e-9), InputError);
  EXPECT_THROW(inverse_normal_cdf(1.0 + 1e-9), InputError);
  // Φ(Φ⁻¹(p)) = p; an error of 2e-15·x in x is x² times that in p.
  for (double p = 1e-12; p < 1.0; p = p < 0.5 ? p * 1.31 : p + 0.0137) {
    const double x = inverse_normal_cdf(p);
    EXPECT_NEAR(normal_cdf(x), p, 2e-15 * (1 + x * x) * p) << p;
  }
}

TEST(Special, Softplus) {
  expect_table(softplus, 1e-15,
               {{-745.0, 2.8223507304719370764e-324},
                {-100.0, 3.720075976020835963e-44},
                {-37.5, 5.1755550058018684009e-17},
                {-5.3, 0.0049791772043272304924},
                {-0.1, 0.64439666007357089219},
                {0.0, 0.69314718055994530942},
                {0.1, 0.74439666007357089774},
                {2.7, 2.7650435617765907148},
                {20.3, 20.300000001526940869},
                {40.0, 40.000000000000000004},
                {1000.0, 1000.0}});
  EXPECT_EQ(softplus(-inf), 0.0);
  EXPECT_EQ(softplus(inf), inf);
  EXPECT_TRUE(std::isnan(softplus(nan)));
  EXPECT_EQ(log1pexp(0.3), softplus(0.3));
}

TEST(Special, InverseSoftplus) {
  expect_table(inverse_softplus, 2e-15,
               {{1e-300, -690.77552789821370518},
                {1e-20, -46.051701859880913735},
                {1e-05, -11.512920464966061672},
                {0.3, -1.0502256128148467224},
                {0.9, 0.37816455709127774115},
                {1.0, 0.54132485461291810898},
                {1.1, 0.69522802607171016178},
                {5.5, 5.4959048548891640758},
                {20.3, 20.29999999847306055},
                {40.0, 39.999999999999999996},
                {1e10, 1e10}});
  EXPECT_EQ(inverse_softplus(0.0), -inf);
  EXPECT_EQ(inverse_softplus(inf), inf);
  EXPECT_TRUE(std::isnan(inverse_softplus(nan)));
  EXPECT_THROW(inverse_softplus(-1e-300), InputError);
  for (double y : {1e-200, 1e-8, 0.1, 0.69314718, 1.0, 3.0, 50.0, 1e6})
    EXPECT_NEAR(softplus(inverse_softplus(y)), y, 1e-13 * y) << y;
}

TEST(Special, Sigmoid) {
  expect_table(sigmoid, 1e-15,
               {{-740.0, 4.1887398800480489395e-322},
                {-100.0, 3.720075976020835963e-44},
                {-37.5, 5.175555005801868267e-17},
                {-5.3, 0.0049668016500569611593},
                {-0.1, 0.47502081252106001252},
                {0.0, 0.5},
                {0.1, 0.52497918747893998748},
                {2.7, 0.93702664394300352097},
                {20.3, 0.9999999984730598432},
                {40.0, 1.0},
                {1000.0, 1.0}});
  EXPECT_EQ(sigmoid(-inf), 0.0);
  EXPECT_EQ(sigmoid(inf), 1.0);
  EXPECT_TRUE(std::isnan(sigmoid(nan)));
}

Vector vector(std::initializer_list<double> values) {
  Vector x(static_cast<Index>(values.size()));
  Index i = 0;
  for (double v : values) x[i++] = v;
  return x;
}

TEST(Special, LogSumExp) {
  // mpmath: log(e + e² + e⁻³).
  EXPECT_DOUBLE_EQ(log_sum_exp(vector({1.0, 2.0, -3.0})), 2.3181754292474540825);
  EXPECT_DOUBLE_EQ(log_sum_exp(vector({1001.0, 1002.0, 997.0})), 1002.3181754292474541);
  EXPECT_DOUBLE_EQ(log_sum_exp(vector({-1e5, -1e5})), -1e5 + std::log(2.0));
  EXPECT_DOUBLE_EQ(log_sum_exp(vector({-inf, 3.0})), 3.0);
  EXPECT_EQ(log_sum_exp(vector({-inf, -inf})), -inf);
  EXPECT_EQ(log_sum_exp(vector({inf, 1.0})), inf);
  EXPECT_EQ(log_sum_exp(Vector()), -inf);
  EXPECT_TRUE(std::isnan(log_sum_exp(vector({1.0, nan, 2.0}))));
  EXPECT_TRUE(std::isnan(log_sum_exp(vector({nan, inf}))));
}

}  // namespace
}  // namespace covary
