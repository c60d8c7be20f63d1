// build: schedule -> loop tree. The only user of isl's AST builder.
#pragma once

#include "facet/loop_ast.hpp"
#include "polyhedral/schedule.hpp"

namespace facet {

// What the scanned schedule needs beyond its body.
struct ScannedKernel {
  LoopList body;
  std::vector<Buffer> workspace;          // arrays of the group that are neither external nor contracted
  std::vector<std::string> part_buffers;  // allocated in the body: copies that pieces of parallel loops update
  // Why the body is not to be used. Of some orders (sums of hexagons' quotients in hexagons) isl 0.25 loses the formula of a
  // division; then it refuses to go on, or gives a loop a bound that mentions the loop's own iterator.
  std::string not_scanned;
};

// Scans the schedule. Loops keep their marks and get readable iterators; accesses go through the storage maps; data-dependent
// subscripts are clamped into their dimension (contract C11). Throws isl's exceptions: call it inside guarded().
ScannedKernel build_loop_tree(const Schedule& schedule);

}  // namespace facet
