// A witness says: instance S[i] must run before T[j], and would not. Replaying it means to run both orders and look.
//
// The looking is done by statements: around the leaf of S stand probes over the domain { S[i] }, around that of T probes over
// { T[j] }. They are members of the same loops, so they run right before and after their instance, in whatever order the
// schedule gives; they read the element through the storage maps of the place where they stand, as S and T do.
//
//     value[0] = A[e]   S[i]   value[1] = A[e]   ran[0] = 1
//     value[2] = A[e]   first[0] = ran[0]   T[j]   value[3] = A[e]   ran[1] = 1
//
// Both schedules become ordinary loop programs. Marks are taken off: a loop whose iterations may run in any order is replayed
// in one of these orders, backwards, which puts the sink of a carried pair before its source. Two updates of one element by
// concurrent iterations collide in another way: both read before either writes. That is one statement more in the refused
// order, which gives the element back the value that the source found, right before the sink. Where pieces of a loop update
// copies, and that is what the witness says (storage), they do so here.
//
// Besides the whole group there is a program of the two instances alone, with all arrays given: it is small for all sizes.
// Where the value's place is what changed (storage), it would show nothing, since other instances fill that place.
#include "polyhedral/replay.hpp"

#include <algorithm>
#include <set>

#include "polyhedral/affine.hpp"
#include "polyhedral/ast/build.hpp"
#include "polyhedral/kernel_buffers.hpp"
#include "polyhedral/storage.hpp"

namespace facet {

namespace {

constexpr const char* kValue = "replay.value";
constexpr const char* kRan = "replay.ran";
constexpr const char* kFirst = "replay.first";

// A statement that runs right before or after one instance of another.
struct Probe {
  std::string name;
  std::string target;
  std::int64_t at = 0;  // the element of the target; -1: of the witness's array
  ExprPtr value;
};

struct Watched {
  int statement = -1;  // -1: not in this schedule
  std::vector<std::int64_t> instance;
  std::vector<Probe> before, after;
};

// The witness, its array by the name that statements use.
struct Witness {
  const Violation& violation;
  std::string array;
  std::vector<ExprPtr> element;
  std::set<std::string> copies;  // which of its statements only move values: the original order has none of them
};

TreePtr without_marks(const TreePtr& tree, bool keep_parts = false) {
  Tree copy = *tree;
  if (!keep_parts || copy.mark.updates != SharedUpdates::kParts) copy.mark = LoopMark{};
  for (TreePtr& c : copy.children) c = without_marks(c, keep_parts);
  return std::make_shared<const Tree>(std::move(copy));
}

// The loop that the witness says is carried by, backwards.
void turn_carrying_loop(Schedule& schedule, const Violation& v) {
  const int source = schedule.find(v.source);
  const std::set<int> concurrent = concurrent_loops(schedule.tree);
  TreePtr carrying;
  for (const TreePtr& l : loops_around(schedule.tree, source))
    if (l->names.at(source) == v.loop && concurrent.count(l->id) && !carrying) carrying = l;
  if (!carrying) return;
  const Schedule before = schedule;
  Tree turned = *carrying;
  for (auto& [s, f] : turned.member) f = f.neg();
  schedule.tree = replace_node(schedule.tree, carrying, make_loop_tree(std::move(turned), carrying->children[0]));
  fit_boxes(before, schedule);
}

// The statement that stands for `name` here: of a part that a later step cut off (A.from), the one it was cut from.
int stands_for(const Schedule& schedule, std::string name) {
  for (;;) {
    if (const int s = schedule.find(name); s >= 0) return s;
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) return -1;
    name.resize(dot);
  }
}

class Instrumented {
 public:
  Instrumented(Schedule schedule, const Witness& witness) : schedule_(std::move(schedule)), witness_(witness) {
    auto scop = std::make_shared<Scop>(*schedule_.scop);
    const DType type = scop->arrays.at(witness.array).dtype;
    scop->arrays[kValue] = probe_array(kValue, type, 4);
    scop->arrays[kRan] = probe_array(kRan, DType::kI64, 2);
    scop->arrays[kFirst] = probe_array(kFirst, DType::kI64, 1);
    schedule_.scop = std::move(scop);
  }

