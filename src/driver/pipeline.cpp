// The stages in order.
#include "src/driver/pipeline.hpp"

#include "src/driver/settings.hpp"
#include "src/frontend/files.hpp"
#include "src/frontend/json.hpp"

namespace facet {

Result<Program> check_text(const std::string& text, const std::string& file) {
  // JSON text -> graph. From here on every name is resolved and every complaint has a place.
  return read_program(text, file);
}

Result<Loaded> load_program(const Options& options) {
  const Result<std::string> text = read_text_file(options.files[0]);
  if (!text) return text.errors();
  const Result<Program> written = check_text(*text, options.files[0]);
  if (!written) return written.errors();
  Loaded loaded;
  loaded.program = *written;
  loaded.hash = program_hash(*written);
  const Result<Done> numerics = override_numerics(options.numerics, &loaded.program.numerics);
  if (!numerics) return numerics.errors();
  Result<SymbolValues> sizes = sizes_in_force(loaded.program, options.set);
  if (!sizes) return sizes.errors();
  loaded.sizes = std::move(*sizes);
  return loaded;
}

}  // namespace facet
