// scalar_flow: does a piece of a loop nest need the value that a scalar has before it?
#pragma once

#include <span>
#include <string>

#include "facet/program.hpp"

namespace facet {

enum class ScalarFlow {
  kNone,     // it may leave the value alone, and reads only what it wrote itself
  kWritten,  // it writes the scalar on every way, before any read
  kRead      // it may read the value from before
};

// Statements in order; `name` is a declared scalar's. Loops may run zero times.
ScalarFlow scalar_flow(std::span<const LoopStatement> statements, const std::string& name);

}  // namespace facet
