// Filling of elementwise templates.
#include "src/ops/map_template.hpp"

#include <cctype>

namespace facet {

std::string fill_template(const OpBuilder& b, const std::string& text, DType dtype, const std::vector<std::string>& operands) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '$' || c == '@') {
      std::size_t end = i + 1;
      while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
      const int n = std::stoi(text.substr(i + 1, end - i - 1));
      result += c == '$' ? operands[static_cast<std::size_t>(n)] : number_text(dtype, n);
      i = end - 1;
    } else if (c == '{') {
      const std::size_t end = text.find('}', i);
      result += number_text(dtype, b.number(text.substr(i + 1, end - i - 1)));
      i = end;
    } else {
      result += c;
    }
  }
  return result;
}

void define_map(OpBuilder& b, const MapTemplate& map) {
  std::vector<int> all;
  for (int k = 0; k < b.operand_count(); ++k) all.push_back(k);
  const Shape shape = broadcast_shape(b, all);
  if (b.failed()) return;
  const Loops l = b.loops(shape);
  const DType outer = b.dtype();
  const DType inner = map.wide ? wide_float(outer) : outer;
  std::vector<std::string> reads;
  for (const int k : all) reads.push_back(cast_text(inner, outer, broadcast_read(b, k, l)));
  const std::string value = fill_template(b, map.text, inner, reads);
  b.out(0, map.boolean ? DType::kBool : outer, shape);
  b.line("y0", l, map.boolean ? value : cast_text(outer, inner, value));
}

}  // namespace facet
