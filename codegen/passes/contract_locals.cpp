// contract_locals: a local array that is used in one iteration only becomes a
// named value.
//
//   allocate h0[64]                                 for j
//   for j                                             let h0 = a[j] + b[j]
//     h0[j] = a[j] + b[j]              -->            c[j] = tanh(h0)
//     c[j] = tanh(h0[j])
//
// An array goes when all its accesses lie in one block (nested loops and ifs of
// that block included), name the same element in the same words, and the first
// one is an unconditional plain store in that block: then no value passes from
// one iteration to the next, and each iteration needs one element. It runs
// before vectorisation, so that the value becomes a vector with its loop. Not
// done: an array updated inside a loop that is to be vectorised (the update
// must stay a reduction fact; keep_in_registers and forward_stores take it
// afterwards). Known elsewhere as array contraction or scalar replacement of a
// local.
#include "codegen/passes/context.hpp"

#include "facet/expr_walk.hpp"

namespace facet::passes {

namespace {

bool touches(const LoopPtr& node, const std::string& buffer) {
  for (const Access& a : accesses_of(LoopList{node}))
    if (a.buffer == buffer) return true;
  return false;
}

const LoopList* only_body(const LoopPtr& node) {
  if (const For* f = as<For>(node)) return &f->body;
  if (const Sequence* s = as<Sequence>(node)) return &s->body;
  return nullptr;
}

bool updated_in_vector_loop(const LoopList& body, const std::string& buffer) {
  bool found = false;
  walk_nodes(body, [&](const LoopPtr& node) {
    const For* f = as<For>(node);
    if (!f || f->kind != LoopKind::kVector) return;
    for (const Access& a : accesses_of(f->body)) found = found || (a.buffer == buffer && a.writes);
  });
  return found;
}

// The statements of `block` form the life of one element of `buffer`.
bool is_one_element(const LoopList& block, const std::string& buffer, DType type, std::size_t first) {
  const Store* defines = as<Store>(block[first]);
  if (!defines || defines->buffer != buffer || defines->update || defines->mask || defines->lanes != 1 || defines->atomic)
    return false;
  for (const Access& a : accesses_of(defines->value))
    if (a.buffer == buffer) return false;
  const Access element = access_of(*defines, type);
  for (const Access& a : accesses_of(block)) {
    if (a.buffer != buffer) continue;
    if (!same_place(a, element)) return false;
  }
  return true;
}

class Contraction {
 public:
  Contraction(const Buffer& buffer, std::string value) : buffer_(buffer), value_(std::move(value)) {}

  LoopList in_block(const LoopList& block, std::size_t first) const {
    std::size_t stores = 0;
    for (const Access& a : accesses_of(block)) stores += a.buffer == buffer_.name && a.writes;
    LoopList out(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(first));
    const Store* defines = as<Store>(block[first]);
    out.push_back(make_loop(Let{value_, buffer_.dtype, 1, defines->value, stores > 1}));
    const LoopList rest(block.begin() + static_cast<std::ptrdiff_t>(first) + 1, block.end());
    for (const LoopPtr& node : replaced(rest)) out.push_back(node);
    return out;
  }

 private:
  const Buffer& buffer_;
  std::string value_;

  ExprPtr here() const { return value_of(value_, buffer_.dtype); }

  ExprPtr in_expression(const ExprPtr& e) const {
    return rewrite(e, [&](const ExprPtr& node) { return node->op == Op::kRead && node->name == buffer_.name ? here() : node; });
  }

  LoopList replaced(const LoopList& body) const {
    LoopList out;
    for (const LoopPtr& node : body) {
      const LoopPtr next = rebuild(
          node, [&](const ExprPtr& e) { return e ? in_expression(e) : e; },
          [&](const LoopList& inner) { return replaced(inner); });
      const Store* s = as<Store>(next);
      if (!s || s->buffer != buffer_.name) {
        out.push_back(next);
        continue;
      }
      out.push_back(make_loop(Set{value_, s->update ? binary(operator_of(*s->update), here(), s->value) : s->value}));
    }
    return out;
  }
};

// Tries to contract `buffer` in `block`; true when its accesses are gone.
bool contract(LoopList& block, const Buffer& buffer, Context& context) {
  std::size_t first = block.size(), last = 0, count = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (!touches(block[i], buffer.name)) continue;
    first = std::min(first, i);
    last = i;
    ++count;
  }
  if (count == 0) return true;
  if (is_one_element(block, buffer.name, buffer.dtype, first)) {
    if (updated_in_vector_loop(block, buffer.name)) return false;
    block = Contraction(buffer, context.names.fresh(buffer.name + "_value")).in_block(block, first);
    return true;
  }
  if (count != 1 || !only_body(block[last])) return false;
  LoopList inner = *only_body(block[last]);
  if (!contract(inner, buffer, context)) return false;
  block[last] = rebuild(
      block[last], [](const ExprPtr& e) { return e; }, [&](const LoopList&) { return inner; });
  return true;
}

}  // namespace

LoopList contract_locals(const LoopList& body, Context& context) {
  LoopList out;
  for (const LoopPtr& node : body)
    out.push_back(rebuild(
        node, [](const ExprPtr& e) { return e; }, [&](const LoopList& inner) { return contract_locals(inner, context); }));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Allocate* a = as<Allocate>(out[i]);
    if (!a) continue;
    const Buffer buffer = a->buffer;
    LoopList rest(out.begin() + static_cast<std::ptrdiff_t>(i) + 1, out.end());
    if (!contract(rest, buffer, context)) continue;
    context.note("contract", buffer.name, true, "one element lives at a time: a named value");
    out.resize(i);
    out.insert(out.end(), rest.begin(), rest.end());
    --i;
  }
  return out;
}

}  // namespace facet::passes
