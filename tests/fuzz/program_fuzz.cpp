// Fuzzing of the JSON reader and elaboration: any bytes give diagnostics or a program that elaborates, prints and reads back.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "src/frontend/json.hpp"
#include "src/graph/elaborate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace facet;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<Program> program = read_program(text, "/nonexistent/p.json");
  if (!program) {
    if (to_text(program.errors()).empty()) std::abort();
    return 0;
  }
  const std::string json = to_json(*program);
  const Result<Program> again = read_program(json, "/nonexistent/p.json");
  if (!again || to_json(*again) != json) std::abort();
  const Result<Program> elaborated = elaborate(*program);
  if (elaborated ? to_text(*elaborated).empty() : to_text(elaborated.errors()).empty()) std::abort();
  return 0;
}
