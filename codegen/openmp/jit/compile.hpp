// Clang in memory: source text to object bytes or assembly. Inside the plugin only.
#pragma once

#include <string>
#include <vector>

namespace facet::jit {

struct ObjectCode {
  std::string bytes;  // an ELF object, or assembly text; empty when `error` is not
  std::string error;  // the compiler's complaints
};

// `flags` as for clang++; the file is called kernel.cpp in messages.
ObjectCode compile_to_object(const std::string& source, const std::vector<std::string>& flags);

// The same code as assembly text, in `bytes`.
ObjectCode compile_to_assembly(const std::string& source, const std::vector<std::string>& flags);

}  // namespace facet::jit
