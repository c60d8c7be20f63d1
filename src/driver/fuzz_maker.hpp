// Random small programs and recipes: integers only, so that every result is exact, and sizes that divide nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facet/recipe.hpp"

namespace facet {

// splitmix64: the same numbers on every machine.
class FuzzRandom {
 public:
  explicit FuzzRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }

 private:
  std::uint64_t state_;
};

struct FuzzProgram {
  std::string json;
  std::vector<std::string> ops;  // what each defines, in program order
};

FuzzProgram random_program(FuzzRandom& random);

// Groups of one to three ops, their steps left to the scheduler or none; now and then several variants.
Recipe random_recipe(const FuzzProgram& program, FuzzRandom& random);

}  // namespace facet
