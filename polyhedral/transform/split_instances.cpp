// A loop cut in two: statements with instances on both sides become two statements.
//
// The Scop of the result says so: S runs over D minus A, its twin over A, each access and each dependence cut to these. A pair
// of S with itself becomes up to four. The loop's copy has loops of its own below it, with the same names; what is asked of the
// two is what was asked of the one, in the same order, and legality judges it like any other tree.
#include "polyhedral/transform/split_instances.hpp"

#include <algorithm>

#include "polyhedral/affine.hpp"

namespace facet {

namespace {

class Splitter {
 public:
  Splitter(const Schedule& schedule, Arguments& args, const TreePtr& loop, std::string suffix)
      : schedule_(schedule), args_(args), loop_(loop), suffix_(std::move(suffix)), next_(schedule) {}

  Schedule run(const std::map<int, isl::set>& apart, bool before, const std::string& cut) {
    check_storage();
    if (args_.problem()) return schedule_;
    scop_ = std::make_shared<Scop>(*schedule_.scop);
    for (const int s : statements_of(loop_)) {
      const auto it = apart.find(s);
      const isl::set own = schedule_.statement(s).domain;
      const isl::set twin = it == apart.end() ? empty_like(own) : own.intersect(it->second).coalesce();
      divide(s, twin, own.subtract(twin).coalesce());
    }
    if (stays_.empty() || copied_.empty()) {
      args_.refuse(cut + " leaves all iterations on one side: loop '" + loop_->names.begin()->second + "' runs " + range_text(),
                   {"choose a place inside"});
      return schedule_;
    }
    name_scalars();
    next_.scop = scop_;
    next_.dependences = std::make_shared<const Dependences>(divided_dependences());
    const TreePtr rest = restrict_tree(loop_, stays_, nullptr);
    const TreePtr part = copy_of(loop_);
    next_.tree = with_cut(schedule_.tree, make_sequence(before ? std::vector{part, rest} : std::vector{rest, part}));
    return next_;
  }

 private:
  // "from 0 to N - 1", over all iterations of the loops around.
  std::string range_text() const {
    std::optional<isl::map> values;  // { [] -> [value] }
    for (const auto& [s, f] : loop_->member) {
      const isl::set& domain = schedule_.statement(s).domain;
      const isl::map own = map_to_values(domain, {}).reverse().apply_range(map_to_values(domain, {f}));
      values = values ? values->unite(own) : own;
    }
    const std::optional<DimensionBounds> bounds = dimension_bounds(*values, 0);
    if (!bounds) return "over a range without a single expression";
    return "from " + to_text(expr_of(bounds->low, {})) + " to " + to_text(expr_of(bounds->high, {}));
  }

  // A box below the loop belongs to one loop; scalars of a block find their place anew.
  void check_storage() {
    for (const StorageMap& m : schedule_.storage) {
      const bool scalar = m.kind == StorageMap::Kind::kContract && m.sizes.empty();
      const bool inside = m.at >= 0 && find_loop(loop_, m.at);
      const bool copies = (m.copy_in >= 0 && contains(loop_, m.copy_in)) || (m.copy_out >= 0 && contains(loop_, m.copy_out)) ||
                          (m.reader >= 0 && contains(loop_, m.reader));
      if (!scalar && (inside || copies))
        args_.refuse("'" + m.array + "' lives in a buffer inside the loop", {"split first, contract and promote afterwards"});
    }
  }

  Statement& statement(int s) {
    const int n = static_cast<int>(scop_->statements.size());
    return s < n ? scop_->statements[static_cast<std::size_t>(s)] : next_.copies[static_cast<std::size_t>(s - n)];
  }

