// interpret: executes loop trees, for CPU and GPU alike, and watches every memory access.
//
// A kernel is compiled to bytecode and executed with one program counter per agent. In a GPU kernel the agents are the
// threads of a block (blocks run one after another, threads in a seeded random order between barriers); in a CPU kernel
// they are the iterations of a kParallel loop, run in a shuffled order. Arithmetic is done in the elements' own types.
// Reported: conflicting accesses of two agents that nothing orders, reads of memory that nothing wrote, subscripts outside
// a buffer's extents, barriers and collectives that not all of their agents reach, outputs left unwritten.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facet/host_tensor.hpp"
#include "facet/loop_ast.hpp"
#include "facet/result.hpp"

namespace facet {

struct Finding {
  enum class Kind { kRace, kUninitialised, kOutOfBounds, kDivergence, kUnwritten, kLaunchLimit };
  Kind kind = Kind::kRace;
  std::string kernel;
  std::string statement;  // of the access, or the barrier's reason
  std::string buffer;
  std::vector<std::int64_t> subscripts;
  std::string text;  // one sentence with all of the above and the agents involved
};
std::string to_text(Finding::Kind kind);  // "race", "uninitialised", ...

struct InterpretOptions {
  std::uint64_t seed = 1;      // of the order of agents
  int max_findings = 20;       // kept; all are counted
  std::int64_t max_steps = 0;  // bytecode instructions in all; 0 is no limit. Passing it is an error (exit 1)
  bool detect_races = true;
  bool detect_uninitialised = true;
};

struct InterpretReport {
  std::vector<Finding> findings;   // at most max_findings, one per instruction and kind
  std::int64_t finding_count = 0;  // every occurrence
  std::int64_t steps = 0;          // instructions executed
  std::int64_t barriers = 0;       // block barriers completed
  std::int64_t collectives = 0;
  std::int64_t loads = 0, stores = 0;  // accesses executed (a vector counts once)
  std::int64_t shared_bytes = 0;       // most of any block

  bool clean() const { return finding_count == 0; }
};
std::string to_text(const InterpretReport& report);

// Runs program.prepare and then program.kernels. `buffers` must hold every input and weight (and in/out buffer) with its
// declared dtype and extents; outputs are created, or overwritten. After findings the run goes on where it can (a bad access
// is left out), so buffers hold what came out. Errors: a tree that has no meaning here (unknown names, reserved nodes,
// missing buffers), or the step limit.
Result<InterpretReport> interpret(const LoopProgram& program, const SymbolValues& symbols, HostTensors& buffers,
                                  const InterpretOptions& options = {});

}  // namespace facet
