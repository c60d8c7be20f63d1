// Facts the planner decides by.
#include "polyhedral/model.hpp"

#include <algorithm>

#include "facet/expr_facts.hpp"
#include "polyhedral/affine.hpp"

namespace facet {

namespace {

// Coefficient of `name` in a linear index expression; nullopt when it appears inside a quotient, a gather or a product.
std::optional<std::int64_t> coefficient(const ExprPtr& e, const std::string& name) {
  switch (e->op) {
    case Op::kLiteral: return 0;
    case Op::kIndex: return e->name == name ? 1 : 0;
    case Op::kNeg:
    case Op::kCast: {
      const auto a = coefficient(e->args[0], name);
      return a ? std::optional<std::int64_t>(e->op == Op::kNeg ? -*a : *a) : std::nullopt;
    }
    case Op::kAdd:
    case Op::kSub: {
      const auto a = coefficient(e->args[0], name);
      const auto b = coefficient(e->args[1], name);
      if (!a || !b) return std::nullopt;
      return e->op == Op::kAdd ? *a + *b : *a - *b;
    }
    case Op::kMul: {
      const auto a = coefficient(e->args[0], name);
      const auto b = coefficient(e->args[1], name);
      if (!a || !b) return std::nullopt;
      if (*a == 0 && *b == 0) return 0;
      if (e->args[0]->op == Op::kLiteral) return e->args[0]->int_value * *b;
      if (e->args[1]->op == Op::kLiteral) return e->args[1]->int_value * *a;
      return std::nullopt;
    }
    default: return mentions_index(e, name) ? std::nullopt : std::optional<std::int64_t>(0);
  }
}

}  // namespace

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

Model::Stride Model::stride(const std::vector<ExprPtr>& subscripts, const std::string& name) {
  bool moves = false;
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    const std::optional<std::int64_t> c = coefficient(subscripts[d], name);
    if (!c) return Stride::kOther;
    if (*c == 0) continue;
    if (d + 1 < subscripts.size() || *c != 1) return Stride::kOther;
    moves = true;
  }
  return moves ? Stride::kUnit : Stride::kNone;
}

std::optional<std::int64_t> Model::step(const ExprPtr& subscript, const std::string& name) {
  return coefficient(subscript, name);
}

double Model::array_bytes(const std::string& array) const {
  const Array& a = schedule_.scop->arrays.at(array);
  double n = static_cast<double>(size_bytes(a.dtype));
  for (const ExprPtr& e : a.extents) n *= static_cast<double>(evaluate_index(e, sizes_));
  return n;
}

}  // namespace facet
