#include "covary/parameters/suggest.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace covary {
namespace {

std::string lower(std::string s) {
  std::transform(s.begin(), s.end(), s.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return s;
}

// The fewest insertions, deletions, substitutions and swaps of neighbours that turn a into b.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> last, row(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], last[j - 2] + 1);
    }
    last = std::exchange(row, next);
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
  if (word.size() < 2) return "";  // any other letter is as near
  std::size_t best = std::max<std::size_t>(1, word.size() / 2);
  const std::string* closest = nullptr;
  for (const auto& name : names)
    if (const auto d = edit_distance(lower(word), lower(name)); d <= best && (!closest || d < best))
      best = d, closest = &name;
  return closest ? " (did you mean '" + *closest + "'?)" : "";
}

}  // namespace covary
