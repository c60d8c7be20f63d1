// Equations: the lines of a `compute` node and of operator definitions, parsed into typed Equations (contract C1-C12).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "facet/program.hpp"
#include "facet/result.hpp"

namespace facet {

struct EquationContext {
  const Program* program = nullptr;               // its symbols are visible everywhere
  std::map<std::string, const Tensor*> tensors;   // name in the text -> tensor that can be read; the tensor's own name is used
  std::vector<std::string> outs;                  // names in the text
  std::map<std::string, const Tensor*> declared;  // outs whose name, dtype and shape are known
  std::string local_prefix;                       // local t becomes the tensor "PREFIX.t"
  Place place;                                    // of the node
  std::vector<Place> line_places;                 // of each line's first character; may be empty
  std::optional<DType> accumulate;                // accumulator of float or integer sums and products, instead of the default
  bool operator_text = false;  // an operator's definition: wrap(...) marks a gather whose negative indices wrap
};

struct ParsedEquations {
  std::vector<Equation> equations;     // in the order of the lines; tensors by their own names
  std::vector<Tensor> locals;          // in the order of their definition
  std::map<std::string, Tensor> outs;  // by the name in the text: declared, or inferred dtype and shape
};

// All complaints about all lines, or the equations. Whether elements read are defined and inside is not judged here.
Result<ParsedEquations> parse_equations(const std::vector<std::string>& lines, const EquationContext& context);

}  // namespace facet
