// Nests of loops that the threads of a block share: who executes an iteration, who touches an element, and a thread's part.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/cuda/map_internal.hpp"

namespace facet::gpu {

// The mapped loops of a nest, bodies empty, in the order of the digits of a thread's number: the last runs fastest. Iteration n
// of a loop is its thread coordinate's where n = point(coordinate, u) modulo a block's width, for one of the points u.
struct Nest {
  std::vector<For> loops;
  std::int64_t threads = 1;  // all digits together
  bool valid = true;         // one loop an axis, no reduction among them
  std::string shape() const;
};
bool starts_nest(const LoopPtr& n);  // a loop for the block's threads that is no reduction's
bool gives_warps(const LoopPtr& n);  // a loop each iteration of which is a warp's: its lanes share the nests inside
Nest nest_at(const LoopPtr& root);

// Which thread touches an element: the same form, the same thread. None: not surely one thread.
struct Owner {
  std::string form;
  std::vector<std::size_t> dimensions;  // that loop k of the nest walks
};
// `inner`: names introduced inside the nest; `stepped`: iterators of loops around that all threads run in step.
std::optional<Owner> owner_of(const passes::Access& access, const Nest& nest, const std::set<std::string>& inner,
                              const std::set<std::string>& stepped);
std::set<std::string> inner_names(const LoopPtr& root, const Nest& nest);

// An array each element of which belongs to one thread: a thread keeps its points only.
struct Private {
  std::string owner;
  std::vector<std::size_t> dimensions;
  std::vector<std::int64_t> points;
  DType dtype = DType::kF32;  // sums are kept in at least f32
};
using Privates = std::map<std::string, Private>;
// None when the nest's loops are longer than all points of all threads.
std::optional<Private> private_of(const Buffer& buffer, const Owner& owner, const Nest& nest);
Buffer part_of_thread(const Buffer& buffer, const Private& part);

// The nest as one thread executes it: its points of every loop, guarded where the loop may end before.
LoopList part_of_nest(const LoopPtr& root, const std::string& thread, const Privates& privates, MapContext& context);

// map_wide.cpp: the neighbours from iteration `first` on as one access each to global memory and, where it lies so, to
// `target`, the array copied to. None when the loop is no copy of neighbours that an aligned word holds. `neighbour`: an
// iterator's name.
std::optional<LoopList> wide_copy(const For& f, const ExprPtr& first, const std::string& neighbour, const Buffer* target,
                                  MapContext& context);

// The iterations of a loop that gives_warps: `body` (of an iteration) once for each that warp `warp` has.
LoopList part_of_warp(const For& f, const ExprPtr& warp, LoopList body);
bool one_each(const For& f);  // no warp has several iterations
// Arrays that have a part for every warp, subscripted by the warp first.
LoopList with_warp(const LoopList& body, const std::set<std::string>& arrays, const ExprPtr& warp);

}  // namespace facet::gpu
