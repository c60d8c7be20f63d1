// Small questions of map_gpu.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "polyhedral/schedule.hpp"

namespace facet::map_gpu {

constexpr std::int64_t kMostPoints = 1024;  // of a thread along a loop: with more the loop is the thread's, not the block's
constexpr std::int64_t kMostParts = 65535;  // blocks along y or z of a grid (CUDA programming guide, compute capabilities)
inline constexpr std::int64_t kWarpLanes = 32;

inline bool listed(const std::vector<TreePtr>& loops, const TreePtr& loop) {
  return std::any_of(loops.begin(), loops.end(), [&](const TreePtr& l) { return l->id == loop->id; });
}

// The threads of a nest of block loops.
inline std::int64_t threads_of(const Tree& root) {
  if (root.mark.gpu.warp) return kWarpLanes * root.mark.gpu.threads;
  std::int64_t n = 1;
  for (const Tree* l = &root; l->kind == Tree::Kind::kLoop; l = l->children[0].get())
    if (l->mark.kind == LoopKind::kMapped && l->mark.gpu.block >= 0) n *= l->mark.gpu.threads;
  return n;
}

inline int position(const std::vector<TreePtr>& list, const Tree& loop) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i]->id == loop.id) return static_cast<int>(list.size() - 1 - i);
  return -1;
}

// The outermost loop around that is no loop of the processor: one with a loop on the grid inside is.
inline TreePtr kernel_around(const Schedule& schedule, int statement, const TreePtr& loop) {
  for (const TreePtr& l : loops_around(schedule.tree, statement)) {
    bool host = false;
    for_each_loop(l, [&](const Tree& t) { host = host || (t.mark.kind == LoopKind::kMapped && t.mark.gpu.grid >= 0); });
    if (!host) return l;
  }
  return loop;
}

}  // namespace facet::map_gpu

namespace facet {

class Arguments;
Schedule apply_map_gpu(const Schedule& schedule, Arguments& args);

}  // namespace facet
