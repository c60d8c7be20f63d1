// The plain C interface of a kernel file: the argument struct, its header, the names in it. Shared by all targets.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "codegen/text_writer.hpp"
#include "facet/loop_ast.hpp"
#include "facet/module.hpp"

namespace facet {

struct InterfaceStyle {
  std::string pointer_kind = "host";  // "host" or "device": whose memory the pointers name
  std::string stream_parameter;       // ", cudaStream_t stream" or ""
  std::string includes;               // further lines for the header
  bool versions = false;              // for several instruction sets: the header says which one runs
};

// Fields of facet_NAME_args: symbols, inputs, outputs, weights, each in program order. A tensor that is input and output is one
// field, in the inputs' place.
struct Interface {
  std::string name;                                     // identifier-safe program name
  std::string version;                                  // of several: part of the functions' names, "avx2"
  std::vector<std::pair<Symbol, std::string>> symbols;  // with field name
  std::vector<ArgumentInfo> arguments;
  std::string args_type() const { return "facet_" + name + "_args"; }
  std::string function(const std::string& verb) const {
    return "facet_" + name + "_" + verb + (version.empty() ? "" : "_" + version);
  }
  std::string field_of(const std::string& tensor) const;  // "" when it is no argument
  std::string source_name() const;                        // of a host target: "NAME.cpp", of a version "NAME_avx2.cpp"
};

// A function of the interface as C declares it, for those that print all of them alike.
struct InterfaceFunction {
  const char* verb;
  const char* result;
  const char* parameters;  // after args
  const char* arguments;   // these, as passed on
};
const std::vector<InterfaceFunction>& interface_functions();  // all that take args

// `embedded`: weights whose values are in the source and so are no arguments.
Interface interface_of(const LoopProgram& program, const std::vector<std::string>& embedded);

// The functions of a version, for the source that defines them and the one that calls them.
std::string declarations_text(const Interface& interface);

std::string header_text(const Interface& interface, const InterfaceStyle& style);

// "f32 [N, 784]"
std::string shape_text(DType dtype, const std::vector<ExprPtr>& shape);

}  // namespace facet
