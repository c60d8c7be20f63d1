// What a compiler made of the kernels' innermost loops: vectors and spills, read from its assembly text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "facet/module.hpp"

namespace facet {

struct ObjectCode {
  int loops = 0;         // innermost loops of the kernel's code; what the compiler unrolled away is none
  int vector_loops = 0;  // those with packed instructions
  int vector_bytes = 0;  // the widest register that packed instructions of these loops name; 0: none
  // Vector registers that one iteration of each innermost loop moves to and from the stack.
  std::int64_t spill_store_bytes = 0, spill_load_bytes = 0;
};

// One for each kernel of the module; nothing where no function of that kernel is in the text (the compiler took it into its
// caller, beside others) or the text is not of an x86-64 processor.
std::vector<std::optional<ObjectCode>> object_code(const Module& module, const std::string& assembly);

// "512-bit vectors in 2 of 3 innermost loops, no spills"
std::string to_text(const ObjectCode& code);

}  // namespace facet
