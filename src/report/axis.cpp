#include "report/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "covary/data/csv.hpp"

namespace covary {
namespace {

// 1e+07 as 1e7, and the typographic minus, as wide as the digits.
std::string tidy(std::string text) {
  if (const auto e = text.find('e'); e != std::string::npos) {
    const std::string sign = text[e + 1] == '-' ? "-" : "";
    const auto digits = text.find_first_not_of("+-0", e + 1);
    text = text.substr(0, e + 1) + sign + text.substr(digits);
  }
  for (std::size_t at = 0; (at = text.find('-', at)) != std::string::npos; at += 3)
    text.replace(at, 1, "−");
  return text;
}

std::string label(double value, double step, double largest) {
  if (std::abs(value) < 1e-9 * step) return "0";
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  if (largest >= 1e6 || decimals > 5) {
    const double digits = std::ceil(std::log10(largest / step)) + 1.0;
    return tidy(fmt::format("{:.{}g}", value, std::clamp(static_cast<int>(digits), 1, 12)));
  }
  return tidy(fmt::format("{:.{}f}", value, decimals));
}

}  // namespace

Ticks nice_ticks(double low, double high, int count) {
  const double rough = (high - low) / std::max(1, count);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double digit = rough / power;
  const double step = power * (digit <= 1.0 ? 1.0 : digit <= 2.0 ? 2.0 : digit <= 5.0 ? 5.0 : 10.0);
  const double slack = 1e-9 * (high - low), first = std::ceil((low - slack) / step);
  Ticks out;
  const double largest = std::max(std::abs(low), std::abs(high));
  for (int i = 0; i <= 4 * count + 4; ++i) {
    const double value = (first + i) * step;
    if (value > high + slack) break;
    out.at.push_back(value);
    out.labels.push_back(label(value, step, largest));
  }
  return out;
}

Ticks date_ticks(double low, double high, int count) {
  using namespace std::chrono;
  constexpr double month = 30.44, year = 12.0 * month, least = 15.0 / 1440.0;
  const double rough = (high - low) / std::max(1, count);
  // Beyond the calendar, or within a quarter of an hour, plain numbers.
  if (std::max(std::abs(low), std::abs(high)) > 1e6 || rough < least || rough > 200.0 * year)
    return nice_ticks(low, high, count);
  Ticks out;
  const auto steps = {least, 2 * least, 1.0 / 24, 0.125, 0.25, 0.5, 1.0, 2.0, 7.0, 14.0};
  for (const double step : steps) {
    if (step < rough) continue;
    for (double at = std::ceil(low / step - 1e-9) * step; at <= high; at += step) {
      std::string text = format_date(at).substr(0, 16);
      if (const auto t = text.find('T'); t != text.npos) text[t] = ' ';
      out.at.push_back(at);
      out.labels.push_back(std::move(text));
    }
    return out;
  }
  int months = 1;
  for (const int step : {1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400}) {
    months = step;
    if (step * month >= rough) break;
  }
  const year_month_day first{sys_days{days{static_cast<int>(std::floor(low))}}};
  const int begin = static_cast<int>(first.year()) * 12 +
                    static_cast<int>(static_cast<unsigned>(first.month())) - 1;
  for (int k = begin / months * months;; k += months) {
    const year_month_day date{std::chrono::year{k / 12},
                              std::chrono::month{static_cast<unsigned>(k % 12 + 1)}, day{1}};
    const auto at = static_cast<double>(sys_days{date}.time_since_epoch().count());
    if (at > high) return out;
    if (at < low) continue;
    out.at.push_back(at);
    out.labels.push_back(format_date(at).substr(0, months % 12 == 0 ? 4 : 7));
  }
}

bool Range::drawable(double v) { return std::abs(v) <= 1e300; }

void Range::include(double v) {
  if (!drawable(v)) return;
  low_ = std::min(low_, v);
  high_ = std::max(high_, v);
}

void Range::include(ConstVector v) {
  for (const double x : v) include(x);
}

Range Range::padded(double margin) const {
  Range out = *this;
  if (empty()) {
    out.low_ = 0.0, out.high_ = 1.0;
    return out;
  }
  const double size = std::max(std::abs(low_), std::abs(high_));
  const double width = high_ - low_;
  const bool constant = width <= 1e-9 * size || width < 1e-290;
  const double room = !constant ? margin * width : size > 1e-290 ? 0.1 * size : 1.0;
  out.low_ -= room;
  out.high_ += room;
  return out;
}

Axis::Axis(const Range& range, double from, double to, bool logarithmic)
    : low_(range.low()), high_(range.high()), from_(from), to_(to), logarithmic_(logarithmic) {
  if (!logarithmic_) return;
  const bool usable = low_ > 0.0 && high_ > 0.0;
  low_ = usable ? std::floor(std::log10(low_) + 1e-9) : 0.0;
  high_ = usable ? std::max(low_ + 1.0, std::ceil(std::log10(high_) - 1e-9)) : 1.0;
}

double Axis::pixel(double v) const {
  const double x = logarithmic_ ? std::log10(v) : v;
  // Halved first: the width of a range may overflow.
  const double share = (0.5 * x - 0.5 * low_) / (0.5 * high_ - 0.5 * low_);
  return from_ + (to_ - from_) * std::clamp(share, -10.0, 11.0);
}

Ticks Axis::ticks(int count) const {
  if (!logarithmic_) return nice_ticks(low_, high_, count);
  Ticks out;
  const int every = std::max(1, static_cast<int>(std::ceil((high_ - low_) / count)));
  for (int power = static_cast<int>(low_); power <= static_cast<int>(high_); power += every) {
    out.at.push_back(std::pow(10.0, power));
    out.labels.push_back(power >= -2 && power <= 3 ? fmt::format("{:g}", std::pow(10.0, power))
                                                   : tidy(fmt::format("1e{}", power)));
  }
  return out;
}

}  // namespace covary