  // `restore`: the sink finds the element as the source found it.
  void watch(bool restore) {
    const DType type = schedule_.scop->arrays.at(witness_.array).dtype;
    const ExprPtr element = read(witness_.array, type, witness_.element);
    const ExprPtr one = int_literal(DType::kI64, 1);
    Watched source = watched(witness_.violation.source, witness_.violation.source_instance);
    Watched sink = watched(witness_.violation.sink, witness_.violation.sink_instance);
    source.before = {{"replay.source.before", kValue, 0, element}};
    source.after = {{"replay.source.after", kValue, 1, element}, {"replay.source.ran", kRan, 0, one}};
    if (restore) sink.before.push_back({"replay.restore", witness_.array, -1, read(kValue, type, {idx(0)})});
    sink.before.push_back({"replay.sink.before", kValue, 2, element});
    sink.before.push_back({"replay.sink.first", kFirst, 0, read(kRan, DType::kI64, {idx(0)})});
    sink.after = {{"replay.sink.after", kValue, 3, element}, {"replay.sink.ran", kRan, 1, one}};
    place(source);
    place(sink);
  }

  // Only the two instances, every array given.
  void keep_pair() {
    std::vector<int> statements{schedule_.find(witness_.violation.source)};
    if (const int sink = schedule_.find(witness_.violation.sink); sink != statements[0]) statements.push_back(sink);
    schedule_.tree = restrict_tree(schedule_.tree, statements, nullptr);
    schedule_.storage.clear();
    auto scop = std::make_shared<Scop>(*schedule_.scop);
    for (auto& [name, array] : scop->arrays) array.external = true;
    for (const int s : statements) {
      Statement& st = scop->statements[static_cast<std::size_t>(s)];
      isl::set kept = empty_like(st.domain);
      for (const auto& [name, instance] : {std::pair(&witness_.violation.source, &witness_.violation.source_instance),
                                           std::pair(&witness_.violation.sink, &witness_.violation.sink_instance)})
        if (st.name == *name) kept = kept.unite(at_instance(st.domain, *instance));
      st.domain = kept;
    }
    schedule_.scop = std::move(scop);
  }

  // `why_not` is set where isl makes no loops of the order.
  LoopProgram program(std::string* why_not) const {
    LoopProgram p;
    p.name = schedule_.scop->name;
    p.symbols = schedule_.scop->symbols;
    const ScannedKernel scanned = build_loop_tree(schedule_);
    if (!scanned.not_scanned.empty()) *why_not = "isl cannot scan the order (" + scanned.not_scanned + ")";
    Kernel kernel;
    kernel.name = p.name;
    kernel.body = hoist_cache_buffers(scanned.body, p.buffers);
    collect_buffers(kernel.body, kernel.buffers);
    p.buffers.insert(p.buffers.end(), scanned.workspace.begin(), scanned.workspace.end());
    for (const auto& [name, array] : schedule_.scop->arrays) {
      const bool probe = name == kValue || name == kRan || name == kFirst;
      if (!array.external || (!probe && std::count(kernel.buffers.begin(), kernel.buffers.end(), name) == 0)) continue;
      Buffer b;
      b.name = name;
      b.dtype = array.dtype;
      b.extents = extents_in_memory(array);
      b.role = BufferRole::kInOut;
      p.buffers.push_back(std::move(b));
    }
    p.kernels.push_back(std::move(kernel));
    return p;
  }

 private:
  static Array probe_array(const std::string& name, DType type, std::int64_t size) {
    Array a;
    a.name = name;
    a.dtype = type;
    a.extents = {idx(size)};
    a.external = true;
    return a;
  }

  static isl::set at_instance(isl::set domain, const std::vector<std::int64_t>& instance) {
    for (std::size_t d = 0; d < instance.size(); ++d) domain = fix_dimension(domain, static_cast<unsigned>(d), instance[d]);
    return domain;
  }

  Watched watched(const std::string& name, const std::vector<std::int64_t>& instance) const {
    const int s = witness_.copies.count(name) ? schedule_.find(name) : stands_for(schedule_, name);
    // The original order has no iterations for which a statement is computed again: their values stand in front.
    const std::size_t own = s < 0 ? instance.size() : schedule_.statement(s).iterators.size();
    const std::size_t in_front = instance.size() > own ? instance.size() - own : 0;
    return {s, {instance.begin() + static_cast<std::ptrdiff_t>(in_front), instance.end()}, {}, {}};
  }

