// A recipe may hold marks for threads and for a GPU: each target carries out its own and runs the other's loops serially.
#include "codegen/passes/atomics.hpp"

#include "codegen/passes/tree.hpp"

namespace facet::passes {

LoopList atomic_within(const LoopList& body, const std::function<bool(const For&)>& concurrent) {
  LoopList out;
  for (const LoopPtr& node : body) {
    const For* f = as<For>(node);
    if (f && concurrent(*f)) {
      out.push_back(node);
      continue;
    }
    LoopPtr next = rebuild(
        node, [](const ExprPtr& e) { return e; }, [&](const LoopList& inner) { return atomic_within(inner, concurrent); });
    if (const Store* s = as<Store>(next); s && s->atomic) {
      Store plain = *s;
      plain.atomic = false;
      next = make_loop(std::move(plain));
    }
    out.push_back(next);
  }
  return out;
}

}  // namespace facet::passes
