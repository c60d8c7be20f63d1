// The exported function.
#include "src/frontend/c_import/plugin.hpp"

#include <cstring>

#include "src/frontend/c_import/region.hpp"

char* facet_read_c(const char* file, const char* function, const char* const* flags, int flag_count) {
  return ::strdup(facet::c_import::read_c(file, function, std::vector<std::string>(flags, flags + flag_count)).c_str());
}
