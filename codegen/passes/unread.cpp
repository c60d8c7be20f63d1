// drop_unread: named values that nothing reads go, and what only they read.
//
//   const float y_value = y_next_value;   // its store was dead        -->   (nothing)
//
// Forwarding a store gives its value a name for readers to come; where the store proves dead and no reader came, the name is
// left over, and compilers warn. Values have no effects, so nothing else changes. A name that occurs anywhere in an expression,
// in its own later assignment too, or that a collective fills stays.
#include "codegen/passes/context.hpp"
#include "facet/expr_walk.hpp"

namespace facet::passes {

namespace {

std::set<std::string> read_names(const LoopList& body) {
  std::set<std::string> names;
  walk_expressions(body, [&](const ExprPtr& e) {
    walk(e, [&](const Expr& x) {
      if (!x.name.empty()) names.insert(x.name);
    });
  });
  walk_nodes(body, [&](const LoopPtr& n) {
    if (const Collective* c = as<Collective>(n)) names.insert(c->target);
  });
  return names;
}

LoopList without_unread(const LoopList& body, const std::set<std::string>& read, bool* changed) {
  LoopList out;
  for (const LoopPtr& n : body) {
    const Let* l = as<Let>(n);
    const Set* s = as<Set>(n);
    if ((l && !read.count(l->name)) || (s && !read.count(s->name))) {
      *changed = true;
      continue;
    }
    out.push_back(rebuild(
        n, [](const ExprPtr& e) { return e; }, [&](const LoopList& inner) { return without_unread(inner, read, changed); }));
  }
  return out;
}

}  // namespace

LoopList drop_unread(const LoopList& body) {
  LoopList out = body;
  for (bool changed = true; changed;) {
    changed = false;
    out = without_unread(out, read_names(out), &changed);
  }
  return out;
}

}  // namespace facet::passes
