// block: the threads of a block share the nests inside the grid's loops that are mapped to them.
//
//   for i (grid)                                for i  grid x,  for t in 0..256  threads x
//     m = -inf                                    m = -inf                       each thread its own copy
//     for j  m max= x[i,j]              -->       part = -inf; for j = t step 256  part max= x[i,j]
//     for j  y[i,j] = exp(x[i,j] - m)             m max= block max of part
//     for j  s += y[i,j]                          for j = t step 256  y[i,j] = exp(x[i,j] - m)
//     z[i] = s                                    part = 0; for j = t step 256  part += y[i,j];  s += block sum of part
//                                                 if t == 0  z[i] = s
//
// Every nest has its own shape (map_nest.hpp). A local array each element of which is one thread's becomes that thread's
// registers; one that every thread computes alike stays a private copy; others, and those asked for there, go to shared memory.
// A barrier stands between two accesses of a buffer only if one is a write and they are not surely by the same thread: nests of
// the same shape that reach the buffer by the same forms of their iterators are (that is why y needs none above). Serial loops
// are executed by all threads in step, what neither reduces nor runs in parallel by thread 0. A loop whose iterations are
// warps' makes of each warp a block of its own: collectives and barriers inside are the warp's, shared arrays have a part for
// each. Loops of tiles run to their full extent where nothing shows (widen), unrolled ones get a version for full tiles (peel).
#include <algorithm>
#include <utility>

#include "codegen/cuda/map_block.hpp"
#include "codegen/cuda/touches.hpp"

namespace facet::gpu {

using passes::as;

namespace {

ExprPtr reduced(ReduceKind kind, const ExprPtr& a, const ExprPtr& b) { return binary(passes::operator_of(kind), a, b); }

class BlockMapper {
 public:
  BlockMapper(const Chain& chain, MapContext& context) : chain_(chain), context_(context) {}

  std::optional<LoopList> run() {
    body_ = rolled(passes::peel(passes::widen(chain_.body, context_.passes), context_.passes));
    threads_ = threads_of(body_);
    locals_ = locals_of(body_);
    thread_ = context_.passes.names.fresh("t");
    LoopList body = list(body_);
    if (failed_) return std::nullopt;
    return to_grid(chain_.loops, {agent_loop(LoopKind::kThreadX, thread_, idx(threads_), std::move(body))}, context_);
  }

 private:
  // What peel left of an unrolled loop, the rest of a partial tile, is a plain loop.
  static LoopList rolled(const LoopList& body) {
    LoopList out;
    for (const LoopPtr& n : body) {
      LoopPtr inner = passes::rebuild(
          n, [](const ExprPtr& e) { return e; }, rolled);
      const For* f = as<For>(inner);
      if (f && f->kind == LoopKind::kUnroll && f->width == 0 && !passes::difference(f->upper, f->lower).is_constant()) {
        For plain = *f;
        plain.kind = LoopKind::kSerial;
        inner = make_loop(std::move(plain));
      }
      out.push_back(inner);
    }
    return out;
  }

  LoopList list(const LoopList& body) {
    LoopList out;
    for (const LoopPtr& n : body) node(n, &out);
    return out;
  }

  void node(const LoopPtr& n, LoopList* out) {
    if (as<Comment>(n)) return out->push_back(n);
    if (const Allocate* a = as<Allocate>(n)) return allocate(*a, out);
    if (as<Barrier>(n) || as<Collective>(n) || as<AsyncCopy>(n) || as<AsyncWait>(n)) {
      failed_ = true;
      return;
    }
    switch (role_of(n)) {
      case Role::kReduction: return reduction(*reduction_of(n), n, out);
      case Role::kThreads: return threads(n, out);
      case Role::kSteps: return steps(n, out);
      case Role::kWarps: return warps(*as<For>(n), out);
      case Role::kScalar: return scalar(n, out);
    }
  }

  void allocate(const Allocate& a, LoopList* out) {
    const std::string& name = a.buffer.name;
    if (const auto it = locals_.privates.find(name); it != locals_.privates.end()) {
      note("promote", name, "registers: each thread has its part");
      return out->push_back(make_loop(Allocate{part_of_thread(a.buffer, it->second)}));
    }
    if (locals_.replicas.count(name)) return out->push_back(make_loop(Allocate(a)));
    Allocate shared = a;
    shared.buffer.space = MemorySpace::kShared;
    shared.buffer.alignment_bytes = std::max<std::int64_t>(16, a.buffer.alignment_bytes);
    if (scope_ == Scope::kWarp) {
      std::vector<ExprPtr>& strides = shared.buffer.strides;
      if (!strides.empty()) strides.insert(strides.begin(), idx(elements_of(a.buffer)));
      shared.buffer.extents.insert(shared.buffer.extents.begin(), idx(threads_ / kWarp));
      of_warps_.insert(name);
    }
    shared_bytes_ += elements_of(shared.buffer) * size_bytes(a.buffer.dtype);
    if (shared_bytes_ > context_.machine.shared_bytes_opt_in) failed_ = true;
    out->push_back(make_loop(std::move(shared)));
    note("promote", name,
         a.buffer.space == MemorySpace::kShared ? "shared memory" : "shared memory: written by several threads of the block");
  }

