// The vectors of a register tile are read once an iteration, whatever compilers think of it.
//
//   for k                                            for (..) {
//     let b = B[k, 0..16]                              const f32x16 b = keep_f32x16(load_f32x16(B + k * 16));
//     set c_0 = fma(splat(a[0, k]), b, c_0)    -->     c_0 = fma_f32x16(splat_f32x16(a[k]), b, c_0);
//     set c_1 = fma(splat(a[1, k]), b, c_1)            c_1 = fma_f32x16(splat_f32x16(a[64 + k]), b, c_1);
//
// A read has a name, but compilers may still read memory for each of its uses: g++ does so for up to four, and for any number
// once it is short of registers; cores that load one such vector a cycle then wait for loads. Over the taps of a window
// compilers find what neighbouring iterations read in common, keep that in registers too, and spill sums for it. `keep` ends
// what they know about memory, so that the tile takes the registers that its model counts. (Zen 4, vectors of 64 bytes, g++ 12,
// 28^2 128 -> 128 3 x 3 on two threads: tiles of 4 x 2 vectors 1.42 ms to 1.12, 6 x 2 1.32 to 1.13, 8 x 2 1.83 to 1.16, 6 x 4
// 1.75 to 1.22; 7 x 2, which fits either way, 1.08.)
//
// Only where a loop carries sums: elsewhere compilers may know better.
#include "codegen/openmp/kept.hpp"

#include "codegen/passes/tree.hpp"

namespace facet {

namespace {

using passes::as;

// Does the block assign vectors that were there before it?
bool carries_sums(const LoopList& block) {
  std::set<std::string> own;
  bool carried = false;
  for (const LoopPtr& n : block) {
    if (const Let* l = as<Let>(n)) own.insert(l->name);
    if (const Set* s = as<Set>(n)) carried = carried || (s->value->lanes > 1 && !own.count(s->name));
  }
  return carried;
}

bool is_load(const Let& l) {
  return l.lanes > 1 && is_float(l.type) && !l.is_mutable && l.value && l.value->op == Op::kRead && l.value->type == l.type;
}

}  // namespace

std::set<std::string> kept_loads(const LoopList& body) {
  std::set<std::string> names;
  passes::walk_nodes(body, [&](const LoopPtr& n) {
    const For* f = as<For>(n);
    if (!f || f->kind != LoopKind::kSerial || !carries_sums(f->body)) return;
    for (const LoopPtr& inner : f->body)
      if (const Let* l = as<Let>(inner); l && is_load(*l)) names.insert(l->name);
  });
  return names;
}

}  // namespace facet
