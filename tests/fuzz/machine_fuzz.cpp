// Fuzzing of the machine reader: any bytes give diagnostics or a description that prints and reads back.
#include <cstdint>
#include <string>

#include "src/frontend/json.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace facet;
  const Result<Machine> machine = read_machine(std::string(reinterpret_cast<const char*>(data), size), "m.json");
  if (!machine) {
    require_explained(machine.errors());
    return 0;
  }
  const std::string text = to_json(*machine);
  const Result<Machine> again = read_machine(text, "m.json");
  if (!again) require(false, to_text(again.errors()) + text);
  require(to_json(*again) == text, "the machine changes when read back:\n" + text + to_json(*again));
  return 0;
}
