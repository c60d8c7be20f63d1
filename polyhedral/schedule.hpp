// Schedule: the state of scheduling as a value. Scop, executed statements, storage maps, tree. Transforms make a new one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "facet/loop_ast.hpp"
#include "polyhedral/dependences.hpp"
#include "polyhedral/scop.hpp"

namespace facet {

// Where an array's elements live while the loop `at` runs one iteration (at = -1: the whole group).
//   kContract   the array has no other storage: one box per iteration of `at`
//   kPromote    a copy of the part of the array used below `at`; `copy_in` / `copy_out` name the copying statements. With
//               `reader` the copy is the whole array's, padding included, and serves that statement alone
// Element e of the array is element (e - offset) of a buffer of extents `sizes`, in the dimension order `order`, the innermost
// `inner[d]` of dimension d split off and placed last (packed tiles); `pad[d]` elements stay free after each run of dimension
// d, so that what lies below each other falls into different banks or cache sets. `fold[d]` places serve dimension d in turns:
// element e lies in place e mod fold.
struct StorageMap {
  enum class Kind { kContract, kPromote };
  Kind kind = Kind::kContract;
  std::string array;
  std::string buffer;  // name of the new buffer
  int at = -1;         // loop id
  MemorySpace space = MemorySpace::kStack;
  std::vector<isl::aff> offsets;    // per array dimension, affine in the schedule of the loops down to `at`
  std::vector<ExprPtr> sizes;       // per array dimension
  std::vector<int> order;           // buffer dimension -> array dimension
  std::vector<std::int64_t> inner;  // per array dimension, 0: not split
  std::vector<std::int64_t> pad;    // per array dimension; empty: none
  std::vector<std::int64_t> fold;   // per array dimension, 0: not folded; empty: none is
  int copy_in = -1, copy_out = -1;  // statement numbers
  int reader = -1;                  // statement number

  void fold_to(const std::vector<std::int64_t>& places);  // 0: as many as the dimension has
  std::int64_t folded(std::size_t dimension) const { return dimension < fold.size() ? fold[dimension] : 0; }
};

struct Schedule {
  std::shared_ptr<const Scop> scop;
  std::shared_ptr<const Dependences> dependences;
  std::vector<Statement> copies;  // executed statements beyond the Scop's: number = scop statements + position
  TreePtr tree;
  std::vector<StorageMap> storage;
  std::vector<std::string> recomputed;                      // arrays that are computed again where they are read
  std::vector<std::pair<std::string, std::string>> reused;  // array, and whose memory it lives in
  std::vector<std::string> streamed;                        // arrays stored past the caches
  Dependences lost;                                         // flows whose value a step has left behind: not legal
  int next_loop = 0;
  int taken = 0;  // steps so far

  const Statement& statement(int s) const;
  int statement_count() const;
  int find(const std::string& statement) const;  // -1 when absent
  // The storage map that says where the statement's accesses to the array go: the nearest one that holds for it; null when they
  // go to the array's own memory.
  const StorageMap* storage_of(int statement, const std::string& array) const;
  bool has_flow(int source, int sink, const std::string& array) const;
  // Was the promoted part made for this statement? Others, which joined its loop later, go past it to the array.
  bool serves(const StorageMap& part, int statement) const;
  std::map<int, isl::set> domains() const;  // of the statements in the tree
};

// The schedule of the program's own order: block-scope scalars contracted, nothing else.
Schedule original_schedule(std::shared_ptr<const Scop> scop, std::shared_ptr<const Dependences> dependences);

// The innermost loop of the tree that encloses every access of `array`; -1: the whole group.
int common_loop(const Schedule& schedule, const std::string& array);

// { S[i] -> [values of the loops around S, outermost first, down to and including loop `at`] }
isl::map outer_schedule(const Schedule& schedule, int statement, int at);

// The statement's own iterator that the loop walks, "" when the loop's member is not a plain iterator.
std::string walked_iterator(const Schedule& schedule, const Tree& loop, int statement);

// Does a statement of the tree below loop `at` (-1: anywhere) read `array` with a padding value? Such a read compares with the
// array's own bounds, which a smaller buffer does not know.
bool padded_reads(const Schedule& schedule, const std::string& array, int at);

// The tree's text (stage "schedule").
std::string to_text(const Schedule& schedule);

}  // namespace facet
