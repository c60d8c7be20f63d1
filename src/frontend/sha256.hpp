// SHA-256 (FIPS 180-4) of a text, as 64 lower-case hexadecimal digits.
#pragma once

#include <string>

namespace facet {

std::string sha256(const std::string& text);

}  // namespace facet
