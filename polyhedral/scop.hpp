// Scop: what one group must compute, as affine statements. The first of the four values of scheduling.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "facet/program.hpp"
#include "polyhedral/isl/isl.hpp"
#include "polyhedral/tree/tree.hpp"

namespace facet {

// A statement's kind is a fact of the computation, not of its schedule.
enum class StatementKind { kMap, kReduce, kRecurrence, kCopy };
std::string to_text(StatementKind kind);

struct Access {
  std::string array;
  isl::map relation;  // { S_x[i] -> A_y[e] }, elements inside the array only
  isl::map whole;     // the same before cutting to the array: for the bounds proof; padded and clamped reads are cut here too
  bool exact = true;  // false: an over-approximation (data-dependent subscript)
  std::optional<isl::map> reach;  // of a padded read: what its subscripts name, elements outside the array included
};

struct Statement {
  std::string name;                    // "h0", "h0.init", "A.1"
  std::vector<std::string> iterators;  // loop names, in the order of the domain's dimensions
  std::vector<Range> ranges;           // the iterators' bounds as written (the domain also holds conditions)
  isl::set domain;                     // { S_h0[i, j, k] }
  StatementKind kind = StatementKind::kMap;
  std::string target;                // array written
  std::vector<ExprPtr> subscripts;   // of iterators and symbols
  ExprPtr value;                     // the new value, or with `update` the operand
  std::optional<ReduceKind> update;  // target = target OP value
  Access write;
  std::vector<Access> reads;  // not the update's read of its own target
  int repeats = 0;            // leading iterators that say for which iteration it is computed again (compute_at)
  Place place;

  bool reads_of(const std::string& array) const;  // not the update's read of its own target
  bool touches(const std::string& array) const;   // reads or writes it
  bool rounds() const;                            // an update whose result depends on the order
};

struct Array {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<ExprPtr> extents;   // empty for `scalar` arrays: no memory unless expanded
  bool external = false;          // exists before the group: an input, constant or another group's result
  bool constant = false;          // a weight: the program has its values
  bool live_out = false;          // someone reads it after the group
  bool in_place = false;          // written by a `loops` node: dependences by flow analysis
  bool scalar = false;            // a block-scope scalar of a `loops` node: one value per iteration of its block
  std::vector<ExprPtr> declared;  // after `flatten`: the extents in memory; empty: `extents`
  std::vector<int> joined;        // with `declared`: how many of those each of `extents` stands for
};

// The extents that the array has in memory, and its subscripts there: quotients and remainders of a joint position.
const std::vector<ExprPtr>& extents_in_memory(const Array& a);
std::vector<ExprPtr> subscripts_in_memory(const Array& a, std::vector<ExprPtr> subscripts);

struct Scop {
  std::string name;  // of the group: "k0"
  std::vector<Symbol> symbols;
  isl::set context;                   // what is known of the symbols
  std::vector<Statement> statements;  // in program order
  std::map<std::string, Array> arrays;
  TreePtr original;  // the order of the program
  Numerics::Reassociate reassociate = Numerics::Reassociate::kTree;

  int find(const std::string& statement) const;  // -1 when absent
  // Must the statement's updates keep their order? Where the numerics are strict and the operation rounds: integers wrap, and
  // the smallest or largest of several values is the same in any order.
  bool keeps_order(const Statement& update) const;
};

// { A_x[e] : 0 <= e < extents }
isl::set array_set(const Scop& scop, const std::string& array);
// Where the array has no element, side by side: below and above it in each dimension, within it in those before.
std::vector<isl::set> sets_beside(const Scop& scop, const std::string& array);

// isl text, one block per statement (stage "schedule" starts with it).
std::string to_text(const Scop& scop);

}  // namespace facet
