// The loop-tree passes for processors: from the scalar tree that scanning made
// to the tree that is printed.
//
// Nothing is silent: what a pass was asked for (a kVector or kUnroll loop) and
// could not do is in the log, with its reason; the loop is then a plain serial
// loop.
#pragma once

#include <string>
#include <vector>

#include "facet/loop_ast.hpp"
#include "facet/machine.hpp"

namespace facet {

struct PassNote {
  std::string kernel;
  std::string pass;    // "vectorize", "unroll", "registers", ...
  std::string loop;    // iterator or buffer concerned
  bool done = true;    // false: refused
  std::string reason;  // "14 x 32 tile in 28 vectors of 16" | "lane-dependent
                       // store to c has no constant stride"
};

struct PassLog {
  std::vector<PassNote> notes;
};
std::string to_text(const PassLog& log);  // one line per note

// All passes in their order. The result has no kVector or kUnroll loops. `log`
// may be null.
LoopProgram lower_for_cpu(const LoopProgram& program, const CpuMachine& machine, PassLog* log);

}  // namespace facet
