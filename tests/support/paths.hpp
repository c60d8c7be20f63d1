// Where the tests find the source tree, the tool and the in-process compiler. One translation unit knows the folders, so that
// the others compile to the same objects wherever the tree lies.
#pragma once

#include <string>

namespace facet::test {

std::string source_path(const std::string& below);  // "examples" -> the absolute path in the source tree
std::string tool_path();
std::string jit_plugin_path();  // where it would be; the file is missing in builds without LLVM

}  // namespace facet::test
