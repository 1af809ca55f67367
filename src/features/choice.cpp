#include "covary/features/choice.hpp"

#include <fmt/format.h>

#include <string_view>

#include "covary/error.hpp"
#include "covary/parameters/suggest.hpp"
#include "features/kinds.hpp"

namespace covary {
namespace {

constexpr std::string_view number = "(C)";

// "basis" of "basis(C)"; empty where a kind takes no number.
std::string_view before_number(const FeatureKind& kind) {
  const std::string_view text = kind.expression;
  return text.ends_with(number) ? text.substr(0, text.size() - number.size()) : "";
}

// From 1 to 9999, or 0.
Index points_of(const std::string& digits) {
  if (digits.empty() || digits.size() > 4 ||
      digits.find_first_not_of("0123456789") != std::string::npos)
    return 0;
  return std::stol(digits);
}

}  // namespace

FeatureChoice::FeatureChoice() : kind(&points_kind) {}

FeatureChoice::FeatureChoice(const std::string& e) : FeatureChoice() {
  if (e.starts_with("stacked(") && e.ends_with(")")) {
    *this = FeatureChoice(e.substr(8, e.size() - 9));
    if (stacked)
      throw InputError(fmt::format("stacked features cannot be stacked again, got '{}'", e));
    stacked = true;
    return;
  }
  const std::string head = e.substr(0, e.find('('));
  const std::string inside = e.size() > head.size() + 2 && e.back() == ')'
                                 ? e.substr(head.size() + 1, e.size() - head.size() - 2)
                                 : "";
  const FeatureKind* counted = nullptr;
  const FeatureKind* plain = nullptr;
  std::vector<std::string> all;
  for (const FeatureKind* k : feature_kinds()) {
    all.emplace_back(before_number(*k).empty() ? k->expression : before_number(*k));
    if (e == k->expression && before_number(*k).empty()) {
      kind = k;
      return;
    }
    if (head == before_number(*k)) counted = k;
    if (head == k->expression) plain = k;
  }
  if (counted) {
    points = points_of(inside);
    if (points < 1)
      throw InputError(fmt::format(
          "{0} features need their number of points each, from 1 to 9999, as in {0}(8); got '{1}'",
          head, e));
    // A sum of one window is that window.
    kind = points == 1 && plain ? plain : counted;
    return;
  }
  if (plain)
    throw InputError(fmt::format("{} features take no argument{}, got '{}'", head,
                                 head == "fourier" ? " but l2, as in fourier(l2)" : "", e));
  throw InputError(fmt::format(
      "unknown features '{}'{}; choose {}, stacked(KIND) of them for a sum of kernels, or, with "
      "--model sor, {}",
      e, did_you_mean(head, all), list_of_kinds([](const FeatureKind& k) { return !k.parametric; }),
      list_of_kinds([](const FeatureKind& k) { return k.parametric; })));
}

std::string FeatureChoice::print() const {
  const std::string_view counted = before_number(*kind);
  const std::string own =
      counted.empty() ? kind->expression : fmt::format("{}({})", counted, points);
  return stacked ? fmt::format("stacked({})", own) : own;
}

std::string FeatureChoice::name() const { return stacked ? "stacked" : kind->name; }
bool FeatureChoice::is_points() const { return kind == &points_kind && !stacked; }
bool FeatureChoice::is_parametric() const { return kind->parametric; }
Index FeatureChoice::inputs(Index M) const { return kind->around_inputs && !stacked ? M : 0; }

}  // namespace covary
