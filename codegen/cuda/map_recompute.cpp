// recompute_rows: carries out the recipe's `recompute` (polyhedral/transform/recompute.cpp, which says why and when): the loop
// that defines the array goes, and its value stands where the array was read.
#include <algorithm>

#include "codegen/cuda/map_internal.hpp"

namespace facet::gpu {

using passes::as;

namespace {

// The body of the innermost of the grid's loops; null when the node is no nest of them.
const LoopList* grid_body(const LoopPtr& node, std::set<std::string>* iterators) {
  const LoopList* body = nullptr;
  for (LoopPtr n = node;;) {
    const For* f = as<For>(n);
    if (f == nullptr || !on_grid(*f)) return body;
    iterators->insert(f->iterator);
    body = &f->body;
    const LoopList inner = without_comments(f->body);
    if (inner.size() != 1) return body;
    n = inner[0];
  }
}

class Recompute {
 public:
  Recompute(const std::string& array, const LoopPtr& node) : array_(array), node_(node) {}

  // The node without the array, or null.
  LoopPtr run() {
    const LoopList* body = grid_body(node_, &grid_);
    if (body == nullptr || !find_definition(*body) || !reads_allow(*body)) return nullptr;
    return rewritten({node_})[0];
  }

 private:
  bool find_definition(const LoopList& body) {
    for (const LoopPtr& n : body) {
      const For* f = as<For>(n);
      const Store* s = f && f->body.size() == 1 ? as<Store>(f->body[0]) : nullptr;
      if (s == nullptr || s->buffer != array_) continue;
      if (definition_ || s->update || s->lanes > 1 || s->mask || !in_block(*f) || f->gpu.reduces) return false;
      definition_ = n;
      loop_ = f->iterator;
      store_ = s;
    }
    if (!definition_) return false;
    bool plain = true;
    for (const ExprPtr& e : store_->subscripts)
      plain = plain && e->op == Op::kIndex && (e->name == loop_) != (grid_.count(e->name) > 0);
    walk(store_->value,
         [&](const Expr& e) { plain = plain && e.op != Op::kValue && !(e.op == Op::kRead && e.name == array_); });
    return plain;
  }

  // Every other access is a read behind the definition, of this iteration's row. That the value's sources are still there is
  // what the step was judged on.
  bool reads_allow(const LoopList& body) {
    bool behind = false, fine = true;
    std::size_t reads = 0;
    for (const LoopPtr& n : body) {
      if (n == definition_) {
        behind = true;
        continue;
      }
      for (const passes::Access& a : passes::accesses_of(LoopList{n})) {
        if (a.buffer != array_) continue;
        ++reads;
        fine = fine && behind && !a.writes && !a.padded && a.lanes == 1 && of_this_row(a.subscripts);
      }
    }
    return fine && reads > 0;
  }

  bool of_this_row(const std::vector<ExprPtr>& subscripts) const {
    for (std::size_t d = 0; d < subscripts.size(); ++d) {
      if (store_->subscripts[d]->name != loop_ && !same(subscripts[d], store_->subscripts[d])) return false;
      if (!passes::accesses_of(subscripts[d]).empty()) return false;
    }
    return true;
  }

  ExprPtr value_at(const Expr& read) const {
    for (std::size_t d = 0; d < read.args.size(); ++d)
      if (store_->subscripts[d]->name == loop_) return substitute(store_->value, {{loop_, read.args[d]}});
    return store_->value;
  }

  LoopList rewritten(const LoopList& body) const {
    LoopList out;
    const auto expression = [&](const ExprPtr& e) {
      return rewrite(e, [&](const ExprPtr& x) { return x->op == Op::kRead && x->name == array_ ? value_at(*x) : x; });
    };
    for (const LoopPtr& n : body)
      if (n != definition_) out.push_back(passes::rebuild(n, expression, [&](const LoopList& b) { return rewritten(b); }));
    return out;
  }

  const std::string& array_;
  const LoopPtr& node_;
  std::set<std::string> grid_;
  LoopPtr definition_;
  std::string loop_;
  const Store* store_ = nullptr;
};

std::size_t count_of(const LoopList& body, const std::string& buffer) {
  std::size_t n = 0;
  for (const passes::Access& a : passes::accesses_of(body)) n += a.buffer == buffer;
  return n;
}

}  // namespace

LoopList recompute_rows(const LoopList& body, const std::vector<std::string>& arrays, MapContext& context) {
  LoopList result = body;
  for (const std::string& array : arrays) {
    bool done = false;
    for (LoopPtr& node : result) {
      const std::size_t uses = count_of({node}, array);
      if (uses == 0 || uses != count_of(result, array)) continue;
      if (const LoopPtr without = Recompute(array, node).run()) {
        node = without;
        done = true;
      }
    }
    context.passes.note("recompute", array, done,
                        done ? "computed where it is read" : "its loop is no plain row: it stays in memory");
  }
  return result;
}

}  // namespace facet::gpu
