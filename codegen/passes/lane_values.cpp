// Expressions over lanes (see lanes.hpp).
#include "codegen/passes/lanes.hpp"

#include <algorithm>

#include "facet/expr_walk.hpp"

namespace facet::passes {

namespace {

const std::string kLane = "lane number";  // no identifier: cannot clash

ExprPtr vector_node(Op op, DType type, int lanes, std::vector<ExprPtr> args) {
  Expr e;
  e.op = op;
  e.type = type;
  e.lanes = lanes;
  e.args = std::move(args);
  return std::make_shared<const Expr>(std::move(e));
}

bool is_zero(const ExprPtr& e) { return e->op == Op::kLiteral && e->float_value == 0 && e->int_value == 0; }

}  // namespace

ExprPtr splat_to(const ExprPtr& e, int lanes) {
  if (e->lanes > 1 || lanes == 1) return e;
  return vector_node(Op::kSplat, e->type, lanes, {e});
}

ExprPtr iota_from(const ExprPtr& base, int lanes) { return vector_node(Op::kIota, base->type, lanes, {base}); }

ExprPtr both(const ExprPtr& a, const ExprPtr& b) {
  if (!a) return b;
  if (!b) return a;
  const int lanes = std::max(a->lanes, b->lanes);
  return binary(Op::kAnd, splat_to(a, lanes), splat_to(b, lanes));
}

ExprPtr lane_reduce(ReduceKind kind, const ExprPtr& vector) {
  Expr e;
  e.op = Op::kLaneReduce;
  e.type = vector->type;
  e.reduce_kind = kind;
  e.args = {vector};
  return std::make_shared<const Expr>(std::move(e));
}

ExprPtr extract(const ExprPtr& vector, int lane) {
  Expr e;
  e.op = Op::kExtract;
  e.type = vector->type;
  e.int_value = lane;
  e.args = {vector};
  return std::make_shared<const Expr>(std::move(e));
}

ExprPtr combine(ReduceKind kind, const ExprPtr& accumulator, const ExprPtr& value, const Context& context) {
  const int lanes = std::max(accumulator->lanes, value->lanes);
  if (kind == ReduceKind::kSum && value->op == Op::kMul && context.allows_contraction(value->type))
    return vector_node(Op::kFma, value->type, lanes,
                       {splat_to(value->args[0], lanes), splat_to(value->args[1], lanes), splat_to(accumulator, lanes)});
  return binary(operator_of(kind), splat_to(accumulator, lanes), splat_to(value, lanes));
}

ExprPtr Lanes::splat(const ExprPtr& e) const { return splat_to(e, lanes_); }

ExprPtr Lanes::at_base(const ExprPtr& e, int lane) const {
  return facet::substitute(e, {{loop_.iterator, idx_add(base_, idx(lane))}});
}

bool Lanes::varies(const ExprPtr& e) const {
  bool found = false;
  walk(e, [&](const Expr& n) {
    if (n.op == Op::kIndex && n.name == loop_.iterator) found = true;
    if (n.op == Op::kValue && vectors_.count(n.name)) found = true;
  });
  return found;
}

// Subscripts with the iterator written as base + lane, 0 <= lane < lanes:
// quotients and remainders by the tile's size resolve.
std::vector<ExprPtr> Lanes::over_lanes(const std::vector<ExprPtr>& subscripts, const Place& place) const {
  Facts facts = place.facts;
  facts.add_range(kLane, idx(0), idx(lanes_));
  std::vector<ExprPtr> out;
  for (const ExprPtr& s : subscripts)
    out.push_back(
        varies(s) ? simplify_expr(facet::substitute(s, {{loop_.iterator, idx_add(base_, index(kLane))}}), facts, context_) : s);
  return out;
}

bool Lanes::varies_by_lane(const ExprPtr& over_lanes) const {
  bool found = false;
  walk(over_lanes, [&](const Expr& n) {
    if (n.op == Op::kIndex && n.name == kLane) found = true;
    if (n.op == Op::kValue && vectors_.count(n.name)) found = true;
  });
  return found;
}

// A gather's subscript: rest + step * {0, 1, ..} where it has that form, else
// element by element.
ExprPtr Lanes::lane_vector(const ExprPtr& subscript, const ExprPtr& over_lanes, const Place& place) {
  if (!varies(subscript)) return subscript;
  if (!varies_by_lane(over_lanes)) return over_lanes;
  Linear rest = to_linear(over_lanes);
  const std::int64_t step = rest.coefficient_of(kLane);
  std::erase_if(rest.terms, [](const Term& t) { return t.atom->op == Op::kIndex && t.atom->name == kLane; });
  const ExprPtr base = to_expr(rest);
  if (varies_by_lane(base)) return expression(subscript, place);
  if (step == 1) return iota_from(base, lanes_);
  const ExprPtr moving = binary(Op::kMul, iota_from(idx(0), lanes_), splat(idx(step)));
  return binary(Op::kAdd, moving, splat(base));
}

std::vector<ExprPtr> Lanes::first_lane(const std::vector<ExprPtr>& over_lanes, const Place& place) const {
  std::vector<ExprPtr> out;
  for (const ExprPtr& s : over_lanes)
    out.push_back(simplify_expr(facet::substitute(s, {{kLane, idx(0)}}), place.facts, context_));
  return out;
}

// The constant coefficient of the lane when it occurs in the innermost
// subscript only, linearly, at stride 1.
bool Lanes::innermost_step(const std::string& buffer, const std::vector<ExprPtr>& over_lanes, std::int64_t* step) const {
  const Buffer* b = context_.find(buffer);
  std::int64_t stride = 0;
  if (!b || over_lanes.empty() || !constant_stride(*b, over_lanes.size() - 1, &stride) || stride != 1) return false;
  for (std::size_t d = 0; d + 1 < over_lanes.size(); ++d)
    if (varies_by_lane(over_lanes[d])) return false;
  const Linear form = to_linear(over_lanes.back());
  for (const Term& t : form.terms)
    if (t.atom->op != Op::kIndex && varies_by_lane(t.atom)) return false;
  *step = form.coefficient_of(kLane);
  return *step != 0;
}

ExprPtr Lanes::expression(const ExprPtr& e, const Place& place) {
  switch (e->op) {
    case Op::kLiteral: return e;
    case Op::kIndex: return e->name == loop_.iterator ? iota_from(base_, lanes_) : e;
    case Op::kValue: return vectors_.count(e->name) ? value_of(e->name, e->type, lanes_) : e;
    case Op::kRead: return read(e, place);
    case Op::kSelect: return choose(e, place);
    case Op::kReduce:
    case Op::kSplat:
    case Op::kIota:
    case Op::kLaneReduce:
    case Op::kExtract: refuse("a loop inside it runs in vectors already"); return e;
    default: break;
  }
  Expr copy = *e;
  bool vector = false, changed = false;
  for (ExprPtr& a : copy.args) {
    const ExprPtr next = expression(a, place);
    changed = changed || next != a;
    vector = vector || next->lanes > 1;
    a = next;
  }
  if (!vector) return changed ? std::make_shared<const Expr>(std::move(copy)) : e;
  for (ExprPtr& a : copy.args) a = splat(a);
  copy.lanes = lanes_;
  return std::make_shared<const Expr>(std::move(copy));
}

ExprPtr Lanes::choose(const ExprPtr& e, const Place& place) {
  const ExprPtr condition = expression(e->args[0], place);
  Place then = place, otherwise = place;
  then.facts.add_condition(e->args[0]);
  otherwise.facts.add_negation(e->args[0]);
  if (condition->lanes == 1) {
    then.sure.add_condition(e->args[0]);
    otherwise.sure.add_negation(e->args[0]);
  } else {
    then.lazy = otherwise.lazy = true;
    then.mask = both(place.mask, condition);
    otherwise.mask = both(place.mask, unary(Op::kNot, condition));
  }
  ExprPtr a = expression(e->args[1], then);
  ExprPtr b = expression(e->args[2], otherwise);
  const int lanes = std::max(condition->lanes, std::max(a->lanes, b->lanes));
  return select(condition, splat_to(a, lanes), splat_to(b, lanes));
}

// Which lanes of a padded read are inside; null: all.
ExprPtr Lanes::pad_condition(const ExprPtr& e, const std::vector<ExprPtr>& subscripts, const Place& place) {
  const Buffer* buffer = context_.find(e->name);
  ExprPtr all;
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    const ExprPtr& s = subscripts[d];
    const bool pure = is_index_arithmetic(e->args[d]);
    if (!pure || !place.facts.nonnegative(to_linear(e->args[d])))
      all = both(all, binary(Op::kGe, s, splat_to(idx(0), s->lanes)));
    if (!pure || !place.facts.less(e->args[d], buffer->extents[d]))
      all = both(all, binary(Op::kLt, s, splat_to(buffer->extents[d], s->lanes)));
  }
  return all ? splat(all) : nullptr;
}

