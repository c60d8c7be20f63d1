// lower: equations and loop nests -> statements.
//
// An equation T[i..] = V with its reductions taken out becomes
//
//     for each reduction R = op[k..](B) inside V, innermost first:
//       R.init[f..]      R = identity of op          f: the indices in scope that B needs (a loop-invariant reduction is
//       R[f.., k..]      R = R op B                     computed once, not once per outer index)
//     T[i..]             T = V with each reduction replaced by a read of R
//
// and where V is one reduction of T's own dtype, R is T itself. Init and update share the loops f, so that with an empty recipe
// the program runs as a person would write it. argmax and argmin become an extremum and the smallest matching index.
// A loop nest becomes one statement per assignment, its domain the loops and ifs around it; block-scope scalars become arrays
// indexed by the loops around their block (expanded), which storage maps contract again.
#include "polyhedral/lower.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <set>

#include "polyhedral/affine.hpp"
#include "polyhedral/lower_loops.hpp"
#include "polyhedral/statement_maker.hpp"

namespace facet {

namespace {

// The indices in scope where an expression stands: left indices, then enclosing reductions'.
struct Scope {
  std::vector<Range> ranges;
  std::vector<ExprPtr> conditions;
};

std::set<std::string> names_in(const ExprPtr& e) {
  std::set<std::string> names;
  walk(e, [&](const Expr& x) {
    if (x.op == Op::kIndex) names.insert(x.name);
  });
  return names;
}

// Names used by a reduction and not bound by it, closed over the bounds of the ranges that bind them.
std::set<std::string> free_names(const Reduction& r, const Scope& scope) {
  std::set<std::string> names = names_in(r.body);
  for (const Range& range : r.ranges)
    for (const ExprPtr& bound : {range.lower, range.upper}) names.merge(names_in(bound));
  for (const ExprPtr& c : r.conditions) names.merge(names_in(c));
  for (auto it = scope.ranges.rbegin(); it != scope.ranges.rend(); ++it) {
    if (!names.count(it->name)) continue;
    names.merge(names_in(it->lower));
    names.merge(names_in(it->upper));
  }
  return names;
}

class EquationLowering {
 public:
  EquationLowering(StatementMaker& maker, const Equation& equation) : maker_(maker), equation_(equation) {}

  TreePtr run() {
    Scope scope{equation_.indices, equation_.conditions};
    const Array& target = maker_.array(equation_.tensor);
    std::vector<ExprPtr> subscripts;
    for (const Range& r : equation_.indices) subscripts.push_back(index(r.name));
    const ExprPtr& v = equation_.value;
    if (v->op == Op::kReduce && !is_arg(v->reduction->kind) && v->type == target.dtype) {
      const ExprPtr body = lower_expr(v->reduction->body, inner(scope, *v->reduction));
      parts_.push_back(reduction_nest(equation_.tensor, equation_.tensor, scope, subscripts, *v->reduction, body));
    } else {
      const ExprPtr value = lower_expr(v, scope);
      const int s = maker_.add(
          {equation_.tensor, scope.ranges, scope.conditions, equation_.tensor, subscripts, value, {}, equation_.place});
      parts_.push_back(maker_.nest({s}, scope.ranges.size()));
    }
    return make_sequence(std::move(parts_));
  }

 private:
  static bool is_arg(ReduceKind k) { return k == ReduceKind::kArgMax || k == ReduceKind::kArgMin; }

  static Scope inner(Scope scope, const Reduction& r) {
    scope.ranges.insert(scope.ranges.end(), r.ranges.begin(), r.ranges.end());
    scope.conditions.insert(scope.conditions.end(), r.conditions.begin(), r.conditions.end());
    return scope;
  }

  // The expression with every reduction computed by statements of its own.
  ExprPtr lower_expr(const ExprPtr& e, const Scope& scope) {
    if (!e) return e;
    if (e->op == Op::kReduce) return lower_reduction(e, scope);
    Expr copy = *e;
    bool changed = false;
    for (ExprPtr& a : copy.args) {
      ExprPtr next = lower_expr(a, scope);
      changed = changed || next != a;
      a = std::move(next);
    }
    return changed ? std::make_shared<const Expr>(std::move(copy)) : e;
  }

  ExprPtr lower_reduction(const ExprPtr& e, const Scope& scope) {
    const Reduction& r = *e->reduction;
    if (is_arg(r.kind)) return lower_arg(e, scope);
    const ExprPtr body = lower_expr(r.body, inner(scope, r));
    return temporary(r, e->type, body, scope);
  }