  std::int64_t elements_of(const Buffer& b) {
    std::int64_t count = 1;
    for (std::size_t d = 0; d < b.extents.size(); ++d) {
      std::int64_t extent = 0, stride = 0;
      if (!passes::constant_value(b.extents[d], &extent)) failed_ = true;
      if (!b.strides.empty() && !passes::constant_value(b.strides[d], &stride)) failed_ = true;
      count = b.strides.empty() ? count * extent : count + (extent - 1) * stride;
    }
    return count;
  }

  void note(const std::string& pass, const std::string& what, const std::string& reason) {
    context_.passes.note(pass, what, true, reason);
  }

  std::vector<Touch> touches_of(const LoopPtr& n, const std::string& owner) const {
    std::vector<Touch> touches;
    std::string statement;
    passes::walk_nodes({n}, [&](const LoopPtr& m) {
      if (const Store* s = as<Store>(m); s && statement.empty()) statement = s->statement;
    });
    for (const passes::Access& a : passes::accesses_of(LoopList{n}))
      if (!locals_.is_private(a.buffer, n)) touches.push_back({a.buffer, owner, statement, a.writes, slot_of(a)});
    const std::set<std::string> own = passes::introduced_names({n});  // another node's loops may be called the same
    for (Touch& t : touches)
      if (t.slot && passes::mentions_any(t.slot->at, own)) t.slot.reset();
    return touches;
  }

  // What a nest's threads touch: an element belongs to the thread that the form names.
  std::vector<Touch> nest_touches(const LoopPtr& n, const Nest& nest) const {
    std::vector<Touch> touches = touches_of(n, kEvery);
    const std::set<std::string> inner = inner_names(n, nest);
    std::size_t k = 0;
    for (const passes::Access& a : passes::accesses_of(LoopList{n})) {
      if (locals_.is_private(a.buffer, n)) continue;
      if (const std::optional<Owner> owner = owner_of(a, nest, inner, stepped_)) touches[k].owner = owner->form;
      ++k;
    }
    return touches;
  }

  // A barrier first, if what is about to be touched conflicts with what was since the last one.
  void separate(const std::vector<Touch>& touches, LoopList* out) {
    for (const Touch& now : touches)
      for (const Touch& before : pending_)
        if (conflict(before, now)) {
          barrier(before, now, out);
          return;
        }
  }

  void barrier(const Touch& before, const Touch& now, LoopList* out) {
    const std::string from = before.statement.empty() ? "read" : before.statement,
                      to = now.statement.empty() ? "read" : now.statement;
    out->push_back(make_loop(Barrier{scope_, from + " -> " + to + " (" + now.buffer + ")"}));
    pending_.clear();
    recording_ = false;
  }

  void touch(const std::vector<Touch>& touches) {
    for (const Touch& t : touches) {
      pending_.push_back(t);
      if (recording_) heads_.push_back(t);
    }
  }

  void threads(const LoopPtr& root, LoopList* out) {
    const Nest nest = nest_at(root);
    failed_ = failed_ || !nest.valid;
    if (failed_) return;
    const std::vector<Touch> touches = nest_touches(root, nest);
    separate(touches, out);
    touch(touches);
    LoopList part = part_of_nest(root, thread_, locals_.privates, context_);
    if (nest.threads < agents()) part = {tail_guard(binary(Op::kLt, index(thread_), idx(nest.threads)), std::move(part))};
    out->insert(out->end(), part.begin(), part.end());
  }

  For spread(const For& f) const {
    For loop = f;
    loop.kind = holds(f.body, [](const For&) { return true; }) ? LoopKind::kSerial : LoopKind::kUnroll;
    loop.width = loop.kind == LoopKind::kUnroll ? kInFlight : 0;
    loop.gpu = GpuPlace{};
    loop.lower = iteration(f, me());
    loop.step = f.step * agents();
    return loop;
  }

