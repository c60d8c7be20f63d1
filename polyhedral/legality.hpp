// Legality: the one function that judges every step, over exact dependences, with a concrete witness when the answer is no.
//
// Three questions. Order: does the tree run every source before its sink. Marks: does a parallel, vector or thread loop carry
// no dependence. Storage: does every read of a contracted or promoted array still get the value it has in the Scop.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "polyhedral/schedule.hpp"

namespace facet {

// One violated pair: the lexicographically smallest, symbols first.
struct Violation {
  std::string question;  // "order" | "parallel" | "vector" | "mapped" | "storage"
  DependenceKind kind = DependenceKind::kFlow;
  std::string array;
  std::vector<std::int64_t> element;
  std::vector<std::int64_t> taker;  // not empty: the element that takes its place in a folded array
  std::string source, sink;         // statement names
  std::vector<std::string> source_iterators, sink_iterators;
  std::vector<std::int64_t> source_instance, sink_instance;
  std::vector<std::pair<std::string, std::int64_t>> symbols;
  std::string loop;                // marks: the loop that carries it
  Place source_place, sink_place;  // where the statements are written
};

// "h0[1, 2, 0] must run before h[1, 2] (flow through h0[1, 2], N = 4)"
std::string to_text(const Violation& violation);

// Throws isl's exceptions: call it inside guarded(). With `legal_before`, a schedule of the same Scop that was judged legal,
// only dependences of statements whose place in the tree changed are judged again.
std::optional<Violation> find_violation(const Schedule& schedule, const Schedule* legal_before = nullptr);

// The loops whose iterations may run in any order and at the same time: by their mark, or collapsed into a parallel loop above.
std::set<int> concurrent_loops(const TreePtr& tree);

// The statements whose updates of one element the loop's iterations share, by array: the ends of the reduction dependences that
// it, or a loop that shares its threads, carries.
std::map<std::string, std::set<int>> shared_updates(const Schedule& schedule, const Tree& loop);

// What each loop's iterations depend on, for all loops of the tree: the same judgement in one descent.
struct Carried {
  bool reduction = false;  // updates of one place by one operation
  bool other = false;
  bool none() const { return !reduction && !other; }
};
std::map<int, Carried> carried_dependences(const Schedule& schedule);  // by loop id

// May this loop run its iterations in any order? (used by the planner; the same judgement as find_violation's)
bool carries_dependence(const Schedule& schedule, int loop, bool count_reductions);

}  // namespace facet
