// ptx and sass by the CUDA compilers, asm by the C++ compiler.
#include "src/driver/emit.hpp"

#include <algorithm>

#include "codegen/cuda/assemble.hpp"
#include "codegen/cuda/compile.hpp"
#include "codegen/openmp/print.hpp"
#include "src/driver/compiled.hpp"
#include "src/driver/run_report.hpp"

namespace facet {

namespace {

// Spills of a kernel in one number each way are what a reader looks for first: they are the end of speed.
std::string line_of(const CudaResources& r, std::int64_t dynamic_bytes) {
  std::string text = "  " + r.kernel + ": " + std::to_string(r.registers) + " registers, ";
  text += std::to_string(r.shared_bytes + dynamic_bytes) + " bytes of shared memory, ";
  const std::int64_t spilled = r.spill_store_bytes + r.spill_load_bytes;
  text += spilled == 0 ? "no spills"
                       : std::to_string(r.spill_store_bytes) + " bytes of spill stores, " + std::to_string(r.spill_load_bytes) +
                             " of loads";
  if (r.stack_bytes > 0) text += ", " + std::to_string(r.stack_bytes) + " bytes of stack";
  return text + "\n";
}

std::int64_t dynamic_shared_bytes(const CudaModule& module, const std::string& entry) {
  for (const std::vector<CudaLaunch>* list : {&module.prepare, &module.kernels})
    for (const CudaLaunch& l : *list)
      if (l.entry == entry) return l.shared_bytes;
  return 0;
}

void add_resources(const CudaModule& module, const std::vector<CudaResources>& resources, Emitted* emitted) {
  JsonValue list = JsonValue::array();
  for (const CudaResources& r : resources) {
    const std::int64_t dynamic_bytes = dynamic_shared_bytes(module, r.kernel);
    emitted->report += line_of(r, dynamic_bytes);
    JsonValue one = JsonValue::object();
    one.add("kernel", JsonValue::of(r.kernel)).add("registers", JsonValue::of(static_cast<std::int64_t>(r.registers)));
    one.add("shared_bytes", JsonValue::of(r.shared_bytes + dynamic_bytes)).add("stack_bytes", JsonValue::of(r.stack_bytes));
    one.add("spill_store_bytes", JsonValue::of(r.spill_store_bytes));
    list.items.push_back(one.add("spill_load_bytes", JsonValue::of(r.spill_load_bytes)));
  }
  emitted->json.add("resources", std::move(list));
}

}  // namespace

Result<std::vector<std::string>> emit_kinds(const Options& options) {
  const bool cuda = target_base(options) == "cuda";
  std::vector<std::string> kinds;
  if (options.emit.empty()) return kinds;
  for (std::size_t at = 0; at <= options.emit.size();) {
    const std::size_t comma = std::min(options.emit.find(',', at), options.emit.size());
    const std::string kind = options.emit.substr(at, comma - at);
    at = comma + 1;
    if (cuda ? kind != "ptx" && kind != "sass" : kind != "asm")
      return diagnose(
          Code::kBadCommandLine, {},
          {std::string("--emit takes ") + (cuda ? "ptx and sass for cuda" : "asm for openmp") + ", found \"" + kind + "\""});
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  return kinds;
}

Result<Emitted> emit_cuda(const Loaded& loaded, const Options& options, const CudaModule& module) {
  const Result<std::vector<std::string>> kinds = emit_kinds(options);
  if (!kinds) return kinds.errors();
  Result<CudaCompileOptions> how = cuda_compiler(options.compiler);
  if (!how) return how.errors();
  Emitted emitted;
  if (kinds->empty()) return emitted;
  if (const std::size_t colon = options.target.find(':'); colon != std::string::npos)
    how->arch = options.target.substr(colon + 1);
  how->contract = loaded.program.numerics.contract;
  how->flush_denormals = loaded.program.numerics.flush_denormals;
  const SourceFile& source = module.module.source;
  const Result<CudaPtx> ptx = compile_ptx(source.text, source.name, *how);
  if (!ptx) return ptx.errors();
  const Result<CudaAssembly> assembly = assemble_ptx(ptx->text, how->arch);
  for (const std::string& kind : *kinds) {
    std::string text = ptx->text;
    if (kind == "sass") {
      std::string cubin = assembly ? assembly->cubin : "";
      if (!assembly) {  // NVRTC needs no ptxas
        if (how->compiler == CudaCompiler::kClang) return assembly.errors();
        const Result<CudaBinary> binary = compile_cuda(source.text, source.name, *how);
        if (!binary) return binary.errors();
        cubin = binary->cubin;
      }
      const Result<std::string> sass = disassemble(cubin);
      if (!sass) return sass.errors();
      text = *sass;
    }
    emitted.files.emplace_back(module.module.name + "." + kind, std::move(text));
  }
  emitted.json.add("compiler", JsonValue::of(ptx->compiler)).add("arch", JsonValue::of(how->arch));
  emitted.report = "compiled by " + ptx->compiler + " for " + how->arch + "\n";
  if (assembly) {
    add_resources(module, assembly->resources, &emitted);
  } else {
    emitted.report += "no resource report: " + assembly.errors()[0].message + "\n";
    emitted.json.add("resources", JsonValue::null());
  }
  return emitted;
}

Result<Emitted> emit_openmp(const Loaded& loaded, const Options& options, const Machine& machine, const Module& module) {
  const Result<std::vector<std::string>> kinds = emit_kinds(options);
  if (!kinds) return kinds.errors();
  Emitted emitted;
  if (kinds->empty()) return emitted;
  const Result<Assembly> text = assembly_for_host(loaded, options, machine, module);
  if (!text) return text.errors();
  emitted.files.emplace_back(module.name + ".s", text->text);
  emitted.report = "compiled by " + text->compiler + "\n";
  emitted.json.add("compiler", JsonValue::of(text->compiler));
  JsonValue list = JsonValue::array();
  const std::vector<std::optional<ObjectCode>> codes = object_code(module, text->text);
  for (std::size_t k = 0; k < codes.size(); ++k) {
    const std::string& name = module.kernels[k].name;
    JsonValue one = JsonValue::object();
    one.add("kernel", JsonValue::of(name)).add("object_code", object_code_json(codes[k]));
    list.items.push_back(std::move(one));
    emitted.report += "  " + name + ": " + (codes[k] ? to_text(*codes[k]) : "no function of its own in the assembly") + "\n";
  }
  emitted.json.add("resources", std::move(list));
  return emitted;
}

}  // namespace facet
