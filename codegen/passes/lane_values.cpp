// Expressions over lanes (see lanes.hpp).
#include "codegen/passes/lanes.hpp"

#include "facet/expr_walk.hpp"

namespace facet::passes {

namespace {

ExprPtr vector_node(Op op, DType type, int lanes, std::vector<ExprPtr> args) {
  Expr e;
  e.op = op;
  e.type = type;
  e.lanes = lanes;
  e.args = std::move(args);
  return std::make_shared<const Expr>(std::move(e));
}

bool is_zero(const ExprPtr& e) {
  return e->op == Op::kLiteral && e->float_value == 0 && e->int_value == 0;
}

}  // namespace

ExprPtr splat_to(const ExprPtr& e, int lanes) {
  if (e->lanes > 1 || lanes == 1) return e;
  return vector_node(Op::kSplat, e->type, lanes, {e});
}

ExprPtr iota_from(const ExprPtr& base, int lanes) {
  return vector_node(Op::kIota, base->type, lanes, {base});
}

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

ExprPtr Lanes::splat(const ExprPtr& e) const {
  return splat_to(e, lanes_);
}

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

// The constant coefficient of the iterator when it occurs in the innermost subscript only, linearly.
bool Lanes::innermost_step(const std::string& buffer, const std::vector<ExprPtr>& subscripts, std::int64_t* step) const {
  const Buffer* b = context_.find(buffer);
  std::int64_t stride = 0;
  if (!b || subscripts.empty() || !constant_stride(*b, subscripts.size() - 1, &stride) || stride != 1) return false;
  for (std::size_t d = 0; d + 1 < subscripts.size(); ++d)
    if (varies(subscripts[d])) return false;
  const Linear form = to_linear(subscripts.back());
  for (const Term& t : form.terms)
    if (t.atom->op != Op::kIndex && varies(t.atom)) return false;
  *step = form.coefficient_of(loop_.iterator);
  return *step != 0;
}

ExprPtr Lanes::expression(const ExprPtr& e, const Place& place) {
  switch (e->op) {
    case Op::kLiteral:
      return e;
    case Op::kIndex:
      return e->name == loop_.iterator ? iota_from(base_, lanes_) : e;
    case Op::kValue:
      return vectors_.count(e->name) ? value_of(e->name, e->type, lanes_) : e;
    case Op::kRead:
      return read(e, place);
    case Op::kSelect:
      return choose(e, place);
    case Op::kReduce:
    case Op::kSplat:
    case Op::kIota:
    case Op::kLaneReduce:
    case Op::kExtract:
      refuse("its body holds " + to_text(e) + " already");
      return e;
    default:
      break;
  }
  Expr copy = *e;
  bool vector = false;
  for (ExprPtr& a : copy.args) {
    a = expression(a, place);
    vector = vector || a->lanes > 1;
  }
  if (!vector) return varies(e) ? std::make_shared<const Expr>(std::move(copy)) : e;
  for (ExprPtr& a : copy.args) a = splat(a);
  copy.lanes = lanes_;
  return std::make_shared<const Expr>(std::move(copy));
}

ExprPtr Lanes::choose(const ExprPtr& e, const Place& place) {
  const ExprPtr condition = expression(e->args[0], place);
  Place then = place, otherwise = place;
  then.facts.add_condition(e->args[0]);
  otherwise.facts.add_negation(e->args[0]);
  if (condition->lanes > 1) {
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
  if (invariant && (!place.lazy || (!e->pad && place.facts.inside(e->args, buffer->extents)))) return e;
  Expr copy = *e;
  copy.lanes = lanes_;
  copy.pad = nullptr;
  std::vector<ExprPtr> subscripts;
  for (const ExprPtr& s : e->args) subscripts.push_back(expression(s, place));
  const ExprPtr inside = e->pad ? pad_condition(e, subscripts, place) : nullptr;
  copy.mask = both(place.mask, inside);
  if (copy.mask) copy.mask = splat(copy.mask);
  std::int64_t step = 0;
  if (innermost_step(e->name, e->args, &step) && step == 1) {
    copy.args = subscripts;
    copy.args.back() = simplify_expr(at_base(e->args.back()), place.facts, context_);
  } else {
    copy.args = subscripts;
    if (invariant) copy.args.back() = splat(copy.args.back());
  }
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
