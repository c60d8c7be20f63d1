// What the command line said, as plain values. The names are those of the contract's options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "facet/result.hpp"

namespace facet {

struct Options {
  std::string verb;
  std::vector<std::string> files;  // program, recipes, or what `import` takes
  std::string target = "openmp";
  std::string program;                // diff: the program that the recipes are for
  std::string schedule;               // recipe file; "" plans one
  std::vector<std::string> set;       // NAME=VALUE
  std::vector<std::string> inputs;    // NAME=FILE.npy
  std::vector<std::string> numerics;  // key=value
  std::string output;                 // -o of schedule, compile, import; --output of run
  std::string stage = "graph";
  std::string html;
  std::string function;               // import c
  std::vector<std::string> defines;   // import c: -D
  std::vector<std::string> includes;  // import c: -I
  std::vector<std::string> ranges;    // import c: NAME=MIN..MAX
  bool c_function = false;            // compile
  std::string machine;
  std::string compiler;
  std::string fusion = "on";
  std::string emit;
  int threads = 0;  // 0: all that this process may use
  double time_budget_s = 10;
  std::uint64_t seed = 1;
  std::int64_t count = 100;  // fuzz
  bool compiled = false;     // fuzz: kernels too, not only interpreted trees
  bool sweep = false;        // selftest: every dtype and kind of shape
  std::int64_t sample = 0;   // selftest: only so many cases of the sweep; 0 is all
  std::string part;          // selftest: "2/3" is the second of three parts of the cases; "" is all
  std::string op;            // selftest: only this operator; "" is all
  std::string family;        // selftest --time: only this family; "" is all
  bool json = false;
  bool replay = false;  // legal: run the witness
  bool verify = false;
  bool interpret = false;  // run: not compiled, every access watched
  bool time = false;
  bool measure = false;
};

// "2/3" as 2 and 3.
bool part_of(const std::string& text, std::int64_t* k, std::int64_t* n);

// The command line as Options; help and version texts, and a complaint for everything else.
struct CommandLine {
  Options options;
  std::string answer;  // help or version text: print it and end with 0
};
Result<CommandLine> parse_command_line(int argc, const char* const* argv);

}  // namespace facet
