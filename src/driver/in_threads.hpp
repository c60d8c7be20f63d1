// Independent pieces of work on all cores. What they call must keep its state by thread, as the isl doorway does.
#pragma once

#include <cstddef>
#include <functional>

namespace facet {

// work(0) .. work(count - 1), in any order; returns when all are done.
void in_threads(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace facet
