// Copies between row and column order, as packing and unpacking of panels have them.
//
//   for i in 14*p..14*p + 14
//     for k in 0..256                       -->   copy_across(t + 3584*p, 14, a + 14*1024*p, 1024, 14, 256)
//       t[p, k, i - 14*p] = a[i, k]
//
// Element by element such a copy takes a cycle and more each; the helper turns squares of vectors in registers, a quarter of
// that. The loops may stand in any order, for nothing is read that is written here; several that follow each other on both
// sides (channels and taps of a filter) are one.
//
// Where the rows are one vector of the target, read from elements that lie apart, the squares are as wide as that vector, and
// whole lines may go past the caches.
#include "codegen/openmp/across.hpp"

#include <algorithm>
#include <utility>

#include "codegen/c_family.hpp"
#include "codegen/passes/linear.hpp"
#include "codegen/passes/tree.hpp"
#include "facet/expr_walk.hpp"

namespace facet {

namespace {

using passes::Linear;

constexpr std::int64_t kLeastRows = 4, kLeastColumns = 8;  // below, a square of vectors is mostly empty

const For* only_loop(const LoopList& body) { return body.size() == 1 ? std::get_if<For>(&body[0]->node) : nullptr; }
const Store* only_store(const LoopList& body) { return body.size() == 1 ? std::get_if<Store>(&body[0]->node) : nullptr; }

bool is_plain(const Store& s) {
  const Expr& v = *s.value;
  if (s.update || s.mask || s.atomic || s.lane_stride != 1 || v.op != Op::kRead || v.pad || v.mask || v.lanes != s.lanes ||
      (s.stream && s.lanes == 1))
    return false;
  bool indices = true;
  for (const ExprPtr& e : s.subscripts) indices = indices && e->lanes == 1 && !holds_read(e);
  for (const ExprPtr& e : v.args) indices = indices && (e->lanes == 1 || s.lanes > 1) && !holds_read(e);
  return indices && s.buffer != v.name;
}

// The place as a linear form of elements, when every stride is a constant.
std::optional<Linear> place(const Buffer& buffer, const std::vector<ExprPtr>& subscripts) {
  Linear all = passes::constant_form(0);
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    std::int64_t stride = 0;
    if (!passes::constant_stride(buffer, d, &stride)) return std::nullopt;
    all = passes::sum(all, passes::to_linear(subscripts[d]), stride);
  }
  return all;
}

// By how much the place moves with the iterator; 0 where it does not or not linearly.
std::int64_t step_of(const Linear& place, const std::string& iterator) {
  for (const passes::Term& t : place.terms)
    if (t.atom->op != Op::kIndex && passes::mentions(t.atom, iterator)) return 0;
  return place.coefficient_of(iterator);
}

// The first lane's subscripts and how many elements lie from one lane to the next; 0: not the same everywhere.
std::int64_t from_lane_to_lane(const Buffer& buffer, std::vector<ExprPtr>* subscripts) {
  std::int64_t distance = 0;
  for (std::size_t d = 0; d < subscripts->size(); ++d) {
    const LaneForm form = lane_form((*subscripts)[d]);
    std::int64_t stride = 0;
    if (!form.affine || !passes::constant_stride(buffer, d, &stride)) return 0;
    (*subscripts)[d] = form.base;
    distance += form.step * stride;
  }
  return distance;
}

bool is_short(const ExprPtr& extent, std::int64_t least) { return extent->op == Op::kLiteral && extent->int_value < least; }

// The loops around the one store, outermost first; empty where there is anything else or a bound moves with another loop.
std::vector<const For*> loops_of(const For& f) {
  std::vector<const For*> loops{&f};
  while (const For* inner = only_loop(loops.back()->body)) loops.push_back(inner);
  for (const For* l : loops) {
    if (l->step != 1 || l->kind != LoopKind::kSerial) return {};
    for (const For* other : loops)
      if (passes::mentions(l->lower, other->iterator) || passes::mentions(l->upper, other->iterator)) return {};
  }
  return loops;
}

ExprPtr extent_of(const For& f) { return passes::to_expr(passes::difference(f.upper, f.lower)); }

std::vector<ExprPtr> at_start(const std::vector<ExprPtr>& subscripts, const std::vector<const For*>& loops) {
  std::vector<std::pair<std::string, ExprPtr>> start;
  for (const For* l : loops) start.emplace_back(l->iterator, l->lower);
  std::vector<ExprPtr> first;
  for (const ExprPtr& e : subscripts) first.push_back(passes::to_expr(passes::to_linear(substitute(e, start))));
  return first;
}

// All loops but `row` as one loop of columns: each, innermost first, goes on where the one inside it ends, on both sides. The
// step between columns of the target; 0: they are none.
std::int64_t columns_of(const std::vector<const For*>& loops, const For* row, const Linear& to, const Linear& from,
                        ExprPtr* extent) {
  std::int64_t step = 0, size = 1;
  for (auto l = loops.rbegin(); l != loops.rend(); ++l) {
    if (*l == row) continue;
    const std::int64_t target = step_of(to, (*l)->iterator);
    if (step == 0) step = target;
    if (step_of(from, (*l)->iterator) != size || target != step * size) return 0;
    *extent = idx_mul(idx(size), extent_of(**l));
    if (std::any_of(l + 1, loops.rend(), [&](const For* more) { return more != row; })) {
      const ExprPtr here = extent_of(**l);
      if (here->op != Op::kLiteral) return 0;
      size *= here->int_value;
    }
  }
  return step;
}

// The rows are the lanes.
std::optional<AcrossCopy> vectors_across(const Store& s, std::int64_t apart, const std::vector<const For*>& loops,
                                         const Linear& target, const Linear& source, const std::vector<ExprPtr>& read) {
  AcrossCopy copy;
  copy.from_step = apart;
  copy.to_step = columns_of(loops, nullptr, target, source, &copy.columns);
  if (apart < 2 || copy.to_step < s.lanes || is_short(copy.columns, kLeastColumns)) return std::nullopt;
  copy.rows = idx(s.lanes);
  copy.store = &s;
  copy.to = at_start(s.subscripts, loops);
  copy.from = at_start(read, loops);
  return copy;
}

}  // namespace

