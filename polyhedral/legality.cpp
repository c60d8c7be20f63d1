// Legality by descending the tree with the dependences not yet decided.
//
// At a loop with member f a dependence pair (S[i], T[j]) is kept when f_S(i) < f_T(j), violated when f_S(i) > f_T(j), and
// undecided when equal; at a sequence the children's order decides; a pair still undecided at a leaf connects two instances
// that run at the same time. So each pair is looked at once per level and the first violated loop is known. A loop whose
// iterations may run concurrently must decide no pair: every pair that reaches it must stay undecided (zero distance).
//
// An array contracted at a loop has storage of its own in every iteration of it, so anti and output dependences through it hold
// within an iteration only.
//
// Reduction dependences (two updates of one element by one operation) are free of order unless numerics are strict and the
// operation rounds, but a concurrent loop may not carry them: two threads would update one element. A vector loop may (its
// lanes keep partial results), and a loop whose mark says that updates are atomic, or that its pieces update copies of their
// own. In the second case the element holds the sum after the loop only: what reads or overwrites it in the same iteration is
// violated.
#include "polyhedral/legality.hpp"

#include <algorithm>
#include <set>

#include "polyhedral/atomic_updates.hpp"
#include "polyhedral/storage.hpp"

namespace facet {

namespace {

struct Pending {
  const Dependence* dependence;
  isl::map pairs;
};

struct Found {
  std::string question;
  const Dependence* dependence;
  isl::map pairs;
  std::string loop;
};

// Lanes and the threads of a reduction keep partial results, so they may carry one.
bool combines(const LoopMark& mark) {
  return mark.kind == LoopKind::kVector || (mark.kind == LoopKind::kMapped && mark.gpu.reduces) ||
         mark.updates != SharedUpdates::kNone;
}

// The loops whose iterations go to the threads together: `loop` and those collapsed into it.
std::vector<const Tree*> sharing_threads(const Tree& loop) {
  std::vector<const Tree*> all{&loop};
  for (int i = 1; loop.mark.kind == LoopKind::kParallel && i < loop.mark.collapse; ++i) {
    const Tree* inner = all.back()->children[0].get();
    if (inner->kind != Tree::Kind::kLoop) break;
    all.push_back(inner);
  }
  return all;
}

// The marks of the loops for which `combines` holds, also for those that share their threads.
std::map<int, LoopMark> combining_loops(const TreePtr& tree) {
  std::map<int, LoopMark> marks;
  for_each_loop(tree, [&](const Tree& l) {
    if (!combines(l.mark)) return;
    for (const Tree* t : sharing_threads(l)) marks[t->id] = l.mark;
  });
  return marks;
}

class Judge {
 public:
  explicit Judge(const Schedule& schedule)
      : schedule_(schedule), concurrent_(concurrent_loops(schedule.tree)), combining_(combining_loops(schedule.tree)) {}

  std::optional<Found> run(const std::set<int>* changed = nullptr) {
    std::vector<Pending> all;
    for (const Dependence& d : *schedule_.dependences)
      if (!changed || changed->count(d.source) || changed->count(d.sink)) all.push_back({&d, pairs_of(d)});
    for_each_loop(schedule_.tree, [&](const Tree& l) {
      if (l.mark.updates == SharedUpdates::kParts) apart_[l.id] = shared(l);
    });
    return at(schedule_.tree, std::move(all));
  }

  std::map<std::string, std::set<int>> shared(const Tree& loop) const {
    std::map<std::string, std::set<int>> all;
    for (const Tree* l : sharing_threads(loop))
      for (const Dependence& d : *schedule_.dependences) {
        if (!free_order(d) || !l->member.count(d.source) || !l->member.count(d.sink)) continue;
        const StorageMap* m = schedule_.storage_of(d.source, d.array);
        if (m && m->at >= 0 && find_loop(find_loop(schedule_.tree, loop.id), m->at)) continue;  // each iteration has its own
        if (carries(l->id, d)) all[d.array].insert({d.source, d.sink});
      }
    return all;
  }

  std::map<int, Carried> carried_by_all() {
    std::map<int, Carried> all;
    for_each_loop(schedule_.tree, [&](const Tree& l) { all[l.id]; });
    all_ = &all;
    run();
    return all;
  }

  // Does loop `id` decide any pair?
  bool carries(int id, bool count_reductions) const {
    const TreePtr loop = find_loop(schedule_.tree, id);
    for (const Dependence& d : *schedule_.dependences) {
      if (!loop->member.count(d.source) || !loop->member.count(d.sink)) continue;
      if ((count_reductions || !free_order(d)) && carries(id, d)) return true;
    }
    return false;
  }