  int add(const Probe& probe, const Watched& w) {
    const Statement& of = schedule_.statement(w.statement);
    Statement s;
    s.name = probe.name;
    s.iterators = of.iterators;
    s.ranges = of.ranges;
    s.domain = with_tuple(at_instance(of.domain, w.instance), statement_id(probe.name));
    s.target = probe.target;
    s.subscripts = probe.at < 0 ? witness_.element : std::vector<ExprPtr>{idx(probe.at)};
    s.value = probe.value;
    s.write = of.write;  // nobody asks: a probe is scanned, not judged; but an access without a map cannot be copied
    schedule_.copies.push_back(std::move(s));
    return schedule_.statement_count() - 1;
  }

  void place(const Watched& w) {
    if (w.statement < 0 || !contains(schedule_.tree, w.statement)) return;
    std::vector<TreePtr> order;
    std::vector<int> added;
    for (const Probe& p : w.before) added.push_back(add(p, w));
    for (const int s : added) order.push_back(make_leaf(s));
    order.push_back(make_leaf(w.statement));
    for (const Probe& p : w.after) {
      added.push_back(add(p, w));
      order.push_back(make_leaf(added.back()));
    }
    schedule_.tree = with_members(schedule_.tree, w.statement, added, order);
  }

  // The tree with `order` in place of the statement's leaf and the added statements as members of the loops around it.
  TreePtr with_members(const TreePtr& tree, int statement, const std::vector<int>& added,
                       const std::vector<TreePtr>& order) const {
    if (!contains(tree, statement)) return tree;
    if (tree->kind == Tree::Kind::kLeaf) return make_sequence(order);
    std::vector<TreePtr> children;
    for (const TreePtr& c : tree->children) children.push_back(with_members(c, statement, added, order));
    if (tree->kind == Tree::Kind::kSequence) return make_sequence(std::move(children));
    Tree loop = *tree;
    for (const int s : added) {
      loop.names[s] = loop.names.at(statement);
      loop.member[s] = with_domain_tuple(loop.member.at(statement), statement_id(schedule_.statement(s).name));
    }
    return make_loop_tree(std::move(loop), children[0]);
  }

