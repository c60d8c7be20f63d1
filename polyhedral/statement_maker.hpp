// StatementMaker: builds the statements, arrays and original order of a Scop; shared by equations and loop nests.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "polyhedral/lower.hpp"
#include "polyhedral/scop.hpp"

namespace facet {

// The value that does not change a reduction (contract P9).
ExprPtr identity_of(ReduceKind kind, DType type);

// The access of `s` to `array`, whose elements are `elements`, by subscripts of its iterators. A data-dependent subscript
// covers its whole dimension (it is clamped into it); a padded read (`cut`) is cut to the array.
Access access_of(const Scop& scop, const Statement& s, const Array& array, const isl::set& elements,
                 const std::vector<ExprPtr>& subscripts, bool cut);

// Sets the accesses of a statement by its domain, subscripts and value.
void find_accesses(const Scop& scop, Statement& s);

class StatementMaker {
 public:
  // What a statement is made of; ranges give the domain's dimensions, conditions cut it.
  struct Description {
    std::string name;  // made unique: "h0", "h0.1", ...
    std::vector<Range> ranges;
    std::vector<ExprPtr> conditions;
    std::string target;
    std::vector<ExprPtr> subscripts;
    ExprPtr value;
    std::optional<ReduceKind> update;
    Place place;
    std::string extra_constraints;  // isl text over i0.. (strides), may be empty
    ExprPtr plain;                  // with `update`: the new value, for when the operand may read the element itself
  };

  StatementMaker(const Program& program, const std::string& name);

  void declare_arrays(const ReaderIndex& readers, const std::vector<int>& nodes);
  const Array& array(const std::string& name) const { return scop_.arrays.at(name); }
  bool is_symbol(const std::string& name) const;

  // A new array indexed by `ranges` (lower bounds are subtracted by `positions`).
  std::string fresh_array(const std::string& base, DType type, const std::vector<Range>& ranges, bool scalar = false);
  std::vector<ExprPtr> positions(const std::vector<Range>& ranges) const;

  int add(const Description& d);
  const Statement& statement(int s) const { return scop_.statements[static_cast<std::size_t>(s)]; }

  // The natural nest: the first `shared` loops around all statements, each statement's further loops around it alone.
  TreePtr nest(const std::vector<int>& statements, std::size_t shared);
  // A loop over the given statements at dimension `dim`; `sign` -1 for a descending loop.
  TreePtr loop(const std::vector<int>& statements, std::size_t dim, int sign, TreePtr body);

  Scop finish(TreePtr original);
  const Program& program() const { return program_; }

 private:
  Access access(const Statement& s, const std::string& array, const std::vector<ExprPtr>& subscripts, bool cut) const;
  void find_reads(Statement& s) const;
  const isl::set& elements_of(const Array& array) const;
  std::string unique_statement(const std::string& name);

  const Program& program_;
  Scop scop_;
  mutable std::map<std::string, isl::set> elements_;  // of each array accessed so far: { A[e] : inside }
  int next_loop_ = 0;
  std::set<std::string> statement_names_;
  std::map<std::string, int> next_number_;  // of statements with one base name
};

}  // namespace facet
