// Random steps, tried one after another on each group of a pair: what is accepted stays, and every answer is held against the
// count of instances and, where it is a witness, against its replay.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/driver/fuzz_maker.hpp"
#include "src/driver/fuzz_try.hpp"

namespace facet {

// Accepted by kind of step, refused by "KIND: reason" (dependence, precondition, or the code of a complaint).
struct FuzzTally {
  std::map<std::string, std::int64_t> accepted, refused;

  // A refusal by dependences has a witness, which is replayed: "real" when both instances ran, access the element and change
  // places, "same value" when they did and the values happened to be equal; else why it could not run.
  std::int64_t witnesses = 0, real = 0, same_value = 0;
  std::map<std::string, std::int64_t> not_replayed;

  // What counting says. An acceptance that it contradicts is a miss; a refusal that it contradicts is a doubt.
  std::int64_t counted_acceptances = 0, counted_refusals = 0;
  std::map<std::string, std::int64_t> not_counted;  // why
  std::map<std::string, std::int64_t> doubts;       // by "KIND: question"
  std::vector<std::string> doubtful;                // the first few, with their recipes
};

// Gives the pair's groups random steps; "" or what was wrong with an answer.
std::string grow_steps(FuzzPair* pair, FuzzRandom& random, bool for_cpu, FuzzTally* tally);

// Counts what the pair's recipe, which is legal, makes of each group: "" or the first instance that goes wrong.
std::string count_steps(const FuzzPair& pair);

}  // namespace facet
