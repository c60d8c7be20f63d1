// One table for the generator and the reference.
#include "facet/dtype_range.hpp"

#include <limits>

namespace facet {

std::int64_t lowest_of(DType type) {
  switch (type) {
    case DType::kI8: return std::numeric_limits<std::int8_t>::min();
    case DType::kI16: return std::numeric_limits<std::int16_t>::min();
    case DType::kI32: return std::numeric_limits<std::int32_t>::min();
    case DType::kI64: return std::numeric_limits<std::int64_t>::min();
    default: return 0;
  }
}

std::int64_t highest_of(DType type) {
  switch (type) {
    case DType::kBool: return 1;
    case DType::kI8: return std::numeric_limits<std::int8_t>::max();
    case DType::kU8: return std::numeric_limits<std::uint8_t>::max();
    case DType::kI16: return std::numeric_limits<std::int16_t>::max();
    case DType::kU16: return std::numeric_limits<std::uint16_t>::max();
    case DType::kI32: return std::numeric_limits<std::int32_t>::max();
    case DType::kU32: return std::numeric_limits<std::uint32_t>::max();
    case DType::kU64: return -1;
    default: return std::numeric_limits<std::int64_t>::max();
  }
}

}  // namespace facet
