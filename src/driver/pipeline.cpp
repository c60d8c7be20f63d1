// The stages in order.
#include "src/driver/pipeline.hpp"

#include "polyhedral/facet_polyhedral.hpp"
#include "src/driver/settings.hpp"
#include "src/frontend/files.hpp"
#include "src/frontend/json.hpp"
#include "src/graph/elaborate.hpp"

namespace facet {

Result<Program> check_text(const std::string& text, const std::string& file) {
  return check_text(text, file, Options{}.time_budget_s, nullptr);
}

Result<Program> check_text(const std::string& text, const std::string& file, double time_budget_s, Ledger* ledger) {
  // JSON text -> graph. From here on every name is resolved and every complaint has a place.
  const Result<Program> written = read_program(text, file);
  if (!written) return written.errors();
  // Operators and texts -> equations and loop nests. From here on nothing looks at an operator's name.
  Result<Program> program = elaborate(*written);
  if (!program) return program.errors();
  // Proofs over all allowed sizes. From here on every subscript is inside, every element that is read or given out is defined.
  const Result<Done> valid = validate(*program, time_budget_s, ledger);
  if (!valid) return valid.errors();
  return program;
}

Result<Loaded> load_program(const Options& options) {
  const Result<std::string> text = read_text_file(options.files[0]);
  if (!text) return text.errors();
  Loaded loaded;
  Result<Program> program = check_text(*text, options.files[0], options.time_budget_s, &loaded.ledger);
  if (!program) return program.errors();
  loaded.hash = program_hash(*program);
  loaded.program = std::move(*program);
  const Result<Done> numerics = override_numerics(options.numerics, &loaded.program.numerics);
  if (!numerics) return numerics.errors();
  Result<SymbolValues> sizes = sizes_in_force(loaded.program, options.set);
  if (!sizes) return sizes.errors();
  loaded.sizes = std::move(*sizes);
  return loaded;
}

}  // namespace facet
