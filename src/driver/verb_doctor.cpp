// doctor: what this machine has and lacks, and how to get what is missing.
#include <cstdio>

#include "codegen/cuda/compile.hpp"
#include "codegen/cuda/runner.hpp"
#include "codegen/openmp/jit_client.hpp"
#include "codegen/toolchain.hpp"
#include "src/driver/machines.hpp"
#include "src/driver/verbs.hpp"
#include "src/frontend/json.hpp"

namespace facet {

namespace {

struct Finding {
  std::string part;
  bool there = false;
  std::string detail;  // version or reason
  std::string remedy;
};

Finding compiler_finding(const std::string& command, const std::string& package) {
  const Result<Compiler> found = find_compiler(command);
  if (found) return {command, true, found->version, ""};
  return {command, false, "not found", "apt-get install " + package};
}

std::string first_line(const Diagnostics& errors) { return errors.empty() ? "" : errors[0].message; }

std::vector<Finding> findings() {
  std::vector<Finding> list;
  const std::string jit = jit_problem();
  list.push_back({"in-process compiler", jit.empty(), jit.empty() ? "libfacet_jit.so opens" : jit,
                  "build with Clang 19 development files (scripts/setup), or go on with an outside compiler"});
  list.push_back(compiler_finding("g++", "g++"));
  list.push_back(compiler_finding("clang++", "clang-19"));
  const Result<std::string> cache = cache_folder();
  list.push_back({"cache folder", cache.ok(), cache ? *cache : first_line(cache.errors()),
                  "set XDG_CACHE_HOME to a folder you may write"});
  const Result<CudaDevice> gpu = cuda_device();
  list.push_back({"GPU", gpu.ok(), gpu ? gpu->name + ", " + gpu->arch + ", driver " + gpu->driver : first_line(gpu.errors()),
                  "the target cuda needs an NVIDIA GPU and its driver; sources can be written without them"});
  const std::string nvcc = find_cuda_tool("nvcc");
  list.push_back({"nvcc", !nvcc.empty(), nvcc.empty() ? "not found" : nvcc, "install the CUDA toolkit, or use NVRTC alone"});
  for (const auto& [tool, use] :
       {std::pair{"ptxas", "the resource report of compile --emit"}, {"nvdisasm", "compile --emit sass"}}) {
    const std::string file = find_cuda_tool(tool);
    list.push_back({tool, !file.empty(), file.empty() ? "not found" : file,
                    std::string("install the CUDA toolkit; ") + use + " needs it"});
  }
  return list;
}

}  // namespace

Result<Outcome> verb_doctor(const Options& options) {
  const Result<Machine> machine = machine_in_force(options, true);
  if (!machine) return machine.errors();
  Outcome outcome;
  JsonValue parts = JsonValue::array();
  outcome.text = std::string("facet ") + FACET_VERSION + "\n";
  for (const Finding& f : findings()) {
    outcome.text += std::string(f.there ? "  has   " : "  lacks ") + f.part + ": " + f.detail + "\n";
    if (!f.there) outcome.text += "        way out: " + f.remedy + "\n";
    JsonValue one = JsonValue::object();
    one.add("part", JsonValue::of(f.part)).add("there", JsonValue::of(f.there)).add("detail", JsonValue::of(f.detail));
    parts.items.push_back(one.add("remedy", f.there ? JsonValue::null() : JsonValue::of(f.remedy)));
  }
  const CpuMachine& cpu = machine->cpu;
  char line[300];
  std::snprintf(line, sizeof line, "  CPU   %s, %s, %d cores, %d-byte vectors: %.4g GFLOP/s f32 a core, %.4g GB/s copy\n",
                cpu.name.c_str(), cpu.isa.c_str(), cpu.cores, cpu.vector_bytes, cpu.peak_f32_gflop_s, cpu.copy_gb_s);
  outcome.text += line;
  const Result<JsonDocument> described = parse_json(to_json(*machine), "");
  outcome.json.add("version", JsonValue::of(FACET_VERSION)).add("parts", std::move(parts));
  if (described) outcome.json.add("machine", described->root);
  return outcome;
}

}  // namespace facet
