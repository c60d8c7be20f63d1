// The box around the elements gives a copy its size; what is filled and combined are the elements themselves.
//
// A dimension without a constant size (a row of N) has the array's own extent. Copies of one element lie a cache line apart:
// threads that write neighbours would send the line to and fro.
#include "polyhedral/ast/copied_arrays.hpp"

#include <algorithm>

#include "polyhedral/affine.hpp"
#include "polyhedral/legality.hpp"

namespace facet {

namespace {

constexpr std::int64_t kStackBytes = 64 << 10;  // of all copies together
constexpr std::int64_t kLineBytes = 64;

// Do the loop's iterations run on threads of their own? Not inside another concurrent loop, nor around loops of a GPU.
bool has_threads(const Schedule& schedule, const Tree& loop) {
  for (const TreePtr& l : loops_around(schedule.tree, loop.names.begin()->first)) {
    if (l->id == loop.id) break;
    if (l->mark.kind != LoopKind::kSerial) return false;
  }
  bool threads = true;
  for_each_loop(loop.children[0], [&](const Tree& l) { threads = threads && l.mark.kind != LoopKind::kMapped; });
  return threads;
}

// The id of the loop directly around; -1: none.
int around(const Schedule& schedule, const Tree& loop) {
  int outer = -1;
  for (const TreePtr& l : loops_around(schedule.tree, loop.names.begin()->first)) {
    if (l->id == loop.id) break;
    outer = l->id;
  }
  return outer;
}

void size(const Schedule& schedule, const Tree& loop, CopiedArray* p) {
  const Array& array = schedule.scop->arrays.at(p->array);
  p->buffer.name = p->array + ".copies";
  p->buffer.dtype = array.dtype;
  p->buffer.extents = {idx(loop.mark.parts)};
  std::int64_t bytes = size_bytes(array.dtype);
  // Without what the symbols' ranges say: a row of N is no constant because N has a largest value.
  const std::vector<BoxDimension> box = box_hull(p->elements.gist_params(schedule.scop->context));
  for (std::size_t d = 0; d < box.size(); ++d) {
    p->offsets.push_back(box[d].size ? *box[d].offset : zero_aff(p->elements));
    p->buffer.extents.push_back(box[d].size ? idx(*box[d].size) : array.extents[d]);
    bytes = box[d].size && bytes <= kStackBytes ? bytes * *box[d].size : kStackBytes + 1;
  }
  const std::int64_t stride = (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;  // from copy to copy
  const bool small = bytes <= kStackBytes && stride <= kStackBytes / loop.mark.parts;
  p->buffer.space = small ? MemorySpace::kStack : MemorySpace::kGlobal;
  p->buffer.comment = "copies of " + p->array + ", one for each part of loop " + loop.names.at(*p->updates.begin());
  if (!small) return;
  std::int64_t elements = 1;
  p->buffer.strides.resize(p->buffer.extents.size());
  for (std::size_t k = p->buffer.extents.size(); k-- > 1;) {
    p->buffer.strides[k] = idx(elements);
    elements *= p->buffer.extents[k]->int_value;
  }
  p->buffer.strides[0] = idx(stride / size_bytes(array.dtype));
}

}  // namespace

std::vector<CopiedArray> copied_arrays(const Schedule& schedule, const Tree& loop) {
  std::vector<CopiedArray> list;
  if (loop.mark.updates != SharedUpdates::kParts || !has_threads(schedule, loop)) return list;
  const int outer = around(schedule, loop);
  for (const auto& [array, updates] : shared_updates(schedule, loop)) {
    std::optional<isl::map> elements;
    for (const int s : updates) {
      const isl::map part = outer_schedule(schedule, s, outer).reverse().apply_range(schedule.statement(s).write.relation);
      elements = elements ? elements->unite(part) : part;
    }
    CopiedArray p;
    p.array = array;
    p.updates = updates;
    p.kind = *schedule.statement(*updates.begin()).update;
    p.elements = elements->coalesce();
    size(schedule, loop, &p);
    list.push_back(std::move(p));
  }
  return list;
}

std::pair<std::string, std::vector<ExprPtr>> in_part(const CopiedArray& p, const std::string& part,
                                                     const std::vector<ExprPtr>& element, const std::vector<ExprPtr>& outer) {
  std::vector<ExprPtr> subscripts{index(part)};
  for (std::size_t d = 0; d < element.size(); ++d) subscripts.push_back(idx_sub(element[d], expr_of(p.offsets[d], outer)));
  return {p.buffer.name, std::move(subscripts)};
}

}  // namespace facet
