// Faults of GPU code planted into what the planner made of whole programs: a missing barrier, copy or guard does not go unseen
// by the GPU-mode interpreter, so that its silence on the programs as they are means something. And launches stay in the
// limits.
#include <functional>

#include <gtest/gtest.h>

#include "codegen/cuda/print.hpp"
#include "codegen/passes/tree.hpp"
#include "src/driver/gpu_case.hpp"
#include "src/run/interpret/interpret.hpp"
#include "support/paths.hpp"

namespace facet {
namespace {

using passes::as;

PreparedCase case_of(const std::string& path, std::int64_t largest, const SymbolValues& sizes = {}) {
  Result<GpuCase> made = file_case(test::source_path(path), largest);
  EXPECT_TRUE(made.ok());
  for (const Symbol& s : made->program.symbols) made->planned_for[s.name] = s.value;
  for (const auto& [name, value] : sizes) made->symbols[name] = value;
  Result<PreparedCase> prepared = prepare_case(*made, 1);
  EXPECT_TRUE(prepared.ok());
  return std::move(*prepared);
}

// Does the interpreter or the comparison notice?
bool noticed(const PreparedCase& made, const LoopProgram& loops) {
  HostTensors tensors = made.arguments;
  InterpretOptions options;
  options.max_steps = 100'000'000;
  const Result<InterpretReport> report = interpret(loops, made.symbols, tensors, options);
  EXPECT_TRUE(report.ok()) << to_text(report.errors());
  if (!report || !report->clean()) return true;
  GpuCaseResult result;
  compare_case(made, tensors, &result);
  return !result.verified;
}

// What becomes of the n-th node that a fault concerns: nothing, or other statements.
using Fault = std::function<std::optional<LoopList>(const LoopPtr& node)>;

LoopList with_fault(const LoopList& body, const Fault& fault, int* left) {
  LoopList out;
  for (const LoopPtr& n : body) {
    const std::optional<LoopList> instead = fault(n);
    if (instead && (*left)-- == 0) {
      out.insert(out.end(), instead->begin(), instead->end());
      continue;
    }
    out.push_back(passes::rebuild(
        n, [](const ExprPtr& e) { return e; }, [&](const LoopList& b) { return with_fault(b, fault, left); }));
  }
  return out;
}

// Plants the fault at each place in turn, as far as `most`; how many went unseen, and how many places there were.
std::pair<int, int> unseen(const PreparedCase& made, const Fault& fault, int most) {
  int places = 0, missed = 0;
  for (std::size_t k = 0; k < made.loops.kernels.size(); ++k)
    for (int n = 0; places < most; ++n) {
      LoopProgram broken = made.loops;
      int left = n;
      broken.kernels[k].body = with_fault(broken.kernels[k].body, fault, &left);
      if (left >= 0) break;  // there is no n-th place
      ++places;
      missed += !noticed(made, broken);
    }
  return {missed, places};
}

struct Planned {
  const char* program;
  std::int64_t largest;     // size of the run
  SymbolValues sizes = {};  // of symbols that differ
};

TEST(GpuFaults, AMissingBarrierIsSeen) {
  const Fault fault = [](const LoopPtr& n) { return as<Barrier>(n) ? std::optional<LoopList>(LoopList{}) : std::nullopt; };
  int places = 0;
  for (const auto& [program, largest, sizes] :
       {Planned{"examples/02_attention/program.json", 9, {{"B", 1}, {"H", 1}}},
        Planned{"bench/polybench/floyd-warshall.json", 12}, Planned{"bench/polybench/jacobi-1d.json", 20}}) {
    const PreparedCase made = case_of(program, largest, sizes);
    ASSERT_FALSE(noticed(made, made.loops)) << program;
    const auto [missed, all] = unseen(made, fault, 8);
    EXPECT_EQ(missed, 0) << program << "\n" << to_text(made.loops);
    places += all;
  }
  EXPECT_GE(places, 6);
}

TEST(GpuFaults, AMissingStoreToSharedMemoryIsSeen) {
  int places = 0;
  for (const auto& [program, largest, sizes] :
       {Planned{"examples/02_attention/program.json", 9, {{"B", 1}, {"H", 1}}},
        Planned{"examples/09_layer_norm/program.json", 33}, Planned{"examples/01_matmul_bias_gelu/program.json", 18}}) {
    const PreparedCase made = case_of(program, largest, sizes);
    std::set<std::string> shared;
    for (const Kernel& k : made.loops.kernels)
      passes::walk_nodes(k.body, [&](const LoopPtr& n) {
        if (const Allocate* a = as<Allocate>(n); a && a->buffer.space == MemorySpace::kShared) shared.insert(a->buffer.name);
      });
    const Fault fault = [&](const LoopPtr& n) {
      const Store* s = as<Store>(n);
      return s && shared.count(s->buffer) ? std::optional<LoopList>(LoopList{}) : std::nullopt;
    };
    const auto [missed, all] = unseen(made, fault, 6);
    EXPECT_EQ(missed, 0) << program << "\n" << to_text(made.loops);
    places += all;
  }
  EXPECT_GE(places, 2);
}

// All guards of partial tiles of a program at once: at ragged sizes some thread leaves an array or writes what is not its own.
TEST(GpuFaults, MissingGuardsAreSeen) {
  for (const char* program : {"examples/11_bias_gelu/program.json", "examples/04_heat/program.json", "bench/polybench/lu.json",
                              "bench/polybench/seidel-2d.json", "bench/polybench/atax.json"}) {
    const PreparedCase made = case_of(program, 33);
    LoopProgram broken = made.loops;
    int guards = 0;
    const std::function<LoopList(const LoopList&)> bare = [&](const LoopList& body) {
      LoopList out;
      for (const LoopPtr& n : body) {
        const If* i = as<If>(n);
        const LoopPtr inner = passes::rebuild(
            n, [](const ExprPtr& e) { return e; }, bare);
        if (!i || !i->is_tail_guard) {
          out.push_back(inner);
          continue;
        }
        ++guards;
        out.insert(out.end(), as<If>(inner)->then.begin(), as<If>(inner)->then.end());
      }
      return out;
    };
    for (Kernel& k : broken.kernels) k.body = bare(k.body);
    EXPECT_GE(guards, 1) << program << "\n" << to_text(made.loops);
    EXPECT_FALSE(noticed(made, made.loops)) << program;
    EXPECT_TRUE(noticed(made, broken)) << program << "\n" << to_text(made.loops);
  }
}

// Grid, block and shared memory of every launch, at the largest sizes that the program allows.
TEST(GpuFaults, LaunchesStayInTheLimitsOfTheDevice) {
  constexpr std::int64_t kMostBlocks[] = {2147483647, 65535, 65535};
  int launches = 0;
  for (const char* program : {"examples/11_bias_gelu/program.json", "examples/04_heat/program.json",
                              "examples/02_attention/program.json", "bench/polybench/lu.json", "bench/polybench/gemm.json",
                              "bench/polybench/seidel-2d.json", "bench/polybench/heat-3d.json"}) {
    const PreparedCase made = case_of(program, 9);
    const Result<CudaModule> module = print_cuda(made.loops, {});
    ASSERT_TRUE(module.ok()) << to_text(module.errors());
    for (const CudaLaunch& l : module->kernels) {
      SymbolValues largest;
      for (const Symbol& s : made.loops.symbols) largest[s.name] = s.max;
      for (const For& f : l.host) largest[f.iterator] = evaluate_index(f.lower, largest);
      for (std::size_t a = 0; a < 3; ++a) EXPECT_LE(evaluate_index(l.grid[a], largest), kMostBlocks[a]) << l.entry;
      EXPECT_LE(l.block[0] * l.block[1] * l.block[2], 1024) << l.entry;
      EXPECT_LE(l.block[2], 64) << l.entry;
      EXPECT_LE(l.shared_bytes, GpuMachine{}.shared_bytes_opt_in) << l.entry;
      ++launches;
    }
  }
  EXPECT_GE(launches, 12);
}

}  // namespace
}  // namespace facet
