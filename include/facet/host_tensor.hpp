// A dense tensor in host memory: C order, the dtype's own bytes (bf16 and f16 are 2-byte patterns, bool one byte 0/1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "facet/expr.hpp"

namespace facet {

// Memory from the start of a cache line on: a vector of 64 bytes that straddles two lines costs two accesses.
template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};
  LineAllocator() = default;
  template <class U>
  explicit LineAllocator(const LineAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, kLine); }
  bool operator==(const LineAllocator&) const { return true; }
};

using HostBytes = std::vector<std::byte, LineAllocator<std::byte>>;

struct HostTensor {
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
  HostBytes bytes;

  std::int64_t element_count() const;
  double get(std::int64_t i) const;            // any dtype as double (i64 may round)
  std::int64_t get_int(std::int64_t i) const;  // integers and bool
  void set(std::int64_t i, double value);      // rounds to the dtype (half to even), saturates integers
  void set_int(std::int64_t i, std::int64_t value);
};

using HostTensors = std::map<std::string, HostTensor>;

HostTensor make_host_tensor(DType dtype, std::vector<std::int64_t> shape);

// Rounding of a double to the dtype's values, and 16-bit patterns.
double round_to(DType dtype, double value);
std::uint16_t f32_to_bf16(float value);
float bf16_to_f32(std::uint16_t bits);
std::uint16_t f32_to_f16(float value);
float f16_to_f32(std::uint16_t bits);

}  // namespace facet
