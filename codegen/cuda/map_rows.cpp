// rows: one block an iteration of the grid's loops; its threads share the inner loops that are mapped to them.
//
//   for i (grid)                                for i  grid x,  for t in 0..256  threads x
//     m = -inf                                    m = -inf                       each thread its own copy
//     for j  m max= x[i,j]              -->       part = -inf; for j = t step 256  part max= x[i,j]
//     for j  y[i,j] = exp(x[i,j] - m)             m max= block max of part
//     for j  s += y[i,j]                          for j = t step 256  y[i,j] = exp(x[i,j] - m)
//     z[i] = s                                    part = 0; for j = t step 256  part += y[i,j];  s += block sum of part
//                                                 if t == 0  z[i] = s
//
// Local arrays that every thread computes alike stay private copies; others go to shared memory. A barrier stands between two
// accesses of a buffer only if one is a write and they are not surely by the same thread: two strided loops with the same
// bounds that reach the buffer by the same form of their iterators are (that is why y needs none above). Serial loops are
// executed by all threads in step, what neither reduces nor runs in parallel by thread 0.
#include <algorithm>

#include "codegen/cuda/map_internal.hpp"

namespace facet::gpu {

using passes::as;

namespace {

constexpr const char* kEvery = "every";  // owners of an access: all threads, thread 0, or the form of a strided loop
constexpr const char* kFirst = "first";

struct Touch {
  std::string buffer, owner, statement;
  bool write = false;
};

bool conflict(const Touch& a, const Touch& b) {
  return a.buffer == b.buffer && (a.write || b.write) && (a.owner != b.owner || a.owner == kEvery);
}

ExprPtr reduced(ReduceKind kind, const ExprPtr& a, const ExprPtr& b) { return binary(passes::operator_of(kind), a, b); }

class RowMapper {
 public:
  RowMapper(const Chain& chain, MapContext& context) : chain_(chain), context_(context) {}

  std::optional<LoopList> run() {
    find_locals();
    settle_replicas();
    passes::walk_nodes(chain_.body, [&](const LoopPtr& n) {
      if (const For* f = as<For>(n); f && in_block(*f)) threads_ = f->gpu.threads;
    });
    thread_ = context_.passes.names.fresh("t");
    LoopList body = list(chain_.body);
    if (failed_) return std::nullopt;
    return to_grid(chain_.loops, {agent_loop(LoopKind::kThreadX, thread_, idx(threads_), std::move(body))}, context_);
  }

 private:
  enum class Role { kThreads, kReduction, kSteps, kScalar };

  // How a node is executed: spread over threads, as a reduction, by all threads in step, or as scalar work.
  Role role_of(const LoopPtr& n) const {
    if (const For* f = as<For>(n)) {
      if (in_block(*f) && !f->gpu.reduces) return Role::kThreads;
      if (shared_reduction(n)) return Role::kReduction;
    }
    bool inner = false;
    const auto look = [&](const LoopList& body) {
      for (const LoopPtr& m : body) inner = inner || role_of(m) != Role::kScalar;
    };
    if (const For* f = as<For>(n)) look(f->body);
    if (const Sequence* s = as<Sequence>(n)) return look(s->body), inner ? Role::kSteps : Role::kScalar;
    if (const If* i = as<If>(n)) {
      look(i->then);
      look(i->otherwise);
      if (!passes::accesses_of(i->condition).empty()) return Role::kScalar;
    }
    return inner ? Role::kSteps : Role::kScalar;
  }

  // A reduction one of whose loops the threads share.
  static std::optional<ReductionNest> shared_reduction(const LoopPtr& n) {
    std::optional<ReductionNest> nest = reduction_of(n);
    if (!nest || std::none_of(nest->loops.begin(), nest->loops.end(), in_block)) return std::nullopt;
    return nest;
  }

  template <class F>
  void each_role(const LoopList& body, const F& visit) const {
    for (const LoopPtr& n : body) {
      const Role role = role_of(n);
      visit(n, role);
      if (role != Role::kSteps) continue;
      if (const For* f = as<For>(n)) each_role(f->body, visit);
      if (const Sequence* s = as<Sequence>(n)) each_role(s->body, visit);
      if (const If* i = as<If>(n)) {
        each_role(i->then, visit);
        each_role(i->otherwise, visit);
      }
    }
  }

  // Local arrays of the block, those of strided loops' bodies excepted: they are a thread's own anyway.
  void find_locals() {
    each_role(chain_.body, [&](const LoopPtr& n, Role role) {
      if (role == Role::kScalar)
        if (const Allocate* a = as<Allocate>(n)) locals_[a->buffer.name] = a->buffer;
    });
    for (const auto& [name, b] : locals_) replicas_.insert(name);
  }

