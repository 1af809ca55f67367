#include "covary/report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "report/axis.hpp"
#include "report/text.hpp"

namespace covary {
namespace {

// Of the view box. Wide pictures are shown at half their size on a phone, where the page enlarges
// their text: the margins leave room for that.
struct Layout {
  double width, height, top, bottom, right, character, below;
  int x_ticks, y_ticks;
};
constexpr Layout small_layout{400, 276, 34, 48, 14, 7.4, 9, 6, 5};
constexpr Layout wide_layout{680, 378, 36, 62, 18, 12, 13, 8, 6};

// `most` of n numbers 0 … n−1, evenly, first and last among them.
std::vector<Index> thinned(Index n, Index most) {
  std::vector<Index> out;
  const Index count = std::min(n, most);
  for (Index i = 0; i < count; ++i) out.push_back(count < 2 ? 0 : i * (n - 1) / (count - 1));
  return out;
}

struct Pen {
  const Axis& x;
  const Axis& y;
  std::string path;

  bool can_draw(double a, double b) const { return x.drawable(a) && y.drawable(b); }
  void to(char command, double a, double b) {
    path += fmt::format("{}{:.1f} {:.1f}", command, x.pixel(a), y.pixel(b));
  }
};

std::string line_path(Pen pen, const Vector& x, const Vector& y) {
  bool down = false;
  for (const Index i : thinned(x.size(), 1000)) {
    const bool here = pen.can_draw(x(i), y(i));
    if (here) pen.to(down ? 'L' : 'M', x(i), y(i));
    down = here;
  }
  return pen.path;
}

std::string band_path(Pen pen, const Vector& x, const Vector& lower, const Vector& upper) {
  const auto rows = thinned(x.size(), 1000);
  std::size_t i = 0;
  while (i < rows.size()) {
    std::size_t end = i;  // of a run of finite values
    while (end < rows.size() && pen.can_draw(x(rows[end]), lower(rows[end])) &&
           pen.can_draw(x(rows[end]), upper(rows[end])))
      ++end;
    for (std::size_t k = i; k < end; ++k) pen.to(k == i ? 'M' : 'L', x(rows[k]), upper(rows[k]));
    for (std::size_t k = end; k > i; --k) pen.to('L', x(rows[k - 1]), lower(rows[k - 1]));
    if (end > i) pen.path += 'Z';
    i = end + 1;
  }
  return pen.path;
}

// Dots are strokes of no length with round ends: one path for a whole cloud.
std::string points_path(Pen pen, const Vector& x, const Vector& y) {
  for (const Index i : thinned(x.size(), 1500))
    if (pen.can_draw(x(i), y(i))) {
      pen.to('M', x(i), y(i));
      pen.path += "h0";
    }
  return pen.path;
}

std::string columns_path(Pen pen, const Vector& edges, const Vector& heights) {
  for (Index i = 0; i < heights.size(); ++i)
    if (pen.can_draw(edges(i), heights(i)) && pen.x.drawable(edges(i + 1))) {
      pen.to('M', edges(i), 0.0);
      pen.to('L', edges(i), heights(i));
      pen.to('L', edges(i + 1), heights(i));
      pen.to('L', edges(i + 1), 0.0);
      pen.path += 'Z';
    }
  return pen.path;
}

std::string rug_path(const Axis& x, const Vector& at, double bottom) {
  std::string path;
  for (const Index i : thinned(at.size(), 300))
    if (x.drawable(at(i))) path += fmt::format("M{:.1f} {:.1f}v-7", x.pixel(at(i)), bottom);
  return path;
}

std::size_t longest(const std::vector<std::string>& labels) {
  std::size_t most = 1;
  for (const auto& l : labels) {
    const auto inner = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
    most = std::max(most,
                    l.size() - static_cast<std::size_t>(std::count_if(l.begin(), l.end(), inner)));
  }
  return most;
}

void check_lengths(Index x, Index y, const char* mark) {
  if (x != y) throw InputError(fmt::format("a {} has {} x values but {} y values", mark, x, y));
}

}  // namespace

const char* css_class(Ink ink) {
  static constexpr const char* names[] = {
      "data", "held", "mean", "function", "outcome", "draw", "guide", "a", "b", "c", "d", "e", "f"};
  return names[static_cast<int>(ink)];
}

Ink series_ink(Index i) {
  return static_cast<Ink>(static_cast<int>(Ink::a) + static_cast<int>(i % 6));
}

Chart::Chart(std::string title, std::string x_label, std::string y_label, bool wide)
    : title_(std::move(title)),
      x_label_(std::move(x_label)),
      y_label_(std::move(y_label)),
      wide_(wide) {}

Chart& Chart::add(Mark mark, const char* look, const std::string& legend) {
  if (!legend.empty()) legend_.push_back({fmt::format("{} {}", look, css_class(mark.ink)), legend});
  marks_.push_back(std::move(mark));
  return *this;
}

Chart& Chart::describe(std::string description) {
  description_ = std::move(description);
  return *this;
}

Chart& Chart::caption(std::string caption) {
  caption_ = std::move(caption);
  return *this;
}

Chart& Chart::line(ConstVector x, ConstVector y, Ink ink, const std::string& legend) {
  check_lengths(x.size(), y.size(), "line");
  return add({Kind::line, x, y, {}, ink}, "line", legend);
}

Chart& Chart::band(ConstVector x, ConstVector lower, ConstVector upper, Ink ink,
                   const std::string& legend) {
  check_lengths(x.size(), lower.size(), "band");
  check_lengths(x.size(), upper.size(), "band");
  return add({Kind::band, x, lower, upper, ink}, "band", legend);
}

Chart& Chart::points(ConstVector x, ConstVector y, Ink ink, const std::string& legend) {
  check_lengths(x.size(), y.size(), "cloud of points");
  return add({Kind::points, x, y, {}, ink}, "dots", legend);
}

Chart& Chart::columns(ConstVector edges, ConstVector heights, Ink ink, const std::string& legend) {
  check_lengths(edges.size(), heights.size() + 1, "histogram of edges");
  return add({Kind::columns, edges, heights, {}, ink}, "band", legend);
}

Chart& Chart::rug(ConstVector x, Ink ink, const std::string& legend) {
  return add({Kind::rug, x, {}, {}, ink}, "line", legend);
}

Chart& Chart::x_limits(double low, double high) {
  x_limits_ = {true, low, high};
  return *this;
}

Chart& Chart::y_limits(double low, double high) {
  y_limits_ = {true, low, high};
  return *this;
}

Chart& Chart::dates_on_x(bool dates) {
  dates_ = dates;
  return *this;
}

Chart& Chart::log_y() {
  log_y_ = true;
  return *this;
}

// A mark as the inner svg has it; empty where there is nothing to see.
std::string Chart::drawn(const Mark& m, const Axis& x, const Axis& y, double plot_height) {
  const Pen pen{x, y, ""};
  const auto [look, path] = [&]() -> std::pair<const char*, std::string> {
    switch (m.kind) {
      case Kind::band:
        return {"band", band_path(pen, m.x, m.y, m.upper)};
      case Kind::points:
        return {m.x.size() > 400 ? "dots many" : "dots", points_path(pen, m.x, m.y)};
      case Kind::columns:
        return {"band column", columns_path(pen, m.x, m.y)};
      case Kind::rug:
        return {"line rug", rug_path(x, m.x, plot_height)};
      case Kind::line:
        break;
    }
    return {"line", line_path(pen, m.x, m.y)};
  }();
  if (path.empty()) return "";
  return fmt::format("<path class=\"{} {}\" d=\"{}\"/>", look, css_class(m.ink), path);
}

Figure Chart::figure() const {
  const Layout& L = wide_ ? wide_layout : small_layout;
  Range x_range, y_range;
  bool has_points = false;
  for (const Mark& m : marks_) {
    x_range.include(m.x);
    for (const Vector* v : {&m.y, &m.upper})
      for (const double y : *v)
        if (!log_y_ || y > 0.0) y_range.include(y);
    if (m.kind == Kind::columns) y_range.include(0.0);
    has_points = has_points || m.kind == Kind::points;
  }
  const auto limited = [](const Range& found, const Limits& limits, double margin) {
    if (!limits.given) return found.padded(margin);
    Range given;
    given.include(limits.low);
    given.include(limits.high);
    return given.padded(0.0);
  };
  const double plot_height = L.height - L.top - L.bottom;
  const Axis y(limited(y_range, y_limits_, log_y_ ? 0.0 : 0.05), plot_height, 0.0, log_y_);
  const Ticks y_ticks = y.ticks(L.y_ticks);
  const double left = 18.0 + L.character * static_cast<double>(longest(y_ticks.labels));
  const double plot_width = L.width - left - L.right;
  const Axis x(limited(x_range, x_limits_, has_points ? 0.03 : 0.0), 0.0, plot_width, false);
  const auto ticks_of_x = [&](int count) {
    return dates_ ? date_ticks(x.low(), x.high(), count) : x.ticks(count);
  };
  Ticks x_ticks = ticks_of_x(L.x_ticks);
  for (int count = L.x_ticks - 1; count > 0; --count) {  // until the labels have room
    const auto length = static_cast<double>(longest(x_ticks.labels)) + 2.0;
    if (length * L.character * static_cast<double>(x_ticks.at.size()) <= plot_width) break;
    x_ticks = ticks_of_x(count);
  }

  Figure out{title_, description_, caption_, L.width, L.height, wide_, "", legend_};
  std::string& svg = out.body;
  const double bottom = L.top + plot_height;
  std::string grid;
  for (std::size_t i = 0; i < y_ticks.at.size(); ++i) {
    const double at = L.top + y.pixel(y_ticks.at[i]);
    grid += fmt::format("M{:.1f} {:.1f}h{:.1f}", left, at, plot_width);
    svg += fmt::format("<text class=\"tick end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", left - 8.0,
                       at, y_ticks.labels[i]);
  }
  for (std::size_t i = 0; i < x_ticks.at.size(); ++i) {
    const double at = left + x.pixel(x_ticks.at[i]);
    grid += fmt::format("M{:.1f} {:.1f}v{:.1f}", at, L.top, plot_height);
    svg += fmt::format("<text class=\"tick below\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", at,
                       bottom + L.below, x_ticks.labels[i]);
  }
  const auto room = static_cast<std::size_t>(L.width / L.character) - 4;
  svg += fmt::format("<text class=\"axis\" x=\"2\" y=\"{:.1f}\">{}</text>", L.top - 14.0,
                     escape_html(shorten(y_label_, room)));
  svg += fmt::format("<text class=\"axis middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                     left + 0.5 * plot_width, L.height - (wide_ ? 8.0 : 6.0),
                     escape_html(shorten(x_label_, room)));
  svg += fmt::format("<path class=\"grid\" d=\"{}\"/>", grid);
  // An inner svg clips what the limits leave out.
  svg += fmt::format(
      "<svg x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">"
      "<rect class=\"frame\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
      left, L.top, plot_width, plot_height, plot_width, plot_height);
  for (const Mark& m : marks_) svg += drawn(m, x, y, plot_height);
  svg += "</svg>";
  return out;
}

}  // namespace covary
