// for_each_launch: the order in which the processor launches kernels, host loops included. The runner and the interpreter share
// it.
#pragma once

#include <cstddef>
#include <vector>

#include "facet/loop_ast.hpp"
#include "facet/result.hpp"

namespace facet {

// Calls visit(item, values) for each launch in order; `values` holds the symbols and the host iterators of the moment.
// `host_of(item)`: the item's host loops. Neighbours whose loops down to one have the same iterators share it. Ends at the
// first error.
template <class Item, class HostOf, class Visit>
Result<Done> for_each_launch(const std::vector<Item>& list, const HostOf& host_of, SymbolValues values, const Visit& visit,
                             std::size_t first = 0, std::size_t last = static_cast<std::size_t>(-1), std::size_t depth = 0) {
  last = last < list.size() ? last : list.size();
  while (first < last) {
    const std::vector<For>& host = host_of(list[first]);
    if (host.size() <= depth) {
      if (const Result<Done> r = visit(list[first], values); !r) return r;
      ++first;
      continue;
    }
    const For& loop = host[depth];
    std::size_t end = first + 1;
    while (end < last && host_of(list[end]).size() > depth && host_of(list[end])[depth].iterator == loop.iterator) ++end;
    const std::int64_t upper = evaluate_index(loop.upper, values);
    for (std::int64_t i = evaluate_index(loop.lower, values); i < upper; i += loop.step) {
      values[loop.iterator] = i;
      if (const Result<Done> r = for_each_launch(list, host_of, values, visit, first, end, depth + 1); !r) return r;
    }
    first = end;
  }
  return Done{};
}

}  // namespace facet
