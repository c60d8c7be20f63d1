#include "support/paths.hpp"

namespace facet::test {

std::string source_path(const std::string& below) { return std::string(FACET_SOURCE_DIR "/") + below; }
std::string tool_path() { return FACET_TOOL; }
std::string jit_plugin_path() { return FACET_JIT_PLUGIN; }

}  // namespace facet::test
