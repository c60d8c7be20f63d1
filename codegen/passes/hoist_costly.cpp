// hoist_costly: functions of what a loop does not change are computed once before it.
//
//   for i                                                      let fixed = 1.0 - pow(0.9, step[])
//     m[i] = a[i] / (1.0 - pow(0.9, step[]))           -->     for i
//                                                                m[i] = a[i] / fixed
//
// The largest parts of an expression that hold a function (pow, exp, ..; is_function), mention nothing that the loop introduces
// or assigns, and read only single elements that the loop does not store to: those are always there, whether the loop runs or
// not. A compiler cannot do it, since it takes the function's body for anything but pure. They stay inside parallel loops.
#include "codegen/passes/context.hpp"
#include "facet/expr_facts.hpp"
#include "facet/expr_walk.hpp"

namespace facet::passes {

namespace {

class Costly {
 public:
  explicit Costly(Context& context) : context_(context) {}

  LoopList in_block(const LoopList& body, int keep = 0) {
    LoopList out;
    for (const LoopPtr& node : body) {
      const For* loop = as<For>(node);
      const int inner_keep = !loop ? 0 : loop->collapse > 1 ? loop->collapse - 1 : std::max(0, keep - 1);
      const LoopPtr next = rebuild(
          node, [](const ExprPtr& e) { return e; }, [&](const LoopList& inner) { return in_block(inner, inner_keep); });
      const For* f = as<For>(next);
      if (!f || f->kind != LoopKind::kSerial || keep > 0) {
        out.push_back(next);
        continue;
      }
      before(*f, &out);
    }
    return out;
  }

 private:
  // The loop, and in front of it what it does not change.
  void before(const For& f, LoopList* out) {
    changing_ = introduced_names(f.body);
    changing_.insert(f.iterator);
    walk_nodes(f.body, [&](const LoopPtr& n) {
      if (const Set* s = as<Set>(n)) changing_.insert(s->name);
      if (const Store* s = as<Store>(n)) changing_.insert(s->buffer);
      if (const Collective* c = as<Collective>(n)) changing_.insert(c->target);
    });
    std::vector<std::pair<ExprPtr, std::string>> made;
    For copy = f;
    copy.body = map_expressions(f.body, [&](const ExprPtr& e) { return without(e, &made); });
    for (const auto& [value, name] : made) out->push_back(make_loop(Let{name, value->type, value->lanes, value, false}));
    out->push_back(make_loop(std::move(copy)));
  }

  ExprPtr without(const ExprPtr& e, std::vector<std::pair<ExprPtr, std::string>>* made) {
    if (!e) return e;
    if (is_fixed(e)) {
      bool costly = false;
      walk(e, [&](const Expr& x) { costly = costly || is_function(x.op); });
      if (!costly) return e;
      for (const auto& [value, name] : *made)
        if (same(value, e)) return named(e, name);
      made->emplace_back(e, context_.names.fresh("fixed"));
      return named(e, made->back().second);
    }
    if (e->args.empty() || e->op == Op::kRead || e->op == Op::kReduce) return e;
    Expr copy = *e;
    bool changed = false;
    for (ExprPtr& a : copy.args) {
      const ExprPtr next = without(a, made);
      changed = changed || next != a;
      a = next;
    }
    return changed ? std::make_shared<const Expr>(std::move(copy)) : e;
  }

  static ExprPtr named(const ExprPtr& e, const std::string& name) { return value_of(name, e->type, e->lanes); }

  bool is_fixed(const ExprPtr& e) const {
    bool fixed = true;
    walk(e, [&](const Expr& x) {
      if (x.op == Op::kReduce || (!x.name.empty() && changing_.count(x.name))) fixed = false;
      if (x.op == Op::kRead && (!x.args.empty() || x.mask)) fixed = false;
    });
    return fixed;
  }

  Context& context_;
  std::set<std::string> changing_;
};

}  // namespace

LoopList hoist_costly(const LoopList& body, Context& context) { return Costly(context).in_block(body); }

}  // namespace facet::passes
