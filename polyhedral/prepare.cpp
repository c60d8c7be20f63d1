// What depends on constant weights alone is computed once.
//
//   k0:  w.packed = panels of w          k0_prepare:  w.packed = panels of w
//        for ..  y += x * w.packed  -->  k0:          for ..  y += x * w.packed
//
// A nest at the top of a kernel moves when all that it reads are weights or what such nests have made, when it asks for no
// symbol (the workspace may serve other sizes later, and what prepare leaves there lies before all that depends on them), and
// when it alone writes the arrays of the workspace that it writes: then nothing that runs later changes them, and their memory
// is no other array's. Arrays that it declares inside go with it. Known elsewhere as constant folding into pre-packed weights.
// A kernel keeps at least one nest: its place among the kernels is the recipe's.
#include "polyhedral/prepare.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "polyhedral/kernel_buffers.hpp"

namespace facet {

namespace {

struct Touched {
  std::set<std::string> read, written, bound, names;  // `names`: indices that loops or symbols give
  std::set<std::string> own;                          // arrays that are declared inside
  bool plain = true;                                  // loops, ifs, stores and declarations only
};

void touch(const ExprPtr& e, Touched& t) {
  walk(e, [&](const Expr& x) {
    if (x.op == Op::kRead) t.read.insert(x.name);
    if (x.op == Op::kIndex) t.names.insert(x.name);
  });
}

void touch(const LoopList& body, Touched& t) {
  for (const LoopPtr& l : body) {
    if (const auto* f = std::get_if<For>(&l->node)) {
      t.bound.insert(f->iterator);
      touch(f->lower, t);
      touch(f->upper, t);
      touch(f->body, t);
    } else if (const auto* i = std::get_if<If>(&l->node)) {
      touch(i->condition, t);
      touch(i->then, t);
      touch(i->otherwise, t);
    } else if (const auto* s = std::get_if<Store>(&l->node)) {
      t.written.insert(s->buffer);
      if (s->update) t.read.insert(s->buffer);
      touch(s->value, t);
      if (s->mask) touch(s->mask, t);
      for (const ExprPtr& e : s->subscripts) touch(e, t);
    } else if (const auto* a = std::get_if<Allocate>(&l->node)) {
      t.own.insert(a->buffer.name);
      for (const ExprPtr& e : a->buffer.extents) touch(e, t);
      for (const ExprPtr& e : a->buffer.strides) touch(e, t);
    } else {
      t.plain = false;
    }
  }
}

// What a nest touches beside the arrays of its own.
Touched touched(const LoopPtr& nest) {
  Touched t;
  touch(LoopList{nest}, t);
  for (const std::string& buffer : t.own) {
    t.read.erase(buffer);
    t.written.erase(buffer);
  }
  return t;
}

class Preparing {
 public:
  explicit Preparing(LoopProgram& program) : program_(program) {
    for (const Buffer& b : program.buffers) {
      if (b.role == BufferRole::kWeight) ready_.insert(b.name);
      if (b.role == BufferRole::kWorkspace && has_constant_size(b)) own_.insert(b.name);
    }
    for (const Kernel& k : program.kernels)
      for (const LoopPtr& nest : k.body)
        for (const std::string& buffer : touched(nest).written) ++writers_[buffer];
  }

  void run(Ledger& ledger) {
    for (Kernel& k : program_.kernels) {
      LoopList once, each;
      for (const LoopPtr& nest : k.body) (movable(nest) ? once : each).push_back(nest);
      if (once.empty() || each.empty()) continue;
      k.body = each;
      k.buffers.clear();
      collect_buffers(k.body, k.buffers);
      Kernel made;
      made.name = k.name + "_prepare";
      made.comment = "what depends on weights alone";
      made.body = once;
      collect_buffers(made.body, made.buffers);
      for (const LoopPtr& nest : once)
        for (const std::string& buffer : touched(nest).written) {
          ready_.insert(buffer);
          ledger.push_back({"promotion", "array " + buffer, true, "made of weights alone: once, in prepare", k.name, 0});
        }
      program_.prepare.push_back(std::move(made));
    }
  }

 private:
  LoopProgram& program_;
  std::set<std::string> ready_, own_;
  std::map<std::string, int> writers_;  // nests at the top of kernels

  static bool has_constant_size(const Buffer& b) {
    const auto constant = [](const ExprPtr& e) { return e->op == Op::kLiteral; };
    return std::all_of(b.extents.begin(), b.extents.end(), constant) &&
           std::all_of(b.strides.begin(), b.strides.end(), constant);
  }

  bool movable(const LoopPtr& nest) const {
    const Touched t = touched(nest);
    const auto in = [](const std::set<std::string>& set) { return [&set](const std::string& x) { return set.count(x) > 0; }; };
    return t.plain && !t.written.empty() && std::all_of(t.names.begin(), t.names.end(), in(t.bound)) &&
           std::all_of(t.read.begin(), t.read.end(),
                       [&](const std::string& b) { return ready_.count(b) > 0 || t.written.count(b) > 0; }) &&
           std::all_of(t.written.begin(), t.written.end(),
                       [&](const std::string& b) { return own_.count(b) > 0 && writers_.at(b) == 1; });
  }
};

}  // namespace

void move_to_prepare(LoopProgram& program, Ledger& ledger) { Preparing(program).run(ledger); }

}  // namespace facet
