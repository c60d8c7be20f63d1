// Facts the planner decides by.
#include "polyhedral/model.hpp"

#include <algorithm>
#include <cmath>

#include "facet/expr_facts.hpp"
#include "polyhedral/affine.hpp"

namespace facet {

namespace {

std::optional<Slope> times(const std::optional<Slope>& s, double factor) {
  return s ? std::optional(Slope{s->value * factor, s->exact}) : std::nullopt;
}

std::optional<Slope> sum(const std::optional<Slope>& a, const std::optional<Slope>& b) {
  return a && b ? std::optional(Slope{a->value + b->value, a->exact && b->exact}) : std::nullopt;
}

}  // namespace

std::optional<Slope> slope_of(const ExprPtr& e, const std::string& name) {
  if (!mentions_index(e, name)) return Slope{};
  const auto arg = [&](std::size_t i) { return slope_of(e->args[i], name); };
  switch (e->op) {
    case Op::kIndex: return Slope{1, true};
    case Op::kCast: return arg(0);
    case Op::kNeg: return times(arg(0), -1);
    case Op::kAdd: return sum(arg(0), arg(1));
    case Op::kSub: return sum(arg(0), times(arg(1), -1));
    case Op::kMul:
      for (const std::size_t at : {0U, 1U})
        if (e->args[at]->op == Op::kLiteral) return times(arg(1 - at), static_cast<double>(e->args[at]->int_value));
      return std::nullopt;
    case Op::kFloorDiv: {
      if (e->args[1]->op != Op::kLiteral || e->args[1]->int_value <= 0) return std::nullopt;
      const std::optional<Slope> a = times(arg(0), 1.0 / static_cast<double>(e->args[1]->int_value));
      return a ? std::optional(Slope{a->value, false}) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

Model::Model(const Schedule& schedule, const SymbolValues& sizes) : schedule_(schedule), sizes_(sizes) {
  for (const Symbol& s : schedule.scop->symbols) {
    if (!sizes_.count(s.name)) sizes_[s.name] = s.value;
    parameters_.emplace_back(parameter_id(s.name), sizes_[s.name]);
  }
}

double Model::trips(const Tree& loop, int statement) const {
  const auto [low, high] = value_range(loop.member.at(statement), schedule_.statement(statement).domain, parameters_);
  return std::max(0.0, static_cast<double>(high - low + 1));
}

// Pairs of instances { S[i] -> S[i'] } that the loops around do not tell apart: how far apart are they in this one?
double Model::trips_inside(const Tree& loop, int statement) const {
  const isl::set domain = fix_parameters(schedule_.statement(statement).domain, parameters_);
  std::vector<isl::pw_aff> around;
  for (const TreePtr& l : loops_around(schedule_.tree, statement)) {
    if (l->id == loop.id) break;
    around.push_back(l->member.at(statement));
  }
  const isl::map outer = map_to_values(domain, around);
  const isl::pw_aff& own = loop.member.at(statement);
  const auto [low, high] = distance_range(outer.apply_range(outer.reverse()), own, own);
  return low > high ? 0.0 : static_cast<double>(high + 1);
}

double Model::extent(int statement, std::size_t iterator) const {
  const isl::set& domain = schedule_.statement(statement).domain;
  const auto [low, high] = value_range(output_dimension(domain, static_cast<unsigned>(iterator)), domain, parameters_);
  return std::max(0.0, static_cast<double>(high - low + 1));
}

double Model::instances(int statement) const {
  double n = 1;
  for (std::size_t i = 0; i < schedule_.statement(statement).iterators.size(); ++i) n *= extent(statement, i);
  return n;
}

double Model::operations(const Statement& s) {
  double n = s.update ? 1 : 0;
  walk(s.value, [&](const Expr& e) {
    if (e.op == Op::kLiteral || e.op == Op::kIndex || e.op == Op::kRead || e.op == Op::kCast) return;
    if (e.type == DType::kI64) return;  // index arithmetic
    n += is_function(e.op) ? kFunctionOperations : 1;
  });
  return n;
}

namespace {

constexpr double kRarely = 1.0 / 64;  // changes an iteration: no vector is longer

}  // namespace

Model::Stride Model::stride(const std::vector<ExprPtr>& subscripts, const std::string& name) {
  bool moves = false;
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    const std::optional<Slope> c = slope_of(subscripts[d], name);
    // The number of a block, floor(j / 2048): the same in all lanes but at its border (parts of an array that compute_at
    // makes).
    if (c && !c->exact && d + 1 < subscripts.size() && std::abs(c->value) <= kRarely) continue;
    if (!c || !c->exact) return Stride::kOther;
    if (c->value == 0) continue;
    if (d + 1 < subscripts.size() || c->value != 1) return Stride::kOther;
    moves = true;
  }
  return moves ? Stride::kUnit : Stride::kNone;
}

std::optional<std::int64_t> Model::step(const ExprPtr& subscript, const std::string& name) {
  const std::optional<Slope> c = slope_of(subscript, name);
  return c && c->exact ? std::optional(static_cast<std::int64_t>(c->value)) : std::nullopt;
}

double Model::array_bytes(const std::string& array) const {
  const Array& a = schedule_.scop->arrays.at(array);
  double n = static_cast<double>(size_bytes(a.dtype));
  for (const ExprPtr& e : a.extents) n *= value(e).value_or(1);  // no memory of its own then
  return n;
}

std::optional<double> Model::value(const ExprPtr& extent) const {
  bool known = true;
  walk(extent, [&](const Expr& e) { known = known && (e.op != Op::kIndex || sizes_.count(e.name)); });
  return known ? std::optional(static_cast<double>(evaluate_index(extent, sizes_))) : std::nullopt;
}

}  // namespace facet
