// Compiles a program once and calls it with tensors of its own; shows what a complaint looks like.
#include <cmath>
#include <cstdio>

#include "facet/facet.hpp"

namespace {

int fail(const facet::Diagnostics& errors) {
  std::fputs(facet::to_text(errors).c_str(), stderr);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  facet::Settings settings;
  settings.sizes = {{"N", 37}};
  facet::Result<facet::CompiledProgram> kernel = facet::compile_program(argv[1], settings);
  if (!kernel) return fail(kernel.errors());

  facet::HostTensor x = facet::make_host_tensor(facet::DType::kF32, {37});
  for (std::int64_t i = 0; i < x.element_count(); ++i) x.set(i, 0.5 * static_cast<double>(i));
  for (int call = 0; call < 3; ++call) {
    const facet::Result<facet::HostTensors> outputs = kernel->run({{"x", x}});
    if (!outputs) return fail(outputs.errors());
    const double last = outputs->at("y").get(36), total = outputs->at("total").get(0);
    if (std::abs(last - 45.0) > 1e-4 || std::abs(total - 832.5) > 1e-2) return 1;
    std::printf("y[36] = %g, total = %g\n", last, total);
  }

  const facet::Result<facet::HostTensors> expected = facet::reference_outputs(argv[1], {{"x", x}}, settings.sizes);
  if (!expected) return fail(expected.errors());
  std::printf("reference: %g\n", expected->at("total").get(0));

  // A wrong program is a value too: its code, its place, a way out.
  const facet::Result<facet::Program> wrong = facet::check_text(
      R"({"facet": 1, "name": "p", "tensors": {"x": {"dtype": "f32", "shape": [4]}}, "inputs": ["x"],
          "ops": [{"op": "rellu", "in": "x", "out": "y"}], "outputs": ["y"]})",
      "wrong.json");
  if (wrong) return 1;
  std::printf("refused: %s at %s, line %d: %s\n", facet::code_name(wrong.errors()[0].code).c_str(),
              wrong.errors()[0].place.pointer.c_str(), wrong.errors()[0].place.line, wrong.errors()[0].notes[0].c_str());
  return 0;
}
