// Touches: what the parts of a block's code do to its buffers, as far as a barrier between them hangs on it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/passes/tree.hpp"

namespace facet::gpu {

constexpr const char* kEvery = "every";  // owners of an access: all threads, thread 0, or the form of a nest
constexpr const char* kFirst = "first";

// Of a folded array, touched at `at` mod `places` of one dimension: buffers that are filled and used in turns.
struct Slot {
  std::size_t dimension = 0;
  ExprPtr at;
  std::int64_t places = 0;
};

struct Touch {
  std::string buffer, owner, statement;
  bool write = false;
  std::optional<Slot> slot;
};

std::optional<Slot> slot_of(const passes::Access& a);

// May the two meet, both in one iteration of the loops around, and is one a write and not surely by the same thread?
bool conflict(const Touch& a, const Touch& b);

// The same touches so many iterations of the loop later. Seen from outside the loop, their places are not known.
std::vector<Touch> later(std::vector<Touch> touches, const For& loop, std::int64_t iterations);
std::vector<Touch> seen_from_outside(std::vector<Touch> touches, const For& loop);

// After how many iterations the places of these touches come round again; 1 without any.
std::int64_t turns_of(const std::vector<Touch>& touches);

}  // namespace facet::gpu