  Schedule schedule_;
  const Witness& witness_;
};

// Does the instance access the element by its own subscripts? Subscripts that hold data are taken to.
bool touches(const Statement& s, const std::vector<std::int64_t>& instance, SymbolValues values,
             const std::vector<std::string>& arrays, const std::vector<std::int64_t>& element) {
  for (std::size_t i = 0; i < s.iterators.size() && i < instance.size(); ++i) values[s.iterators[i]] = instance[i];
  const auto same_element = [&](const std::vector<ExprPtr>& subscripts) {
    if (subscripts.size() != element.size()) return false;
    for (std::size_t d = 0; d < subscripts.size(); ++d) {
      bool data = false;
      walk(subscripts[d], [&](const Expr& e) { data = data || e.op == Op::kRead; });
      if (!data && evaluate_index(subscripts[d], values) != element[d]) return false;
    }
    return true;
  };
  const auto named = [&](const std::string& name) { return std::count(arrays.begin(), arrays.end(), name) > 0; };
  bool found = named(s.target) && same_element(s.subscripts);
  walk(s.value, [&](const Expr& e) { found = found || (e.op == Op::kRead && named(e.name) && same_element(e.args)); });
  return found;
}

// The witness's symbols; the others at their smallest.
SymbolValues sizes_of(const Scop& scop, const Violation& v) {
  SymbolValues sizes(v.symbols.begin(), v.symbols.end());
  isl::set context = scop.context;
  for (const auto& [name, value] : sizes) context = fix_parameter(context, parameter_id(name), value);
  for (const Symbol& s : scop.symbols) {
    if (sizes.count(s.name)) continue;
    const std::int64_t low = parameter_range(context, parameter_id(s.name)).first;
    sizes[s.name] = low;
    context = fix_parameter(context, parameter_id(s.name), low);
  }
  return sizes;
}

// A promoted array's buffer holds the array's elements.
std::string array_of(const Schedule& schedule, const std::string& name) {
  for (const StorageMap& m : schedule.storage)
    if (m.buffer == name) return m.array;
  return name;
}

void fill(const Schedule& original, const Schedule& refused, const Violation& v, Replay* replay) {
  if (!refused.lost.empty()) {
    replay->why_not = "the two instances use different copies of '" + v.array + "': the sink's holds nothing";
    return;
  }
  Witness witness{v, array_of(refused, v.array), {}, {}};
  for (const std::string& name : {v.source, v.sink})
    if (refused.statement(refused.find(name)).kind == StatementKind::kCopy) witness.copies.insert(name);
  if (witness.copies.count(v.source) && witness.copies.count(v.sink)) {
    replay->why_not = "both instances copy one element at the same time: one after the other they leave the same value";
    return;
  }
  if (original.scop->arrays.count(witness.array) == 0) {
    replay->why_not = "'" + witness.array + "' was made by a step: the original order has no such array";
    return;
  }
  for (const std::int64_t e : v.element) witness.element.push_back(idx(e));
  if (witness.element.size() != original.scop->arrays.at(witness.array).extents.size()) {
    replay->why_not = "the witness names no single element of '" + witness.array + "'";
    return;
  }
  const bool carried = v.question != "order" && v.question != "storage";
  replay->sizes = sizes_of(*original.scop, v);
  replay->order_changes = v.question != "storage" && v.taker.empty();
  replay->lost_update = carried && v.kind == DependenceKind::kReduction;
  replay->seen = v.kind == DependenceKind::kAnti ? Replay::Seen::kSource
                 : v.kind == DependenceKind::kOutput || (carried && v.kind == DependenceKind::kReduction) ? Replay::Seen::kLast
                                                                                                          : Replay::Seen::kSink;
  if (v.question == "order" && v.kind == DependenceKind::kReduction) replay->seen = Replay::Seen::kLast;
  const std::vector<std::string> names = {v.array, witness.array};
  const bool written_twice = v.kind == DependenceKind::kOutput;
  const std::vector<std::int64_t>& other_element = v.taker.empty() ? v.element : v.taker;
  replay->both_touch = touches(refused.statement(refused.find(v.source)), v.source_instance, replay->sizes, names,
                               written_twice ? other_element : v.element) &&
                       touches(refused.statement(refused.find(v.sink)), v.sink_instance, replay->sizes, names,
                               written_twice ? v.element : other_element);
  Schedule other = refused;
  if (carried && !replay->lost_update) turn_carrying_loop(other, v);
  other.tree = without_marks(other.tree, v.question == "storage");
  const auto made = [&](Schedule schedule, bool restore, bool pair) {
    if (pair) schedule.tree = without_marks(schedule.tree);
    Instrumented program(std::move(schedule), witness);
    if (pair) program.keep_pair();
    program.watch(restore);
    return program.program(&replay->why_not);
  };
  Schedule plain = original;
  plain.tree = without_marks(plain.tree);
  replay->original = made(plain, false, false);
  replay->refused = made(other, replay->lost_update, false);
  const int statements = static_cast<int>(original.scop->statements.size());
  if (v.question == "storage" || refused.find(v.source) >= statements || refused.find(v.sink) >= statements) return;
  const auto runs_both = [&](const Schedule& s) {  // a step may have left a statement's part without instances out
    return contains(s.tree, s.find(v.source)) && contains(s.tree, s.find(v.sink));
  };
  if (!runs_both(original) || !runs_both(other)) return;
  replay->original_pair = made(plain, false, true);
  replay->refused_pair = made(other, replay->lost_update, true);
}

}  // namespace

Replay make_replay(const Schedule& original, const StepRefusal& refusal, const Budget& budget) {
  Replay replay;
  if (!refusal.schedule || !refusal.violation) {
    replay.why_not = "the step was refused without a pair of instances";
    return replay;
  }
  const Result<Done> ran = guarded("replay", budget, [&] { fill(original, *refusal.schedule, *refusal.violation, &replay); });
  if (!ran) replay.why_not = ran.errors()[0].message;
  return replay;
}

}  // namespace facet
