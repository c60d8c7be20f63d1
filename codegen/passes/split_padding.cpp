// split_padding: copies with padding become plain copies between loops that store zeros.
//
//   for i in 14*p..14*p + 14                             for i in 14*p..min(14*p + 14, M)
//     for k in 0..K                                        for k in 0..K
//       t[p, k, i - 14*p] = a[i, k] ? 0           -->        t[p, k, i - 14*p] = a[i, k]
//                                                        for i in max(14*p, M)..14*p + 14
//                                                          for k in 0..K
//                                                            t[p, k, i - 14*p] = 0
//
// For a serial loop whose body is loops around one store of a padded read, the padding zero, and whose iterator alone moves one
// of the read's subscripts by steps of one: the loop is cut where that subscript enters and leaves the array. The conditions of
// the inner loops go, and what is left is a copy that printers know by its shape. Iterations keep their order.
#include "codegen/passes/context.hpp"

namespace facet::passes {

namespace {

// The one store below, when there are only loops around it; null otherwise.
const Store* only_store(const LoopList& body) {
  if (body.size() != 1) return nullptr;
  if (const Store* s = as<Store>(body[0])) return s;
  const For* f = as<For>(body[0]);
  return f && f->kind == LoopKind::kSerial ? only_store(f->body) : nullptr;
}

bool copies_with_zeros(const Store& s) {
  const ExprPtr& v = s.value;
  if (s.update || s.mask || s.atomic || s.lanes > 1 || v->op != Op::kRead || !v->pad || v->mask || v->lanes > 1) return false;
  return v->pad->op == Op::kLiteral && v->pad->int_value == 0 && v->pad->float_value == 0;
}

LoopList with_value(const LoopList& body, const ExprPtr& value) {
  LoopList out;
  for (const LoopPtr& n : body) {
    const Store* s = as<Store>(n);
    if (!s) {
      out.push_back(rebuild(
          n, [](const ExprPtr& e) { return e; }, [&](const LoopList& inner) { return with_value(inner, value); }));
      continue;
    }
    Store zero = *s;
    zero.value = value;
    out.push_back(make_loop(std::move(zero)));
  }
  return out;
}

class Splitting {
 public:
  explicit Splitting(Context& context) : context_(context) {}

  LoopList in_block(const LoopList& block, const Facts& facts) {
    LoopList out;
    for (const LoopPtr& n : block) {
      Facts inner = facts;
      const For* f = as<For>(n);
      if (f) {
        const LoopList parts = cut(*f, facts);
        out.insert(out.end(), parts.begin(), parts.end());
        if (!parts.empty()) continue;
        inner.add_range(f->iterator, f->lower, f->upper);
      }
      out.push_back(rebuild(
          n, [](const ExprPtr& e) { return e; }, [&](const LoopList& list) { return in_block(list, inner); }));
    }
    return out;
  }

 private:
  Context& context_;

  // Zeros, copies, zeros; empty: nothing to cut.
  LoopList cut(const For& f, const Facts& facts) {
    const Store* s = f.kind == LoopKind::kSerial && f.step == 1 ? only_store(f.body) : nullptr;
    const Buffer* buffer = s && copies_with_zeros(*s) ? context_.find(s->value->name) : nullptr;
    if (!buffer) return {};
    std::set<std::string> inside = introduced_names(f.body);
    Facts running = facts;
    running.add_range(f.iterator, f.lower, f.upper);
    for (std::size_t d = 0; d < buffer->extents.size(); ++d) {
      const ExprPtr& subscript = s->value->args[d];
      if (to_linear(subscript).coefficient_of(f.iterator) != 1 || !accesses_of(subscript).empty()) continue;
      const ExprPtr rest = to_expr(difference(subscript, index(f.iterator)));
      if (mentions(rest, f.iterator) || mentions_any(rest, inside)) continue;
      const ExprPtr enters = idx_sub(idx(0), rest), leaves = idx_sub(buffer->extents[d], rest);
      const bool early = running.at_most(idx(0), subscript), late = running.less(subscript, buffer->extents[d]);
      if (early && late) continue;
      return parts(f, early ? nullptr : enters, late ? nullptr : leaves, s->value->pad, facts);
    }
    return {};
  }

  LoopList parts(const For& f, const ExprPtr& enters, const ExprPtr& leaves, const ExprPtr& zero, const Facts& facts) {
    const ExprPtr first = enters ? idx_min(idx_max(f.lower, enters), f.upper) : f.lower;
    const ExprPtr last = leaves ? idx_max(idx_min(f.upper, leaves), first) : f.upper;
    LoopList out;
    const auto add = [&](const ExprPtr& lower, const ExprPtr& upper, const LoopList& body) {
      For part = f;
      part.lower = simplify_expr(lower, facts, context_);
      part.upper = simplify_expr(upper, facts, context_);
      part.body = body;
      out.push_back(make_loop(std::move(part)));
    };
    if (enters) add(f.lower, first, with_value(f.body, zero));
    Facts inner = facts;
    inner.add_range(f.iterator, enters ? idx_max(f.lower, enters) : f.lower, leaves ? idx_min(f.upper, leaves) : f.upper);
    add(first, last, in_block(simplify(f.body, inner, context_), inner));
    if (leaves) add(last, f.upper, with_value(f.body, zero));
    context_.note("padding", f.iterator, true, "zeros apart from what is copied");
    return out;
  }
};

}  // namespace

LoopList split_padding(const LoopList& body, Context& context) {
  return Splitting(context).in_block(body, context.symbol_facts());
}

}  // namespace facet::passes
