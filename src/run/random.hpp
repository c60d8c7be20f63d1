// The random numbers of seeded inputs: a counter-based generator, so that element i of a tensor is the same on every platform,
// whatever else is drawn. Only integer arithmetic and exact scalings are used (no library distributions, no libm).
#pragma once

#include <cstdint>
#include <string>

namespace facet {

// The splitmix64 finaliser (Steele, Lea, Flood 2014) over seed, stream and counter.
inline std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

class RandomStream {
 public:
  // One stream per tensor: its name is hashed (FNV-1a), so that adding a tensor does not change the others.
  RandomStream(std::uint64_t seed, const std::string& name) {
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    base_ = mix64(seed * 0x9E3779B97F4A7C15U ^ hash);
  }

  std::uint64_t bits(std::uint64_t i) const { return mix64(base_ + (i + 1) * 0x9E3779B97F4A7C15U); }

  // In [0, 1), a multiple of 2^-53.
  double uniform(std::uint64_t i) const { return static_cast<double>(bits(i) >> 11) * 0x1p-53; }

  // In lo..hi, both included.
  std::int64_t integer(std::uint64_t i, std::int64_t lo, std::int64_t hi) const {
    const std::uint64_t span = static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo) + 1;
    const std::uint64_t offset = span == 0 ? bits(i) : bits(i) % span;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(lo) + offset);
  }

  // Mean 0, variance 1: the sum of twelve uniforms less six. Bounded by 6, and exact arithmetic everywhere.
  double normal(std::uint64_t i) const {
    double sum = -6;
    for (std::uint64_t k = 0; k < 12; ++k) sum += uniform(i * 12 + k);
    return sum;
  }

 private:
  std::uint64_t base_ = 0;
};

}  // namespace facet
