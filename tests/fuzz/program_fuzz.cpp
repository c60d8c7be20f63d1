// Fuzzing of the JSON reader and elaboration: any bytes give diagnostics or a program that elaborates, prints and reads back.
#include <cstdint>
#include <string>

#include "src/frontend/json.hpp"
#include "src/graph/elaborate.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace facet;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<Program> program = read_program(text, "/nonexistent/p.json");
  if (!program) {
    require_explained(program.errors());
    return 0;
  }
  const std::string json = to_json(*program);
  const Result<Program> again = read_program(json, "/nonexistent/p.json");
  if (!again) require(false, to_text(again.errors()) + json);
  require(to_json(*again) == json, "the program changes when read back:\n" + json + to_json(*again));
  const Result<Program> elaborated = elaborate(*program);
  if (elaborated) {
    require(!to_text(*elaborated).empty(), "an elaborated program without a text");
  } else {
    require_explained(elaborated.errors());
  }
  return 0;
}
