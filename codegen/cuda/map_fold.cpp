// fold_into_outputs: carries out the recipe's `reuse` (polyhedral/transform/reuse.cpp, which says why and when): the array's
// accesses become the output's. Asked again on the tree: the outer loops must remain provably parallel for the passes behind.
#include <algorithm>

#include "codegen/cuda/map_internal.hpp"
#include "codegen/passes/tiles.hpp"

namespace facet::gpu {

using passes::as;

namespace {

std::size_t count_of(const LoopList& body, const std::string& buffer) {
  std::size_t n = 0;
  for (const passes::Access& a : passes::accesses_of(body)) n += a.buffer == buffer;
  return n;
}

// The node's one store of `output`, and every read of `array` in it is by that statement at the stored element.
bool consumes_in_place(const LoopPtr& node, const std::string& array, const std::string& output) {
  const Store* store = nullptr;
  bool one = true;
  passes::walk_nodes({node}, [&](const LoopPtr& n) {
    const Store* s = as<Store>(n);
    if (s == nullptr || s->buffer != output) return;
    one = one && store == nullptr && !s->update && s->lanes == 1;
    store = s;
  });
  if (!one || store == nullptr) return false;
  std::size_t here = 0;
  for (const passes::Access& a : passes::accesses_of(store->value)) {
    if (a.buffer != array) continue;
    ++here;
    for (std::size_t d = 0; d < a.subscripts.size(); ++d)
      if (a.padded || !same(a.subscripts[d], store->subscripts[d])) return false;
  }
  return here > 0 && here == count_of({node}, array) && count_of({node}, output) == 1;
}

LoopList renamed(const LoopList& body, const std::string& from, const std::string& to) {
  LoopList out;
  const auto expression = [&](const ExprPtr& e) {
    return rewrite(e, [&](const ExprPtr& x) -> ExprPtr {
      if (x->op != Op::kRead || x->name != from) return x;
      Expr copy = *x;
      copy.name = to;
      return std::make_shared<const Expr>(std::move(copy));
    });
  };
  for (const LoopPtr& n : body) {
    LoopPtr mapped = passes::rebuild(n, expression, [&](const LoopList& inner) { return renamed(inner, from, to); });
    if (const Store* s = as<Store>(mapped); s && s->buffer == from) {
      Store copy = *s;
      copy.buffer = to;
      mapped = make_loop(std::move(copy));
    }
    out.push_back(mapped);
  }
  return out;
}

bool outer_loops_parallel(const LoopPtr& node, const Chain& chain, const passes::Facts& facts) {
  for (const For& f : chain.loops)
    if (!passes::independent({node}, {f.iterator}, facts)) return false;
  return true;
}

}  // namespace

LoopList fold_into_outputs(const LoopList& body, const std::vector<std::pair<std::string, std::string>>& reused,
                           MapContext& context) {
  LoopList result = body;
  for (const auto& [array, output] : reused) {
    bool done = false;
    for (LoopPtr& node : result) {
      const std::size_t uses = count_of({node}, array);
      if (uses == 0 || uses != count_of(result, array) || count_of(result, output) != 1) continue;
      const Chain chain = chain_of(node, context);
      // The last node of an iteration that touches the array must be the one that makes the output.
      const auto last =
          std::find_if(chain.body.rbegin(), chain.body.rend(), [&](const LoopPtr& n) { return count_of({n}, array) > 0; });
      if (chain.loops.empty() || last == chain.body.rend() || !consumes_in_place(*last, array, output)) continue;
      const LoopPtr folded = renamed({node}, array, output)[0];
      if (!outer_loops_parallel(folded, chain, context.passes.symbol_facts())) continue;
      node = folded;
      done = true;
    }
    context.passes.note("reuse", array, done,
                        done ? "in the memory of " + output : "the nest is not plain: it stays in memory");
  }
  return result;
}

}  // namespace facet::gpu
