// peel: full tiles and partial tiles get their own code.
//
//   for i2, j2, k                                         for i2
//     for i in 0..min(14, M - 14*i2)   unroll               if 14*i2 + 14 <= M
//     (full in i)
//       for j in 0..min(32, N - 32*j2) vector(16)  -->        for j2
//         h0[..] += a[..] * b[..]                               if 32*j2 + 32
//         <= N   for k, i in 0..14, j in 0..32
//                                                               else for k, i
//                                                               in 0..14, j in
//                                                               0..min(32, ..)
//                                                               masked
//                                                           else
//                                                             for ib step 4 ...
//                                                             i in ib..ib+4,
//                                                             then the rest one
//                                                             by one (or all of
//                                                             M mod 14, a number)
//
// A requested loop (kUnroll, kVector) whose bounds are min/max has a constant
// extent C in the common case: some upper bound u and lower bound l with u - l
// = C. The loop is full when no other bound cuts it; that condition becomes an
// `if` at the outermost place where its variables are known and below which
// every statement belongs to the axis, so that everything below (accumulators,
// masks) can rely on it and nothing else is doubled. A bound that mentions the iterator of an unrolled loop around
// (triangles: j < i) is asked for all of its iterations. All loops with the same bounds share one `if`. In the else branch a
// vector loop is left to form_tiles, which masks it; an unrolled loop's whole region is a smaller tile where the extent left
// over is one number (of constant extents: 7 points in tiles of 4 leave 3, which took as long as 8 in runs of 2 and 1), is
// strip-mined in short runs where its iterations are independent (independent()), else it stays a plain loop. At most
// kMaxVersions nested ifs. Near twin: isl's isolate option, which needs seconds for a 14 x 32 tile.
#include "codegen/passes/tiles.hpp"

#include <algorithm>
#include <optional>