std::optional<AcrossCopy> across_copy(const For& f, const std::function<const Buffer&(const std::string&)>& buffer_of) {
  const std::vector<const For*> loops = loops_of(f);
  const Store* s = loops.empty() ? nullptr : only_store(loops.back()->body);
  if (!s || !is_plain(*s) || (s->lanes == 1 && loops.size() < 2)) return std::nullopt;
  const Buffer &to = buffer_of(s->buffer), &from = buffer_of(s->value->name);
  if (to.dtype != from.dtype || !is_float(to.dtype) || size_bytes(to.dtype) < 4) return std::nullopt;
  std::vector<ExprPtr> read = s->value->args;
  const std::int64_t apart = s->lanes > 1 ? from_lane_to_lane(from, &read) : 0;
  const std::optional<Linear> target = place(to, s->subscripts), source = place(from, read);
  if (!target || !source) return std::nullopt;
  if (s->lanes > 1) return vectors_across(*s, apart, loops, *target, *source, read);
  for (const For* row : loops) {
    AcrossCopy copy;
    copy.from_step = step_of(*source, row->iterator);
    if (step_of(*target, row->iterator) != 1 || copy.from_step < 2) continue;
    copy.to_step = columns_of(loops, row, *target, *source, &copy.columns);
    copy.rows = extent_of(*row);
    if (copy.to_step < 2 || is_short(copy.rows, kLeastRows) || is_short(copy.columns, kLeastColumns)) continue;
    copy.store = s;
    copy.to = at_start(s->subscripts, loops);
    copy.from = at_start(s->value->args, loops);
    return copy;
  }
  return std::nullopt;
}

}  // namespace facet
