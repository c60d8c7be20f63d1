// A register tile reads its vectors once an iteration and has the registers to itself, whatever compilers think of it.
//
//   var c_0, c_1 = ..                                free_registers();
//   for k                                            f32x16 c_0 = .., c_1 = ..;
//     let b = B[k, 0..16]                            for (..) {
//     set c_0 = fma(splat(a[0, k]), b, c_0)    -->     const f32x16 b = keep_f32x16(load_f32x16(B + k * 16));
//     set c_1 = fma(splat(a[1, k]), b, c_1)            c_0 = fma_f32x16(splat_f32x16(a[k]), b, c_0);
//                                                      c_1 = fma_f32x16(splat_f32x16(a[64 + k]), b, c_1);
//
// A read has a name, but compilers may still read memory for each of its uses: g++ does so for up to four, and for any number
// once it is short of registers; cores that load one such vector a cycle then wait for loads. Over the taps of a window
// compilers find what neighbouring iterations read in common, keep that in registers too, and spill sums for it. `keep` ends
// what they know about memory. And what other parts of the kernel use again and again, as masks of a copy and zeros, they carry
// through all loops in registers, and spill a sum instead, whose chain then goes through memory: `free_registers` says that
// nothing survives there, so that such values are made again where they are used. Both are empty statements.
//
// Zen 4, g++ 12, two threads, 28^2 128 -> 128 3 x 3. Vectors of 64 bytes, `keep`: tiles of 4 x 2 vectors 1.42 ms to 1.12, 6 x 2
// 1.32 to 1.13, 8 x 2 1.83 to 1.16, 6 x 4 1.75 to 1.22; 7 x 2, which fits either way, 1.08. Vectors of 32 bytes: 6 x 2 1.69 ms
// without either, 2.46 with `keep` alone, 1.59 with both.
//
// Only where a loop carries sums: elsewhere compilers may know better.
#include "codegen/openmp/tile_registers.hpp"

#include "codegen/passes/tree.hpp"

namespace facet {

namespace {

using passes::as;

// The vectors that the block assigns although they were there before it.
std::set<std::string> carried_sums(const LoopList& block) {
  std::set<std::string> own, sums;
  for (const LoopPtr& n : block) {
    if (const Let* l = as<Let>(n)) own.insert(l->name);
    if (const Set* s = as<Set>(n); s && s->value->lanes > 1 && is_float(s->value->type) && !own.count(s->name))
      sums.insert(s->name);
  }
  return sums;
}

bool is_load(const Let& l) {
  return l.lanes > 1 && is_float(l.type) && !l.is_mutable && l.value && l.value->op == Op::kRead && l.value->type == l.type;
}

// The first of the sums that the block names.
void find_start(const LoopList& block, const std::set<std::string>& sums, std::set<std::string>* starts) {
  for (const LoopPtr& n : block)
    if (const Let* l = as<Let>(n); l && sums.count(l->name)) {
      starts->insert(l->name);
      return;
    }
}

}  // namespace

TileRegisters tile_registers(const LoopList& body) {
  TileRegisters found;
  std::set<std::string> all;
  passes::walk_nodes(body, [&](const LoopPtr& n) {
    const For* f = as<For>(n);
    if (!f || f->kind != LoopKind::kSerial) return;
    const std::set<std::string> sums = carried_sums(f->body);
    all.insert(sums.begin(), sums.end());
    if (sums.empty()) return;
    for (const LoopPtr& inner : f->body)
      if (const Let* l = as<Let>(inner); l && is_load(*l)) found.loads.insert(l->name);
  });
  if (!found.loads.empty()) passes::walk_blocks(body, [&](const LoopList& block) { find_start(block, all, &found.starts); });
  return found;
}

}  // namespace facet
