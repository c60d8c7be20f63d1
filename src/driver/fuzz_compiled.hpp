// Compiled kernels of many random pairs: one translation unit and one compile for all of them, then each run on 1 and 2
// threads.
#pragma once

#include <utility>
#include <vector>

#include "facet/module.hpp"
#include "src/driver/fuzz_try.hpp"

namespace facet {

class FuzzBatch {
 public:
  // Prints the pair's kernels; "" or why they cannot be printed.
  std::string add(const FuzzPair& pair, const LoopProgram& cpu_tree);
  std::size_t size() const { return entries_.size(); }

  // Compiles and runs what was added, and forgets it. Pairs with what went wrong; an error when there is no compiler.
  using Misses = std::vector<std::pair<FuzzPair, std::string>>;
  Result<Misses> run(const Options& options, const Machine& machine);

 private:
  struct Entry {
    FuzzPair pair;
    Module module;
    std::vector<std::string> inputs;
  };
  std::vector<Entry> entries_;
};

}  // namespace facet
