// Fuzzing of the C subset: any text gives diagnostics, or loops that print.
#include <cstdint>
#include <string>

#include "src/frontend/affine.hpp"
#include "src/frontend/loops.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace facet;

struct Names {
  Program program;
  LoopContext context;

  Names() {
    program.symbols = {{"N", 1, 4096, 64, {}}, {"T", 0, 9, 4, {}}};
    add("A", DType::kF32, {"N"});
    add("C", DType::kF64, {"N", "N"});
    add("n", DType::kI32, {"N"});
    add("q", DType::kI8, {"N"});
    add("s", DType::kF32, {});
    context.program = &program;
    context.in = {"N", "T"};
    context.inout = {"A", "C", "n", "q", "s"};
    context.local_prefix = "A";
  }

  void add(const std::string& name, DType dtype, const std::vector<std::string>& shape) {
    Tensor& t = program.tensors[name];
    t.name = name;
    t.dtype = dtype;
    for (const std::string& e : shape) t.shape.push_back(*parse_affine(e, {"N", "T"}, Place{}));
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Names names;
  const Result<ParsedLoops> r = parse_loops({std::string(reinterpret_cast<const char*>(data), size)}, names.context);
  if (r) {
    to_text(r->body);
  } else {
    require_explained(r.errors());
  }
  return 0;
}
