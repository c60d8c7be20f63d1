// One pair of a program and a recipe: read, interpreted as loop trees, compared with the reference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facet/host_tensor.hpp"
#include "facet/loop_ast.hpp"
#include "facet/recipe.hpp"
#include "polyhedral/facet_polyhedral.hpp"
#include "src/driver/fuzz_maker.hpp"
#include "src/driver/pipeline.hpp"

namespace facet {

struct FuzzPair {
  std::uint64_t seed = 0;
  std::string program_text;
  Loaded loaded;
  Recipe recipe;
  ScheduleOptions options;
  HostTensors tensors, expected;  // inputs and constants; the reference's outputs
};

// A program with `set` (NAME=VALUE) sizes, seeded inputs, and what the reference makes of them.
Result<FuzzPair> fuzz_pair(const std::string& program_text, Recipe recipe, const std::vector<std::string>& set,
                           std::uint64_t seed, const Machine& machine);

// A random one whose groups have no steps yet; `random` goes on from there. A program that is refused, or that the reference
// cannot evaluate, is a fault of the generator. Half of them are completed for a GPU, unless they are for a CPU.
Result<FuzzPair> random_pair(std::uint64_t seed, FuzzRandom& random, const Machine& machine, bool for_cpu);

// The loop trees of a legal recipe as scanned, after the loop passes for a CPU, and mapped to a GPU. A complaint is a miss:
// what is legal can be completed and scheduled.
struct FuzzTrees {
  LoopProgram scanned, cpu, gpu;
};
Result<FuzzTrees> fuzz_trees(const FuzzPair& pair);

// "" when every tree gives the reference's numbers without a race, an uninitialised read or an access outside a buffer. What
// takes the interpreter too long (an array computed anew for every point of three loops) runs at smaller sizes at which the
// same variants are chosen, then `cut_down`; if it takes too long even at the smallest, that is a miss: nothing goes unseen.
inline constexpr std::int64_t kInterpreterSteps = 50000000;  // about a second; a program here takes some thousands
std::string interpret_trees(const FuzzPair& pair, const FuzzTrees& trees, bool* cut_down = nullptr,
                            std::int64_t max_steps = kInterpreterSteps);

}  // namespace facet
