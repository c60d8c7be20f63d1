// join_rows: dimensions that a kernel only ever walks as one become one, for the time of the passes.
//
//     x[c, floor(p/56), p mod 56]      -->     x[c, p]        x as f32[64, 3136]
//
// Rows of a buffer lie one after another. Where every access of the kernel addresses two neighbouring dimensions by quotient
// and remainder of one position, the position is the subscript of both as one: it moves by one element along a loop, which
// the later passes can read off; of the quotients they could tell nothing. The padding of a read is where it was: outside of
// the rows or, as one, of their elements. `flatten` makes such nests, and programs may have them as they are.
//
// split_rows puts the dimensions back when all passes are done, before printing. An address is a sum, so [c, 0, p] is the
// element; reads that still carry a pad get quotient and remainder again, since the pad asks each dimension.
#include "codegen/passes/context.hpp"
#include "facet/expr_walk.hpp"

namespace facet::passes {

namespace {

// The position p with first = floor(p / extent) and second = p mod extent; null: none in sight.
ExprPtr position_of(const ExprPtr& first, const ExprPtr& second, std::int64_t extent) {
  if (second->op == Op::kLiteral && (second->int_value < 0 || second->int_value >= extent)) return nullptr;  // padding
  if (extent == 1) return second->op == Op::kLiteral ? first : nullptr;
  if (first->op == Op::kLiteral && second->op == Op::kLiteral) return idx(first->int_value * extent + second->int_value);
  std::int64_t by = 0;
  if (second->op != Op::kFloorMod || !constant_value(second->args[1], &by) || by != extent) return nullptr;
  return same(first, idx_floordiv(second->args[0], extent)) ? second->args[0] : nullptr;
}

// Of a row-major buffer of the program: which dimension and its neighbour every access addresses as one, with their extent.
struct Pair {
  std::size_t first = 0;
  std::int64_t inner = 0;
};

std::vector<Pair> pairs_of(const Buffer& b) {
  std::vector<Pair> pairs;
  std::int64_t inner = 0;
  for (std::size_t d = 0; b.strides.empty() && d + 1 < b.extents.size(); ++d)
    if (constant_value(b.extents[d + 1], &inner) && inner > 0) pairs.push_back({d, inner});
  return pairs;
}

bool addressed_as_one(const LoopList& body, const std::string& name, const Pair& pair) {
  bool all = true, any = false;
  map_accesses(body, [&](const std::string& buffer, const Subscripts& subscripts, bool) {
    if (buffer != name) return subscripts;
    const ExprPtr p = position_of(subscripts[pair.first], subscripts[pair.first + 1], pair.inner);
    all = all && p;
    any = any || (p && p->op != Op::kLiteral);
    return subscripts;
  });
  return all && any;
}

LoopList joined(const LoopList& body, Buffer& b, const Pair& pair) {
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(pair.first);
  b.extents[pair.first] = idx_mul(b.extents[pair.first], idx(pair.inner));
  b.extents.erase(b.extents.begin() + at + 1);
  return map_accesses(body, [&](const std::string& buffer, const Subscripts& subscripts, bool) {
    if (buffer != b.name) return subscripts;
    Subscripts list = subscripts;
    list[pair.first] = position_of(subscripts[pair.first], subscripts[pair.first + 1], pair.inner);
    list.erase(list.begin() + at + 1);
    return list;
  });
}

}  // namespace

LoopList map_accesses(const LoopList& body, const VisitAccess& visit) {
  const auto in_expression = [&](const ExprPtr& whole) {
    return whole ? rewrite(whole,
                           [&](const ExprPtr& e) {
                             if (e->op != Op::kRead) return e;
                             Expr read = *e;
                             read.args = visit(e->name, e->args, e->pad != nullptr);
                             return std::make_shared<const Expr>(std::move(read));
                           })
                 : whole;
  };
  LoopList out;
  for (const LoopPtr& n : body) {
    const LoopPtr made = rebuild(n, in_expression, [&](const LoopList& inner) { return map_accesses(inner, visit); });
    if (const Store* s = as<Store>(made)) {
      Store store = *s;
      store.subscripts = visit(s->buffer, s->subscripts, false);
      out.push_back(make_loop(std::move(store)));
    } else if (const Prefetch* p = as<Prefetch>(made)) {
      out.push_back(make_loop(Prefetch{p->buffer, visit(p->buffer, p->subscripts, false)}));
    } else {
      out.push_back(made);
    }
  }
  return out;
}

LoopList join_rows(const LoopList& body, Context& context, JoinedRows* rows) {
  LoopList out = body;
  bool quotients = false;
  walk_expressions(
      body, [&](const ExprPtr& whole) { walk(whole, [&](const Expr& e) { quotients = quotients || e.op == Op::kFloorMod; }); });
  if (!quotients) return out;
  for (auto& [name, buffer] : context.buffers) {
    if (!context.program->find_buffer(name)) continue;
    std::vector<std::size_t> counts(buffer.extents.size(), 1);
    for (std::vector<Pair> pairs = pairs_of(buffer); !pairs.empty();) {
      const Pair pair = pairs.front();
      pairs.erase(pairs.begin());
      if (!addressed_as_one(out, name, pair)) continue;
      out = joined(out, buffer, pair);
      counts[pair.first] += counts[pair.first + 1];
      counts.erase(counts.begin() + static_cast<std::ptrdiff_t>(pair.first) + 1);
      pairs = pairs_of(buffer);
    }
    if (counts.size() == context.program->find_buffer(name)->extents.size()) continue;
    (*rows)[name] = counts;
    context.note("rows", name, true, "walked as " + std::to_string(counts.size()) + " dimensions");
  }
  return out;
}

LoopList split_rows(const LoopList& body, const Context& context, const JoinedRows& rows) {
  if (rows.empty()) return body;
  return map_accesses(body, [&](const std::string& buffer, const Subscripts& subscripts, bool padded) {
    const auto found = rows.find(buffer);
    if (found == rows.end()) return subscripts;
    const std::vector<ExprPtr>& extents = context.program->find_buffer(buffer)->extents;
    Subscripts list;
    for (std::size_t d = 0; d < subscripts.size(); ++d) {
      const std::size_t from = list.size(), count = found->second[d];
      list.resize(from + count, idx(0));
      ExprPtr position = subscripts[d];
      for (std::size_t k = count; padded && k-- > 1; position = idx_floordiv(position, extents[from + k]->int_value))
        list[from + k] = idx_mod(position, extents[from + k]->int_value);
      list[padded ? from : from + count - 1] = position;
    }
    return list;
  });
}

}  // namespace facet::passes
