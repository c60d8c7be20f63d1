// The arrays of scanned kernels: which each uses, which move to the workspace, and their names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "facet/loop_ast.hpp"

namespace facet {

// Adds the buffers that the body reads or writes, in order of first use.
void collect_buffers(const LoopList& body, std::vector<std::string>& names);

// Cache buffers outside parallel loops live in the workspace: no large arrays on the stack, shared by the threads.
LoopList hoist_cache_buffers(const LoopList& body, std::vector<Buffer>& hoisted);

// The body with buffers renamed, wherever they are declared, read or written.
LoopList rename_buffers(const LoopList& body, const std::map<std::string, std::string>& names);

}  // namespace facet
