// hoist_values: named values that do not change in a loop are computed before
// it, and equal ones once.
//
//   for k                                                   let active = lane <
//   N - 32*j2
//     let active = lane < N - 32*j2                         for k
//     let active_2 = lane < N - 32*j2               -->       h0[.. masked by
//     active] .. h0[.. masked by active] .. h0[.. masked by active_2]    h0[..
//     masked by active] ..
//
// Only values without reads move (masks, offsets): they cost nothing where they
// land and cannot fault. They stay inside parallel loops, where each thread
// keeps its own. keep_in_registers needs it: an accumulator's mask has to be
// known before the loop.
#include "codegen/passes/context.hpp"

#include <algorithm>

#include "facet/expr_walk.hpp"

namespace facet::passes {

namespace {

bool is_pure(const Let& l, const std::set<std::string>& assigned) {
  if (l.is_mutable || !l.value) return false;
  bool pure = true;
  walk(l.value, [&](const Expr& e) {
    if (e.op == Op::kRead || (e.op == Op::kValue && assigned.count(e.name))) pure = false;
  });
  return pure;
}

std::set<std::string> assigned_names(const LoopList& body) {
  std::set<std::string> names;
  walk_nodes(body, [&](const LoopPtr& n) {
    if (const Set* s = as<Set>(n)) names.insert(s->name);
    if (const Let* l = as<Let>(n); l && l->is_mutable) names.insert(l->name);
  });
  return names;
}

// Equal pure values of one block become one.
LoopList shared(const LoopList& body, const std::set<std::string>& assigned) {
  LoopList out;
  std::vector<Let> seen;
  std::map<std::string, std::string> names;
  for (const LoopPtr& node : body) {
    const LoopPtr next = rename({node}, names)[0];
    if (const Let* l = as<Let>(next); l && is_pure(*l, assigned)) {
      bool found = false;
      for (const Let& s : seen) {
        if (s.type != l->type || s.lanes != l->lanes || !same(s.value, l->value)) continue;
        names[l->name] = s.name;
        found = true;
        break;
      }
      if (found) continue;
      seen.push_back(*l);
    }
    out.push_back(next);
  }
  return out;
}

// keep: how many loops from here on are perfectly nested for an enclosing
// loop's collapse clause.
LoopList hoisted(const LoopList& body, const std::set<std::string>& assigned, int keep) {
  LoopList out;
  for (const LoopPtr& node : body) {
    const For* loop = as<For>(node);
    const int inner_keep = !loop ? 0 : loop->collapse > 1 ? loop->collapse - 1 : std::max(0, keep - 1);
    const LoopPtr next = rebuild(
        node, [](const ExprPtr& e) { return e; }, [&](const LoopList& inner) { return hoisted(inner, assigned, inner_keep); });
    const For* f = as<For>(next);
    if (!f || f->kind != LoopKind::kSerial || keep > 0) {
      out.push_back(next);
      continue;
    }
    For copy = *f;
    copy.body.clear();
    std::set<std::string> inside = introduced_names(f->body);
    inside.insert(f->iterator);
    for (const LoopPtr& inner : f->body) {
      const Let* l = as<Let>(inner);
      if (l && is_pure(*l, assigned) && !mentions_any(l->value, inside)) {
        out.push_back(inner);
        inside.erase(l->name);
      } else {
        copy.body.push_back(inner);
      }
    }
    out.push_back(make_loop(std::move(copy)));
  }
  return shared(out, assigned);
}

}  // namespace

LoopList hoist_values(const LoopList& body, const Context&) { return hoisted(body, assigned_names(body), 0); }

}  // namespace facet::passes