 private:
  bool free_order(const Dependence& d) const {
    return d.kind == DependenceKind::kReduction && !schedule_.scop->keeps_order(schedule_.statement(d.source));
  }

  // May the loop, whose iterations are concurrent, carry the dependence all the same?
  bool may_share(const Tree& loop, const Dependence& d) const {
    const auto mark = combining_.find(loop.id);
    if (mark == combining_.end() || !free_order(d)) return false;
    if (mark->second.updates != SharedUpdates::kAtomic) return true;
    return may_be_atomic(*schedule_.scop, mark->second, schedule_.statement(d.source)).why_not.empty();
  }

  // The pairs that need an order: of an array contracted at a loop around both, those in one iteration of it.
  isl::map pairs_of(const Dependence& d) const {
    if (d.kind != DependenceKind::kAnti && d.kind != DependenceKind::kOutput) return d.relation;
    isl::map pairs = d.relation;
    for (const StorageMap& m : schedule_.storage) {
      if (m.kind != StorageMap::Kind::kContract || m.array != d.array || m.at < 0) continue;
      const TreePtr at = find_loop(schedule_.tree, m.at);
      if (!at || !at->member.count(d.source) || !at->member.count(d.sink)) continue;
      for (const TreePtr& l : loops_around(schedule_.tree, d.source)) {
        pairs = pairs.intersect(compare_map(l->member.at(d.source), Compare::kEqual, l->member.at(d.sink)));
        if (l->id == m.at) break;
      }
    }
    return pairs;
  }

  // Both ends are below the loop, so the loops around it are the same for both.
  bool carries(int id, const Dependence& d) const {
    isl::map pairs = pairs_of(d);
    for (const TreePtr& l : loops_around(schedule_.tree, d.source)) {
      const isl::pw_aff& f = l->member.at(d.source);
      const isl::pw_aff& g = l->member.at(d.sink);
      const bool same = zero_distance(d, f, g);
      if (l->id == id)
        return !same && (!pairs.intersect(compare_map(f, Compare::kLess, g)).is_empty() ||
                         !pairs.intersect(compare_map(f, Compare::kGreater, g)).is_empty());
      if (!same) pairs = pairs.intersect(compare_map(f, Compare::kEqual, g));
    }
    return false;
  }

  std::optional<Found> at(const TreePtr& node, std::vector<Pending> pending) {
    switch (node->kind) {
      case Tree::Kind::kLoop: return at_loop(*node, std::move(pending));
      case Tree::Kind::kSequence: return at_sequence(*node, std::move(pending));
      case Tree::Kind::kLeaf: break;
    }
    for (Pending& p : pending) {
      if (free_order(*p.dependence) || p.dependence->source != p.dependence->sink) continue;
      if (!p.pairs.is_empty()) return Found{"order", p.dependence, p.pairs, ""};
    }
    return std::nullopt;
  }

  std::optional<Found> at_loop(const Tree& loop, std::vector<Pending> pending) {
    std::vector<Pending> below;
    for (Pending& p : pending) {
      const isl::pw_aff& f = loop.member.at(p.dependence->source);
      const isl::pw_aff& g = loop.member.at(p.dependence->sink);
      if (const std::optional<Found> found = torn_apart(loop, p, f, g)) return found;
      if (zero_distance(*p.dependence, f, g)) {
        below.push_back(std::move(p));
        continue;
      }
      const isl::map backward = p.pairs.intersect(compare_map(f, Compare::kGreater, g));
      if (!free_order(*p.dependence) && !backward.is_empty())
        return Found{"order", p.dependence, backward, loop.names.at(p.dependence->source)};
      if (const std::optional<Found> found = carried_by(loop, p, backward, f, g)) return found;
      const isl::map equal = p.pairs.intersect(compare_map(f, Compare::kEqual, g));
      if (!equal.is_empty()) below.push_back({p.dependence, equal});
    }
    return at(loop.children[0], std::move(below));
  }

  // The source's value is in a piece's copy, and the sink in the same iteration looks for it in the array, or writes that.
  std::optional<Found> torn_apart(const Tree& loop, const Pending& p, const isl::pw_aff& f, const isl::pw_aff& g) const {
    const auto arrays = apart_.find(loop.id);
    if (arrays == apart_.end() || free_order(*p.dependence)) return std::nullopt;
    const auto updates = arrays->second.find(p.dependence->array);
    if (updates == arrays->second.end() || !updates->second.count(p.dependence->source)) return std::nullopt;
    if (p.dependence->kind == DependenceKind::kAnti) return std::nullopt;
    const isl::map equal = p.pairs.intersect(compare_map(f, Compare::kEqual, g));
    if (equal.is_empty()) return std::nullopt;
    return Found{"storage", p.dependence, equal, loop.names.at(p.dependence->source)};
  }

