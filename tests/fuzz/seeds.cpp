// Writes seeds for the program reader: every operator's samples, and every mistake of tests/errors.
#include <cstdio>
#include <fstream>
#include <string>

#include "src/frontend/json.hpp"
#include "src/ops/samples.hpp"
#include "tests/unit/tool/error_cases.hpp"

int main(int argc, char** argv) {
  using namespace facet;
  if (argc != 3) {
    std::fprintf(stderr, "usage: fuzz_seeds FOLDER TESTS_ERRORS\n");
    return 2;
  }
  int count = 0;
  const auto write = [&](const std::string& text) {
    std::ofstream(std::string(argv[1]) + "/seed" + std::to_string(count++) + ".json") << text;
  };
  for (const OpDef* op : all_ops())
    for (const OpSample& sample : op->samples)
      if (const Result<Program> program = sample_program(*op, sample)) write(to_json(*program));
  for (const ErrorCase& c : all_error_cases(argv[2])) write(c.text);
  return count > 0 ? 0 : 1;
}
