// Loop trees in original order with places on a GPU, as map_gpu steps leave them.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "codegen/passes/tree.hpp"
#include "support/cpu_trees.hpp"

namespace facet::testing {

using Places = std::map<std::string, GpuPlace>;  // by iterator

inline GpuPlace on_grid(int axis) {
  GpuPlace p;
  p.grid = axis;
  return p;
}
inline GpuPlace pieces(int axis, int block_axis, std::int64_t threads, std::int64_t points = 1) {
  GpuPlace p = on_grid(axis);
  p.block = block_axis;
  p.threads = threads;
  p.points = points;
  return p;
}
inline GpuPlace strided(std::int64_t threads, bool reduces = false, int block_axis = 0) {
  GpuPlace p;
  p.block = block_axis;
  p.threads = threads;
  p.reduces = reduces;
  return p;
}
inline GpuPlace staged(std::int64_t depth) {
  GpuPlace p;
  p.stage = depth;
  p.reduces = true;
  return p;
}
inline GpuPlace split_in(std::int64_t parts) {
  GpuPlace p;
  p.parts = parts;
  p.reduces = true;
  return p;
}

// Loops with a place get it; one whose body updates a place that it does not move, and `reduces` is asked for, is a reduction.
inline LoopList placed(const LoopList& body, const Places& places) {
  LoopList out;
  for (const LoopPtr& n : body) {
    LoopPtr inner = passes::rebuild(
        n, [](const ExprPtr& e) { return e; }, [&](const LoopList& b) { return placed(b, places); });
    if (const For* f = passes::as<For>(inner); f && places.count(f->iterator)) {
      For mapped = *f;
      mapped.kind = LoopKind::kMapped;
      mapped.gpu = places.at(f->iterator);
      const Store* s = mapped.body.size() == 1 ? passes::as<Store>(mapped.body[0]) : nullptr;
      if (mapped.gpu.block >= 0 && mapped.gpu.grid < 0 && !(s && !s->update)) {
        mapped.gpu.reduces = true;
      } else if (s) {
        mapped.gpu.reduces = false;
      }
      inner = make_loop(std::move(mapped));
    }
    out.push_back(inner);
  }
  return out;
}
inline LoopProgram placed(LoopProgram p, const Places& places) {
  for (Kernel& k : p.kernels) k.body = placed(k.body, places);
  return p;
}

inline LoopProgram point_matmul() { return placed(plain_matmul(), {{"i", pieces(1, 1, 8)}, {"j", pieces(0, 0, 32)}}); }
inline LoopProgram tiled_matmul(std::int64_t each) {
  return placed(plain_matmul(),
                {{"i", pieces(1, 1, 16, each)}, {"j", pieces(0, 0, 16, each)}, {"k", staged(each == 4 ? 16 : 8)}});
}
inline LoopProgram tiled_conv() {
  return placed(padded_conv(2, 9), {{"n", pieces(3, 3, 16, 2)},
                                    {"f", pieces(2, 2, 16, 2)},
                                    {"p", pieces(1, 1, 16, 2)},
                                    {"q", pieces(0, 0, 16, 2)},
                                    {"c", staged(8)},
                                    {"r", staged(8)},
                                    {"s", staged(8)}});
}
inline LoopProgram softmax_rows(std::int64_t threads = 64) {
  return placed(row_softmax(), {{"i", on_grid(0)}, {"j", strided(threads)}});
}
inline LoopProgram row_sums() { return placed(sums(true), {{"i", on_grid(0)}, {"j", strided(64)}}); }
inline LoopProgram column_sums() { return placed(sums(false), {{"j", pieces(0, 0, 32)}, {"i", strided(32, true, 1)}}); }
inline LoopProgram split_columns() {
  GpuPlace i = strided(8, true, 1);
  i.parts = 5;
  return placed(sums(false), {{"j", pieces(0, 0, 32)}, {"i", i}});
}
inline LoopProgram split_total() { return placed(total_then_use(1030, 2), {{"i", split_in(64)}, {"j", strided(32)}}); }
inline LoopProgram one_block_jacobi() { return placed(jacobi(), {{"i", strided(64)}}); }
inline LoopProgram launched_jacobi() { return placed(jacobi(), {{"i", pieces(0, 0, 64)}}); }
inline LoopProgram mapped_triangle() { return placed(triangle(), {{"i", pieces(0, 0, 32)}}); }
inline LoopProgram mapped_axes() {
  return placed(five_axes(),
                {{"a", on_grid(4)}, {"b", on_grid(3)}, {"c", on_grid(2)}, {"d", pieces(1, 1, 4)}, {"e", pieces(0, 0, 8)}});
}
inline LoopProgram mapped_chain(std::int64_t points) { return placed(long_chain(1 << 22), {{"i", pieces(0, 0, 256, points)}}); }
inline LoopProgram mapped_reversed_row() { return placed(reversed_row(), {{"i", on_grid(0)}, {"j", strided(32)}}); }

}  // namespace facet::testing
