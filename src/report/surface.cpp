#include "report/surface.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/axis.hpp"
#include "report/image.hpp"
#include "report/text.hpp"

namespace covary {
namespace {

constexpr Index most_points = 1500;

// The pixels of a row of data, drawn when both are on the axes.
struct Plot {
  const Axis& x;
  const Axis& y;
  double left, top;

  bool holds(double a, double b) const {
    return x.drawable(a) && y.drawable(b) && a >= x.low() && a <= x.high() && b >= y.low() &&
           b <= y.high();
  }
  std::string at(double a, double b) const {
    return fmt::format("{:.1f} {:.1f}", left + x.pixel(a), top + y.pixel(b));
  }
};

// Marks of one shape at the rows, thinned evenly.
std::string marks(const Plot& plot, const RowMatrix& rows, const char* shape) {
  std::string path;
  const Index count = std::min(rows.rows(), most_points);
  for (Index n = 0; n < count; ++n) {
    const Index i = count < 2 ? 0 : n * (rows.rows() - 1) / (count - 1);
    if (plot.holds(rows(i, 0), rows(i, 1))) path += "M" + plot.at(rows(i, 0), rows(i, 1)) + shape;
  }
  return path;
}

// The rim below makes a mark stand out from every colour of the image.
void draw(Figure& figure, const std::string& path, const std::string& look,
          const std::string& legend) {
  if (path.empty()) return;
  figure.body +=
      fmt::format("<path class=\"rim {0}\" d=\"{1}\"/><path class=\"{0}\" d=\"{1}\"/>", look, path);
  figure.legend.push_back({look, legend});
}

// Where p crosses one half, by marching squares: in each square of four neighbours the crossings of
// its sides, interpolated, are joined in pairs.
std::string contour(const Plot& plot, const Surface& s) {
  std::string path;
  struct Corner {
    double x, y, p;
  };
  for (Index i = 0; i + 1 < s.x.size(); ++i)
    for (Index j = 0; j + 1 < s.y.size(); ++j) {
      const Corner corners[5] = {{s.x(i), s.y(j), s.p(i, j)},
                                 {s.x(i + 1), s.y(j), s.p(i + 1, j)},
                                 {s.x(i + 1), s.y(j + 1), s.p(i + 1, j + 1)},
                                 {s.x(i), s.y(j + 1), s.p(i, j + 1)},
                                 {s.x(i), s.y(j), s.p(i, j)}};
      bool down = false;
      for (int side = 0; side < 4; ++side) {
        const Corner &a = corners[side], &b = corners[side + 1];
        if ((a.p >= 0.5) == (b.p >= 0.5) || !(std::isfinite(a.p) && std::isfinite(b.p))) continue;
        const double t = (0.5 - a.p) / (b.p - a.p);
        path += (down ? "L" : "M") + plot.at(a.x + t * (b.x - a.x), a.y + t * (b.y - a.y));
        down = !down;
      }
    }
  return path;
}

// Cells end half way between their neighbours.
Vector edges(const Vector& centres, const Axis& axis, double offset) {
  Vector out(centres.size() + 1);
  for (Index i = 0; i < out.size(); ++i) {
    const double at = i == 0                ? centres(0)
                      : i == centres.size() ? centres(i - 1)
                                            : 0.5 * (centres(i - 1) + centres(i));
    out(i) = offset + axis.pixel(at);
  }
  return out;
}

Range range_of(const Vector& v) {
  Range out;
  out.include(v);
  return out.padded(0.0);
}

}  // namespace

Figure surface_figure(const Surface& s) {
  const double top = 30.0, height = 250.0, width = 270.0, bottom = top + height;
  const Axis y(range_of(s.y), height, 0.0, false);
  const Ticks y_ticks = y.ticks(5);
  std::size_t longest = 1;
  for (const auto& label : y_ticks.labels) longest = std::max(longest, label.size());
  const double left = std::min(74.0, 18.0 + 7.4 * static_cast<double>(longest));
  const Axis x(range_of(s.x), 0.0, width, false);
  Ticks x_ticks = x.ticks(5);
  for (int count = 4; count > 0; --count) {  // until the labels have room
    std::size_t characters = 0;
    for (const auto& label : x_ticks.labels) characters += label.size() + 2;
    if (7.4 * static_cast<double>(characters) <= width) break;
    x_ticks = x.ticks(count);
  }

  Figure out;
  out.title = s.title;
  out.width = 400.0;
  out.height = bottom + 46.0;
  const Plot plot{x, y, left, top};
  // Rows of the image run downwards, the axis upwards.
  const Vector down = edges(s.y, y, top).reverse();
  Range unit;
  unit.include(0.0);
  unit.include(1.0);
  out.body = image_cells(s.p.transpose().colwise().reverse(), unit, edges(s.x, x, left), down);
  out.body += fmt::format(
      "<rect class=\"frame\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", left,
      top, width, height);
  for (std::size_t i = 0; i < y_ticks.at.size(); ++i)
    out.body += fmt::format("<text class=\"tick end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                            left - 8.0, top + y.pixel(y_ticks.at[i]), y_ticks.labels[i]);
  for (std::size_t i = 0; i < x_ticks.at.size(); ++i)
    out.body += fmt::format("<text class=\"tick below\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                            left + x.pixel(x_ticks.at[i]), bottom + 9.0, x_ticks.labels[i]);
  out.body += fmt::format("<text class=\"axis\" x=\"2\" y=\"16\">{}</text>",
                          escape_html(shorten(s.y_name, 48)));
  out.body += fmt::format("<text class=\"axis middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                          left + 0.5 * width, out.height - 6.0, escape_html(shorten(s.x_name, 48)));
  out.body += colour_scale(unit, left + width + 12.0, top, height);
  if (!s.half.empty()) draw(out, contour(plot, s), "line half", s.half);
  Index rows = 0;
  for (const auto& m : s.marks) rows += m.rows.rows();
  const std::string size = rows > 400 ? " many" : "";
  for (const auto& m : s.marks)
    draw(out, marks(plot, m.rows, "h0"), "spot " + m.look + size, m.name);
  draw(out, marks(plot, s.Z, "m-3 -3l6 6m0 -6l-6 6"), "cross", "inducing inputs");
  return out;
}

}  // namespace covary
