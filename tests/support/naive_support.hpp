// Compiles a program's naive text with the system compiler and runs it, for comparisons with the interpreter.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "src/run/naive.hpp"
#include "src/run/naive_run.hpp"

namespace facet::test {

inline Result<ReferenceRun> compile_and_run_naive(const Program& p, const SymbolValues& symbols, const HostTensors& tensors,
                                                  const std::string& flags = "-O0") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("facet_naive_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const std::string source = (folder / (p.name + ".cpp")).string();
  const std::string library = (folder / (p.name + ".so")).string();
  std::ofstream(source) << print_naive(p);
  const std::string command = "c++ -std=c++17 " + flags + " -Wall -Wextra -Werror -shared -fPIC -o " + library + " " + source;
  EXPECT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT
  Result<ReferenceRun> run = run_naive_library(library, p, symbols, tensors);
  if (!::testing::Test::HasFailure()) fs::remove_all(folder);
  return run;
}

// Values agree to f64 rounding, bounds within a factor, ambiguity exactly.
inline void expect_same_run(const ReferenceRun& a, const ReferenceRun& b) {
  for (const auto& [name, x] : a.outputs) {
    const ReferenceTensor& y = b.outputs.at(name);
    ASSERT_EQ(x.shape, y.shape) << name;
    ASSERT_EQ(x.ints, y.ints) << name;
    ASSERT_EQ(x.floats.size(), y.floats.size()) << name;
    const std::size_t count = std::max(x.floats.size(), x.ints.size());
    for (std::size_t i = 0; i < count; ++i) {
      const double bx = x.bounds.empty() ? 0 : static_cast<double>(x.bounds[i]);
      const double by = y.bounds.empty() ? 0 : static_cast<double>(y.bounds[i]);
      ASSERT_TRUE(bx == by || std::abs(bx - by) <= 1e-3 * bx) << name << " " << i << ": bounds " << bx << " and " << by;
      if (x.floats.empty()) continue;
      const double u = x.floats[i];
      const double v = y.floats[i];
      ASSERT_TRUE((u != u && v != v) || u == v || std::abs(u - v) <= 1e-13 * std::abs(u) + 1e-300)
          << name << " " << i << ": " << u << " and " << v;
    }
  }
  EXPECT_EQ(a.gather_count, b.gather_count);
}

}  // namespace facet::test
