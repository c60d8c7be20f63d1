// Memory of the interpreter: buffer instances with a shadow that knows who wrote and read each element, and when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "facet/loop_ast.hpp"

namespace facet::agents {

// When an access happened: agents of one block are ordered by its barriers (epoch), those of one warp also by the warp's.
struct Stamp {
  std::int32_t agent = -1;
  std::int32_t epoch = -1;
  std::int32_t warp_epoch = 0;
};

// The agent that accesses now.
struct Clock {
  Stamp now;
  std::int32_t launch_epoch = 0;      // accesses before it are ordered before this launch or parallel region
  std::int32_t agents_per_block = 1;  // 1 on the CPU: each iteration is a block of its own
  std::int32_t warp = 32;
  bool active = false;  // outside of parallel regions nothing can conflict
};

struct Shadow {
  Stamp writer;
  Stamp readers[2];  // the last ones, of different warps if there are any
  bool atomic_writer = false;
};

// One storage of a buffer. Global ones live as long as the run; shared ones are renewed per block, local ones per agent.
struct Instance {
  const Buffer* buffer = nullptr;
  std::byte* data = nullptr;
  std::vector<std::byte> own;
  std::vector<std::int64_t> extents, strides;
  std::int64_t size = 0;  // elements of storage
  std::int64_t element_bytes = 4;
  bool check_init = false;
  bool check_race = false;
  std::uint32_t generation = 1;  // an element is initialised when its stamp is the generation
  std::vector<std::uint32_t> init;
  std::vector<Shadow> shadow;

  // Fresh contents: nothing initialised, no accesses seen.
  void renew();
  bool initialised(std::int64_t offset) const { return init[static_cast<std::size_t>(offset)] == generation; }
  void mark_initialised(std::int64_t offset) { init[static_cast<std::size_t>(offset)] = generation; }
};

// Row-major strides of `extents`, and the number of elements that extents and strides span (0 when any extent is 0).
std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& extents);
std::int64_t span_of(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides);

// Sizes the instance and gives it own storage unless `data` is set.
void shape_instance(Instance* instance, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides, bool check_init,
                    bool check_race);

// Records an access; true when an earlier access conflicts with it, which is then in `earlier`.
bool note_read(Instance* instance, std::int64_t offset, const Clock& clock, Stamp* earlier);
bool note_write(Instance* instance, std::int64_t offset, const Clock& clock, bool atomic, Stamp* earlier);

}  // namespace facet::agents
