// reschedule: isl's own scheduler orders the named statements' nests anew.
//
//     for t { for i  S(t, i);  for i  T(t, i) }      -->      for c0 { for c1 { S(c0, ..);  T(c0, ..) } }       skewed and
//     shifted so
//                                                                                                              that loops
//                                                                                                              permute
//
// The exact dependences between the nests' statements are given to isl as
//     validity     source before sink                         all but reductions whose order is free
//     coincidence  distance zero in the outer loops           all: a loop that carries none is parallel
//     proximity    small distance                             flow and reductions: what cache and registers can serve
// and the tree that isl answers becomes loops of one member each, sequences and leaves. A loop whose member is +-d + constant
// for an index d of the statement keeps d's name; the others are called c0, c1, ... The step has no opinion about strides,
// caches or cost: interchange, tile and marks follow it. It is judged like every other step.
//
// Known elsewhere as --isl-schedule (ppcg), Pluto's affine transformations. The near twins are skew, shift, fuse and
// interchange, which it combines. Refuses: nests with marked loops, or with buffers promoted inside them (reschedule comes
// first); arrays contracted inside are contracted again where the new loops allow it. isl's integer programs may be expensive:
// the step runs under the caller's budget and is refused when that is spent.
// Source: Verdoolaege and Janssens, Scheduling for PPCG, CW706, KU Leuven 2017; Bondhugula et al., PLDI 2008.
#include <algorithm>
#include <set>

#include "polyhedral/affine.hpp"
#include "polyhedral/storage.hpp"
#include "polyhedral/transform/transform.hpp"

namespace facet {

namespace {

// What is scheduled anew: some neighbours of one sequence, below loop `below`.
struct Region {
  TreePtr scope;               // the node whose children are chosen from
  std::vector<TreePtr> nests;  // in order
  std::vector<int> statements;
  std::vector<TreePtr> outer;  // loops that stay around it
};

bool holds_any(const TreePtr& tree, const std::vector<int>& statements) {
  return std::any_of(statements.begin(), statements.end(), [&](int s) { return contains(tree, s); });
}

std::optional<Region> region_of(const Schedule& schedule, Arguments& args) {
  const std::vector<int> named = args.statements();
  if (!args.problem() && named.empty()) args.bad("statements", "at least one statement", "none");
  if (args.problem()) return std::nullopt;
  Region r;
  r.scope = schedule.tree;
  if (args.has("below")) {
    const TreePtr loop = args.loop(named[0], args.text("below"));
    if (!loop) return std::nullopt;
    r.scope = loop->children[0];
    for (const TreePtr& l : loops_around(schedule.tree, named[0])) {
      r.outer.push_back(l);
      if (l->id == loop->id) break;
    }
    for (const int s : named)
      if (!contains(loop, s))
        args.refuse("statement '" + schedule.statement(s).name + "' is not inside loop '" + args.text("below") + "'",
                    {"name a loop around all of them, or leave the statement out"});
  }
  const std::vector<TreePtr> all = r.scope->kind == Tree::Kind::kSequence ? r.scope->children : std::vector<TreePtr>{r.scope};
  for (const TreePtr& c : all) {
    if (!holds_any(c, named)) continue;
    r.nests.push_back(c);
    for (const int s : statements_of(c)) r.statements.push_back(s);
  }
  std::sort(r.statements.begin(), r.statements.end());
  return r;
}

// Marks and copies belong to loops that would be gone.
void check_region(const Schedule& schedule, const Region& r, Arguments& args) {
  for (const TreePtr& nest : r.nests)
    for_each_loop(nest, [&](const Tree& l) {
      const std::string& name = l.names.begin()->second;
      if (l.mark.kind != LoopKind::kSerial)
        args.refuse("loop '" + name + "' is marked by " + marker_of(l.mark) + " already",
                    {"reschedule before parallelize, vectorize and unroll"});
      for (const StorageMap& m : schedule.storage)
        if (m.kind == StorageMap::Kind::kPromote && m.at == l.id)
          args.refuse("'" + m.array + "' is promoted at loop '" + name + "'", {"reschedule before promote"});
    });
}

// Without what the symbols' ranges say: isl looks for rows like 100000*i + j where N <= 100000, and finds no end (gramschmidt:
// ten minutes instead of 0.2 s). More pairs constrain more; what is made of them is judged exactly.
isl::schedule_constraints constraints_of(const Schedule& schedule, const Region& r) {
  const isl::set& context = schedule.scop->context;
  isl::union_set domain = empty_union_set();
  for (const int s : r.statements) domain = domain.unite(isl::union_set(schedule.statement(s).domain.gist_params(context)));
  isl::union_map validity = empty_union_map(), coincidence = empty_union_map(), proximity = empty_union_map();
  const auto inside = [&](int s) { return std::binary_search(r.statements.begin(), r.statements.end(), s); };
  for (const Dependence& d : *schedule.dependences) {
    if (!inside(d.source) || !inside(d.sink)) continue;
    isl::map pairs = d.relation;
    for (const TreePtr& l : r.outer)
      pairs = pairs.intersect(compare_map(l->member.at(d.source), Compare::kEqual, l->member.at(d.sink)));
    const isl::union_map both(pairs.gist_params(context));
    const bool reduction = d.kind == DependenceKind::kReduction;
    if (!reduction || schedule.scop->keeps_order(schedule.statement(d.source))) validity = validity.unite(both);
    coincidence = coincidence.unite(both);
    if (reduction || d.kind == DependenceKind::kFlow) proximity = proximity.unite(both);
  }
  return isl::schedule_constraints::on_domain(domain)
      .set_validity(validity)
      .set_coincidence(coincidence)
      .set_proximity(proximity);
}

// isl's schedule tree as ours.
class Converter {
 public:
  Converter(const Schedule& schedule, const Region& region, int* next_loop) : schedule_(schedule), next_loop_(next_loop) {
    for (const TreePtr& l : region.outer) around_.push_back(*l);
    for (const int s : region.statements) {
      by_id_[statement_id(schedule.statement(s).name)] = s;
      for (const TreePtr& l : region.outer) used_[s].insert(l->names.at(s));
    }
  }

