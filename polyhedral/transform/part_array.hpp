// Arrays that hold a part for each iteration of a loop: the values of the loops down to it are their leading dimensions. What
// such a part's storage may forget between iterations is then said by `contract`'s means, boxes and folding.
#pragma once

#include <string>
#include <vector>

#include "polyhedral/transform/transform.hpp"

namespace facet {

class PartArray {
 public:
  // `around`: the loops down to the part's, as seen by `users`, the statements whose accesses move there. A complaint is left
  // in `args` when the loops' values for them have no single bounds.
  PartArray(const Schedule& schedule, Arguments& args, std::string array, std::string name, std::vector<TreePtr> around,
            const std::vector<int>& users);

  const std::string& name() const { return name_; }
  const std::vector<ExprPtr>& extents() const { return extents_; }  // of the leading dimensions

  // The element of the part is e - offset(o) instead of e; offsets as functions of the loops' values.
  void set_offsets(std::vector<isl::aff> offsets) { offsets_ = std::move(offsets); }

  // Where a statement stands: the loops' values for it, as functions of its instance and as expressions of its iterators.
  struct Iteration {
    std::vector<isl::pw_aff> values;
    std::vector<ExprPtr> texts;
  };
  Iteration of_member(int statement) const;             // by the loops' members
  Iteration of_iterators(const Statement& made) const;  // by its own first iterators

  // The accesses to the array become accesses to the part: all of `st`'s reads, one access.
  void move_reads(Statement& st, const Iteration& at) const;
  void move_write(Statement& st, const Iteration& at) const;

 private:
  isl::map positions(const Statement& st, const Iteration& at) const;
  std::vector<ExprPtr> subscripts(const Iteration& at, const std::vector<ExprPtr>& element) const;
  void move(const Statement& st, Access& a, const Iteration& at) const;

  const Schedule& schedule_;
  std::string array_, name_;
  std::vector<TreePtr> around_;
  std::vector<ExprPtr> low_, extents_;
  std::vector<isl::aff> offsets_;
};

}  // namespace facet
