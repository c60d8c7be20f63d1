// From what the C reader answers (src/frontend/c_import, JSON text) to a program: the region as the text of op `loops`, integer
// parameters as symbols, arrays and numbers as tensors, and a record of the C function, of which a drop-in can be made.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "facet/program.hpp"
#include "facet/result.hpp"
#include "src/frontend/json_tree.hpp"

namespace facet {

struct CTensor {
  std::string name;
  DType dtype = DType::kF64;
  std::vector<std::string> extents;  // affine texts; "" where the C file does not say
  bool read = false, written = false, scratch = false;
};

// A symbol's range, and the size it is planned for.
struct CSymbol {
  std::string name;
  std::int64_t min = 1, max = 1, value = 1;
};

struct CRegion {
  CFunction function;
  std::vector<CTensor> tensors;
  std::vector<CSymbol> symbols;
  std::vector<std::string> assumptions;
  std::vector<std::string> lines;  // the text
  std::vector<int> numbers;        // of its lines in the C file
};

// Where a line of the region stands, by its number there; without a line when it has no such.
Place line_place(const CRegion& region, std::size_t line, const std::string& file);

// The region, or every complaint about it with its place in the C file. `file` is the path for messages.
Result<CRegion> read_c_region(const std::string& answer, const std::string& file);

// What the user says about sizes: "n=2000" plans for it, "n=4..8000" is its range.
struct CSizes {
  std::map<std::string, std::int64_t> values;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> ranges;
};

// Finds extents that the C file does not say, and the widest ranges of symbols for which no subscript leaves its array.
// `guarded`: subscripts under an `if` count too, though their condition may be what keeps them inside.
Result<Done> fit_sizes(const CSizes& sizes, bool guarded, CRegion* region);

// The program. `written_whole`: tensors that the region sets everywhere before it reads them ("out" instead of "inout").
JsonValue program_of(const CRegion& region, const std::set<std::string>& written_whole);

}  // namespace facet