  // The number of a thread among those that share the work at hand, and how many these are.
  ExprPtr me() const { return scope_ == Scope::kBlock ? index(thread_) : binary(Op::kFloorMod, index(thread_), idx(kWarp)); }
  std::int64_t agents() const { return scope_ == Scope::kBlock ? threads_ : kWarp; }
  ExprPtr warp() const { return binary(Op::kFloorDiv, index(thread_), idx(kWarp)); }

  LoopList with_partial(const LoopList& body, const std::string& spread_iterator, const std::string& part, DType type,
                        ReduceKind kind) {
    LoopList out;
    for (const LoopPtr& n : body) {
      if (const Store* s = as<Store>(n)) {
        out.push_back(make_loop(Set{part, reduced(kind, value_of(part, type), s->value)}));
        continue;
      }
      LoopPtr inner = passes::rebuild(
          n, [](const ExprPtr& e) { return e; },
          [&](const LoopList& b) { return with_partial(b, spread_iterator, part, type, kind); });
      if (const For* f = as<For>(inner); f && f->iterator == spread_iterator) inner = make_loop(spread(*f));
      out.push_back(inner);
    }
    return out;
  }

  void reduction(const ReductionNest& nest, const LoopPtr& n, LoopList* out) {
    const ReduceKind kind = *nest.store.update;
    const DType type = nest.store.value->type;
    const For& loop = *std::find_if(nest.loops.begin(), nest.loops.end(), in_block);
    Nest alone;
    alone.loops = {loop};
    std::vector<Touch> reads;
    for (const Touch& t : nest_touches(n, alone))
      if (t.buffer != nest.store.buffer) reads.push_back(t);
    separate(reads, out);
    touch(reads);
    const std::string part = context_.passes.names.fresh(nest.store.buffer + "_part"),
                      total = context_.passes.names.fresh(nest.store.buffer + "_total");
    out->push_back(make_loop(Let{part, type, 1, passes::identity_of(kind, type), true}));
    for (const LoopPtr& m : with_partial({n}, loop.iterator, part, type, kind)) out->push_back(m);
    out->push_back(make_loop(Let{total, type, 1, nullptr, true}));
    Collective all;
    all.scope = scope_;
    all.kind = kind;
    all.target = total;
    all.value = value_of(part, type);
    out->push_back(make_loop(std::move(all)));
    if (scope_ == Scope::kBlock) {
      pending_.clear();  // a block-wide collective holds barriers
      recording_ = false;
    }
    Store store = nest.store;
    store.value = value_of(total, type);
    scalar(where_iterated(nest, n, inside(store)), out);
  }

  // A point without iterations has no place of its own: j in 0..i+1 at i = -1. (Conditions that always hold go later.)
  LoopPtr inside(const Store& store) const {
    const Buffer* buffer = context_.passes.find(store.buffer);
    const auto local = locals_.all.find(store.buffer);
    if (!buffer && local != locals_.all.end()) buffer = &local->second;
    LoopPtr result = make_loop(Store(store));
    for (std::size_t d = 0; buffer && d < store.subscripts.size(); ++d) {
      const ExprPtr& s = store.subscripts[d];
      If guard;
      guard.condition = binary(Op::kAnd, binary(Op::kLe, idx(0), s), binary(Op::kLt, s, buffer->extents[d]));
      guard.then = {result};
      result = make_loop(std::move(guard));
    }
    return result;
  }

  // What `inside` made, with what it touches before its first barrier; what was pending before waits outside.
  std::vector<Touch> heads_of(const LoopList& inside, LoopList* made, const For* loop = nullptr) {
    const std::vector<Touch> outer_heads = std::move(heads_);
    const bool outer_recording = recording_;
    heads_.clear();
    pending_.clear();
    recording_ = true;
    *made = list(inside);
    std::vector<Touch> heads = std::move(heads_);
    heads_ = outer_heads;
    recording_ = outer_recording;
    const std::vector<Touch> outside = loop ? seen_from_outside(heads, *loop) : heads;
    if (recording_) heads_.insert(heads_.end(), outside.begin(), outside.end());
    return heads;
  }

