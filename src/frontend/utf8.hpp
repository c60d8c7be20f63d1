// UTF-8: checking and writing single code points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace facet {

// Length in bytes of the well-formed sequence at `at` (no overlong forms, no surrogates, up to U+10FFFF); 0 if there is none.
std::size_t utf8_sequence(const std::string& text, std::size_t at);

void append_utf8(std::string* out, std::uint32_t code_point);

}  // namespace facet