  void divide(int s, const isl::set& twin, const isl::set& rest) {
    if (!rest.is_empty() || twin.is_empty()) stays_.push_back(s);  // also what has no instance: the loops around know it
    if (twin.is_empty()) return;
    if (rest.is_empty()) {  // moves as a whole
      copied_[s] = s;
      return;
    }
    Statement made = schedule_.statement(s);
    made.name = fresh_name(made.name);
    const std::string id = statement_id(made.name);
    const auto cut = [&](const isl::map& m) { return with_domain_tuple(m.intersect_domain(twin), id); };
    const auto cut_access = [&](Access& a) {
      a.relation = cut(a.relation);
      a.whole = cut(a.whole);
      if (a.reach) a.reach = cut(*a.reach);
    };
    made.domain = with_tuple(twin, id);
    cut_access(made.write);
    for (Access& a : made.reads) cut_access(a);
    Statement& old = statement(s);
    const auto keep = [&](Access& a) {
      a.relation = a.relation.intersect_domain(rest);
      a.whole = a.whole.intersect_domain(rest);
      if (a.reach) a.reach = a.reach->intersect_domain(rest);
    };
    old.domain = rest;
    keep(old.write);
    for (Access& a : old.reads) keep(a);
    next_.copies.push_back(std::move(made));
    copied_[s] = next_.statement_count() - 1;
  }

  std::string fresh_name(const std::string& base) const {
    std::string name = base + suffix_;
    for (int i = 2; next_.find(name) >= 0; ++i) name = base + suffix_ + std::to_string(i);
    return name;
  }

  // Does a statement that goes to the copy of the loop (or stays in the loop) use the array?
  bool is_used(const std::string& array, bool there) const {
    const auto uses = [&](int s) { return schedule_.statement(s).touches(array); };
    if (!there) return std::any_of(stays_.begin(), stays_.end(), uses);
    return std::any_of(copied_.begin(), copied_.end(), [&](const auto& entry) { return uses(entry.first); });
  }

  // A scalar of a block inside the loop is two: one in each loop.
  void name_scalars() {
    for (const StorageMap& m : schedule_.storage) {
      if (m.kind != StorageMap::Kind::kContract || !m.sizes.empty() || m.at < 0 || !find_loop(loop_, m.at)) continue;
      if (!is_used(m.array, true) || !is_used(m.array, false)) continue;  // it goes, or stays, as a whole
      std::string twin = m.array + suffix_;
      for (int i = 2; scop_->arrays.count(twin); ++i) twin = m.array + suffix_ + std::to_string(i);
      scalars_[m.array] = twin;
      Array a = scop_->arrays.at(m.array);
      a.name = twin;
      scop_->arrays[twin] = std::move(a);
      StorageMap of_twin = m;
      of_twin.array = of_twin.buffer = twin;
      next_.storage.push_back(std::move(of_twin));
    }
    if (!scalars_.empty())
      for (const auto& [s, twin] : copied_) use_twins(statement(twin));
  }

  void use_twins(Statement& st) const {
    const auto renamed = [&](const std::string& name) {
      const auto it = scalars_.find(name);
      return it == scalars_.end() ? name : it->second;
    };
    const auto rename = [&](Access& a) {
      if (!scalars_.count(a.array)) return;
      a.array = renamed(a.array);
      a.relation = with_range_tuple(a.relation, array_id(a.array));
      a.whole = with_range_tuple(a.whole, array_id(a.array));
    };
    st.target = renamed(st.target);
    rename(st.write);
    for (Access& a : st.reads) rename(a);
    st.value = rewrite(st.value, [&](const ExprPtr& e) -> ExprPtr {
      if (e->op != Op::kRead || !scalars_.count(e->name)) return e;
      Expr changed = *e;
      changed.name = renamed(e->name);
      return std::make_shared<const Expr>(std::move(changed));
    });
  }

  bool in_copy(int s) const {
    return std::any_of(copied_.begin(), copied_.end(), [&](const auto& entry) { return entry.second == s; });
  }

