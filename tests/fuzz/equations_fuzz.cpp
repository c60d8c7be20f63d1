// Fuzzing of equations: any lines give diagnostics, or equations whose text reads back as the same typed tree.
#include <cstdint>
#include <memory>
#include <string>

#include "src/frontend/affine.hpp"
#include "src/frontend/equations.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace facet;

struct Names {
  Program program;
  EquationContext context;

  Names() {
    program.symbols = {{"N", 1, 4096, 64, {}}, {"M", 1, 64, 8, {}}};
    add("a", DType::kF32, {"N", "M"});
    add("v", DType::kF32, {"N"});
    add("h", DType::kF16, {"8"});
    add("q", DType::kI8, {"8"});
    add("n", DType::kI32, {"8"});
    add("u", DType::kU64, {"8"});
    add("b", DType::kBool, {"8"});
    add("s", DType::kF64, {});
    context.program = &program;
    for (const auto& [name, tensor] : program.tensors) context.tensors[name] = &tensor;
    context.outs = {"c"};
    context.local_prefix = "c";
  }

  void add(const std::string& name, DType dtype, const std::vector<std::string>& shape) {
    Tensor& t = program.tensors[name];
    t.name = name;
    t.dtype = dtype;
    for (const std::string& e : shape) t.shape.push_back(*parse_affine(e, {"N", "M"}, Place{}));
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Names names;
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += static_cast<char>(data[i]);
    }
  }
  const Result<ParsedEquations> r = parse_equations(lines, names.context);
  if (!r) {
    require_explained(r.errors());
    return 0;
  }
  // Equations of one name keep their text only if no local is read: "c.t" is no name in a text.
  if (r->equations.size() != 1) return 0;
  EquationContext context = names.context;
  Tensor out = r->outs.at("c");
  context.declared["c"] = &out;
  const Result<ParsedEquations> again = parse_equations({to_text(r->equations[0])}, context);
  if (!again) require(false, to_text(again.errors()) + to_text(r->equations[0]));
  require(same(r->equations[0].value, again->equations[0].value),
          "the equation changes when read back: " + to_text(r->equations[0]));
  return 0;
}
