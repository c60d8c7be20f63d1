// enumerate: a schedule at given sizes as the list of what runs, instance by instance, in order. Plain values: for judging a
// schedule by counting, without isl's dependences.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "facet/expr.hpp"
#include "facet/program.hpp"

namespace facet {

// Where a loop on an instance's path stands to other iterations of it.
enum class Together : std::uint8_t {
  kNo,       // one after another, or a position in a sequence
  kYes,      // any two iterations may run at the same time
  kPartial,  // the same, but they keep partial results of one reduction
};

// A statement that runs: a part that a step has cut off is its root's; a copy has no root.
struct EnumeratedStatement {
  std::string name, root;
  bool copy = false;
  std::vector<int> serves;  // of a copy into a part: the statements for which it was made
  int repeats = 0;          // iterators in front of the root's: it runs once more for each of their values, as far as needed
  bool stores = false;  // a copy that takes a part back to its array: whether anybody reads that there is the array's affair
  std::optional<ReduceKind> update;
  bool ordered = false;                        // an update whose order counts
  std::vector<std::pair<int, Together>> path;  // for each entry of `when`: the loop's id (-1: a sequence)
};

// A place in memory: an element of an array, or of the box that an array's part has in one iteration of a loop.
struct EnumeratedCell {
  std::string buffer;
  bool own = true;                         // the array's own memory, once for the group
  bool outside = false;                    // the box has no such place
  std::vector<std::int64_t> box, element;  // the iteration that the box belongs to, the position in it

  auto operator<=>(const EnumeratedCell&) const = default;
};

struct EnumeratedInstance {
  int statement = 0;
  std::vector<std::int64_t> at;    // the statement's iterators
  std::vector<std::int64_t> when;  // from the root of the tree down: values of loops, positions in sequences
  std::vector<int> reads;          // cells, in the order of the statement's value; -1: outside the array (padding)
  int write = -1;
};

struct Enumeration {
  std::vector<EnumeratedStatement> statements;
  std::vector<EnumeratedCell> cells;
  std::vector<EnumeratedInstance> instances;  // in the order in which they run
  std::string why_not;                        // not empty: nothing was enumerated, e.g. too many instances
};

}  // namespace facet
