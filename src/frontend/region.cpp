// Finds the pragma lines by their words; blanks between '#', "pragma" and the name are free, as in C.
#include "src/frontend/region.hpp"

#include <sstream>

namespace facet {

namespace {

enum class Pragma { kNone, kBegin, kEnd };

Pragma pragma_of(const std::string& line) {
  std::size_t at = line.find_first_not_of(" \t");
  if (at == std::string::npos || line[at] != '#') return Pragma::kNone;
  std::istringstream words(line.substr(at + 1));
  std::string first, second;
  words >> first >> second;
  if (first != "pragma") return Pragma::kNone;
  return second == "scop" ? Pragma::kBegin : second == "endscop" ? Pragma::kEnd : Pragma::kNone;
}

}  // namespace

Result<Region> find_region(const std::string& text, const std::string& shown, const Place& at) {
  constexpr std::size_t kExcerptLimit = 200;
  Region region;
  int begins = 0, ends = 0, number = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const Pragma pragma = pragma_of(line);
    if (pragma == Pragma::kBegin) ++begins;
    if (pragma == Pragma::kEnd && ++ends > begins)
      return diagnose(Code::kRegionMissing, at,
                      {shown, "line " + std::to_string(number) + " ends a region that was not begun"});
    if (pragma != Pragma::kNone || begins != 1 || ends != 0) continue;
    Place place;
    place.file = shown;
    place.line = number;
    place.column = 1;
    place.excerpt = line.substr(0, kExcerptLimit);
    region.places.push_back(std::move(place));
    region.lines.push_back(std::move(line));
  }
  if (begins != 1 || ends != 1)
    return diagnose(Code::kRegionMissing, at, {shown, "found " + std::to_string(begins) + " and " + std::to_string(ends)});
  return region;
}

}  // namespace facet
