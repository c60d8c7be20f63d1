// Edit distance with swaps of neighbours (optimal string alignment) over three rows.
#include "facet/nearest.hpp"

#include <algorithm>
#include <cctype>

namespace facet {

namespace {

constexpr std::size_t kLongestName = 64;  // a longer text is not a slip of the keyboard

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

int edit_distance(const std::string& a, const std::string& b) {
  const std::size_t n = b.size();
  std::vector<int> before(n + 1), above(n + 1), row(n + 1);
  for (std::size_t j = 0; j <= n; ++j) above[j] = static_cast<int>(2 * j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(2 * i);
    for (std::size_t j = 1; j <= n; ++j) {
      const int change = a[i - 1] == b[j - 1] ? 0 : lower(a[i - 1]) == lower(b[j - 1]) ? 1 : 2;
      row[j] = std::min({above[j] + 2, row[j - 1] + 2, above[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 2);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return (above[n] + 1) / 2;  // counted in halves, rounded up
}

std::string nearest(const std::string& name, const std::vector<std::string>& candidates) {
  if (name.empty() || name.size() > kLongestName) return "";
  const int limit = std::max(1, static_cast<int>((name.size() + 1) / 3));
  int best = limit + 1;
  std::string found;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    const int distance = edit_distance(name, candidate);
    if (distance >= best || distance >= static_cast<int>(std::max(name.size(), candidate.size()))) continue;
    best = distance;
    found = candidate;
  }
  return found;
}

std::vector<std::string> did_you_mean(const std::string& name, const std::vector<std::string>& candidates) {
  const std::string found = nearest(name, candidates);
  if (found.empty()) return {};
  return {"did you mean \"" + found + "\"?"};
}

}  // namespace facet
