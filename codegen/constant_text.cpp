// Values are spelled so that they read back exactly.
#include "codegen/constant_text.hpp"

#include <cstdint>

#include "codegen/c_family.hpp"
#include "codegen/text_writer.hpp"

namespace facet {

namespace {

std::string item_text(const HostTensor& t, std::int64_t i) {
  if (t.dtype == DType::kF32 || t.dtype == DType::kF64) return float_literal(t.dtype, t.get(i));
  if (t.dtype == DType::kF16) return std::to_string(f32_to_f16(static_cast<float>(t.get(i))));
  if (t.dtype == DType::kBF16) return std::to_string(f32_to_bf16(static_cast<float>(t.get(i))));
  if (t.get_int(i) == INT64_MIN) return "INT64_MIN";
  if (t.dtype == DType::kU64) return std::to_string(static_cast<std::uint64_t>(t.get_int(i))) + "u";
  return std::to_string(t.get_int(i));
}

}  // namespace

std::string constant_text(const std::string& identifier, const std::string& tensor, const HostTensor& t,
                          const std::string& qualifiers) {
  TextWriter w;
  std::string shape;
  for (const std::int64_t e : t.shape) shape += (shape.empty() ? "" : ", ") + std::to_string(e);
  w.comment("constant " + tensor + ": " + to_text(t.dtype) + " [" + shape + "]");
  const std::int64_t count = t.element_count();
  w.open(qualifiers + " " + storage_type(t.dtype) + " " + identifier + "[" + std::to_string(count > 0 ? count : 1) + "] =");
  std::string line;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string item = item_text(t, i);
    if (line.size() + item.size() > 110) {
      w.line(line);
      line.clear();
    }
    line += (line.empty() ? "" : " ") + item + ",";
  }
  if (count == 0) line = "0,";
  w.line(line);
  w.close("};");
  return w.text();
}

}  // namespace facet
