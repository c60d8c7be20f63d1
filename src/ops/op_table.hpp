// The operator table: an operator is a function from operand shapes, dtypes and attributes to equation texts.
//
// Everything else about an operator (shape inference, lowering, reference, tests, documentation) follows from the equations.
// No code outside src/ops looks at an operator's name.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "facet/program.hpp"
#include "facet/result.hpp"

namespace facet {

class OpBuilder;

// What JSON value an attribute takes. kDims: integers or shape texts; kDType: a dtype's text.
enum class AttrKind { kInt, kFloat, kFlag, kText, kInts, kFloats, kTexts, kDims, kDType };

struct AttrDef {
  std::string name;
  AttrKind kind = AttrKind::kInt;
  std::optional<Attribute> fallback;  // none: required, unless `optional`
  bool optional = false;              // absent has its own meaning, said in `doc`
  std::string doc;
  std::vector<std::string> choices;  // kText: the allowed words; empty is any
};

enum class DTypes { kAny, kNumber, kFloat, kInteger, kSigned, kBool };

struct OperandDef {
  std::string name;
  DTypes dtypes = DTypes::kAny;
  char group = 'T';  // operands of one group have one dtype
  bool optional = false;
};

// How far a correct kernel may be from the reference: kExact (moves, integers, comparisons), kMap (a few roundings of one
// element), kSum (roundings grow with the number of summed terms).
enum class Tolerance { kExact, kMap, kSum };

// How an operator's outputs depend on its float operands; from the equations, by gradient_of (src/graph/op_facts.hpp).
// kNone: not at all, or flat almost everywhere (comparisons, floor, integers). kLinear: each output is linear in each operand
// alone only through sums and constant factors, so the gradient needs no values. kSelected: linear, but integers among the
// operands choose the elements; the gradient adds to the chosen ones. kSmooth: differentiable inside the domain. kPiecewise:
// differentiable but at the edges of max, min, abs or choices by value; the gradient is that of the piece.
enum class Gradient { kNone, kLinear, kSelected, kSmooth, kPiecewise };
std::string to_text(Gradient gradient);

// One test case: operand shapes and dtypes ("f32[2, 3]"), attributes as JSON-like values.
struct OpSample {
  std::vector<std::string> operands;  // "" is omitted
  Attributes attrs;
  int outputs = 0;  // how many are asked for, optional ones too; 0: the required ones
};

struct OpDef {
  std::string name;
  std::vector<std::string> aliases;
  std::string family;
  std::string summary;
  std::vector<OperandDef> operands;
  bool variadic = false;             // the last operand may repeat
  std::vector<std::string> outputs;  // names, for documentation
  int required_outputs = 1;
  bool variadic_outputs = false;
  std::vector<AttrDef> attributes;
  Tolerance tolerance = Tolerance::kMap;
  std::optional<Gradient> gradient;  // absent: what the equations say; stated where max or abs only keep exp from overflowing
  std::function<void(OpBuilder&)> define;
  std::vector<OpSample> samples;
};

// A use of an operator. An omitted operand is a Tensor with an empty name.
struct OpCall {
  const Node& node;
  std::vector<Tensor> operands;
  const Program& program;
};

// Equations over formal names a0, a1, ... (operands) and y0, y1, ... (outputs); other left-hand names are locals. What an
// equation cannot say (a result that is needed for the next one) is said by a nest in the language of op `loops`, over the same
// formals; it runs behind the equations.
struct OpDefinition {
  std::vector<std::string> lines;
  std::vector<Tensor> outs;            // name "y0", dtype, shape; one per name in node.out
  std::vector<std::string> nest;       // lines of C
  std::vector<std::string> nest_outs;  // the outputs that the nest defines
  std::vector<Tensor> nest_arrays;     // its own arrays
};

// The meaning of one call, or every complaint about it (operands, dtypes, attributes, shapes).
// Places carry node.place with the pointer extended: ".../attrs/axis", ".../in/1".
Result<OpDefinition> define(const OpCall& call);

// By name or alias; null if there is none.
const OpDef* find_op(const std::string& name);
const std::vector<const OpDef*>& all_ops();  // sorted by name

// The complaint about an operator name that is not in the table, at the place of the name.
Diagnostic unknown_op(const std::string& name, const Place& place);

std::string to_text(const Attribute& attribute);  // JSON text
std::string to_text(DTypes dtypes);

}  // namespace facet
