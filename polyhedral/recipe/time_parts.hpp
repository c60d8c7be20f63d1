// The nests below a loop over time, as tiles over time need them: each a chain of loops around one statement.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "polyhedral/alignment.hpp"
#include "polyhedral/recipe/planner.hpp"

namespace facet {

struct TimePart {
  int statement = -1;
  std::vector<TreePtr> loops;  // outermost first, the loop over time not among them
  std::size_t missing = 0;     // loops that the deepest part has and this one has not: it is embedded in them
};

class TimeParts {
 public:
  // Nothing where `time` holds anything else, marked loops, or tiles.
  static std::optional<TimeParts> of(const TreePtr& time);

  const std::vector<TimePart>& list() const { return parts_; }
  std::size_t size() const { return parts_.size(); }
  const TimePart& operator[](std::size_t p) const { return parts_[p]; }
  std::size_t depth() const { return depth_; }  // of the deepest
  const TimePart& full() const;                 // the first of these
  const TreePtr& time() const { return time_; }

  const std::string& time_name(std::size_t p) const { return time_->names.at(parts_[p].statement); }
  std::string loop_name(std::size_t p, std::size_t k) const;  // of one that is embedded: a new one
  bool shares_no_name_with_time() const;

  // The values of space loop k: of a part that has no such loop, zero.
  isl::pw_aff member(const TimePart& part, std::size_t k) const;
  std::vector<AlignedPart> members(std::size_t k) const;

  // Makes loop k where the part has none; nothing where it has.
  std::optional<Step> embed(const Schedule& schedule, std::size_t p, std::size_t k) const;

 private:
  TreePtr time_;
  std::vector<TimePart> parts_;
  std::size_t depth_ = 0;
};

}  // namespace facet
