// build: schedule -> loop tree.
//
// isl scans the tree (every loop `atomic`: one loop, guards inside) and this file walks isl's AST once. A mark "loop:ID"
// precedes the code of loop ID, so each `for` finds its tree node, its names and its mark. Loops that isl found to run once
// become values. Statement calls give the instance as expressions of the iterators; body and subscripts are substituted and
// sent through the storage maps. Cost: linear in the AST, whose size is linear in the tree since nothing is unrolled or
// separated here.
#include "polyhedral/ast/build.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "polyhedral/affine.hpp"
#include "polyhedral/ast/allocate.hpp"
#include "polyhedral/ast/in_parts.hpp"
#include "polyhedral/ast/nodes.hpp"
#include "polyhedral/ast/quotients.hpp"
#include "polyhedral/legality.hpp"

namespace facet {

namespace {

class Builder {
 public:
  explicit Builder(const Schedule& schedule) : schedule_(schedule) {
    for (int s = 0; s < schedule.statement_count(); ++s) by_id_[statement_id(schedule.statement(s).name)] = s;
    for (const Symbol& s : schedule.scop->symbols) used_names_.insert(s.name);  // a loop of that name would hide it
  }

  ScannedKernel run() {
    const LiftedOrder lifted = lift_quotients(schedule_.tree, schedule_.domains());
    const isl::schedule order = to_isl(lifted.tree, lifted.domains);
    ScannedKernel kernel;
    const std::optional<isl::ast_node> root = scan_order(schedule_.scop->context, order, &kernel.not_scanned);
    if (!root) return kernel;
    atomic_ = atomic_updates();
    apart_ = loops_apart();
    kernel.body = walk_node(*root);
    kernel.not_scanned = not_scanned_;
    kernel.part_buffers = part_buffers_;
    kernel.body = allocate_storage(schedule_, kernel.body, loop_ids_);
    kernel.workspace = workspace();
    return kernel;
  }

 private:
  LoopList walk_node(const isl::ast_node& node) {
    switch (isl_ast_node_get_type(node.get())) {
      case isl_ast_node_for: return walk_for(node);
      case isl_ast_node_if: return branch_of(node, expression_, [this](const isl::ast_node& n) { return walk_node(n); });
      case isl_ast_node_block: return block_of(node, [this](const isl::ast_node& n) { return walk_node(n); });
      case isl_ast_node_mark: return walk_mark(node);
      case isl_ast_node_user: return walk_user(node);
      default: return {};
    }
  }

  LoopList walk_mark(const isl::ast_node& node) {
    isl_id* id = isl_ast_node_mark_get_id(node.get());
    const std::string name = isl_id_get_name(id);
    isl_id_free(id);
    const int outer = pending_;
    pending_ = std::stoi(name.substr(5));
    LoopList body = walk_node(isl::manage(isl_ast_node_mark_get_node(node.get())));
    pending_ = outer;
    return body;
  }

  LoopList walk_for(const isl::ast_node& node) {
    const int id = std::exchange(pending_, -1);
    const TreePtr loop = id >= 0 ? find_loop(schedule_.tree, id) : nullptr;
    const ExprPtr lower = expression(isl::manage(isl_ast_node_for_get_init(node.get())));
    const bool once = isl_ast_node_for_is_degenerate(node.get()) == isl_bool_true;
    For made;
    made.iterator = once ? "" : unique_name(loop ? readable_name(*loop) : "c");
    const ExprPtr value = once ? lower : index(made.iterator);
    iterators_[iterator_of(node)] = value;
    if (id >= 0) loop_values_[id] = value;
    const bool apart = loop && !once && begin_parts(*loop);
    LoopList body = walk_node(isl::manage(isl_ast_node_for_get_body(node.get())));
    loop_values_.erase(id);               // another piece of the loop has its own
    iterators_.erase(iterator_of(node));  // and its bounds may not mention it
    pending_ = id;                        // isl may scan one loop as several, one after another
    if (once) return body;
    used_names_.erase(made.iterator);
    made.lower = lower;
    made.upper = upper_bound_of(node, expression_);
    made.step = step_of(node);
    made.body = std::move(body);
    if (loop) describe(*loop, made);
    if (apart) return end_parts(*loop, std::move(made));
    // Without copies (inside another concurrent loop) one agent makes all updates.
    if (loop && loop->mark.updates == SharedUpdates::kParts && !shared_updates(schedule_, *loop).empty())
      made.kind = LoopKind::kSerial;
    const LoopPtr loop_node = make_loop(std::move(made));
    loop_ids_[loop_node.get()] = id;
    return {loop_node};
  }