  // null where isl's tree holds none of `statements`.
  TreePtr convert(const isl::schedule_node& node, const std::vector<int>& statements) {
    if (statements.empty()) return nullptr;
    if (node.isa<isl::schedule_node_band>()) return band(node.as<isl::schedule_node_band>(), statements);
    if (node.isa<isl::schedule_node_sequence>() || node.isa<isl::schedule_node_set>()) {
      std::vector<TreePtr> parts;
      for (int i = 0; i < static_cast<int>(node.n_children()); ++i) parts.push_back(convert(node.child(i), statements));
      return make_sequence(std::move(parts));
    }
    if (node.isa<isl::schedule_node_filter>())
      return convert(node.first_child(), filtered(node.as<isl::schedule_node_filter>().filter(), statements));
    if (!node.isa<isl::schedule_node_leaf>()) return convert(node.first_child(), statements);
    std::vector<TreePtr> leaves;  // no dependence is left between them: the program's order
    for (const int s : statements) leaves.push_back(make_leaf(s));
    return make_sequence(std::move(leaves));
  }

 private:
  std::vector<int> filtered(const isl::union_set& filter, const std::vector<int>& statements) const {
    std::set<int> kept;
    filter.foreach_set([&](isl::set s) { kept.insert(by_id_.at(tuple_name(s))); });
    std::vector<int> list;
    for (const int s : statements)
      if (kept.count(s)) list.push_back(s);
    return list;
  }

  TreePtr band(const isl::schedule_node_band& node, const std::vector<int>& statements) {
    const isl::multi_union_pw_aff partial = node.partial_schedule();
    std::vector<Tree> loops;
    const std::map<int, std::set<std::string>> outer = used_;
    const std::size_t depth = around_.size();
    for (int m = 0; m < static_cast<int>(node.n_member()); ++m) {
      Tree loop;
      loop.id = (*next_loop_)++;
      for (const int s : statements) loop.member.emplace(s, member_of(partial.at(m), schedule_.statement(s).domain));
      if (statements.size() == 1 && stands_still(loop.member.at(statements[0]), statements[0])) continue;
      name(loop);
      around_.push_back(loop);
      loops.push_back(std::move(loop));
    }
    TreePtr body = convert(node.first_child(), statements);
    used_ = outer;
    around_.resize(depth);
    for (auto it = loops.rbegin(); it != loops.rend(); ++it) body = make_loop_tree(std::move(*it), std::move(body));
    return body;
  }

  // Do the loops around decide the member's value? A loop of one iteration for one statement is none.
  bool stands_still(const isl::pw_aff& member, int s) const {
    const isl::set& domain = schedule_.statement(s).domain;
    isl::map pairs = all_pairs(domain, domain).subtract(compare_map(member, Compare::kEqual, member));
    for (const Tree& l : around_) pairs = pairs.intersect(compare_map(l.member.at(s), Compare::kEqual, l.member.at(s)));
    return pairs.is_empty();
  }

  // Each statement's index where the member walks one; else a name that no statement below uses.
  void name(Tree& loop) {
    std::set<std::string> taken;
    for (const auto& [s, f] : loop.member) {
      const std::vector<std::string>& iterators = schedule_.statement(s).iterators;
      taken.insert(iterators.begin(), iterators.end());
      taken.insert(used_[s].begin(), used_[s].end());
      const std::optional<unsigned> d = only_dimension(f);
      if (d && !used_[s].count(iterators[*d])) loop.names[s] = iterators[*d];
    }
    std::string fresh;
    for (int i = 0; fresh.empty() || taken.count(fresh); ++i) fresh = "c" + std::to_string(i);
    for (const auto& [s, f] : loop.member) used_[s].insert(loop.names.emplace(s, fresh).first->second);
  }

