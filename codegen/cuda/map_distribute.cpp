// distribute: nests that share outer parallel loops become nests of their own.
//
//   for b (parallel)                              for b  for i  for j  s[b,i,j] = ...
//     for i  for j  s[b,i,j] = ...       -->      for b  for i  top'[b,i] = max over j of s[b,i,j]
//     for i  top[i] = max over j of s             ...
//
// Fusion is for caches; a GPU wants every parallel loop on its grid. It is legal because the shared loops carry no dependence:
// what one iteration's nests pass on stays within the iteration. Arrays that an iteration owns and several nests use get the
// shared loops as further dimensions, in workspace. Done only where it exposes two or more parallel loops of an inner nest;
// one inner loop is what rows handle well without going through memory.
#include <algorithm>

#include "codegen/cuda/map_internal.hpp"

namespace facet::gpu {

using passes::as;

namespace {

bool touches(const LoopList& body, const std::string& buffer) {
  for (const passes::Access& a : passes::accesses_of(body))
    if (a.buffer == buffer) return true;
  return false;
}

// Every access to `from` becomes one to `to` with the further subscripts in front.
LoopList redirected(const LoopList& body, const std::string& from, const std::string& to, const std::vector<ExprPtr>& front) {
  const auto subscripts = [&](const std::vector<ExprPtr>& old) {
    std::vector<ExprPtr> all = front;
    all.insert(all.end(), old.begin(), old.end());
    return all;
  };
  const auto expression = [&](const ExprPtr& e) {
    return rewrite(e, [&](const ExprPtr& x) -> ExprPtr {
      if (x->op != Op::kRead || x->name != from) return x;
      Expr copy = *x;
      copy.name = to;
      copy.args = subscripts(x->args);
      return std::make_shared<const Expr>(std::move(copy));
    });
  };
  LoopList out;
  for (const LoopPtr& n : body) {
    LoopPtr mapped = passes::rebuild(n, expression, [&](const LoopList& inner) { return redirected(inner, from, to, front); });
    if (const Store* s = as<Store>(mapped); s && s->buffer == from) {
      Store copy = *s;
      copy.buffer = to;
      copy.subscripts = subscripts(s->subscripts);
      mapped = make_loop(std::move(copy));
    }
    out.push_back(mapped);
  }
  return out;
}

class Distributor {
 public:
  Distributor(const Chain& chain, MapContext& context, std::vector<Buffer>* workspace)
      : chain_(chain), context_(context), workspace_(workspace) {}

  std::vector<LoopPtr> run() {
    if (chain_.loops.empty() || !worthwhile() || !take_apart()) return {};
    for (const Buffer& b : locals_) place(b);
    std::vector<LoopPtr> nests;
    for (LoopList& group : groups_) {
      LoopList body = std::move(group);
      for (std::size_t k = chain_.loops.size(); k-- > 0;) {
        For loop = chain_.loops[k];
        loop.kind = LoopKind::kParallel;  // judged parallel already: what is left of its body is so too
        loop.collapse = 1;
        loop.body = std::move(body);
        body = {make_loop(std::move(loop))};
      }
      nests.push_back(body[0]);
    }
    return nests;
  }

 private:
  bool worthwhile() const {
    std::size_t nests = 0, deep = 0;
    for (const LoopPtr& n : chain_.body) {
      if (!as<For>(n)) continue;
      ++nests;
      deep = std::max(deep, chain_of(n, *context_.program).loops.size());
    }
    return nests >= 2 && deep >= 2;
  }

  // Groups of one statement or nest; false when something ties them together.
  bool take_apart() {
    LoopList values;
    for (const LoopPtr& n : chain_.body) {
      if (as<Comment>(n)) continue;
      if (const Allocate* a = as<Allocate>(n)) {
        if (!a->buffer.strides.empty()) return false;
        for (const ExprPtr& e : a->buffer.extents)
          if (!of_symbols(e, *context_.program)) return false;
        locals_.push_back(a->buffer);
      } else if (const Let* l = as<Let>(n)) {
        if (l->is_mutable || !l->value || !passes::accesses_of(l->value).empty()) return false;
        values.push_back(n);
      } else if (as<For>(n) || as<Store>(n) || as<If>(n)) {
        LoopList group = values;
        group.push_back(n);
        groups_.push_back(std::move(group));
      } else {
        return false;
      }
    }
    for (const For& f : chain_.loops)
      if (f.step != 1) return false;
    return true;
  }

  // With its only user, or in workspace with the shared loops in front.
  void place(const Buffer& b) {
    std::vector<std::size_t> users;
    for (std::size_t g = 0; g < groups_.size(); ++g)
      if (touches(groups_[g], b.name)) users.push_back(g);
    if (users.size() == 1) groups_[users[0]].insert(groups_[users[0]].begin(), make_loop(Allocate{b}));
    if (users.size() < 2) return;
    Buffer wide = b;
    wide.name = context_.passes.names.fresh(b.name);
    wide.space = MemorySpace::kGlobal;
    wide.role = BufferRole::kWorkspace;
    wide.extents.clear();
    std::vector<ExprPtr> front;
    for (const For& f : chain_.loops) {
      wide.extents.push_back(trips_of(f));
      front.push_back(idx_sub(index(f.iterator), f.lower));
    }
    wide.extents.insert(wide.extents.end(), b.extents.begin(), b.extents.end());
    for (const std::size_t g : users) groups_[g] = redirected(groups_[g], b.name, wide.name, front);
    context_.passes.note("distribute", b.name, true, "workspace with the shared loops as dimensions");
    workspace_->push_back(std::move(wide));
  }

  const Chain& chain_;
  MapContext& context_;
  std::vector<Buffer>* workspace_;
  std::vector<Buffer> locals_;
  std::vector<LoopList> groups_;
};

}  // namespace

std::vector<LoopPtr> distribute(const Chain& chain, MapContext& context, std::vector<Buffer>* workspace) {
  std::vector<LoopPtr> all;
  for (const LoopPtr& nest : Distributor(chain, context, workspace).run()) {
    const std::vector<LoopPtr> inner = distribute(chain_of(nest, *context.program), context, workspace);
    if (inner.empty())
      all.push_back(nest);
    else
      all.insert(all.end(), inner.begin(), inner.end());
  }
  if (!all.empty())
    context.passes.note("distribute", chain.loops.front().iterator, true, std::to_string(all.size()) + " nests shared it");
  return all;
}

}  // namespace facet::gpu