  // From here on what the loop's iterations update together goes to copies of the pieces. False: it has none.
  bool begin_parts(const Tree& loop) {
    std::vector<CopiedArray> parts = copied_arrays(schedule_, loop);
    if (parts.empty()) return false;
    const int s = *parts[0].updates.begin();
    std::vector<ExprPtr> outer;
    for (const TreePtr& l : loops_around(schedule_.tree, s)) {
      if (l->id == loop.id) break;
      outer.push_back(outer_value(*l, s));
      if (!outer.back()) return false;
    }
    parts_ = std::move(parts);
    part_outer_ = std::move(outer);
    for (CopiedArray& p : parts_) p.buffer.name = unique_name(p.buffer.name);  // for the rest of the kernel
    part_ = unique_name("part");
    return true;
  }

  LoopList end_parts(const Tree& loop, For whole) {
    PartLoop made = in_parts(
        {schedule_, loop, std::exchange(parts_, {}), part_, part_outer_,
         [this](int s, const std::string& array, const std::vector<ExprPtr>& element) { return place(s, array, element); }},
        std::move(whole));
    for (const LoopPtr& l : made.pieces) loop_ids_[l.get()] = loop.id;
    for (const LoopPtr& l : made.code)
      if (const Allocate* a = std::get_if<Allocate>(&l->node)) part_buffers_.push_back(a->buffer.name);
    used_names_.erase(part_);
    return made.code;
  }

  void describe(const Tree& loop, For& made) const {
    made.kind = loop.mark.kind;
    made.width = loop.mark.width;
    made.collapse = collapsed(loop, made);
    made.gpu = loop.mark.gpu;
    made.asked_by = loop.mark.step;
    made.comment = loop.comment;
    for (const auto& [s, name] : loop.names)
      made.statement_loops += (made.statement_loops.empty() ? "" : " ") + schedule_.statement(s).name + "." + name;
  }

  // How many of the loops that share the threads are there, directly inside each other: isl removes a loop that runs once, and
  // what stands inside it was not asked for.
  int collapsed(const Tree& loop, const For& made) const {
    int there = 1;
    const LoopList* body = &made.body;
    const Tree* tree = &loop;
    for (int i = 1; i < loop.mark.collapse && body->size() == 1; ++i) {
      tree = tree->children[0].get();
      const For* inner = std::get_if<For>(&body->front()->node);
      const auto id = loop_ids_.find(body->front().get());
      if (!inner || id == loop_ids_.end() || tree->kind != Tree::Kind::kLoop) break;
      if (id->second != tree->id) continue;
      body = &inner->body;
      ++there;
    }
    return there;
  }

  // The name most statements use, the first statement's on ties.
  static std::string readable_name(const Tree& loop) {
    std::map<std::string, int> votes;
    for (const auto& [s, name] : loop.names) ++votes[name];
    std::string best = loop.names.begin()->second;
    for (const auto& [name, count] : votes)
      if (count > votes[best]) best = name;
    return best;
  }

  std::string unique_name(const std::string& name) {
    std::string unique = name;
    for (int i = 2; used_names_.count(unique); ++i) unique = name + "_" + std::to_string(i);
    used_names_.insert(unique);
    return unique;
  }

  LoopList walk_user(const isl::ast_node& node) {
    const int s = by_id_.at(callee_of(node));
    const Statement& statement = schedule_.statement(s);
    std::vector<std::pair<std::string, ExprPtr>> by;
    const std::vector<ExprPtr> values = arguments_of(node, expression_);
    for (std::size_t i = 0; i < statement.iterators.size(); ++i) by.emplace_back(statement.iterators[i], values[i]);
    instance_ = by;
    Store store;
    store.statement = statement.name;
    std::vector<ExprPtr> subscripts;
    for (const ExprPtr& e : statement.subscripts) subscripts.push_back(substitute(e, by));
    const CopiedArray* copies = copies_of(s);
    store.atomic = !copies && atomic_.count(s) > 0;
    std::tie(store.buffer, store.subscripts) =
        copies ? in_part(*copies, part_, subscripts, part_outer_) : place(s, statement.target, std::move(subscripts));
    store.stream = std::count(schedule_.streamed.begin(), schedule_.streamed.end(), store.buffer) > 0;
    store.update = statement.update;
    store.value = rewrite(substitute(statement.value, by), [&](const ExprPtr& e) { return map_read(s, e); });
    return {make_loop(std::move(store))};
  }

  const CopiedArray* copies_of(int s) const {
    for (const CopiedArray& p : parts_)
      if (p.updates.count(s)) return &p;
    return nullptr;
  }