  std::optional<Found> carried_by(const Tree& loop, const Pending& p, const isl::map& backward, const isl::pw_aff& f,
                                  const isl::pw_aff& g) {
    const bool any_order = concurrent_.count(loop.id) && !may_share(loop, *p.dependence);
    if (!any_order && !all_) return std::nullopt;
    const isl::map carried = p.pairs.intersect(compare_map(f, Compare::kLess, g)).unite(backward);
    if (carried.is_empty()) return std::nullopt;
    if (all_) (free_order(*p.dependence) ? (*all_)[loop.id].reduction : (*all_)[loop.id].other) = true;
    if (!any_order) return std::nullopt;
    const char* const question = loop.mark.kind == LoopKind::kVector   ? "vector"
                                 : loop.mark.kind == LoopKind::kMapped ? "mapped"
                                                                       : "parallel";
    return Found{question, p.dependence, carried, loop.names.at(p.dependence->source)};
  }

  std::optional<Found> at_sequence(const Tree& node, std::vector<Pending> pending) {
    const auto position = [&](int statement) {
      for (std::size_t i = 0; i < node.children.size(); ++i)
        if (contains(node.children[i], statement)) return i;
      return node.children.size();
    };
    std::vector<std::vector<Pending>> below(node.children.size());
    for (Pending& p : pending) {
      const std::size_t a = position(p.dependence->source);
      const std::size_t b = position(p.dependence->sink);
      if (a == b) {
        below[a].push_back(std::move(p));
      } else if (a > b && !free_order(*p.dependence)) {
        return Found{"order", p.dependence, p.pairs, ""};
      }
    }
    for (std::size_t i = 0; i < below.size(); ++i)
      if (std::optional<Found> found = at(node.children[i], std::move(below[i]))) return found;
    return std::nullopt;
  }

