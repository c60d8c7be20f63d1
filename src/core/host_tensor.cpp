// Host tensors: element access by dtype, and exact rounding of doubles to the 16-bit floating types.
//
// Every rounding goes from double to the target in one step (half to even): rounding to f32 first and to bf16 after would
// round twice. NaNs stay NaNs: the payload's top bit is set, so that cutting the low bits cannot make an infinity of them.
#include "facet/host_tensor.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace facet {

namespace {

// A binary floating format: `precision` significant bits, smallest normal 2^min_exponent, largest finite `largest`.
struct Format {
  int precision;
  int min_exponent;
  double largest;
};
constexpr Format kHalf = {11, -14, 65504.0};
constexpr Format kBrain = {8, -126, 0x1.FEp127};

double round_to_format(const Format& f, double value) {
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), f.min_exponent);
  const int quantum = exponent - (f.precision - 1);
  // Scaling by powers of two is exact here: |value / quantum| < 2^precision, or a tiny value far below half a quantum.
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -quantum)), quantum);
  return std::fabs(rounded) > f.largest ? std::copysign(std::numeric_limits<double>::infinity(), value) : rounded;
}

template <class T>
T load(const HostBytes& bytes, std::int64_t i) {
  T value;
  assert(i >= 0 && (static_cast<std::size_t>(i) + 1) * sizeof(T) <= bytes.size());
  std::memcpy(&value, bytes.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void store(HostBytes& bytes, std::int64_t i, T value) {
  assert(i >= 0 && (static_cast<std::size_t>(i) + 1) * sizeof(T) <= bytes.size());
  std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
}

// double -> integer as the contract's casts do it: truncates, saturates, NaN gives 0.
template <class T>
T saturate(double value) {
  if (std::isnan(value)) return 0;
  const double low = static_cast<double>(std::numeric_limits<T>::min());
  // max()+1 is a power of two and so exact, where max() itself may not be.
  const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (value <= low) return std::numeric_limits<T>::min();
  if (value >= above) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

// The 16-bit pattern of an f16 value (already rounded).
std::uint16_t half_bits(double rounded) {
  const std::uint16_t sign = std::signbit(rounded) ? 0x8000 : 0;
  if (std::isnan(rounded)) return sign | 0x7E00;
  if (std::isinf(rounded)) return sign | 0x7C00;
  const double magnitude = std::fabs(rounded);
  if (magnitude < 0x1p-14) return static_cast<std::uint16_t>(sign | static_cast<int>(std::ldexp(magnitude, 24)));
  const int exponent = std::ilogb(magnitude);
  const int fraction = static_cast<int>(std::ldexp(magnitude, 10 - exponent)) - 1024;
  return static_cast<std::uint16_t>(sign | ((exponent + 15) << 10) | fraction);
}

// The 16-bit pattern of a bf16 value (already rounded, so the f32 pattern's low half is zero except for NaNs).
std::uint16_t brain_bits(float rounded) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &rounded, sizeof bits);
  const std::uint16_t quiet = std::isnan(rounded) ? 0x0040 : 0;
  return static_cast<std::uint16_t>(bits >> 16) | quiet;
}

}  // namespace

