#include "covary/data/decisions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "covary/linalg/special.hpp"

namespace covary {

Decisions decide_classes(ConstRows probabilities, ConstMatrix costs) {
  const Index K = probabilities.cols();
  if (costs.rows() != K || costs.cols() != K)
    throw InputError(fmt::format("the costs are {}×{}; {} classes need {}×{}", costs.rows(),
                                 costs.cols(), K, K, K));
  if (!costs.allFinite()) throw InputError("the costs must be finite");
  Decisions out{Vector(probabilities.rows()), Vector(probabilities.rows())};
  for (Index n = 0; n < probabilities.rows(); ++n) {
    Index best = 0;
    for (Index j = 0; j < K; ++j) {
      double loss = 0.0;
      for (Index k = 0; k < K; ++k) loss += probabilities(n, k) * costs(k, j);
      if (j == 0 || loss < out.expected_loss(n)) {
        best = j;
        out.expected_loss(n) = loss;
      }
    }
    out.decided(n) = static_cast<double>(best);
  }
  return out;
}

Matrix read_costs(const Table& table, const std::vector<std::string>& classes) {
  const auto column_of = [&](const std::string& name) {
    const auto at = std::find(table.names.begin(), table.names.end(), name);
    if (at == table.names.end())
      throw InputError(fmt::format(
          "the table of costs has no column '{}'; it needs a column 'class' and one for each of {}",
          name, fmt::join(classes, ", ")));
    return static_cast<Index>(at - table.names.begin());
  };
  const Index names = column_of("class");
  const auto K = static_cast<Index>(classes.size());
  if (table.rows() != K)
    throw InputError(fmt::format("the table of costs has {} rows; there are {} classes ({})",
                                 table.rows(), K, fmt::join(classes, ", ")));
  Matrix out = Matrix::Constant(K, K, std::nan(""));
  for (Index i = 0; i < K; ++i) {
    const std::string name =
        table.is_text(names)
            ? table.text[static_cast<std::size_t>(names)][static_cast<std::size_t>(i)]
            : fmt::format("{}", table.values(i, names));
    const auto at = std::find(classes.begin(), classes.end(), name);
    if (at == classes.end())
      throw InputError(fmt::format("the table of costs has a row for '{}'; the classes are {}",
                                   name, fmt::join(classes, ", ")));
    for (Index j = 0; j < K; ++j) {
      const Index c = column_of(classes[static_cast<std::size_t>(j)]);
      if (table.is_text(c) || !std::isfinite(table.values(i, c)))
        throw InputError(fmt::format("the cost of deciding {} for {} is not a number",
                                     classes[static_cast<std::size_t>(j)], name));
      out(at - classes.begin(), j) = table.values(i, c);
    }
  }
  if (out.array().isNaN().any())
    throw InputError("the table of costs has two rows for one class and none for another");
  return out;
}

Loss::Loss(const std::string& e) {
  if (e == "squared") return;
  if (e == "absolute") {
    kind = Kind::absolute;
    return;
  }
  if (e.starts_with("quantile(") && e.ends_with(")")) {
    const char *first = e.data() + 9, *last = e.data() + e.size() - 1;
    const auto [stop, error] = std::from_chars(first, last, p);
    if (error == std::errc{} && stop == last && p > 0.0 && p < 1.0) {
      kind = Kind::quantile;
      return;
    }
    throw InputError(
        fmt::format("'{}': a quantile must lie between 0 and 1, as in quantile(0.9)", e));
  }
  throw InputError(fmt::format("unknown loss '{}'; choose squared, absolute or quantile(p)", e));
}

Decisions decide(const Loss& loss, ConstVector mean, ConstVector variance) {
  if (mean.size() != variance.size())
    throw InputError(fmt::format("{} means and {} variances", mean.size(), variance.size()));
  Decisions out{mean, variance};
  if (loss.kind == Loss::Kind::squared) return out;
  const Vector sd = variance.cwiseMax(0.0).cwiseSqrt();
  if (loss.kind == Loss::Kind::absolute) {
    out.expected_loss = std::sqrt(2.0 / std::numbers::pi) * sd;
    return out;
  }
  // E L = sd·φ(z) at the quantile z of the standard normal.
  const double z = inverse_normal_cdf(loss.p);
  out.decided += z * sd;
  out.expected_loss = normal_pdf(z) * sd;
  return out;
}

}  // namespace covary
