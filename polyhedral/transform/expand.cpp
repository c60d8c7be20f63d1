// expand: a scalar, or an array contracted at a loop, gets all its elements: one for each value it ever has.
//
//     for i { t = a[i]; for k  t -= b[i, k]; y[i] = t }          expand t
//     -->  double t[N];  for i { t[i] = a[i]; for k  t[i] -= b[i, k]; y[i] = t[i] }
//
// A value that lives in one iteration keeps the nest together: no step may take its making and its uses apart. In an array of
// its own they may be distributed, rescheduled and tiled; `contract` at another loop then shrinks it to what one iteration of
// that loop needs (a tile's values, where a scalar held one). The extents are the hull of the elements that the group touches,
// expressions of the symbols. Known elsewhere as scalar expansion, array expansion; the inverse of contract.
// Refuses arrays that are not contracted, parts promoted from them, hulls without single bounds. Always legal: no two values
// share a place that did not before.
// Source: Feautrier, Array expansion, ICS 1988.
#include <algorithm>

#include "polyhedral/affine.hpp"
#include "polyhedral/storage.hpp"
#include "polyhedral/transform/transform.hpp"

namespace facet {

namespace {

Schedule apply(const Schedule& schedule, Arguments& args) {
  const Array* const found = args.array();
  if (args.problem()) return schedule;
  const std::string& array = found->name;
  Schedule next = schedule;
  const auto contracted = std::find_if(next.storage.begin(), next.storage.end(), [&](const StorageMap& m) {
    return m.array == array && m.kind == StorageMap::Kind::kContract;
  });
  const auto parts = std::count_if(next.storage.begin(), next.storage.end(), [&](const StorageMap& m) {
    return m.array == array && m.kind == StorageMap::Kind::kPromote;
  });
  if (contracted == next.storage.end() || (contracted->at < 0 && !contracted->sizes.empty()))
    args.refuse("'" + array + "' has room for all its elements already");
  if (parts > 0) args.refuse("a part of '" + array + "' is promoted", {"expand before promote"});
  if (args.problem()) return schedule;
  const isl::map all = footprint(schedule, array, -1);  // { [] -> A[e] }
  StorageMap m;
  m.array = array;
  m.buffer = array;
  m.space = MemorySpace::kGlobal;
  for (std::size_t d = 0; d < found->extents.size(); ++d) {
    const std::optional<DimensionBounds> bounds =
        all.is_null() ? std::nullopt : dimension_bounds(all, static_cast<unsigned>(d));
    if (!bounds) {
      args.refuse("dimension " + std::to_string(d) + " of '" + array + "' has no single bounds");
      return schedule;
    }
    m.offsets.push_back(bounds->low);
    m.sizes.push_back(idx_add(idx_sub(expr_of(bounds->high, {}), expr_of(bounds->low, {})), idx(1)));
    m.order.push_back(static_cast<int>(d));
    m.inner.push_back(0);
  }
  if (m.sizes.empty()) args.refuse("'" + array + "' has one element in the whole group");
  if (args.problem()) return schedule;
  *contracted = std::move(m);
  return next;
}

}  // namespace

extern const Transform kExpand;
const Transform kExpand = {"expand",
                           "A scalar or contracted array gets an element for each value it ever has.",
                           {{"array", "array", true, "the scalar or array"}},
                           apply};

}  // namespace facet