namespace facet::passes {

namespace {

constexpr std::size_t kMaxVersions = 3;

bool same_bounds(const For& a, const For& b) { return a.kind == b.kind && same_extent(a, b); }

// The condition for all iterations of an unrolled loop around the axis: its hardest one. null: not found.
ExprPtr for_all(const ExprPtr& condition, const For& unrolled) {
  if (!mentions(condition, unrolled.iterator)) return condition;
  if (condition->op == Op::kAnd) {
    const ExprPtr a = for_all(condition->args[0], unrolled), b = for_all(condition->args[1], unrolled);
    return a && b ? binary(Op::kAnd, a, b) : nullptr;
  }
  if (condition->op != Op::kLe) return nullptr;
  const Linear room = difference(condition->args[1], condition->args[0]);
  for (const Term& t : room.terms)
    if (t.atom->op != Op::kIndex && mentions(t.atom, unrolled.iterator)) return nullptr;
  const bool grows = room.coefficient_of(unrolled.iterator) > 0;
  return facet::substitute(condition, {{unrolled.iterator, grows ? unrolled.lower : idx_sub(unrolled.upper, idx(1))}});
}

// What find_axis has passed on its way in.
struct Inside {
  std::set<std::string> names;  // introduced since
  std::vector<For> unrolled;    // of constant extent, with nothing else between them and the axis
};

// The axis of the loop as seen from outside of `inside`: its bounds mention nothing introduced there, or they hold for all
// iterations of the unrolled loops around it.
std::optional<Axis> axis_from(const For& f, const Inside& inside) {
  std::optional<Axis> axis = axis_of(f);
  if (!axis) return axis;
  for (auto u = inside.unrolled.rbegin(); axis->full && u != inside.unrolled.rend(); ++u) axis->full = for_all(axis->full, *u);
  const bool known = axis->full && !mentions_any(axis->lower, inside.names) && !mentions_any(axis->full, inside.names);
  return known ? axis : std::nullopt;
}

// The first axis below `node` that can be asked for here.
std::optional<Axis> find_axis(const LoopPtr& node, LoopKind kind, Inside inside, const std::vector<For>& done) {
  const auto in_list = [&](const LoopList& list) -> std::optional<Axis> {
    Inside here = inside;
    for (const LoopPtr& child : list) {
      if (std::optional<Axis> found = find_axis(child, kind, here, done)) return found;
      if (const Let* l = as<Let>(child)) here.names.insert(l->name);
    }
    return std::nullopt;
  };
  if (const For* f = as<For>(node)) {
    const bool wanted =
        f->kind == kind && std::none_of(done.begin(), done.end(), [&](const For& d) { return same_bounds(d, *f); });
    if (wanted)
      if (std::optional<Axis> found = axis_from(*f, inside)) return found;
    inside.names.insert(f->iterator);
    if (f->kind == LoopKind::kUnroll && difference(f->upper, f->lower).is_constant()) {
      inside.unrolled.push_back(*f);
    } else {
      inside.unrolled.clear();
    }
    return in_list(f->body);
  }
  if (const If* f = as<If>(node)) {
    if (std::optional<Axis> found = in_list(f->then)) return found;
    return in_list(f->otherwise);
  }
  if (const Sequence* s = as<Sequence>(node)) return in_list(s->body);
  return std::nullopt;
}

bool contains_axis(const LoopPtr& node, const Axis& axis) {
  bool found = false;
  walk_nodes({node}, [&](const LoopPtr& inner) {
    const For* f = as<For>(inner);
    found = found || (f && same_bounds(*f, axis.loop));
  });
  return found;
}

// Every loop of the axis gets the bounds lower..upper.
LoopList with_bounds(const LoopList& body, const Axis& axis, const ExprPtr& lower, const ExprPtr& upper) {
  LoopList out;
  for (const LoopPtr& node : body) {
    const LoopPtr next = rebuild(
        node, [](const ExprPtr& e) { return e; },
        [&](const LoopList& inner) { return with_bounds(inner, axis, lower, upper); });
    const For* f = as<For>(next);
    if (!f || !same_bounds(*f, axis.loop)) {
      out.push_back(next);
      continue;
    }
    For copy = *f;
    copy.lower = lower;
    copy.upper = upper;
    copy.width = copy.kind == LoopKind::kUnroll ? 0 : copy.width;
    out.push_back(make_loop(std::move(copy)));
  }
  return out;
}

// Are all statements of the region inside loops of the axis?
bool covered(const LoopList& region, const Axis& axis) {
  for (const LoopPtr& node : region) {
    const For* f = as<For>(node);
    if (f && same_bounds(*f, axis.loop)) continue;
    if (as<Comment>(node) || as<Allocate>(node)) continue;
    if (f && f->kind != LoopKind::kParallel && covered(f->body, axis)) continue;
    const If* i = as<If>(node);
    if (i && covered(i->then, axis) && covered(i->otherwise, axis)) continue;
    return false;
  }
  return true;
}

std::set<std::string> iterators_of(const LoopList& region, const Axis& axis) {
  std::set<std::string> names;
  walk_nodes(region, [&](const LoopPtr& node) {
    const For* f = as<For>(node);
    if (f && same_bounds(*f, axis.loop)) names.insert(f->iterator);
  });
  return names;
}

// What holds inside a node's body.
Facts below(const LoopPtr& node, const Facts& facts) {
  Facts inner = facts;
  if (const For* f = as<For>(node)) inner.add_range(f->iterator, f->lower, f->upper);
  return inner;
}

// How many iterations every partial tile of the axis has, where that is one number: 7 - 4*t, less than 4, is 3 for all t.
std::optional<std::int64_t> rest_of(const Axis& axis) {
  if (operands_of(Op::kMax, axis.loop.lower).size() != 1) return std::nullopt;
  std::optional<std::int64_t> rest;
  for (const ExprPtr& upper : operands_of(Op::kMin, axis.loop.upper)) {
    const Linear left = difference(upper, axis.lower);
    if (left.is_constant() && left.constant == axis.extent) continue;  // the full tile's
    for (const Term& t : left.terms)
      if (t.coefficient % axis.extent != 0) return std::nullopt;
    const std::int64_t count = left.constant - floor_div(left.constant, axis.extent) * axis.extent;
    if (count == 0 || (rest && *rest != count)) return std::nullopt;
    rest = count;
  }
  return rest;
}

// Do the axis' bounds mention nothing that the region introduces? A triangle's bound is known further inside only.
bool knows_bounds(const LoopList& region, const Axis& axis) {
  const std::set<std::string> own = introduced_names(region);
  return !mentions_any(axis.loop.lower, own) && !mentions_any(axis.loop.upper, own);
}

// The partial tile of an unrolled axis: as one tile where its size is known, else runs of `run` iterations, unrolled,
// then single ones. `partial`: every tile of the region is one; where full ones were asked for all iterations of a loop around
// them at once, some of those that are left are full.
LoopList strip(const LoopList& region, const Axis& axis, const Facts& facts, Context& context, bool partial) {
  const std::set<std::string> iterators = iterators_of(region, axis);
  if (iterators.empty()) return region;
  const bool known = knows_bounds(region, axis);
  if (const std::optional<std::int64_t> rest = known && partial ? rest_of(axis) : std::nullopt) {
    const ExprPtr end = to_expr(sum(to_linear(axis.lower), constant_form(*rest)));
    LoopList tile = with_bounds(region, axis, axis.lower, end);
    if (facts.less(axis.lower, axis.loop.upper)) return tile;
    return {make_loop(If{binary(Op::kLt, axis.lower, axis.loop.upper), std::move(tile), {}, true})};
  }
  if (!known || !covered(region, axis) || !independent(region, iterators, facts, &context)) {
    LoopList out;
    for (const LoopPtr& node : region) {
      const For* f = as<For>(node);
      const bool is_axis = f && same_bounds(*f, axis.loop);
      out.push_back(is_axis
                        ? node
                        : rebuild(
                              node, [](const ExprPtr& e) { return e; },
                              [&](const LoopList& inner) { return strip(inner, axis, below(node, facts), context, partial); }));
    }
    return out;
  }
  const std::int64_t run = axis.extent >= 8 ? 4 : axis.extent >= 4 ? 2 : 1;
  const ExprPtr lower = axis.loop.lower, upper = axis.loop.upper;
  LoopList out;
  ExprPtr rest = lower;
  if (run > 1) {
    const std::string base = context.names.fresh(axis.loop.iterator + "b");
    For runs{base, lower, idx_sub(upper, idx(run - 1)), run};
    runs.body = with_bounds(region, axis, index(base), idx_add(index(base), idx(run)));
    runs.comment = "rest of " + axis.loop.iterator + ", " + std::to_string(run) + " at a time";
    out.push_back(make_loop(std::move(runs)));
    rest = idx_add(lower, idx_mul(binary(Op::kTruncDiv, idx_max(idx_sub(upper, lower), idx(0)), idx(run)), idx(run)));
  }
  const std::string base = context.names.fresh(axis.loop.iterator + "b");
  For singles{base, rest, upper, 1};
  singles.body = with_bounds(region, axis, index(base), idx_add(index(base), idx(1)));
  out.push_back(make_loop(std::move(singles)));
  return out;
}

class Peeler {
 public:
  explicit Peeler(Context& context) : context_(context) {}

