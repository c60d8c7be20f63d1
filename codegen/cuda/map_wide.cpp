// Copies of neighbours as one access.
//
//   for v in 0..4                                         if N mod 4 == 0 and k < K and j0 + 4*t + 3 < N
//     tile[k][4*t + v] = B[k, j0 + 4*t + v ? 0]   -->       part[0..4] = B[k, j0 + 4*t ..]      16 bytes
//                                                         else
//                                                           for v  part[v] = B[k, j0 + 4*t + v ? 0]
//                                                         tile[k][4*t ..] = part[0..4]          or one by one, transposed
//
// A thread's neighbours lie in one aligned word where the row's length is a multiple of them: known at compile time, or asked
// at run time, alike for all threads. Arrays start at multiples of 64 bytes (contract of the arguments).
#include "codegen/cuda/map_nest.hpp"

namespace facet::gpu {

using passes::as;

namespace {

bool divisible(const ExprPtr& e, std::int64_t by) {
  const passes::Linear form = passes::to_linear(e);
  bool all = form.constant % by == 0;
  for (const passes::Term& t : form.terms) all = all && t.coefficient % by == 0;
  return all;
}

// Do the subscripts walk the iterator in the last dimension, one by one, and nowhere else?
bool runs_along(const std::vector<ExprPtr>& subscripts, const std::string& iterator) {
  if (subscripts.empty() || passes::to_linear(subscripts.back()).coefficient_of(iterator) != 1) return false;
  std::size_t mentions = 0;
  for (const ExprPtr& s : subscripts) mentions += passes::mentions(s, iterator);
  return mentions == 1;
}

bool aligned_rows(const Buffer& b, std::int64_t by) {
  const std::vector<ExprPtr>& lengths = b.strides.empty() ? b.extents : b.strides;
  const std::size_t first = b.strides.empty() ? 1 : 0, last = b.strides.empty() ? lengths.size() : lengths.size() - 1;
  std::int64_t n = 0;
  for (std::size_t d = first; d < last; ++d)
    if (!passes::constant_value(lengths[d], &n) || n % by != 0) return false;
  return true;
}

ExprPtr both(const ExprPtr& a, const ExprPtr& b) { return a ? binary(Op::kAnd, a, b) : b; }

LoopPtr stored(std::string buffer, std::vector<ExprPtr> subscripts, ExprPtr value, const std::string& statement, int lanes) {
  Store s;
  s.statement = statement;
  s.buffer = std::move(buffer);
  s.subscripts = std::move(subscripts);
  s.value = std::move(value);
  s.lanes = lanes;
  return make_loop(std::move(s));
}

ExprPtr wide_read(const Expr& e, std::vector<ExprPtr> subscripts, std::int64_t lanes) {
  Expr wide = e;
  wide.args = std::move(subscripts);
  wide.lanes = static_cast<int>(lanes);
  wide.pad = nullptr;
  return std::make_shared<const Expr>(std::move(wide));
}

std::vector<ExprPtr> at(const std::vector<ExprPtr>& subscripts, const std::string& iterator, const ExprPtr& value) {
  std::vector<ExprPtr> moved;
  for (const ExprPtr& s : subscripts) moved.push_back(substitute(s, {{iterator, value}}));
  return moved;
}

}  // namespace

std::optional<LoopList> wide_copy(const For& f, const ExprPtr& first, const std::string& neighbour, const Buffer* target,
                                  MapContext& context) {
  const std::int64_t n = f.gpu.adjacent;
  const Store* s = f.body.size() == 1 ? as<Store>(f.body[0]) : nullptr;
  if (n < 2 || f.step != 1 || !s || s->update || s->lanes > 1 || s->mask || !target) return std::nullopt;
  const ExprPtr& e = s->value;
  if (e->op != Op::kRead || e->mask || e->lanes > 1 || !passes::accesses_of(s->subscripts.back()).empty()) return std::nullopt;
  const Buffer* source = context.passes.find(e->name);
  const std::int64_t bytes = n * static_cast<std::int64_t>(size_bytes(e->type));
  const bool kept_as_is = source && source->dtype == e->type && target->dtype == e->type && size_bytes(e->type) >= 4;
  if (!kept_as_is || source->space != MemorySpace::kGlobal || !source->strides.empty() || (bytes != 8 && bytes != 16))
    return std::nullopt;
  for (const ExprPtr& x : e->args)
    if (!passes::accesses_of(x).empty()) return std::nullopt;
  const std::vector<ExprPtr> from = at(e->args, f.iterator, first);
  if (!runs_along(e->args, f.iterator) || !divisible(from.back(), n)) return std::nullopt;
  ExprPtr whole;
  const ExprPtr& length = source->extents.back();
  if (from.size() > 1) whole = binary(Op::kEq, binary(Op::kFloorMod, length, idx(n)), idx(0));
  for (std::size_t d = 0; e->pad && d < from.size(); ++d) {
    const ExprPtr last = d + 1 == from.size() ? idx_add(from[d], idx(n - 1)) : from[d];
    whole = both(whole, binary(Op::kAnd, binary(Op::kLe, idx(0), from[d]), binary(Op::kLt, last, source->extents[d])));
  }
  Buffer part;
  part.name = context.passes.names.fresh(s->buffer + ".part");
  part.dtype = e->type;
  part.extents = {idx(n)};
  part.space = MemorySpace::kRegister;
  part.alignment_bytes = 16;
  const auto repeated = [&](LoopPtr one) {
    For loop = counted(neighbour, idx(n));
    loop.kind = LoopKind::kUnroll;
    loop.body = {std::move(one)};
    return make_loop(std::move(loop));
  };
  const ExprPtr each = idx_add(first, index(neighbour)), mine = read(part.name, e->type, {index(neighbour)});
  If words;
  words.condition = whole ? whole : int_literal(DType::kBool, 1);
  words.then = {stored(part.name, {idx(0)}, wide_read(*e, from, n), s->statement, static_cast<int>(n))};
  words.otherwise = {repeated(stored(part.name, {index(neighbour)}, substitute(e, {{f.iterator, each}}), s->statement, 1))};
  LoopList out{make_loop(Allocate{part}), make_loop(std::move(words))};
  const std::vector<ExprPtr> to = at(s->subscripts, f.iterator, first);
  if (runs_along(s->subscripts, f.iterator) && divisible(to.back(), n) && aligned_rows(*target, n)) {
    out.push_back(stored(s->buffer, to, wide_read(*mine, {idx(0)}, n), s->statement, static_cast<int>(n)));
  } else {
    out.push_back(repeated(stored(s->buffer, at(s->subscripts, f.iterator, each), mine, s->statement, 1)));
  }
  return LoopList{make_loop(Sequence{std::move(out)})};
}

}  // namespace facet::gpu