std::int64_t HostTensor::element_count() const {
  // An empty tensor may have extents whose product alone would not fit.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

double HostTensor::get(std::int64_t i) const {
  switch (dtype) {
    case DType::kF32: return load<float>(bytes, i);
    case DType::kF64: return load<double>(bytes, i);
    case DType::kF16: return f16_to_f32(load<std::uint16_t>(bytes, i));
    case DType::kBF16: return bf16_to_f32(load<std::uint16_t>(bytes, i));
    case DType::kU64: return static_cast<double>(load<std::uint64_t>(bytes, i));
    default: return static_cast<double>(get_int(i));
  }
}

std::int64_t HostTensor::get_int(std::int64_t i) const {
  switch (dtype) {
    case DType::kBool: return load<std::uint8_t>(bytes, i) != 0;
    case DType::kI8: return load<std::int8_t>(bytes, i);
    case DType::kU8: return load<std::uint8_t>(bytes, i);
    case DType::kI16: return load<std::int16_t>(bytes, i);
    case DType::kU16: return load<std::uint16_t>(bytes, i);
    case DType::kI32: return load<std::int32_t>(bytes, i);
    case DType::kU32: return load<std::uint32_t>(bytes, i);
    case DType::kI64: return load<std::int64_t>(bytes, i);
    case DType::kU64: return static_cast<std::int64_t>(load<std::uint64_t>(bytes, i));
    default: return saturate<std::int64_t>(get(i));
  }
}

void HostTensor::set(std::int64_t i, double value) {
  switch (dtype) {
    case DType::kBool: return store<std::uint8_t>(bytes, i, value != 0);
    case DType::kI8: return store(bytes, i, saturate<std::int8_t>(value));
    case DType::kU8: return store(bytes, i, saturate<std::uint8_t>(value));
    case DType::kI16: return store(bytes, i, saturate<std::int16_t>(value));
    case DType::kU16: return store(bytes, i, saturate<std::uint16_t>(value));
    case DType::kI32: return store(bytes, i, saturate<std::int32_t>(value));
    case DType::kU32: return store(bytes, i, saturate<std::uint32_t>(value));
    case DType::kI64: return store(bytes, i, saturate<std::int64_t>(value));
    case DType::kU64: return store(bytes, i, saturate<std::uint64_t>(value));
    case DType::kF16: return store(bytes, i, half_bits(round_to_format(kHalf, value)));
    case DType::kBF16: return store(bytes, i, brain_bits(static_cast<float>(round_to_format(kBrain, value))));
    case DType::kF32: return store(bytes, i, static_cast<float>(value));
    case DType::kF64: return store(bytes, i, value);
  }
}

void HostTensor::set_int(std::int64_t i, std::int64_t value) {
  switch (dtype) {
    case DType::kBool: return store<std::uint8_t>(bytes, i, value != 0);
    case DType::kI8: return store(bytes, i, static_cast<std::int8_t>(value));
    case DType::kU8: return store(bytes, i, static_cast<std::uint8_t>(value));
    case DType::kI16: return store(bytes, i, static_cast<std::int16_t>(value));
    case DType::kU16: return store(bytes, i, static_cast<std::uint16_t>(value));
    case DType::kI32: return store(bytes, i, static_cast<std::int32_t>(value));
    case DType::kU32: return store(bytes, i, static_cast<std::uint32_t>(value));
    case DType::kI64: return store(bytes, i, value);
    case DType::kU64: return store(bytes, i, static_cast<std::uint64_t>(value));
    case DType::kF32: return store(bytes, i, static_cast<float>(value));
    default: return set(i, static_cast<double>(value));
  }
}

HostTensor make_host_tensor(DType dtype, std::vector<std::int64_t> shape) {
  HostTensor tensor;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  tensor.bytes.resize(static_cast<std::size_t>(tensor.element_count() * size_bytes(dtype)));
  return tensor;
}

double round_to(DType dtype, double value) {
  switch (dtype) {
    case DType::kF64: return value;
    case DType::kF32: return static_cast<float>(value);
    case DType::kF16: return round_to_format(kHalf, value);
    case DType::kBF16: return round_to_format(kBrain, value);
    case DType::kBool: return value != 0;
    case DType::kI8: return saturate<std::int8_t>(value);
    case DType::kU8: return saturate<std::uint8_t>(value);
    case DType::kI16: return saturate<std::int16_t>(value);
    case DType::kU16: return saturate<std::uint16_t>(value);
    case DType::kI32: return saturate<std::int32_t>(value);
    case DType::kU32: return saturate<std::uint32_t>(value);
    case DType::kI64: return static_cast<double>(saturate<std::int64_t>(value));
    case DType::kU64: return static_cast<double>(saturate<std::uint64_t>(value));
  }
  return value;
}

std::uint16_t f32_to_bf16(float value) { return brain_bits(static_cast<float>(round_to_format(kBrain, value))); }

float bf16_to_f32(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

std::uint16_t f32_to_f16(float value) { return half_bits(round_to_format(kHalf, value)); }

float f16_to_f32(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1F;
  const int fraction = bits & 0x3FF;
  float magnitude = 0;
  if (exponent == 31) {
    magnitude = fraction ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  } else {
    magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                              : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  }
  return bits & 0x8000 ? -magnitude : magnitude;
}

}  // namespace facet