  // One part of a dependence. Through a scalar that is two now, nothing connects the loops but a value, which would be lost.
  void add_part(Dependences* list, const Dependence& d, int source, int sink, const isl::map& pairs) {
    const auto scalar = scalars_.find(d.array);
    if (scalar == scalars_.end()) return list->push_back(make_dependence(d.kind, source, sink, d.array, pairs));
    if (in_copy(source) == in_copy(sink))
      return list->push_back(make_dependence(d.kind, source, sink, in_copy(source) ? scalar->second : d.array, pairs));
    if (d.kind == DependenceKind::kFlow || d.kind == DependenceKind::kReduction)
      next_.lost.push_back(make_dependence(d.kind, source, sink, d.array, pairs));
  }

  // The statements that stand for s: itself, its twin.
  std::vector<int> parts_of(int s) const {
    const auto it = copied_.find(s);
    return it == copied_.end() || it->second == s ? std::vector<int>{s} : std::vector<int>{s, it->second};
  }

  Dependences divided_dependences() {
    Dependences list;
    for (const Dependence& d : *schedule_.dependences) {
      const std::vector<int> sources = parts_of(d.source), sinks = parts_of(d.sink);
      if (sources.size() == 1 && sinks.size() == 1) {
        add_part(&list, d, d.source, d.sink, d.relation);
        continue;
      }
      for (const int a : sources)
        for (const int b : sinks) {
          isl::map pairs = with_domain_tuple(d.relation, statement_id(statement(a).name));
          pairs = with_range_tuple(pairs, statement_id(statement(b).name));
          pairs = pairs.intersect_domain(statement(a).domain).intersect_range(statement(b).domain);
          if (!pairs.is_empty()) add_part(&list, d, a, b, pairs);
        }
    }
    return list;
  }

  // The tree with the two loops in place of the one; the twins are members of the loops around it.
  TreePtr with_cut(const TreePtr& tree, const TreePtr& cut) const {
    if (tree == loop_) return cut;
    if (!find_loop(tree, loop_->id)) return tree;
    std::vector<TreePtr> children;
    for (const TreePtr& c : tree->children) children.push_back(with_cut(c, cut));
    if (tree->kind == Tree::Kind::kSequence) return make_sequence(std::move(children));
    Tree around = *tree;
    for (const auto& [s, twin] : copied_) {
      if (twin == s) continue;
      around.names[twin] = tree->names.at(s);
      around.member[twin] = with_domain_tuple(tree->member.at(s), statement_id(next_.statement(twin).name));
    }
    return make_loop_tree(std::move(around), children[0]);
  }

  TreePtr copy_of(const TreePtr& tree) {
    if (tree->kind == Tree::Kind::kLeaf) {
      const auto it = copied_.find(tree->statement);
      return it == copied_.end() ? nullptr : make_leaf(it->second);
    }
    std::vector<TreePtr> parts;
    for (const TreePtr& c : tree->children)
      if (TreePtr part = copy_of(c)) parts.push_back(std::move(part));
    if (parts.empty()) return nullptr;
    if (tree->kind == Tree::Kind::kSequence) return make_sequence(std::move(parts));
    Tree made = *tree;
    made.id = next_.next_loop++;
    made.names.clear();
    made.member.clear();
    for (const auto& [s, f] : tree->member) {
      const auto it = copied_.find(s);
      if (it == copied_.end()) continue;
      made.names[it->second] = tree->names.at(s);
      made.member[it->second] = with_domain_tuple(f, statement_id(statement(it->second).name));
    }
    return make_loop_tree(std::move(made), parts[0]);
  }

  const Schedule& schedule_;
  Arguments& args_;
  TreePtr loop_;
  std::string suffix_;
  Schedule next_;
  std::shared_ptr<Scop> scop_;
  std::vector<int> stays_;
  std::map<std::string, std::string> scalars_;  // of a block inside -> its name in the copy of the loop
  std::map<int, int> copied_;  // statement -> what runs in the copy of the loop: its twin, or itself when nothing stays
};

}  // namespace

Schedule split_loop(const Schedule& schedule, Arguments& args, const TreePtr& loop, const std::map<int, isl::set>& apart,
                    bool before, const std::string& suffix, const std::string& cut) {
  return Splitter(schedule, args, loop, suffix).run(apart, before, cut);
}

}  // namespace facet
