// The text between "#pragma scop" and "#pragma endscop" of a C file (contract L5).
#pragma once

#include <string>
#include <vector>

#include "facet/result.hpp"

namespace facet {

struct Region {
  std::vector<std::string> lines;
  std::vector<Place> places;  // of each line's first character, in the C file
};

// `shown` is the path for messages; `at` the JSON value that asked for the file.
Result<Region> find_region(const std::string& text, const std::string& shown, const Place& at);

}  // namespace facet