  const Schedule& schedule_;
  int* next_loop_;
  std::map<std::string, int> by_id_;
  std::vector<Tree> around_;                   // the loops around what is converted
  std::map<int, std::set<std::string>> used_;  // names of the loops around each statement
};

TreePtr replace_nests(const Schedule& schedule, const Region& r, const TreePtr& made) {
  std::vector<TreePtr> parts;
  std::size_t seen = 0;
  const std::vector<TreePtr> all = r.scope->kind == Tree::Kind::kSequence ? r.scope->children : std::vector<TreePtr>{r.scope};
  for (const TreePtr& c : all) {
    const bool gone = std::find(r.nests.begin(), r.nests.end(), c) != r.nests.end();
    if (!gone) parts.push_back(c);
    if (gone && ++seen == r.nests.size()) parts.push_back(made);
  }
  return replace_node(schedule.tree, r.scope, make_sequence(std::move(parts)));
}

// Has the box of the elements of one iteration a constant size of at most `most`?
bool fits(const isl::map& elements, std::int64_t most) {
  std::int64_t count = 1;
  for (const BoxDimension& d : box_hull(elements)) {
    if (!d.size || *d.size > most / count) return false;
    count *= std::max<std::int64_t>(1, *d.size);
  }
  return true;
}

// Arrays contracted at a loop that is gone: to the innermost loop around every access, as `contract` would. A scalar of which
// one iteration of that loop has several elements now becomes an array of them, unless that would be large.
void contract_again(const Region& r, Schedule& next) {
  constexpr std::int64_t kMostElements = 1 << 20;
  std::set<int> gone;
  for (const TreePtr& nest : r.nests) for_each_loop(nest, [&](const Tree& l) { gone.insert(l.id); });
  for (StorageMap& m : next.storage) {
    const bool scalar = m.kind == StorageMap::Kind::kContract && m.sizes.empty();
    if (!gone.count(m.at) && !scalar) continue;
    const int at = common_loop(next, m.array);
    const isl::map elements = scalar ? footprint(next, m.array, at) : isl::map();
    if (scalar && (elements.is_null() || elements.is_single_valued() || !fits(elements, kMostElements))) {
      m.at = at;
    } else {
      m = contracted(next, m.array, at);
    }
  }
}

Schedule apply(const Schedule& schedule, Arguments& args) {
  const std::string fusion = args.text("fusion", "balanced");
  SchedulerOptions options;
  options.serialize = fusion == "minimal";
  options.maximize = fusion == "maximal";
  options.outer_coincidence = args.truth("outer_coincidence", false);
  if (fusion != "balanced" && !options.serialize && !options.maximize)
    args.bad("fusion", "\"minimal\", \"balanced\" or \"maximal\"", "\"" + fusion + "\"");
  const std::optional<Region> region = region_of(schedule, args);
  if (region) check_region(schedule, *region, args);
  if (args.problem()) return schedule;
  const std::optional<isl::schedule> made = compute_schedule(constraints_of(schedule, *region), options);
  if (!made) {
    args.refuse("isl's scheduler finds no order for these nests", {"take fewer nests at a time, or another `fusion`"});
    return schedule;
  }
  Schedule next = schedule;
  // isl drops statements without instances; they stay in the tree, where later steps may name them.
  std::vector<int> live;
  std::vector<TreePtr> parts;
  for (const int s : region->statements) {
    if (schedule.statement(s).domain.is_empty())
      parts.push_back(make_leaf(s));
    else
      live.push_back(s);
  }
  if (!live.empty()) parts.insert(parts.begin(), Converter(schedule, *region, &next.next_loop).convert(made->root(), live));
  next.tree = replace_nests(schedule, *region, make_sequence(std::move(parts)));
  contract_again(*region, next);
  return next;
}

}  // namespace

extern const Transform kReschedule;
const Transform kReschedule = {
    "reschedule",
    "isl's scheduler orders whole nests anew: skewed, shifted, fused and permuted so that outer loops are parallel or tilable.",
    {{"statements", "statements", true, "a statement of each nest to schedule together"},
     {"fusion", "text", false, "minimal (every component alone), balanced (default) or maximal"},
     {"outer_coincidence", "bool", false, "insist on a parallel outermost loop"},
     {"below", "loop", false, "keep this loop and those around it; schedule only what is inside"}},
    apply,
    {"for t  for i  S(t, i)", "for t  for i in t..t + N  S(t, i - t)", "Pluto's and isl's scheduler",
     "mapped loops, nests with buffers; the scheduler's time is limited"}};

}  // namespace facet