  std::set<std::string> stored_in(const LoopPtr& n) const {
    std::set<std::string> names;
    passes::walk_nodes({n}, [&](const LoopPtr& m) {
      if (const Store* s = as<Store>(m)) names.insert(s->buffer);
    });
    return names;
  }

  // Scalar work that each thread can do for itself: it writes private copies and named values only.
  bool by_all(const LoopPtr& n) const {
    for (const std::string& b : stored_in(n))
      if (!replicas_.count(b) && !inner_allocation(n, b)) return false;
    return true;
  }

  static bool inner_allocation(const LoopPtr& n, const std::string& buffer) {
    bool found = false;
    passes::walk_nodes({n}, [&](const LoopPtr& m) {
      if (const Allocate* a = as<Allocate>(m)) found = found || a->buffer.name == buffer;
    });
    return found;
  }

  void settle_replicas() {
    for (bool changed = true; changed;) {
      changed = false;
      each_role(chain_.body, [&](const LoopPtr& n, Role role) {
        if (role == Role::kReduction || role == Role::kSteps || as<Allocate>(n)) return;
        if (role == Role::kScalar && by_all(n)) return;
        for (const std::string& b : stored_in(n)) changed = replicas_.erase(b) > 0 || changed;
      });
    }
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
      case Role::kThreads: return threads(*as<For>(n), out);
      case Role::kSteps: return steps(n, out);
      case Role::kScalar: return scalar(n, out);
    }
  }

  void allocate(const Allocate& a, LoopList* out) {
    if (replicas_.count(a.buffer.name)) return out->push_back(make_loop(Allocate(a)));
    std::int64_t count = 1;
    for (const ExprPtr& e : a.buffer.extents) {
      std::int64_t extent = 0;
      if (!passes::constant_value(e, &extent)) failed_ = true;
      count *= extent;
    }
    shared_bytes_ += count * size_bytes(a.buffer.dtype);
    if (shared_bytes_ > context_.machine.shared_bytes_opt_in) failed_ = true;
    Allocate shared = a;
    shared.buffer.space = MemorySpace::kShared;
    out->push_back(make_loop(std::move(shared)));
    note("promote", a.buffer.name, "shared memory: written by several threads of the block");
  }

  void note(const std::string& pass, const std::string& what, const std::string& reason) {
    context_.passes.note(pass, what, true, reason);
  }

  bool is_private(const std::string& buffer, const LoopPtr& n) const {
    return replicas_.count(buffer) || inner_allocation(n, buffer);
  }

  std::vector<Touch> touches_of(const LoopPtr& n, const std::string& owner) const {
    std::vector<Touch> touches;
    std::string statement;
    passes::walk_nodes({n}, [&](const LoopPtr& m) {
      if (const Store* s = as<Store>(m); s && statement.empty()) statement = s->statement;
    });
    for (const passes::Access& a : passes::accesses_of(LoopList{n}))
      if (!is_private(a.buffer, n)) touches.push_back({a.buffer, owner, statement, a.writes});
    return touches;
  }

  // What the loop's threads touch: an element belongs to the thread of the iteration that the form names.
  std::vector<Touch> strided_touches(const LoopPtr& n, const For& spread) const {
    std::vector<Touch> touches = touches_of(n, kEvery);
    const std::vector<passes::Access> accesses = passes::accesses_of(LoopList{n});
    std::set<std::string> inner = passes::introduced_names({n});
    inner.erase(spread.iterator);
    std::size_t k = 0;
    for (const passes::Access& a : accesses) {
      if (is_private(a.buffer, n)) continue;
      touches[k++].owner = owner_form(a, spread, inner);
    }
    return touches;
  }

  std::string owner_form(const passes::Access& a, const For& spread, const std::set<std::string>& inner) const {
    for (std::size_t d = 0; d < a.subscripts.size(); ++d) {
      const ExprPtr& s = a.subscripts[d];
      if (s->lanes > 1 || a.padded || passes::to_linear(s).coefficient_of(spread.iterator) == 0 ||
          passes::mentions_any(s, inner))
        continue;
      if (!passes::accesses_of(s).empty()) continue;
      const ExprPtr form = substitute(s, {{spread.iterator, index("@")}});
      // A form that moves with a loop run in steps names another thread in the next step.
      if (passes::mentions_any(form, stepped_) || passes::mentions_any(spread.lower, stepped_)) continue;
      return std::to_string(d) + ":" + to_text(form) + "|" + to_text(spread.lower) + "|" + std::to_string(spread.step);
    }
    return kEvery;
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
    out->push_back(make_loop(Barrier{Scope::kBlock, from + " -> " + to + " (" + now.buffer + ")"}));
    pending_.clear();
  }