  ExprPtr map_read(int s, const ExprPtr& e) {
    if (e->op != Op::kRead) return e;
    Expr copy = *e;
    if (const auto it = schedule_.scop->arrays.find(e->name); it != schedule_.scop->arrays.end() && !e->pad)
      for (std::size_t d = 0; d < copy.args.size(); ++d)
        copy.args[d] = clamped(copy.args[d], it->second.extents, d, e->wrap_gather);
    std::tie(copy.name, copy.args) = place(s, e->name, std::move(copy.args));
    if (copy.name != e->name) copy.pad = nullptr;  // a whole copy holds the padding; parts of padded arrays are refused
    copy.wrap_gather = false;
    return std::make_shared<const Expr>(std::move(copy));
  }

  static ExprPtr clamped(const ExprPtr& subscript, const std::vector<ExprPtr>& extents, std::size_t d, bool wrap) {
    bool gather = false;
    walk(subscript, [&](const Expr& x) { gather = gather || x.op == Op::kRead; });
    if (!gather) return subscript;
    ExprPtr e = subscript;
    if (wrap) e = select(binary(Op::kLt, e, idx(0)), binary(Op::kAdd, e, extents[d]), e);
    return binary(Op::kMax, binary(Op::kMin, e, idx_sub(extents[d], idx(1))), idx(0));
  }

  // Where an access of statement `s` to `array` goes under the storage maps.
  std::pair<std::string, std::vector<ExprPtr>> place(int s, const std::string& array, std::vector<ExprPtr> subscripts) {
    if (const StorageMap* m = schedule_.storage_of(s, array)) return {m->buffer, buffer_subscripts(s, *m, subscripts)};
    const auto plain = schedule_.scop->arrays.find(array);
    if (plain != schedule_.scop->arrays.end()) subscripts = subscripts_in_memory(plain->second, std::move(subscripts));
    return {array, std::move(subscripts)};
  }

  std::vector<ExprPtr> buffer_subscripts(int s, const StorageMap& m, const std::vector<ExprPtr>& subscripts) const {
    if (m.sizes.empty()) return {};
    std::vector<ExprPtr> outer;
    for (const TreePtr& loop : loops_around(schedule_.tree, s)) {
      if (m.at < 0) break;
      outer.push_back(loop_value(*loop, s));
      if (loop->id == m.at) break;
    }
    std::vector<ExprPtr> slow, fast;
    for (const int d : m.order) {
      const std::size_t k = static_cast<std::size_t>(d);
      // Of a legal contraction nothing else is touched in one iteration.
      const bool one = m.kind == StorageMap::Kind::kContract && m.sizes[k]->op == Op::kLiteral && m.sizes[k]->int_value == 1;
      const std::int64_t places = m.folded(k);
      const ExprPtr e = places > 0 ? idx_mod(subscripts[k], places)
                        : one      ? idx(0)
                                   : idx_sub(subscripts[k], expr_of(m.offsets[k], outer));
      if (m.inner[k] > 0) {
        slow.push_back(idx_floordiv(e, m.inner[k]));
        fast.push_back(idx_mod(e, m.inner[k]));
      } else {
        slow.push_back(e);
      }
    }
    slow.insert(slow.end(), fast.begin(), fast.end());
    return slow;
  }

  // The value of a loop around, outside of any statement: of one that isl removed, because it runs once in the loops around it,
  // what it has beyond one of these; null where that is no number, or another one for each statement.
  ExprPtr outer_value(const Tree& loop, int s) const {
    if (apart_.count(loop.id) > 0) return nullptr;
    if (const auto it = loop_values_.find(loop.id); it != loop_values_.end()) return it->second;
    const isl::set& domain = schedule_.statement(s).domain;
    const isl::pw_aff& member = loop.member.at(s);
    if (const auto [low, high] = value_range(member, domain, {}); low == high) return idx(low);
    for (const TreePtr& l : loops_around(schedule_.tree, s)) {
      const auto known = loop_values_.find(l->id);
      if (known == loop_values_.end()) continue;
      const auto [low, high] = value_range(member.sub(l->member.at(s)), domain, {});
      if (low == high) return idx_add(known->second, idx(low));
    }
    return nullptr;
  }

  // Do the statements' values of the loop lie apart in one iteration of the loops around, as 0, 2, 4, .. and 1, 3, 5, ..? isl
  // may then scan them as one loop that walks the values of one statement only.
  bool are_apart(const Tree& loop) const {
    std::optional<isl::map> all;  // { [o] -> [v] }
    isl::val widest = isl::val::one(isl_context());
    const auto step = [](const isl::map& values) { return values.reverse().apply_range(values).deltas().stride(0); };
    for (const auto& [s, member] : loop.member) {
      const isl::set& domain = schedule_.statement(s).domain;
      std::vector<isl::pw_aff> outer;
      for (const TreePtr& l : loops_around(schedule_.tree, s)) {
        if (l->id == loop.id) break;
        outer.push_back(l->member.at(s));
      }
      const isl::map own = map_to_values(domain, outer).reverse().apply_range(map_to_values(domain, {member}));
      if (own.is_empty()) continue;
      if (const isl::val lies = step(own); lies.gt(widest)) widest = lies;
      all = all ? all->unite(own) : own;
    }
    return all && widest.gt(isl::val::one(isl_context())) && step(*all).lt(widest);
  }

