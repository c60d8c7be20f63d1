// StageMaker: new statements of a rewrite that replaces one statement by stages, each a nest over whole ranges.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "polyhedral/scop.hpp"

namespace facet {

using Exprs = std::vector<ExprPtr>;
using Rows = std::vector<std::vector<std::int64_t>>;

inline Exprs operator+(Exprs a, const Exprs& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class StageMaker {
 public:
  // Of the Scop `old`, for the statement `replaced`: stages compute in the type of its value.
  StageMaker(const Scop& old, int replaced);

  // The index called so, or nearly so where a symbol or an array has the name.
  std::string id(std::string name) const;
  ExprPtr ix(const std::string& name) const { return index(id(name)); }
  Range range(const std::string& name, const ExprPtr& extent) const { return {id(name), idx(0), extent}; }

  void declare(const std::string& name, const Exprs& extents);

  // A statement with these loops; takes the place of statement `number` or stands behind all others. Its number.
  int add(const std::string& name, const std::vector<Range>& ranges, const std::string& target, const Exprs& subscripts,
          const ExprPtr& value, std::optional<ReduceKind> update = {}, int number = -1);

  // A nest of the statement's loops from the `from`-th on.
  TreePtr nest(int number, std::size_t from = 0);
  // for the `shared` loops { init;  for the others update }
  TreePtr shared_nest(int init, int update, std::size_t shared);
  // A statement called as its target, and its nest behind the others.
  void add_nest(const std::string& target, const std::vector<Range>& ranges, const Exprs& subscripts, const ExprPtr& value);

  // sum[i] row[i] / denominator * elements[i] for the row of which the index `which` is the number. The loop over it is there
  // to be unrolled.
  ExprPtr combinations(const Rows& rows, const std::string& which, const Exprs& elements, std::int64_t denominator = 1) const;

  DType type() const { return type_; }

 protected:
  std::shared_ptr<Scop> scop_;  // the new one
  std::vector<TreePtr> nests_;

 private:
  ExprPtr combination(const std::vector<std::int64_t>& row, const Exprs& elements, std::int64_t denominator) const;

  const Scop& original_;
  DType type_;
  Place place_;
  int fresh_ = 0;  // the next loop
};

}  // namespace facet
