// Dependences.
//
// An SSA tensor has one definition per element (plus its initial value and its updates), all before every read: flow is
//     { W(i) -> R(j) : write_W(i) = read_R(j) } = read_R^-1 o write_W
// with no analysis of the order. Updates of one element, by one statement or several, are kept as reduction dependences in
// original order.
//
// An array that a loop nest updates in place needs the order: isl's flow analysis on the original schedule tree, array by
// array,
//     flow    sink = reads,   must-source = plain writes, may-source = updates
//     output  sink = writes,  must-source = plain writes, may-source = updates
//     anti    sink = writes,  must-source = plain writes, may-source = reads, cut to pairs whose source reads the element
// Updates never kill: a reader depends on all of them, so relaxing their order among themselves is sound. What an update's
// operand reads of the array it updates (A[i, j] -= A[i, k] * A[k, j]: other elements) is read like anything else: only the
// update's own read of its element makes a reduction dependence. The cost on tensors
// is one composition per reader; on in-place arrays what isl's analysis costs, under the caller's quota.
#include "polyhedral/dependences.hpp"

#include <algorithm>
#include <set>

#include "polyhedral/affine.hpp"
#include "polyhedral/transform/transform.hpp"

namespace facet {

isl::schedule order_of_array(const Scop& scop, const std::string& array) {
  std::vector<int> touching;
  std::map<int, isl::set> domains;
  for (const int i : statements_of(scop.original)) {
    const Statement& s = scop.statements[static_cast<std::size_t>(i)];
    if (!s.touches(array)) continue;
    touching.push_back(i);
    domains[i] = s.domain;
  }
  return to_isl(restrict_tree(scop.original, touching, nullptr), domains);
}

namespace {

bool same_reduction(const Statement& a, const Statement& b) { return a.update && b.update && *a.update == *b.update; }

// { S[i] -> T[j] : S[i] runs before T[j] } in the original tree.
isl::map before_in_order(const Scop& scop, int s, int t) {
  const isl::map all =
      all_pairs(scop.statements[static_cast<std::size_t>(s)].domain, scop.statements[static_cast<std::size_t>(t)].domain);
  isl::map equal = all;
  isl::map before = all.subtract(all);
  for (const TreePtr& loop : loops_around(scop.original, s)) {
    if (!loop->member.count(t)) break;
    const isl::pw_aff &f = loop->member.at(s), &g = loop->member.at(t);
    before = before.unite(equal.intersect(compare_map(f, Compare::kLess, g)));
    equal = equal.intersect(compare_map(f, Compare::kEqual, g));
  }
  const std::vector<int> order = statements_of(scop.original);
  const bool first = s != t && std::find(order.begin(), order.end(), s) < std::find(order.begin(), order.end(), t);
  return first ? before.unite(equal) : before;
}

void add(Dependences& list, DependenceKind kind, int source, int sink, const std::string& array, const isl::map& relation) {
  if (!relation.is_empty()) list.push_back(make_dependence(kind, source, sink, array, relation));
}

void tensor_dependences(const Scop& scop, const std::string& array, Dependences& list) {
  const int n = static_cast<int>(scop.statements.size());
  for (int w = 0; w < n; ++w) {
    const Statement& writer = scop.statements[static_cast<std::size_t>(w)];
    if (writer.target != array) continue;
    for (int r = 0; r < n; ++r) {
      const Statement& reader = scop.statements[static_cast<std::size_t>(r)];
      if (writer.update && reader.update && reader.target == array) {  // of one sum, in one statement or, split, in several
        const isl::map same = writer.write.relation.apply_range(reader.write.relation.reverse());
        add(list, DependenceKind::kReduction, w, r, array, same.intersect(before_in_order(scop, w, r)));
      }
      for (const Access& a : reader.reads)
        if (a.array == array)
          add(list, DependenceKind::kFlow, w, r, array, writer.write.relation.apply_range(a.relation.reverse()));
      if (reader.update && reader.target == array && r != w && !writer.update)
        add(list, DependenceKind::kFlow, w, r, array, writer.write.relation.apply_range(reader.write.relation.reverse()));
    }
  }
}

// The in-place arrays' analysis: access relations of all statements to one array.
struct InPlace {
  isl::union_map reads = empty_union_map();    // plain reads
  isl::union_map writes = empty_union_map();   // plain writes: they kill
  isl::union_map updates = empty_union_map();  // updates: they do not; each reads its own element, too
};

InPlace accesses_of(const Scop& scop, const std::string& array) {
  InPlace in;
  for (const Statement& s : scop.statements) {
    for (const Access& a : s.reads)
      if (a.array == array) in.reads = in.reads.unite(isl::union_map(a.relation));
    if (s.target != array) continue;
    const isl::union_map w(s.write.relation);
    if (s.update) {
      in.updates = in.updates.unite(w);
    } else {
      in.writes = in.writes.unite(w);
    }
  }
  return in;
}

isl::union_map flow_of(const isl::union_map& sink, const isl::union_map& must, const isl::union_map& may,
                       const isl::schedule& order) {
  return isl::union_access_info(sink)
      .set_must_source(must)
      .set_may_source(may)
      .set_schedule(order)
      .compute_flow()
      .may_dependence();
}

// Splits a union relation by statements; with `own`, the element is what updates work on: pairs by one operation become
// reduction dependences.
void split(const Scop& scop, const isl::union_map& all, DependenceKind kind, bool own, const std::string& array,
           Dependences& list) {
  std::map<std::string, int> by_id;
  for (std::size_t i = 0; i < scop.statements.size(); ++i) by_id[statement_id(scop.statements[i].name)] = static_cast<int>(i);
  std::vector<isl::map> maps;
  all.foreach_map([&](isl::map m) { maps.push_back(m); });
  std::vector<Dependence> found;
  for (const isl::map& m : maps) {
    const int source = by_id.at(tuple_name(m.domain()));
    const int sink = by_id.at(tuple_name(m.range()));
    const Statement& a = scop.statements[static_cast<std::size_t>(source)];
    const Statement& b = scop.statements[static_cast<std::size_t>(sink)];
    const bool reduction = own && same_reduction(a, b) && a.target == array && b.target == array;
    found.push_back({reduction ? DependenceKind::kReduction : kind, source, sink, array, m, {}});
  }
  std::stable_sort(found.begin(), found.end(), [](const Dependence& x, const Dependence& y) {
    return std::pair(x.source, x.sink) < std::pair(y.source, y.sink);
  });
  for (const Dependence& d : found) add(list, d.kind, d.source, d.sink, d.array, d.relation);
}

void in_place_dependences(const Scop& scop, const std::string& array, const isl::schedule& order, Dependences& list) {
  const InPlace in = accesses_of(scop, array);
  const isl::union_map all_writes = in.writes.unite(in.updates);
  const auto before = [&](const isl::union_map& sink, const isl::union_map& may) {
    return flow_of(sink, in.writes, may, order);
  };
  const auto anti = [&](const isl::union_map& reads) {
    return before(all_writes, reads).intersect(reads.apply_range(all_writes.reverse()));
  };
  split(scop, before(in.reads, in.updates), DependenceKind::kFlow, false, array, list);
  if (!in.updates.is_empty()) split(scop, before(in.updates, in.updates), DependenceKind::kFlow, true, array, list);
  split(scop, before(all_writes, in.updates), DependenceKind::kOutput, true, array, list);
  split(scop, anti(in.reads), DependenceKind::kAnti, false, array, list);
  if (!in.updates.is_empty()) split(scop, anti(in.updates), DependenceKind::kAnti, true, array, list);
}

}  // namespace

std::string to_text(DependenceKind kind) {
  static const char* const names[] = {"flow", "anti", "output", "reduction"};
  return names[static_cast<int>(kind)];
}

Dependence make_dependence(DependenceKind kind, int source, int sink, const std::string& array, const isl::map& relation) {
  return {kind, source, sink, array, relation, equal_dimensions(relation)};
}

bool zero_distance(const Dependence& dependence, const isl::pw_aff& f, const isl::pw_aff& g) {
  const std::optional<unsigned> d = involved_dimension(f), e = involved_dimension(g);
  if (!d || !e) return false;
  const auto pair = std::find(dependence.equal.begin(), dependence.equal.end(), std::pair(*d, *e));
  return pair != dependence.equal.end() && same_function(f, *d, g, *e);
}

namespace {

// An array may be declared `inout` by an op whose code never names it.
bool touched(const Scop& scop, const std::string& array) {
  return std::any_of(scop.statements.begin(), scop.statements.end(), [&](const Statement& s) { return s.touches(array); });
}

}  // namespace

Dependences compute_dependences(const Scop& scop) {
  Dependences list;
  for (const auto& [name, array] : scop.arrays) {
    if (!array.in_place && !array.scalar) {
      tensor_dependences(scop, name, list);
      continue;
    }
    if (touched(scop, name)) in_place_dependences(scop, name, order_of_array(scop, name), list);
  }
  return list;
}

std::string to_text(const Scop& scop, const Dependences& dependences) {
  std::string text = "dependences of " + scop.name + "\n";
  for (const Dependence& d : dependences)
    text += to_text(d.kind) + " " + scop.statements[static_cast<std::size_t>(d.source)].name + " -> " +
            scop.statements[static_cast<std::size_t>(d.sink)].name + " through " + d.array + "\n  " + text_of(d.relation) +
            "\n";
  return text;
}

}  // namespace facet
