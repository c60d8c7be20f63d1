// Walks and rebuilds of loop trees.
#include "codegen/passes/tree.hpp"

namespace facet::passes {

namespace {

std::vector<ExprPtr> mapped(const std::vector<ExprPtr>& list, const ExprMap& map) {
  std::vector<ExprPtr> out;
  out.reserve(list.size());
  for (const ExprPtr& e : list) out.push_back(map(e));
  return out;
}

Store mapped(Store s, const ExprMap& map) {
  s.subscripts = mapped(s.subscripts, map);
  s.value = map(s.value);
  if (s.mask) s.mask = map(s.mask);
  return s;
}

struct Rebuild {
  const ExprMap& map;
  const BodyMap& body;
  const LoopPtr& original;

  LoopPtr operator()(For f) const {
    f.lower = map(f.lower);
    f.upper = map(f.upper);
    f.body = body(f.body);
    return make_loop(std::move(f));
  }
  LoopPtr operator()(If f) const {
    f.condition = map(f.condition);
    f.then = body(f.then);
    f.otherwise = body(f.otherwise);
    return make_loop(std::move(f));
  }
  LoopPtr operator()(Store s) const { return make_loop(mapped(std::move(s), map)); }
  LoopPtr operator()(Let l) const {
    if (l.value) l.value = map(l.value);
    return make_loop(std::move(l));
  }
  LoopPtr operator()(Set s) const {
    s.value = map(s.value);
    return make_loop(std::move(s));
  }
  LoopPtr operator()(AsyncCopy a) const {
    a.copy = mapped(std::move(a.copy), map);
    return make_loop(std::move(a));
  }
  LoopPtr operator()(Collective c) const {
    c.value = map(c.value);
    return make_loop(std::move(c));
  }
  LoopPtr operator()(Role r) const {
    r.condition = map(r.condition);
    r.body = body(r.body);
    return make_loop(std::move(r));
  }
  LoopPtr operator()(Prefetch p) const {
    p.subscripts = mapped(p.subscripts, map);
    return make_loop(std::move(p));
  }
  LoopPtr operator()(Sequence s) const {
    s.body = body(s.body);
    return make_loop(std::move(s));
  }
  template <class T>
  LoopPtr operator()(const T&) const {
    return original;
  }
};

}  // namespace

LoopPtr rebuild(const LoopPtr& node, const ExprMap& expression, const BodyMap& body) {
  return std::visit(Rebuild{expression, body, node}, node->node);
}

LoopList map_expressions(const LoopList& body, const ExprMap& map) {
  LoopList out;
  out.reserve(body.size());
  for (const LoopPtr& node : body)
    out.push_back(rebuild(node, map, [&](const LoopList& inner) { return map_expressions(inner, map); }));
  return out;
}

LoopList substitute(const LoopList& body, const std::string& name, const ExprPtr& by) {
  return map_expressions(body, [&](const ExprPtr& e) { return facet::substitute(e, {{name, by}}); });
}

void walk_nodes(const LoopList& body, const std::function<void(const LoopPtr&)>& visit) {
  for (const LoopPtr& node : body) {
    visit(node);
    if (const For* f = as<For>(node)) walk_nodes(f->body, visit);
    if (const If* f = as<If>(node)) {
      walk_nodes(f->then, visit);
      walk_nodes(f->otherwise, visit);
    }
    if (const Role* r = as<Role>(node)) walk_nodes(r->body, visit);
    if (const Sequence* s = as<Sequence>(node)) walk_nodes(s->body, visit);
  }
}

void walk_blocks(const LoopList& body, const std::function<void(const LoopList&)>& visit) {
  visit(body);
  walk_nodes(body, [&](const LoopPtr& node) {
    if (const For* f = as<For>(node)) visit(f->body);
    if (const If* f = as<If>(node)) {
      visit(f->then);
      visit(f->otherwise);
    }
    if (const Role* r = as<Role>(node)) visit(r->body);
    if (const Sequence* s = as<Sequence>(node)) visit(s->body);
  });
}

void walk_expressions(const LoopList& body, const std::function<void(const ExprPtr&)>& visit) {
  walk_nodes(body, [&](const LoopPtr& node) {
    rebuild(
        node,
        [&](const ExprPtr& e) {
          if (e) visit(e);
          return e;
        },
        [](const LoopList& inner) { return inner; });
  });
}

std::set<std::string> introduced_names(const LoopList& body) {
  std::set<std::string> names;
  walk_nodes(body, [&](const LoopPtr& node) {
    if (const For* f = as<For>(node)) names.insert(f->iterator);
    if (const Let* l = as<Let>(node)) names.insert(l->name);
    if (const Allocate* a = as<Allocate>(node)) names.insert(a->buffer.name);
  });
  return names;
}

bool mentions(const LoopList& body, const std::string& name) {
  bool found = false;
  walk_expressions(body, [&](const ExprPtr& e) { found = found || mentions(e, name); });
  return found;
}

bool mentions_any(const ExprPtr& e, const std::set<std::string>& names) {
  bool found = false;
  walk(e, [&](const Expr& node) {
    if ((node.op == Op::kIndex || node.op == Op::kValue || node.op == Op::kRead) && names.count(node.name)) found = true;
  });
  return found;
}

LoopList rename(const LoopList& body, const std::map<std::string, std::string>& names) {
  if (names.empty()) return body;
  const auto changed = [&](std::string& name) {
    const auto it = names.find(name);
    if (it != names.end()) name = it->second;
  };
  const ExprMap in_expression = [&](const ExprPtr& e) {
    return rewrite(e, [&](const ExprPtr& node) -> ExprPtr {
      if ((node->op != Op::kValue && node->op != Op::kRead && node->op != Op::kIndex) || !names.count(node->name)) return node;
      Expr copy = *node;
      copy.name = names.at(node->name);
      return std::make_shared<const Expr>(std::move(copy));
    });
  };
  LoopList out;
  for (const LoopPtr& node : body) {
    const LoopPtr next = rebuild(node, in_expression, [&](const LoopList& inner) { return rename(inner, names); });
    LoopNode copy = *next;
    if (For* f = std::get_if<For>(&copy.node)) changed(f->iterator);
    if (Let* l = std::get_if<Let>(&copy.node)) changed(l->name);
    if (Set* s = std::get_if<Set>(&copy.node)) changed(s->name);
    if (Store* s = std::get_if<Store>(&copy.node)) changed(s->buffer);
    if (Allocate* a = std::get_if<Allocate>(&copy.node)) changed(a->buffer.name);
    if (Prefetch* p = std::get_if<Prefetch>(&copy.node)) changed(p->buffer);
    out.push_back(std::make_shared<const LoopNode>(std::move(copy)));
  }
  return out;
}

void Names::take(const LoopList& body) {
  for (const std::string& name : introduced_names(body)) used_.insert(name);
  walk_expressions(body, [&](const ExprPtr& e) {
    walk(e, [&](const Expr& node) {
      if (!node.name.empty()) used_.insert(node.name);
    });
  });
  walk_nodes(body, [&](const LoopPtr& node) {
    if (const Store* s = as<Store>(node)) used_.insert(s->buffer);
  });
}

std::string Names::fresh(const std::string& base) {
  std::string name = base;
  for (int n = 2; !used_.insert(name).second; ++n) name = base + "_" + std::to_string(n);
  return name;
}

}  // namespace facet::passes
