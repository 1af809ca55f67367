#include "covary/parameters/suggest.hpp"

#include <algorithm>

namespace covary {
namespace {

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1])});
      corner = above;
    }
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
  std::size_t best = std::max<std::size_t>(2, word.size() / 2);
  const std::string* closest = nullptr;
  for (const auto& name : names)
    if (const auto d = edit_distance(word, name); d <= best && (!closest || d < best))
      best = d, closest = &name;
  return closest ? ", did you mean '" + *closest + "'?" : "";
}

}  // namespace covary
