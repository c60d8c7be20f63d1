// Runs a program without a shell: arguments as a list, a time limit, its output captured.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace facet {

struct ProcessResult {
  bool started = false;  // false: not found or not executable
  bool timed_out = false;
  int status = -1;     // exit status; 128 + signal
  std::string output;  // stdout and stderr together, the first `most_output` bytes
};

// Searches PATH for arguments[0] unless it holds a slash. The child reads nothing and is killed at the limit.
ProcessResult run_process(const std::vector<std::string>& arguments, double timeout_s, std::size_t most_output = 65536);

}  // namespace facet
