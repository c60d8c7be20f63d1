// Facts the planner decides by: trip counts at typical sizes, strides of accesses along a loop, operations per instance.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "facet/machine.hpp"
#include "polyhedral/facet_polyhedral.hpp"
#include "polyhedral/schedule.hpp"

namespace facet {

// How an index expression grows with an iterator. Not exact: a quotient, on the average.
struct Slope {
  double value = 0;
  bool exact = true;
};
// nullopt where data, a remainder or a product of indices decides.
std::optional<Slope> slope_of(const ExprPtr& e, const std::string& name);

class Model {
 public:
  Model(const Schedule& schedule, const SymbolValues& sizes);

  // Iterations of a loop for a statement, at the typical sizes (the hull's, for triangular domains).
  double trips(const Tree& loop, int statement) const;
  // The most iterations that it has in one iteration of the loops around it: of a loop inside its tiles, those of a tile.
  double trips_inside(const Tree& loop, int statement) const;
  // Trip count of a statement's own iterator.
  double extent(int statement, std::size_t iterator) const;
  // Instances of a statement (product of its loops' trips; an upper bound for triangular domains).
  double instances(int statement) const;
  // Arithmetic operations of one instance; exp and friends count as 10 (their polynomial's length).
  static double operations(const Statement& s);

  enum class Stride { kNone, kUnit, kOther };
  // How an access's linearised address moves when iterator `name` grows by one.
  static Stride stride(const std::vector<ExprPtr>& subscripts, const std::string& name);

  // By how much a linear subscript grows with `name`; nothing where that is not constant.
  static std::optional<std::int64_t> step(const ExprPtr& subscript, const std::string& name);

  double array_bytes(const std::string& array) const;
  // An extent at the typical sizes; nullopt where it changes with an index (scalars of a triangular block).
  std::optional<double> value(const ExprPtr& extent) const;
  const SymbolValues& sizes() const { return sizes_; }

 private:
  const Schedule& schedule_;
  SymbolValues sizes_;
  std::vector<std::pair<std::string, std::int64_t>> parameters_;
};

}  // namespace facet
