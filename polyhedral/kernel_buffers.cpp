// Walks of the loop tree as scanned: loops, ifs, stores and declarations only.
#include "polyhedral/kernel_buffers.hpp"

#include <algorithm>

namespace facet {

void collect_buffers(const LoopList& body, std::vector<std::string>& names) {
  const auto add = [&](const std::string& n) {
    if (std::find(names.begin(), names.end(), n) == names.end()) names.push_back(n);
  };
  const auto reads = [&](const ExprPtr& e) {
    walk(e, [&](const Expr& x) {
      if (x.op == Op::kRead) add(x.name);
    });
  };
  for (const LoopPtr& l : body) {
    if (const auto* f = std::get_if<For>(&l->node)) {
      reads(f->lower);
      reads(f->upper);
      collect_buffers(f->body, names);
    } else if (const auto* i = std::get_if<If>(&l->node)) {
      reads(i->condition);
      collect_buffers(i->then, names);
      collect_buffers(i->otherwise, names);
    } else if (const auto* s = std::get_if<Store>(&l->node)) {
      add(s->buffer);
      reads(s->value);
      for (const ExprPtr& e : s->subscripts) reads(e);
    }
  }
}

LoopList hoist_cache_buffers(const LoopList& body, std::vector<Buffer>& hoisted) {
  LoopList out;
  for (const LoopPtr& l : body) {
    if (const auto* a = std::get_if<Allocate>(&l->node); a && a->buffer.space == MemorySpace::kGlobal) {
      Buffer b = a->buffer;
      b.role = BufferRole::kWorkspace;
      if (std::none_of(hoisted.begin(), hoisted.end(), [&](const Buffer& other) { return other.name == b.name; }))
        hoisted.push_back(std::move(b));  // several loops that follow each other share it
      continue;
    }
    if (const auto* f = std::get_if<For>(&l->node); f && f->kind == LoopKind::kSerial) {
      For copy = *f;
      copy.body = hoist_cache_buffers(f->body, hoisted);
      out.push_back(make_loop(std::move(copy)));
      continue;
    }
    if (const auto* i = std::get_if<If>(&l->node)) {
      If copy = *i;
      copy.then = hoist_cache_buffers(i->then, hoisted);
      copy.otherwise = hoist_cache_buffers(i->otherwise, hoisted);
      out.push_back(make_loop(std::move(copy)));
      continue;
    }
    out.push_back(l);
  }
  return out;
}

LoopList rename_buffers(const LoopList& body, const std::map<std::string, std::string>& names) {
  const auto renamed = [&](const std::string& name) {
    const auto it = names.find(name);
    return it == names.end() ? name : it->second;
  };
  const auto expr = [&](const ExprPtr& e) {
    return rewrite(e, [&](const ExprPtr& x) {
      if (x->op != Op::kRead || !names.count(x->name)) return x;
      Expr copy = *x;
      copy.name = renamed(x->name);
      return ExprPtr(std::make_shared<const Expr>(std::move(copy)));
    });
  };
  LoopList out;
  for (const LoopPtr& l : body) {
    LoopNode node = *l;
    if (auto* f = std::get_if<For>(&node.node)) {
      f->lower = expr(f->lower);
      f->upper = expr(f->upper);
      f->body = rename_buffers(f->body, names);
    } else if (auto* i = std::get_if<If>(&node.node)) {
      i->condition = expr(i->condition);
      i->then = rename_buffers(i->then, names);
      i->otherwise = rename_buffers(i->otherwise, names);
    } else if (auto* s = std::get_if<Store>(&node.node)) {
      s->buffer = renamed(s->buffer);
      for (ExprPtr& e : s->subscripts) e = expr(e);
      s->value = expr(s->value);
    } else if (auto* a = std::get_if<Allocate>(&node.node)) {
      a->buffer.name = renamed(a->buffer.name);
    }
    out.push_back(std::make_shared<const LoopNode>(std::move(node)));
  }
  return out;
}

}  // namespace facet
