// One random pair: made, judged step by step, interpreted as loop trees, compared with the reference.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "facet/host_tensor.hpp"
#include "facet/loop_ast.hpp"
#include "facet/recipe.hpp"
#include "polyhedral/facet_polyhedral.hpp"
#include "src/driver/pipeline.hpp"

namespace facet {

// Each step of each recipe is tried once: accepted by kind of step, refused by "KIND: reason" (dependence, precondition, or the
// code of a complaint).
// A refusal by dependences has a witness, which is replayed: "real" when both instances ran, access the element and change
// places, "same value" when they did and the values happened to be equal; else why it could not run.
struct FuzzTally {
  std::map<std::string, std::int64_t> accepted, refused;
  std::int64_t witnesses = 0, real = 0, same_value = 0;
  std::map<std::string, std::int64_t> not_replayed;
};

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

// A random one. A program that is refused, or that the reference cannot evaluate, is a fault of the generator.
// Half of them are completed for a GPU and may hold map_gpu steps, unless they are for a CPU.
Result<FuzzPair> random_pair(std::uint64_t seed, const Machine& machine, bool for_cpu);

// Takes the refused steps out of the pair's recipe until it is legal; the message of an internal error otherwise.
std::string keep_legal_steps(FuzzPair* pair, FuzzTally* tally);

// The loop trees of a legal recipe as scanned, after the loop passes for a CPU, and mapped to a GPU. A complaint is a miss:
// what is legal can be completed and scheduled.
struct FuzzTrees {
  LoopProgram scanned, cpu, gpu;
};
Result<FuzzTrees> fuzz_trees(const FuzzPair& pair);

// "" when every tree gives the reference's numbers without a race, an uninitialised read or an access outside a buffer.
std::string interpret_trees(const FuzzPair& pair, const FuzzTrees& trees);

}  // namespace facet
