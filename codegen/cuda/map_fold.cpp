// fold_into_outputs: an intermediate array that dies where an output is made shares the output's memory.
//
//   for i  ... p[i,j] = exp(x[i,j] - m) ...                 for i  ... y[i,j] = exp(x[i,j] - m) ...
//          s += p[i,j] ...                          -->            s += y[i,j] ...
//          for j  y[i,j] = p[i,j] / s                              for j  y[i,j] = y[i,j] / s
//
// A third of a softmax's memory traffic goes. Done for a workspace array of one kernel with the output's dtype and extents,
// when within one iteration of the parallel outer loops the output is stored by one node only, which reads the array at the
// stored element only; the array is not touched after that node, the output nowhere else; and the outer loops remain provably
// parallel.
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

bool same_extents(const Buffer& a, const Buffer& b) {
  if (a.dtype != b.dtype || a.extents.size() != b.extents.size() || a.extents.empty() || !a.strides.empty() ||
      !b.strides.empty())
    return false;
  for (std::size_t d = 0; d < a.extents.size(); ++d)
    if (!same(a.extents[d], b.extents[d])) return false;
  return true;
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

bool outer_loops_parallel(const LoopPtr& node, const Chain& chain) {
  for (const For& f : chain.loops)
    if (!passes::independent({node}, {f.iterator})) return false;
  return true;
}

}  // namespace

LoopList fold_into_outputs(const LoopList& body, const std::vector<const Buffer*>& arrays,
                           const std::vector<const Buffer*>& outputs, MapContext& context) {
  LoopList result = body;
  for (const Buffer* array : arrays) {
    for (LoopPtr& node : result) {
      const std::size_t uses = count_of({node}, array->name);
      if (uses == 0 || uses != count_of(result, array->name)) continue;
      const Chain chain = chain_of(node, context);
      if (chain.loops.empty()) continue;
      // The last node of an iteration that touches the array must be the one that makes the output.
      const auto last = std::find_if(chain.body.rbegin(), chain.body.rend(),
                                     [&](const LoopPtr& n) { return count_of({n}, array->name) > 0; });
      for (const Buffer* output : outputs) {
        if (!same_extents(*array, *output) || count_of(result, output->name) != 1 ||
            !consumes_in_place(*last, array->name, output->name))
          continue;
        const LoopPtr folded = renamed({node}, array->name, output->name)[0];
        if (!outer_loops_parallel(folded, chain)) continue;
        node = folded;
        context.passes.note("fold", array->name, true, "in the memory of " + output->name);
        break;
      }
    }
  }
  return result;
}

}  // namespace facet::gpu
