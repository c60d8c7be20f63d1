// Elementwise definitions from a template text.
#pragma once

#include <string>

#include "src/ops/builder.hpp"

namespace facet {

struct MapTemplate {
  std::string text;      // "$0 + $1", "max($0, @0)", "{alpha} * $0"
  bool wide = false;     // f16 and bf16 operands are converted to f32 first and the result back
  bool boolean = false;  // the result is bool
};

// y0 = template over the broadcast shape of all operands (which have one dtype).
void define_map(OpBuilder& b, const MapTemplate& map);

// The template with operands, literals (@N in `dtype`) and number attributes filled in.
std::string fill_template(const OpBuilder& b, const std::string& text, DType dtype, const std::vector<std::string>& operands);

}  // namespace facet
