// The schedule tree as a plain value: loops, sequences and leaves. Every loop has one member, so a band is a chain of loops.
//
// isl's schedule is made from it for scanning and flow analysis; surgery happens here, on values that are cheap to copy.
// A loop knows, per statement below it, the statement's name for it and the affine function that orders its instances.
// Permutable and coincident are not stored: they are asked of `legality`, so they can never be stale.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "facet/loop_ast.hpp"
#include "polyhedral/isl/isl.hpp"

namespace facet {

struct Tree;
using TreePtr = std::shared_ptr<const Tree>;

// What the iterations of a concurrent loop do where they update one place by one operation.
enum class SharedUpdates : std::uint8_t {
  kNone,    // there is no such place
  kParts,   // kParallel: pieces of the loop each update a copy of their own; the copies are combined afterwards, in order
  kAtomic,  // each update is one action
};

// How a loop is executed.
struct LoopMark {
  LoopKind kind = LoopKind::kSerial;
  int width = 0;                                 // kVector: lanes; kUnroll: factor, 0 full; kThread/kBlock: extent hint
  int collapse = 1;                              // kParallel
  GpuPlace gpu;                                  // kMapped
  SharedUpdates updates = SharedUpdates::kNone;  // kParallel, kMapped
  std::int64_t parts = 0;                        // kParts: how many pieces
  int step = -1;                                 // position of the step that set it among the group's; -1: none did
};

struct Tree {
  enum class Kind { kLoop, kSequence, kLeaf };
  Kind kind = Kind::kLeaf;
  int id = -1;                        // kLoop: stable through transformations; storage refers to it
  int statement = -1;                 // kLeaf
  std::map<int, std::string> names;   // kLoop: statement -> its name for this loop
  std::map<int, isl::pw_aff> member;  // kLoop: statement -> { S[i] -> [time] }
  LoopMark mark;                      // kLoop
  std::string comment;                // kLoop: "tile of i by 32"
  std::vector<TreePtr> children;      // kLoop: one; kSequence: two or more
};

TreePtr make_leaf(int statement);
TreePtr make_sequence(std::vector<TreePtr> children);  // flattens nested sequences; one child is that child
TreePtr make_loop_tree(Tree loop, TreePtr child);

// The statements below, in order.
std::vector<int> statements_of(const TreePtr& tree);
bool contains(const TreePtr& tree, int statement);

// The loops around a statement, outermost first.
std::vector<TreePtr> loops_around(const TreePtr& tree, int statement);
// The loops from `tree` on that stand directly inside each other, outermost first.
std::vector<TreePtr> loop_chain(const TreePtr& tree);

// The innermost loop around `statement` that it calls `name`; null when there is none.
TreePtr find_loop(const TreePtr& tree, int statement, const std::string& name);
TreePtr find_loop(const TreePtr& tree, int id);

// Rebuilds the tree, replacing the node identical to `old_node` by `new_node`.
TreePtr replace_node(const TreePtr& tree, const TreePtr& old_node, const TreePtr& new_node);

// Visits every loop, outermost first.
void for_each_loop(const TreePtr& tree, const std::function<void(const Tree&)>& visit);

// The isl schedule; each loop is a one-member band below a mark "loop:ID". `domains` by statement number.
isl::schedule to_isl(const TreePtr& tree, const std::map<int, isl::set>& domains);

// Indented text with statement names: loops as "for i (h0.i, h1.i) parallel".
std::string to_text(const TreePtr& tree, const std::function<std::string(int)>& name_of, int indent = 0);

}  // namespace facet