  // A temporary array over the free indices, its statements, and the read that replaces the reduction.
  ExprPtr temporary(const Reduction& r, DType type, const ExprPtr& body, const Scope& scope) {
    Reduction with = r;
    with.body = body;
    const Scope outer = restrict(scope, free_names(with, scope));
    const std::string name = maker_.fresh_array(equation_.tensor + "." + to_text(r.kind), type, outer.ranges);
    std::vector<ExprPtr> subscripts = maker_.positions(outer.ranges);
    parts_.push_back(reduction_nest(name, name, outer, subscripts, r, body));
    return read(name, type, subscripts);
  }

  // Only the ranges and conditions that speak of `names`.
  Scope restrict(const Scope& scope, const std::set<std::string>& names) const {
    Scope out;
    for (const Range& r : scope.ranges)
      if (names.count(r.name)) out.ranges.push_back(r);
    for (const ExprPtr& c : scope.conditions) {
      const std::set<std::string> used = names_in(c);
      const bool bound =
          std::all_of(used.begin(), used.end(), [&](const std::string& n) { return names.count(n) || maker_.is_symbol(n); });
      if (bound) out.conditions.push_back(c);
    }
    return out;
  }

  // argmax: m = max(b); the result is the smallest index whose element matches m (or is NaN, which max propagates).
  ExprPtr lower_arg(const ExprPtr& e, const Scope& scope) {
    const Reduction& r = *e->reduction;
    const ExprPtr body = lower_expr(r.body, inner(scope, r));
    Reduction extremum = r;
    extremum.kind = r.kind == ReduceKind::kArgMax ? ReduceKind::kMax : ReduceKind::kMin;
    const ExprPtr best = temporary(extremum, body->type, body, scope);
    ExprPtr match = binary(Op::kEq, body, best);
    if (is_float(body->type)) match = binary(Op::kOr, match, unary(Op::kIsNan, body));
    const ExprPtr none = int_literal(DType::kI64, std::numeric_limits<std::int64_t>::max());
    Reduction position = r;
    position.kind = ReduceKind::kMin;
    position.body = select(match, index(r.ranges[0].name), none);
    return temporary(position, DType::kI64, position.body, scope);
  }

  // for f.. { S.init; for k.. S }
  TreePtr reduction_nest(const std::string& statement, const std::string& array, const Scope& outer,
                         const std::vector<ExprPtr>& subscripts, const Reduction& r, const ExprPtr& body) {
    const DType type = maker_.array(array).dtype;
    const int init = maker_.add({statement + ".init",
                                 outer.ranges,
                                 outer.conditions,
                                 array,
                                 subscripts,
                                 identity_of(r.kind, type),
                                 {},
                                 equation_.place});
    const Scope all = inner(outer, r);
    const int update =
        maker_.add({statement, all.ranges, all.conditions, array, subscripts, cast(type, body), r.kind, equation_.place});
    return maker_.nest({init, update}, outer.ranges.size());
  }

  StatementMaker& maker_;
  const Equation& equation_;
  std::vector<TreePtr> parts_;
};

}  // namespace

ReaderIndex readers_of(const Program& program) {
  ReaderIndex index;
  index.outputs.insert(program.outputs.begin(), program.outputs.end());
  for (std::size_t n = 0; n < program.nodes.size(); ++n) {
    std::set<std::string> read(program.nodes[n].in.begin(), program.nodes[n].in.end());
    read.insert(program.nodes[n].inout.begin(), program.nodes[n].inout.end());
    for (const std::string& t : read) index.readers[t].push_back(static_cast<int>(n));
  }
  return index;
}

Scop lower(const Program& program, const ReaderIndex& readers, const std::vector<int>& nodes, const std::string& name) {
  StatementMaker maker(program, name);
  maker.declare_arrays(readers, nodes);
  std::vector<TreePtr> parts;
  for (const int n : nodes) {
    const Node& node = program.nodes[static_cast<std::size_t>(n)];
    for (const Equation& q : node.equations) parts.push_back(EquationLowering(maker, q).run());
    if (!node.loops.empty()) {
      if (TreePtr tree = lower_loops(maker, node)) parts.push_back(tree);
    }
  }
  return maker.finish(make_sequence(std::move(parts)));
}

}  // namespace facet
