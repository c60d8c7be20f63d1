// atomics: which updates need to be one action once it is known what runs concurrently.
#pragma once

#include <functional>

#include "facet/loop_ast.hpp"

namespace facet::passes {

// Updates stay atomic in the concurrent loops only: elsewhere one agent runs all of them.
LoopList atomic_within(const LoopList& body, const std::function<bool(const For&)>& concurrent);

}  // namespace facet::passes
