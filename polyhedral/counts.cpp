// counts: operations and least bytes of a group.
#include "polyhedral/counts.hpp"

#include <algorithm>
#include <cmath>

#include "polyhedral/model.hpp"

namespace facet {

namespace {

// Iterations of `ranges`, outer indices at the middle of their ranges.
ExprPtr iterations(const std::vector<Range>& ranges) {
  ExprPtr count = idx(1);
  std::vector<std::pair<std::string, ExprPtr>> middle;
  for (const Range& r : ranges) {
    const ExprPtr lower = substitute(r.lower, middle);
    const ExprPtr upper = substitute(r.upper, middle);
    count = idx_mul(count, idx_max(idx(0), idx_sub(upper, lower)));
    middle.emplace_back(r.name, idx_floordiv(idx_add(lower, upper), 2));
  }
  return count;
}

}  // namespace

ExprPtr count_operations(const Scop& scop) {
  ExprPtr total = idx(0);
  for (const Statement& s : scop.statements) {
    const std::int64_t each = static_cast<std::int64_t>(std::llround(Model::operations(s)));
    if (each > 0) total = idx_add(total, idx_mul(idx(each), iterations(s.ranges)));
  }
  return total;
}

ExprPtr count_bytes(const Scop& scop) {
  ExprPtr total = idx(0);
  for (const auto& [name, a] : scop.arrays) {
    const bool written = std::any_of(scop.statements.begin(), scop.statements.end(),
                                     [&, key = name](const Statement& s) { return s.target == key; });
    const bool read = std::any_of(scop.statements.begin(), scop.statements.end(), [&, key = name](const Statement& s) {
      return std::any_of(s.reads.begin(), s.reads.end(), [&](const Access& x) { return x.array == key; });
    });
    const int times = (a.external && read) + (written && (a.live_out || a.external));
    if (times == 0) continue;
    ExprPtr bytes = idx(times * size_bytes(a.dtype));
    for (const ExprPtr& e : a.extents) bytes = idx_mul(bytes, e);
    total = idx_add(total, bytes);
  }
  return total;
}

}  // namespace facet
