#include "report/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace covary {
namespace {

struct Colour {
  double r, g, b;
};
constexpr std::array<Colour, 5> scale_stops{
    {{38, 24, 82}, {44, 83, 135}, {36, 140, 140}, {110, 192, 98}, {245, 227, 66}}};

constexpr int levels = 48;

}  // namespace

std::string colour_at(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * (scale_stops.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(at), scale_stops.size() - 2);
  const double t = at - static_cast<double>(i);
  const auto mix = [&](double Colour::*c) {
    return static_cast<int>(std::lround((1.0 - t) * scale_stops[i].*c + t * scale_stops[i + 1].*c));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(&Colour::r), mix(&Colour::g), mix(&Colour::b));
}

std::string image_cells(ConstMatrix values, const Range& range, ConstVector x, ConstVector y) {
  const double width = range.high() - range.low();
  const auto level = [&](double v) {
    if (!Range::drawable(v)) return -1;
    return std::clamp(static_cast<int>((v - range.low()) / width * levels), 0, levels - 1);
  };
  std::array<std::string, levels> paths;
  for (Index i = 0; i < values.rows(); ++i)
    for (Index j = 0; j < values.cols();) {
      const int here = level(values(i, j));
      Index end = j + 1;
      while (end < values.cols() && level(values(i, end)) == here) ++end;
      if (here >= 0)
        paths[static_cast<std::size_t>(here)] +=
            fmt::format("M{:.2f} {:.2f}h{:.2f}v{:.2f}h{:.2f}z", x(j), y(i), x(end) - x(j),
                        y(i + 1) - y(i), x(j) - x(end));
      j = end;
    }
  std::string svg = "<g class=\"image\">";
  for (int l = 0; l < levels; ++l)
    if (!paths[static_cast<std::size_t>(l)].empty())
      svg += fmt::format("<path fill=\"{}\" d=\"{}\"/>", colour_at((l + 0.5) / levels),
                         paths[static_cast<std::size_t>(l)]);
  return svg + "</g>";
}

std::string colour_scale(const Range& range, double left, double top, double height) {
  std::string svg;
  for (int l = 0; l < levels; ++l)
    svg +=
        fmt::format("<rect x=\"{:.1f}\" y=\"{:.2f}\" width=\"14\" height=\"{:.2f}\" fill=\"{}\"/>",
                    left, top + height * (levels - 1 - l) / levels, height / levels + 0.4,
                    colour_at((l + 0.5) / levels));
  const Axis axis(range, top + height, top, false);
  const Ticks ticks = axis.ticks(5);
  for (std::size_t i = 0; i < ticks.at.size(); ++i)
    svg += fmt::format("<text class=\"tick start\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                       left + 20.0, axis.pixel(ticks.at[i]), ticks.labels[i]);
  return svg;
}

}  // namespace covary
