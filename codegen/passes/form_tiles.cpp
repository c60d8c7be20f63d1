// form_tiles: carries out the requests that are left after peeling, innermost
// first.
//
//   for k                                   for k
//     for i in 0..2   unroll                  h0[0, 0..16] += a[0, k] * b[k,
//     0..16]
//       for j in 0..32   vector(16)   -->     h0[0, 16..32] += a[0, k] *
//       b[k, 16..32]
//         h0[i, j] += a[i, k] * b[k, j]       h0[1, 0..16] += ...
//
// Afterwards no loop is kVector or kUnroll. See vectorize.cpp and unroll.cpp
// for what each can do.
#include <algorithm>

#include "codegen/passes/tiles.hpp"

namespace facet::passes {

namespace {

std::int64_t copies_of(const For& unrolled) {
  const Linear extent = difference(unrolled.upper, unrolled.lower);
  return std::max<std::int64_t>(1, extent.is_constant() ? extent.constant : unrolled.width);
}

// `copies`: how many there will be of this body side by side, from unrolled loops directly around.
LoopList form(const LoopList& body, const Facts& facts, Context& context, std::int64_t copies) {
  LoopList out;
  for (const LoopPtr& node : body) {
    Facts inner = facts;
    if (const For* f = as<For>(node)) inner.add_range(f->iterator, f->lower, f->upper);
    if (const If* f = as<If>(node)) {
      Facts otherwise = facts;
      inner.add_condition(f->condition);
      otherwise.add_negation(f->condition);
      If copy = *f;
      copy.then = form(f->then, inner, context, copies);
      copy.otherwise = form(f->otherwise, otherwise, context, copies);
      out.push_back(make_loop(std::move(copy)));
      continue;
    }
    const For* outer = as<For>(node);
    const std::int64_t below = !outer ? copies : outer->kind == LoopKind::kUnroll ? copies * copies_of(*outer) : 1;
    const LoopPtr next = rebuild(
        node, [](const ExprPtr& e) { return e; }, [&](const LoopList& list) { return form(list, inner, context, below); });
    const For* f = as<For>(next);
    LoopList made{next};
    if (f && f->kind == LoopKind::kUnroll) made = unroll(*f, facts, context);
    if (f && f->kind == LoopKind::kVector) made = vectorize(*f, facts, context, copies);
    // Requests that simplification had to see constants for are constants now.
    if (made.size() != 1 || made[0] != next) made = simplify(made, facts, context);
    out.insert(out.end(), made.begin(), made.end());
  }
  return out;
}

}  // namespace

LoopList form_tiles(const LoopList& body, Context& context) { return form(body, context.symbol_facts(), context, 1); }

}  // namespace facet::passes
