// How far a row is from the next line of the cache, for loops that read an array around the place they store to.
//
//   for k in 1..N - 1   vector(8)                       k < 1 + border, masked
//     B[i, k] = f(A[i, k - 1], A[i, k], ..)      -->    for k in 1 + border..   whole vectors, stores on borders of lines
//
// A vector that lies across two lines is fetched twice; a stencil fetches each line as often as it has points, mostly from the
// first cache, where that is what binds. Whether rows begin on a border depends on sizes that are symbols; so the distance is
// computed, from the store's offset in its array, whose base is taken to lie on a border. Wrong guesses cost time only. On two
// cores of a Sapphire Rapids seven points of heat-3d took 2.3 ns a vector instead of 3.0.
#include "codegen/passes/tiles.hpp"

namespace facet::passes {

namespace {

constexpr std::size_t kLeastReads = 3;  // of one array: what is read once is bound by where it lies

// The first store of a body of plain stores, contiguous along the loop.
const Store* first_store(const For& f) {
  const Store* first = nullptr;
  for (const LoopPtr& n : f.body) {
    const Store* s = as<Store>(n);
    if (!s || s->update || s->atomic || s->subscripts.empty()) return nullptr;
    for (std::size_t d = 0; d < s->subscripts.size(); ++d)
      if (to_linear(s->subscripts[d]).coefficient_of(f.iterator) != (d + 1 == s->subscripts.size() ? 1 : 0)) return nullptr;
    if (!first) first = s;
  }
  return first;
}

bool reads_around(const Store& s, const std::string& iterator) {
  std::map<std::string, std::size_t> reads;
  for (const Access& a : accesses_of(s.value))
    if (!a.subscripts.empty() && to_linear(a.subscripts.back()).coefficient_of(iterator) == 1) ++reads[a.buffer];
  for (const auto& [buffer, count] : reads)
    if (count >= kLeastReads) return true;
  return false;
}

}  // namespace

ExprPtr to_line_border(const For& f, int width, const Context& context) {
  const Store* s = first_store(f);
  const Buffer* b = s ? context.find(s->buffer) : nullptr;
  if (!b || b->role == BufferRole::kLocal || !b->strides.empty() || !reads_around(*s, f.iterator)) return nullptr;
  if (width * size_bytes(b->dtype) < context.machine.vector_bytes) return nullptr;
  ExprPtr offset = idx(0);
  for (std::size_t d = 0; d < s->subscripts.size(); ++d)
    offset = idx_add(idx_mul(offset, b->extents[d]), substitute(s->subscripts[d], {{f.iterator, f.lower}}));
  return idx_sub(idx(width), binary(Op::kFloorMod, offset, idx(width)));
}

}  // namespace facet::passes
