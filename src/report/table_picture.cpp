#include "covary/report/table_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "covary/error.hpp"
#include "report/axis.hpp"
#include "report/text.hpp"

namespace covary {
namespace {

constexpr double two_sd = 2.0;

bool is_image(const NumberTable& t) {
  return t.columns.empty() || (t.values.rows() == t.values.cols() && t.values.rows() > 2 &&
                               (t.values - t.values.transpose()).cwiseAbs().maxCoeff() <=
                                   1e-9 * t.values.cwiseAbs().maxCoeff());
}

bool rises(ConstVector x) {
  for (Index i = 1; i < x.size(); ++i)
    if (!(x(i) >= x(i - 1))) return false;
  return x.size() > 1 && x(x.size() - 1) > x(0);
}

// The column whose standard deviation this one is.
std::optional<std::size_t> centre_of(const std::vector<std::string>& names, std::size_t column) {
  const std::string& name = names[column];
  if (name != "sd" && !name.ends_with(" sd")) return std::nullopt;
  const std::string stem = name.size() > 3 ? name.substr(0, name.size() - 3) : "";
  for (std::size_t j = 0; j < column; ++j)
    if (names[j] == stem || names[j] == (stem.empty() ? "mean" : stem + " mean")) return j;
  return std::nullopt;
}

void check(const NumberTable& t) {
  if (t.values.size() == 0)
    throw InputError(fmt::format("the table '{}' is empty; there is nothing to draw", t.name));
  if (!t.columns.empty() && static_cast<Index>(t.columns.size()) != t.values.cols())
    throw InputError(fmt::format("the table '{}' has {} columns but {} names", t.name,
                                 t.values.cols(), t.columns.size()));
}

Chart picture(const NumberTable& t) {
  const auto& names = t.columns;
  const bool against_first = names.size() > 1 && rises(t.values.col(0));
  if (!against_first && names.size() == 2) {
    Chart chart(t.name, names[0], names[1]);
    chart.points(t.values.col(0), t.values.col(1), Ink::data);
    chart.describe(fmt::format("{} points of {} against {}.", t.values.rows(), names[1], names[0]));
    return chart;
  }
  const Vector x =
      against_first ? Vector(t.values.col(0))
                    : Vector::LinSpaced(t.values.rows(), 1.0, static_cast<double>(t.values.rows()));
  std::vector<std::string> drawn;
  Chart chart(t.name, against_first ? names[0] : "row", names.size() == 2 ? names[1] : "");
  const auto ink = [&](std::size_t j) { return series_ink(static_cast<Index>(j) - against_first); };
  for (std::size_t j = against_first; j < names.size(); ++j)
    if (const auto centre = centre_of(names, j)) {
      const Vector mean = t.values.col(static_cast<Index>(*centre)),
                   half = two_sd * t.values.col(static_cast<Index>(j));
      chart.band(x, mean - half, mean + half, ink(*centre),
                 fmt::format("{} ± 2 sd", names[*centre]));
    }
  for (std::size_t j = against_first; j < names.size(); ++j) {
    if (centre_of(names, j)) continue;
    drawn.push_back(names[j]);
    chart.line(x, t.values.col(static_cast<Index>(j)), ink(j), names.size() > 2 ? names[j] : "");
  }
  chart.describe(fmt::format("Lines of {} against {}, {} from {} to {}.", fmt::join(drawn, ", "),
                             against_first ? names[0] : "the row number",
                             against_first ? names[0] : "rows", short_number(x(0)),
                             short_number(x(x.size() - 1))));
  return chart;
}

// A curve may leave the data by orders of magnitude: the picture ends one range of the data away.
void keep_near(Chart& chart, const NumberTable& curves, const NumberTable& data) {
  Range near, all;
  near.include(data.values.col(1));
  if (near.empty()) return;
  const Range shown = near.padded(1.0);
  for (Index j = 1; j < curves.values.cols(); ++j) all.include(curves.values.col(j));
  if (all.low() < shown.low() || all.high() > shown.high()) {
    chart.y_limits(shown.low(), shown.high());
    chart.caption("Cut off where curves leave the data by more than their range.");
  }
}

}  // namespace

std::vector<Figure> table_pictures(const std::vector<NumberTable>& tables) {
  for (const auto& t : tables) check(t);
  std::vector<Figure> out;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const NumberTable& t = tables[i];
    if (is_image(t)) {
      out.push_back(heat_map(t.name, t.values, t.columns));
      continue;
    }
    Chart chart = picture(t);
    if (i + 1 < tables.size() && tables[i + 1].name == "data" && !is_image(tables[i + 1]) &&
        tables[i + 1].columns.size() == 2 && tables[i + 1].columns[0] == t.columns[0]) {
      const NumberTable& data = tables[++i];
      chart.points(data.values.col(0), data.values.col(1), Ink::data, "data");
      keep_near(chart, t, data);
    }
    if (t.columns.size() == 2 && i + 1 < tables.size() && tables[i + 1].name == "inducing inputs" &&
        tables[i + 1].columns == t.columns) {
      const NumberTable& Z = tables[++i];
      chart.points(Z.values.col(0), Z.values.col(1), Ink::a, Z.name);
    }
    out.push_back(chart.figure());
  }
  return out;
}

}  // namespace covary