  // Executed by all threads together, perhaps not at all; the accesses of one iteration may meet those of the next. A barrier
  // against what was before stands in front: there it is waited for once.
  void steps(const LoopPtr& n, LoopList* out) {
    if (const Sequence* s = as<Sequence>(n)) return out->push_back(make_loop(Sequence{list(s->body)}));
    std::vector<Touch> before = pending_, after, heads;
    LoopPtr made;
    if (const If* i = as<If>(n)) {
      If copy = *i;
      heads = heads_of(i->then, &copy.then);
      after = pending_;
      const std::vector<Touch> others = heads_of(i->otherwise, &copy.otherwise);
      heads.insert(heads.end(), others.begin(), others.end());
      after.insert(after.end(), pending_.begin(), pending_.end());
      made = make_loop(std::move(copy));
    } else {
      For loop = *as<For>(n);
      if (loop.kind != LoopKind::kUnroll) loop.kind = LoopKind::kSerial;
      stepped_.insert(loop.iterator);
      LoopList body;
      heads = heads_of(loop.body, &body, &loop);
      stepped_.erase(loop.iterator);
      // The next iterations begin: a place that the first does not touch, one of the others may.
      for (std::int64_t k = 1; k <= turns_of(heads); ++k) separate(later(heads, loop, k), &body);
      heads = seen_from_outside(std::move(heads), loop);
      after = seen_from_outside(pending_, loop);
      loop.body = std::move(body);
      made = make_loop(std::move(loop));
    }
    pending_ = before;
    const bool recorded = std::exchange(recording_, true);
    separate(heads, out);
    recording_ = recorded && recording_;
    pending_.insert(pending_.end(), after.begin(), after.end());
    out->push_back(made);
  }

  // Seen from the block, any of its threads may touch anything of it.
  void warps(const For& f, LoopList* out) {
    const LoopPtr whole = make_loop(For(f));
    failed_ = failed_ || scope_ == Scope::kWarp || f.gpu.reduces || kWarp * f.gpu.threads != threads_;
    const std::vector<Touch> touches = touches_of(whole, kEvery);
    separate(touches, out);
    touch(touches);
    const std::vector<Touch> pending = std::move(pending_), heads = std::move(heads_);
    const bool recording = std::exchange(recording_, false);
    scope_ = Scope::kWarp;
    stepped_.insert(f.iterator);
    LoopList body;
    const std::vector<Touch> first = heads_of(f.body, &body);
    if (!one_each(f)) separate(seen_from_outside(first, f), &body);  // the warp's next iteration begins
    stepped_.erase(f.iterator);
    scope_ = Scope::kBlock;
    pending_ = pending;
    heads_ = heads;
    recording_ = recording;
    for (const LoopPtr& n : part_of_warp(f, warp(), with_warp(body, of_warps_, warp()))) out->push_back(n);
  }

  // A nest of loops without a place, a part that `compute_at` made for instance, is somebody's whole work: who does it, and how
  // the block would share it.
  void tell_unshared(const LoopPtr& n, bool by_all) const {
    const For* loop = as<For>(n);
    std::string statement;
    passes::walk_nodes({n}, [&](const LoopPtr& m) {
      if (const Store* s = as<Store>(m); s && statement.empty()) statement = s->statement;
    });
    if (!loop || statement.empty() || threads_ == 1) return;
    context_.passes.note("map", loop->iterator + " of " + statement, false,
                         (by_all ? "every thread of the block computes all of it" : "one thread of the block does all of it") +
                             std::string(": map_gpu with \"statement\": \"") + statement +
                             "\" and loops of it in \"block\" shares it");
  }

  void scalar(const LoopPtr& n, LoopList* out) {
    tell_unshared(n, locals_.by_all(n));
    if (locals_.by_all(n)) {
      const std::vector<Touch> touches = touches_of(n, kEvery);
      separate(touches, out);
      touch(touches);
      return out->push_back(n);
    }
    // A named value that outlives the node would differ between threads.
    const std::set<std::string> own = passes::introduced_names({n});
    passes::walk_nodes({n}, [&](const LoopPtr& m) {
      if (const Set* s = as<Set>(m)) failed_ = failed_ || !own.count(s->name);
    });
    const std::vector<Touch> touches = touches_of(n, kFirst);
    separate(touches, out);
    touch(touches);
    If first;
    first.condition = binary(Op::kEq, me(), idx(0));
    first.then = {n};
    out->push_back(make_loop(std::move(first)));
  }

  const Chain& chain_;
  MapContext& context_;
  LoopList body_;  // the chain's, tiles widened and peeled
  Locals locals_;
  std::set<std::string> stepped_;  // iterators of the loops around that all threads run in step
  std::int64_t threads_ = 1, shared_bytes_ = 0;
  std::string thread_;
  Scope scope_ = Scope::kBlock;         // who shares the work at hand
  std::set<std::string> of_warps_;      // arrays with a part for each warp
  std::vector<Touch> pending_, heads_;  // since the last barrier; from the start of a body to its first barrier
  bool recording_ = false;
  bool failed_ = false;
};

}  // namespace

std::optional<LoopList> map_block(const Chain& chain, MapContext& context) { return BlockMapper(chain, context).run(); }

}  // namespace facet::gpu