  const Schedule& schedule_;
  std::set<int> concurrent_;
  std::map<int, LoopMark> combining_;
  std::map<int, std::map<std::string, std::set<int>>> apart_;  // by loop id: what its pieces have copies of, and its updates
  std::map<int, Carried>* all_ = nullptr;
};

// A statement's place in the tree: what the judgement of its dependences depends on. isl values are shared, so that pointers
// tell whether a member is the same.
using TreePlace = std::vector<std::pair<const void*, std::int64_t>>;

void places_of(const TreePtr& node, TreePlace& prefix, std::map<int, TreePlace>& places) {
  const std::size_t depth = prefix.size();
  if (node->kind == Tree::Kind::kLeaf) places[node->statement] = prefix;
  if (node->kind == Tree::Kind::kSequence) {
    for (std::size_t i = 0; i < node->children.size(); ++i) {
      prefix.emplace_back(nullptr, static_cast<std::int64_t>(i));
      places_of(node->children[i], prefix, places);
      prefix.resize(depth);
    }
  }
  if (node->kind != Tree::Kind::kLoop) return;
  std::map<int, TreePlace> below;
  TreePlace none;
  places_of(node->children[0], none, below);
  // The loop itself counts, too: storage refers to it, and loops of one iteration may have the same members.
  const std::int64_t mark = static_cast<std::int64_t>(node->mark.kind) + 20 * node->mark.gpu.reduces +
                            40 * static_cast<std::int64_t>(node->mark.updates) + 1000 * node->id;
  for (auto& [s, place] : below) {
    TreePlace mine = prefix;
    mine.emplace_back(node->member.at(s).get(), mark);
    mine.insert(mine.end(), place.begin(), place.end());
    places[s] = std::move(mine);
  }
}

std::set<int> changed_statements(const Schedule& before, const Schedule& after) {
  std::map<int, TreePlace> old_places, new_places;
  TreePlace prefix;
  places_of(before.tree, prefix, old_places);
  prefix.clear();
  places_of(after.tree, prefix, new_places);
  std::set<int> changed;
  for (const auto& [s, place] : new_places)
    if (const auto it = old_places.find(s); it == old_places.end() || it->second != place) changed.insert(s);
  return changed;
}

// The element's text subscripts at an instance.
std::vector<std::int64_t> evaluated(const Statement& s, const std::vector<ExprPtr>& subscripts,
                                    const std::vector<std::int64_t>& at, const Violation& v) {
  SymbolValues values(v.symbols.begin(), v.symbols.end());
  for (std::size_t i = 0; i < s.iterators.size(); ++i) values[s.iterators[i]] = at[i];
  std::vector<std::int64_t> element;
  for (const ExprPtr& e : subscripts) element.push_back(evaluate_index(e, values));
  return element;
}

// In a folded array a dependence may go from one element to another, which takes its place: the source's element then.
std::optional<std::vector<std::int64_t>> element_in_place(const Schedule& schedule, const Dependence& d, const Violation& v) {
  const StorageMap* m = schedule.storage_of(d.source, d.array);
  if (!m || m->fold.empty() || (d.kind != DependenceKind::kAnti && d.kind != DependenceKind::kOutput)) return std::nullopt;
  const Statement& source = schedule.statement(d.source);
  const std::vector<std::int64_t> written =
      evaluated(schedule.statement(d.sink), schedule.statement(d.sink).subscripts, v.sink_instance, v);
  std::optional<std::vector<std::int64_t>> found;
  const auto look = [&](const std::vector<ExprPtr>& subscripts) {
    const std::vector<std::int64_t> e = evaluated(source, subscripts, v.source_instance, v);
    bool same = e.size() == written.size() && e != written;
    for (std::size_t k = 0; same && k < e.size(); ++k)
      same = m->folded(k) > 0 ? (e[k] - written[k]) % m->folded(k) == 0 : e[k] == written[k];
    if (same && !found) found = e;
  };
  if (d.kind == DependenceKind::kOutput) look(source.subscripts);
  walk(source.value, [&](const Expr& e) {
    if (d.kind == DependenceKind::kAnti && e.op == Op::kRead && e.name == d.array) look(e.args);
  });
  return found;
}

Violation describe(const Schedule& schedule, const Found& found) {
  const Dependence& d = *found.dependence;
  const Statement& source = schedule.statement(d.source);
  const Statement& sink = schedule.statement(d.sink);
  Violation v;
  v.question = found.question;
  v.kind = d.kind;
  v.array = d.array;
  v.source = source.name;
  v.sink = sink.name;
  v.source_place = source.place;
  v.sink_place = sink.place;
  v.source_iterators = source.iterators;
  v.sink_iterators = sink.iterators;
  v.loop = found.loop;
  const std::optional<Point> point = smallest_point(found.pairs);
  if (!point) return v;
  for (const auto& [id, value] : point->parameters) v.symbols.emplace_back(id.substr(2), value);
  const auto split = point->coordinates.begin() + static_cast<std::ptrdiff_t>(source.iterators.size());
  v.source_instance.assign(point->coordinates.begin(), split);
  v.sink_instance.assign(split, point->coordinates.end());
  v.element = element_of(schedule, d, v);
  if (const std::optional<std::vector<std::int64_t>> before = element_in_place(schedule, d, v)) {
    v.taker = evaluated(sink, sink.subscripts, v.sink_instance, v);
    v.element = *before;
    // Two writes in the wrong order: it is the later value that goes.
    if (d.kind == DependenceKind::kOutput) std::swap(v.element, v.taker);
  }
  return v;
}

}  // namespace

std::vector<std::int64_t> element_of(const Schedule& schedule, const Dependence& d, const Violation& v) {
  // The written side has one plain access, so the element is its; a flow's source and an anti dependence's sink write.
  if (d.kind == DependenceKind::kAnti)
    return evaluated(schedule.statement(d.sink), schedule.statement(d.sink).subscripts, v.sink_instance, v);
  return evaluated(schedule.statement(d.source), schedule.statement(d.source).subscripts, v.source_instance, v);
}

std::optional<Violation> find_violation(const Schedule& schedule, const Schedule* legal_before) {
  std::set<int> changed;
  bool parts = false;  // what has copies there depends on all statements inside
  for_each_loop(schedule.tree, [&](const Tree& l) { parts = parts || l.mark.updates == SharedUpdates::kParts; });
  if (parts) legal_before = nullptr;
  if (legal_before) changed = changed_statements(*legal_before, schedule);
  if (const std::optional<Found> found = Judge(schedule).run(legal_before ? &changed : nullptr))
    return describe(schedule, *found);
  return find_storage_violation(schedule, legal_before, changed);
}

std::set<int> concurrent_loops(const TreePtr& tree) {
  std::set<int> ids;
  for_each_loop(tree, [&](const Tree& l) {
    if (l.mark.kind == LoopKind::kSerial || l.mark.kind == LoopKind::kUnroll || l.mark.gpu.stage != 0) return;
    for (const Tree* t : sharing_threads(l)) ids.insert(t->id);
  });
  return ids;
}

std::map<std::string, std::set<int>> shared_updates(const Schedule& schedule, const Tree& loop) {
  return Judge(schedule).shared(loop);
}

std::map<int, Carried> carried_dependences(const Schedule& schedule) { return Judge(schedule).carried_by_all(); }

bool carries_dependence(const Schedule& schedule, int loop, bool count_reductions) {
  return Judge(schedule).carries(loop, count_reductions);
}

}  // namespace facet