  // `goes_on`: more code of the block follows, to which what is introduced here must stay visible.
  LoopList in_block(const LoopList& block, const std::vector<For>& done, bool partial, const Facts& facts,
                    bool goes_on = false) {
    for (const LoopKind kind : {LoopKind::kUnroll, LoopKind::kVector}) {
      if (done.size() >= kMaxVersions || partial) break;
      std::vector<For> passed = done;
      while (const std::optional<Axis> axis = find_in(block, kind, passed)) {
        const auto [first, last] = span_of(block, *axis);
        const LoopList span(block.begin() + first, block.begin() + last + 1);
        if (covered(span, *axis) && !(goes_on && introduces(span))) return split(block, *axis, done, facts, goes_on);
        passed.push_back(axis->loop);  // its place is further in
      }
    }
    LoopList out;
    for (const LoopPtr& node : block)
      out.push_back(rebuild(
          node, [](const ExprPtr& e) { return e; },
          [&](const LoopList& inner) { return in_block(inner, done, partial, below(node, facts)); }));
    return out;
  }

 private:
  Context& context_;

  static std::optional<Axis> find_in(const LoopList& block, LoopKind kind, const std::vector<For>& passed) {
    for (const LoopPtr& node : block)
      if (std::optional<Axis> axis = find_axis(node, kind, Inside{}, passed)) return axis;
    return std::nullopt;
  }

  static bool introduces(const LoopList& span) {
    return std::any_of(span.begin(), span.end(), [](const LoopPtr& n) { return as<Let>(n) || as<Allocate>(n); });
  }

  // The first and last statement of the block that contain the axis; what the span introduces stays visible to what follows.
  static std::pair<std::ptrdiff_t, std::ptrdiff_t> span_of(const LoopList& block, const Axis& axis) {
    const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(block.size());
    std::ptrdiff_t first = size, last = 0;
    const auto node = [&](std::ptrdiff_t i) { return block[static_cast<std::size_t>(i)]; };
    for (std::ptrdiff_t i = 0; i < size; ++i) {
      if (!contains_axis(node(i), axis)) continue;
      first = std::min(first, i);
      last = i;
    }
    for (std::ptrdiff_t i = first; i < last; ++i)
      if (as<Let>(node(i)) || as<Allocate>(node(i))) last = size - 1;
    return {first, last};
  }

  LoopList split(const LoopList& block, const Axis& axis, std::vector<For> done, const Facts& facts, bool goes_on) {
    const auto [first, last] = span_of(block, axis);
    const LoopList span(block.begin() + first, block.begin() + last + 1);
    const LoopList before = in_block(LoopList(block.begin(), block.begin() + first), done, false, facts, true);
    const LoopList after = in_block(LoopList(block.begin() + last + 1, block.end()), done, false, facts, goes_on);
    done.push_back(axis.loop);
    If guard{axis.full, {}, {}, true};
    Facts full = facts;
    full.add_condition(axis.full);
    guard.then = in_block(with_bounds(span, axis, axis.lower, to_expr(sum(to_linear(axis.lower), constant_form(axis.extent)))),
                          done, false, full);
    // Short runs of an unrolled axis are not worth further versions; the rest
    // of a vector axis may hold full tiles of others.
    const bool unrolled = axis.loop.kind == LoopKind::kUnroll;
    guard.otherwise =
        in_block(unrolled ? strip(span, axis, facts, context_, knows_bounds(span, axis)) : span, done, unrolled, facts);
    context_.note("peel", axis.loop.iterator, true,
                  "full tiles of " + std::to_string(axis.extent) + " where " + to_text(axis.full));
    LoopList out = before;
    out.push_back(make_loop(std::move(guard)));
    out.insert(out.end(), after.begin(), after.end());
    return out;
  }
};

}  // namespace

LoopList peel(const LoopList& body, Context& context) {
  return Peeler(context).in_block(body, {}, false, context.symbol_facts());
}

}  // namespace facet::passes
