// Small questions of map_gpu.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "polyhedral/schedule.hpp"

namespace facet::map_gpu {

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

}  // namespace facet::map_gpu