  void touch(const std::vector<Touch>& touches) {
    for (const Touch& t : touches) {
      pending_.push_back(t);
      if (recording_) heads_.push_back(t);
    }
  }

  ExprPtr strided_lower(const For& f) const { return iteration(f, index(thread_)); }

  void threads(const For& f, LoopList* out) {
    const LoopPtr original = make_loop(For(f));
    const std::vector<Touch> touches = strided_touches(original, f);
    separate(touches, out);
    touch(touches);
    out->push_back(make_loop(spread(f)));
  }

  For spread(const For& f) const {
    For loop = f;
    loop.kind = holds(f.body, [](const For&) { return true; }) ? LoopKind::kSerial : LoopKind::kUnroll;
    loop.width = loop.kind == LoopKind::kUnroll ? kInFlight : 0;
    loop.gpu = GpuPlace{};
    loop.lower = strided_lower(f);
    loop.step = f.step * threads_;
    return loop;
  }

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
    std::vector<Touch> reads;
    for (const Touch& t : strided_touches(n, loop))
      if (t.buffer != nest.store.buffer) reads.push_back(t);
    separate(reads, out);
    touch(reads);
    const std::string part = context_.passes.names.fresh(nest.store.buffer + "_part"),
                      total = context_.passes.names.fresh(nest.store.buffer + "_total");
    out->push_back(make_loop(Let{part, type, 1, passes::identity_of(kind, type), true}));
    for (const LoopPtr& m : with_partial({n}, loop.iterator, part, type, kind)) out->push_back(m);
    out->push_back(make_loop(Let{total, type, 1, nullptr, true}));
    Collective all;
    all.scope = Scope::kBlock;
    all.kind = kind;
    all.target = total;
    all.value = value_of(part, type);
    out->push_back(make_loop(std::move(all)));
    pending_.clear();  // a block-wide collective holds barriers
    Store store = nest.store;
    store.value = value_of(total, type);
    scalar(inside(store), out);
  }

  // A point without iterations has no place of its own: j in 0..i+1 at i = -1. (Conditions that always hold go later.)
  LoopPtr inside(const Store& store) const {
    const Buffer* buffer = context_.passes.find(store.buffer);
    const auto local = locals_.find(store.buffer);
    if (!buffer && local != locals_.end()) buffer = &local->second;
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

  // Executed by all threads together; the body's accesses of one iteration may meet those of the next.
  void steps(const LoopPtr& n, LoopList* out) {
    const std::vector<Touch> before = pending_;
    if (const If* i = as<If>(n)) {
      If copy = *i;
      copy.then = list(i->then);
      const std::vector<Touch> after_then = pending_;
      pending_ = before;
      copy.otherwise = list(i->otherwise);
      join(after_then);
      join(before);
      return out->push_back(make_loop(std::move(copy)));
    }
    if (const Sequence* s = as<Sequence>(n)) return out->push_back(make_loop(Sequence{list(s->body)}));
    For loop = *as<For>(n);
    const std::vector<Touch> outer_heads = heads_;
    const bool outer_recording = recording_;
    heads_.clear();
    recording_ = true;
    loop.kind = LoopKind::kSerial;
    stepped_.insert(loop.iterator);
    loop.body = list(loop.body);
    stepped_.erase(loop.iterator);
    const std::vector<Touch> heads = heads_;
    heads_ = outer_heads;
    recording_ = outer_recording;
    if (recording_) heads_.insert(heads_.end(), heads.begin(), heads.end());
    separate(heads, &loop.body);  // the next iteration begins
    join(before);
    out->push_back(make_loop(std::move(loop)));
  }

  void join(const std::vector<Touch>& others) { pending_.insert(pending_.end(), others.begin(), others.end()); }

  void scalar(const LoopPtr& n, LoopList* out) {
    if (by_all(n)) {
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
    first.condition = binary(Op::kEq, index(thread_), idx(0));
    first.then = {n};
    out->push_back(make_loop(std::move(first)));
  }

  const Chain& chain_;
  MapContext& context_;
  std::map<std::string, Buffer> locals_;
  std::set<std::string> replicas_;
  std::set<std::string> stepped_;  // iterators of the loops around that all threads run in step
  std::int64_t threads_ = 32, shared_bytes_ = 0;
  std::string thread_;
  std::vector<Touch> pending_, heads_;  // since the last barrier; since a loop body began
  bool recording_ = false;
  bool failed_ = false;
};

}  // namespace

std::optional<LoopList> map_rows(const Chain& chain, MapContext& context) { return RowMapper(chain, context).run(); }

}  // namespace facet::gpu
