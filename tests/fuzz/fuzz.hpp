// What every reader owes for every input: a value, or complaints that can be printed and that are no fault of the tool.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "facet/result.hpp"

namespace facet {

inline void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %s\n", what.c_str());
  std::abort();
}

inline void require_explained(const Diagnostics& errors) {
  require(!errors.empty(), "refused without a complaint");
  for (const Diagnostic& d : errors) {
    require(!to_text(d).empty() && !d.message.empty(), "a complaint without a text");
    require(failure_of(d.code) != Failure::kInternal, to_text(d));
  }
}

}  // namespace facet
