// The loop-tree passes for processors: from the scalar tree that scanning made
// to the tree that is printed.
//
// Nothing is silent: what a pass was asked for (a kVector or kUnroll loop) and
// could not do is in the log, with its reason; the loop is then a plain serial
// loop.
#pragma once

#include <set>
#include <string>
#include <tuple>
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
  // Of a loop whose form a step asked for, the step's position among its
  // group's, and, of one that it maps, the loop; -1 and "" of all others.
  int asked_by = -1;
  std::string asked_of;
};

struct PassLog {
  std::vector<PassNote> notes;
  // Kernel, step and loop (as above), where it, or a piece of it, got the form
  // that the step asked for.
  std::set<std::tuple<std::string, int, std::string>> obeyed;
};

// What steps asked for and no code does: of each such step and loop the first
// note that says why.
std::vector<PassNote> dropped(const PassLog& log);
std::string to_text(const PassLog& log);  // one line per note

// All passes in their order. The result has no kVector or kUnroll loops. `log`
// may be null.
LoopProgram lower_for_cpu(const LoopProgram& program, const CpuMachine& machine, PassLog* log);

}  // namespace facet
