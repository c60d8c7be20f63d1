// Index arithmetic that stays at the ends of 64 bits instead of overflowing: a size that large is refused by whoever asked for
// it.
#pragma once

#include <cstdint>
#include <limits>

namespace facet {

__extension__ using WideInt = __int128;

inline std::int64_t saturated(WideInt value) {
  constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min(), kHigh = std::numeric_limits<std::int64_t>::max();
  return value < kLow ? kLow : value > kHigh ? kHigh : static_cast<std::int64_t>(value);
}

}  // namespace facet