ExprPtr Lanes::read(const ExprPtr& e, const Place& place) {
  const Buffer* buffer = context_.find(e->name);
  if (!buffer) {
    refuse("buffer " + e->name + " is not known");
    return e;
  }
  const bool invariant = !varies(e);
  if (invariant && !place.lazy && !place.mask) return e;
  if (invariant && (!place.lazy || (!e->pad && place.sure.inside(e->args, buffer->extents)))) return e;
  Expr copy = *e;
  copy.lanes = lanes_;
  copy.pad = nullptr;
  const std::vector<ExprPtr> moving = over_lanes(e->args, place);
  std::vector<ExprPtr> subscripts;
  for (std::size_t d = 0; d < moving.size(); ++d) subscripts.push_back(lane_vector(e->args[d], moving[d], place));
  const ExprPtr inside = e->pad ? pad_condition(e, subscripts, place) : nullptr;
  copy.mask = both(place.mask, inside);
  if (copy.mask) copy.mask = splat(copy.mask);
  std::int64_t step = 0;
  const bool contiguous = innermost_step(e->name, moving, &step) && step == 1;
  copy.args = contiguous ? first_lane(moving, place) : subscripts;
  // One element for all lanes, though the iterator occurs: x[k / 2] in vectors of 2.
  const bool still =
      !contiguous && std::none_of(subscripts.begin(), subscripts.end(), [](const ExprPtr& s) { return s->lanes > 1; });
  if (still && !copy.mask) copy.lanes = 1;
  if (still && copy.mask) copy.args.back() = splat(copy.args.back());
  const ExprPtr plain = std::make_shared<const Expr>(std::move(copy));
  if (!inside || is_zero(e->pad)) return plain;
  return select(inside, plain, splat(e->pad));
}

// The scalar expression of one lane.
ExprPtr Lanes::in_lane(const ExprPtr& e, int lane) const {
  return rewrite(at_base(e, lane), [&](const ExprPtr& n) -> ExprPtr {
    if (n->op != Op::kValue || n->lanes != 1 || !vectors_.count(n->name)) return n;
    return extract(value_of(n->name, n->type, lanes_), lane);
  });
}

}  // namespace facet::passes
