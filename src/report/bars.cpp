// Pictures without a pair of axes: bars with names, and images.
#include <fmt/format.h>

#include <algorithm>

#include "covary/error.hpp"
#include "covary/report/chart.hpp"
#include "report/axis.hpp"
#include "report/image.hpp"
#include "report/text.hpp"

namespace covary {
namespace {

// Beside a bar three digits say enough, and what is hardly there needs none.
std::string bar_label(double value, double largest) {
  if (!Range::drawable(value)) return "–";
  return value > 0.0 && value < 1e-3 * largest ? fmt::format("< {:.3g}", 1e-3 * largest)
                                               : fmt::format("{:.3g}", value);
}

}  // namespace

Figure bar_chart(const std::string& title, const std::vector<std::string>& names,
                 ConstVector values, const std::string& value_name) {
  if (static_cast<Index>(names.size()) != values.size())
    throw InputError(fmt::format("there are {} bars but {} names", values.size(), names.size()));
  const double row = 24.0, left = 120.0, right = 64.0, width = 400.0;
  const auto height = [](double v) { return Range::drawable(v) && v > 0.0 ? v : 0.0; };
  double largest = 0.0;
  for (const double v : values) largest = std::max(largest, height(v));
  Figure out;
  out.title = title;
  out.width = width;
  out.height = row * std::max(1.0, static_cast<double>(values.size())) + 26.0;
  out.body = fmt::format("<text class=\"axis\" x=\"{:.1f}\" y=\"14\">{}</text>", left,
                         escape_html(shorten(value_name, 36)));
  std::vector<std::string> said;
  for (Index i = 0; i < values.size(); ++i) {
    const std::string& name = names[static_cast<std::size_t>(i)];
    const double top = 22.0 + row * static_cast<double>(i), v = height(values(i));
    const double length = largest > 0.0 ? (width - left - right) * (v / largest) : 0.0;
    out.body += fmt::format(
        "<g><title>{}</title><text class=\"tick end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>"
        "<rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"2\"/>"
        "<text class=\"tick start\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>",
        escape_html(name), left - 8.0, top + 0.5 * row, escape_html(shorten(name, 15)), left,
        top + 3.0, std::max(length, 1.0), row - 6.0, left + length + 6.0, top + 0.5 * row,
        escape_html(bar_label(values(i), largest)));
    said.push_back(fmt::format("{} {}", name, bar_label(values(i), largest)));
  }
  out.description = fmt::format("{}: {}.", value_name, fmt::join(said, ", "));
  return out;
}

Figure heat_map(const std::string& title, ConstMatrix values,
                const std::vector<std::string>& names) {
  if (values.size() == 0) throw InputError("an image needs at least one row and one column");
  Range range;
  for (Index j = 0; j < values.cols(); ++j) range.include(values.col(j));
  const Range shown = range.padded(0.0);
  const double left = names.empty() ? 10.0 : 70.0, top = names.empty() ? 10.0 : 30.0, side = 250.0;
  const double w = side / static_cast<double>(values.cols()),
               h = side / static_cast<double>(values.rows());
  Figure out;
  out.title = title;
  out.description =
      fmt::format("An image of {} rows and {} columns with values from {} to {}.", values.rows(),
                  values.cols(), short_number(range.empty() ? 0.0 : range.low()),
                  short_number(range.empty() ? 0.0 : range.high()));
  out.width = 400.0;
  out.height = top + side + 14.0;
  out.body = image_cells(values, shown, Vector::LinSpaced(values.cols() + 1, left, left + side),
                         Vector::LinSpaced(values.rows() + 1, top, top + side));
  const auto name = [&](Index i) {
    return i < static_cast<Index>(names.size())
               ? escape_html(shorten(names[static_cast<std::size_t>(i)], 8))
               : std::string();
  };
  for (Index i = 0; !names.empty() && i < values.rows(); ++i)
    out.body += fmt::format("<text class=\"tick end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                            left - 6.0, top + (static_cast<double>(i) + 0.5) * h, name(i));
  for (Index j = 0; !names.empty() && j < values.cols(); ++j)
    out.body += fmt::format("<text class=\"tick above\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                            left + (static_cast<double>(j) + 0.5) * w, top - 6.0, name(j));
  out.body += colour_scale(shown, left + side + 14.0, top, side);
  return out;
}

}  // namespace covary