  // Of the loops whose values say where parts of arrays lie.
  std::set<int> loops_apart() const {
    std::set<int> asked, apart;
    const auto ask_around = [&](const Tree& at) {
      for (const TreePtr& l : loops_around(schedule_.tree, at.member.begin()->first)) {
        if (l->member.size() > 1 && asked.insert(l->id).second && are_apart(*l)) apart.insert(l->id);
        if (l->id == at.id) break;
      }
    };
    for (const StorageMap& m : schedule_.storage)
      if (const TreePtr at = m.at >= 0 ? find_loop(schedule_.tree, m.at) : nullptr) ask_around(*at);
    for_each_loop(schedule_.tree, [&](const Tree& l) {
      if (l.mark.updates == SharedUpdates::kParts) ask_around(l);
    });
    return apart;
  }

  // The value for an instance of the statement: the loop's iterator; of a loop that isl removed because it runs once, or that
  // walks other statements' values, the instance's own.
  ExprPtr loop_value(const Tree& loop, int s) const {
    if (const auto it = loop_values_.find(loop.id); it != loop_values_.end() && apart_.count(loop.id) == 0) return it->second;
    const isl::pw_aff& member = loop.member.at(s);
    const auto [low, high] = value_range(member, schedule_.statement(s).domain, {});
    if (low == high) return idx(low);
    std::vector<ExprPtr> instance;
    for (const auto& [name, value] : instance_) instance.push_back(value);
    return expr_of(member.as_aff(), instance);
  }

  // A step may have left an array without anybody who writes or reads it.
  bool is_touched(const std::string& array) const {
    const std::vector<int> all = statements_of(schedule_.tree);
    return std::any_of(all.begin(), all.end(), [&](int s) { return schedule_.statement(s).touches(array); });
  }

  std::vector<Buffer> workspace() const {
    std::vector<Buffer> list;
    for (const auto& [name, a] : schedule_.scop->arrays) {
      const bool contracted =
          std::any_of(schedule_.storage.begin(), schedule_.storage.end(),
                      [&, key = name](const StorageMap& m) { return m.array == key && m.kind == StorageMap::Kind::kContract; });
      if (a.external || contracted || !is_touched(name)) continue;
      Buffer b;
      b.name = name;
      b.dtype = a.dtype;
      b.extents = extents_in_memory(a);
      b.role = BufferRole::kWorkspace;
      list.push_back(std::move(b));
    }
    return list;
  }

  // Updates that threads share, each of which is one action.
  std::set<int> atomic_updates() const {
    std::set<int> all;
    for_each_loop(schedule_.tree, [&](const Tree& l) {
      if (l.mark.updates != SharedUpdates::kAtomic) return;
      for (const auto& [array, updates] : shared_updates(schedule_, l)) all.insert(updates.begin(), updates.end());
    });
    return all;
  }

  ExprPtr expression(const isl::ast_expr& e) {
    return expr_of(e, [&](const std::string& name) -> ExprPtr {
      const auto it = iterators_.find(name);
      if (it != iterators_.end()) return it->second;
      if (name.rfind("p_", 0) != 0) not_scanned_ = "a bound of " + name + " mentions it";
      return index(name.substr(2));
    });
  }

  const Schedule& schedule_;
  const AstExpression expression_ = [this](const isl::ast_expr& e) { return expression(e); };
  std::map<std::string, int> by_id_;
  std::map<std::string, ExprPtr> iterators_;  // isl's iterator -> value
  std::map<int, ExprPtr> loop_values_;
  std::vector<std::pair<std::string, ExprPtr>> instance_;  // of the statement being built: its iterators' values
  LoopIds loop_ids_;                                       // the tree loop of each `for` made
  std::set<std::string> used_names_;
  std::set<int> atomic_;
  std::set<int> apart_;              // loops whose statements' values lie apart
  std::vector<CopiedArray> parts_;   // of the parallel loop being walked; empty: no copies
  std::string part_;                 // its iterator over pieces
  std::vector<ExprPtr> part_outer_;  // the values of the loops around it
  std::vector<std::string> part_buffers_;
  int pending_ = -1;
  std::string not_scanned_;  // isl's fault in what it scanned
};

}  // namespace

ScannedKernel build_loop_tree(const Schedule& schedule) { return Builder(schedule).run(); }

}  // namespace facet
