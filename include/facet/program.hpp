// Program: the graph as data, after reading. Operators, equations and loop nests in one list.
//
// The front end produces a Program whose names are resolved. `elaborate` (src/graph) then gives every tensor a dtype and a
// shape and every node its meaning: a list of equations, or a loop nest. From there on nothing looks at an operator's name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "facet/expr.hpp"
#include "facet/result.hpp"

namespace facet {

// A program-wide integer parameter: min <= name <= max, `value` when nothing else is said.
struct Symbol {
  std::string name;
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::int64_t value = 0;  // "default"
  Place place;
};

// An attribute of an operator, as JSON gave it.
struct Attribute {
  std::variant<std::int64_t, double, bool, std::string, std::vector<Attribute>> value;
};
using Attributes = std::map<std::string, Attribute>;

// The values of a constant ("data"). Non-finite fills are kept as doubles.
struct TensorData {
  enum class Kind { kFile, kFill, kValues, kIota };
  Kind kind = Kind::kFill;
  std::string path;            // kFile: relative to the program, as written
  double fill = 0;             // kFill (floats)
  std::int64_t int_fill = 0;   // kFill (integers, bool)
  std::vector<double> values;  // kValues (floats), row-major
  std::vector<std::int64_t> int_values;
  int axis = 0;  // kIota: element = index along this axis
};

// How random inputs are drawn (contract V10).
struct Sample {
  enum class Kind { kDefault, kUniform, kNormal, kIntegers, kSpd, kPermutation };
  Kind kind = Kind::kDefault;
  double a = 0;  // lo | mean
  double b = 0;  // hi | std
};

struct Tensor {
  std::string name;  // locals of a node are "OUT.local": the dot keeps them apart from users' names
  DType dtype = DType::kF32;
  std::vector<ExprPtr> shape;      // kI64 expressions of symbols; empty for rank 0
  bool declared = false;           // in the program's "tensors"
  bool inferred = false;           // dtype and shape are known
  bool local = false;              // defined by a node for its own use
  std::optional<TensorData> data;  // a constant
  Sample sample;
  Place place;
};

// One line of a definition: tensor[indices] = value where conditions. C2: a left index starts at 0.
// Several equations may define disjoint parts of one tensor.
struct Equation {
  std::string tensor;  // key of Program::tensors
  std::vector<Range> indices;
  std::vector<ExprPtr> conditions;  // affine, kBool, on left indices and symbols only
  ExprPtr value;                    // fully typed; value->type == the tensor's dtype
  Place place;
};

// A statement of the `loops` language, normalised. C's conversions are explicit kCast nodes.
struct LoopStatement;
using LoopBody = std::vector<LoopStatement>;

struct LoopStatement {
  enum class Kind { kFor, kIf, kAssign, kDeclare, kBlock };
  Kind kind = Kind::kAssign;
  Place place;

  // kFor: name = first; step > 0 ? name < bound : name > bound; name += step.
  std::string name;      // loop variable (unique within the nest; renamed "i_2" when shadowing), or kDeclare's scalar
  ExprPtr first, bound;  // quasi-affine in outer loop variables and symbols (kMin/kMax allowed)
  std::int64_t step = 1;
  LoopBody body;  // kFor, kIf's then branch, kBlock

  // kIf: affine condition (kBool).
  ExprPtr condition;
  LoopBody otherwise;

  // kAssign: target[subscripts] = value. For `+=` and friends value already holds the read of the target, and
  // `update` tells the reduction it amounts to (sum, prod, min, max), if it is one: target = target OP operand.
  std::string target;  // a tensor, or a kDeclare'd scalar (unique name "OUT.s": rank-0 Tensor with local = true)
  std::vector<ExprPtr> subscripts;
  ExprPtr value;  // type == the target's dtype
  std::optional<ReduceKind> update;
  ExprPtr operand;  // with `update`: the other operand, of the target's dtype

  // kDeclare: a block-scope scalar, fresh in each execution of its block; `value` is its initialiser or null.
};

// The C function that a program was imported from: what a drop-in function of the same signature needs to know.
struct CArgument {
  enum class Role { kUnused, kSymbol, kTensor, kScalar };
  std::string name;  // in C
  std::string type;  // "int", "double*", "const float*"; a global array's elements with the star
  Role role = Role::kUnused;
  std::string of;  // the symbol or tensor
  bool global = false;
  std::vector<std::int64_t> extents;  // of a global array
};

struct CFunction {
  std::string name;
  std::string file;                  // the C file's name, without folders
  std::string prototype;             // as written there
  std::vector<CArgument> arguments;  // parameters in order, then globals
  std::string impossible;            // why a drop-in cannot be made; "" where it can
};

struct Node {
  std::string op;               // "matmul", "compute", "loops", ...
  std::vector<std::string> in;  // tensors and (loops) symbols; "" is an omitted operand
  std::vector<std::string> out;
  std::vector<std::string> inout;  // loops only
  Attributes attrs;
  std::vector<std::string> text;   // "def" lines of compute, "code" lines of loops (from file: its region)
  std::vector<Place> text_places;  // of the first character of each line of `text`, in the JSON or the C file
  std::string source_file;         // loops from a C file: the file's name, for messages
  std::vector<int> source_lines;   // and its line for each line of `text`
  Place place;
  std::map<std::string, Place> parts;  // where its members stand: "/op", "/in/1", "/attrs/axis", ...

  // The place of a member, or of the nearest one around it that is written.
  Place part(const std::string& where) const;

  // The node's meaning, filled by elaborate: equations in order, or loops.
  std::vector<Equation> equations;
  LoopBody loops;
};

// Policies of contract V11.
struct Numerics {
  enum class Reassociate { kStrict, kTree, kFree };
  Reassociate reassociate = Reassociate::kTree;
  bool contract = true;
  bool approximate = false;
  bool flush_denormals = false;
};

struct Program {
  std::string name;
  std::string folder;                // of the program file; data paths are relative to it
  std::vector<Symbol> symbols;       // in file order
  std::vector<ExprPtr> assumptions;  // affine conditions on symbols
  std::map<std::string, Tensor> tensors;
  std::vector<std::string> tensor_order;  // declared first in file order, then as defined
  std::vector<std::string> inputs;
  std::vector<Node> nodes;
  std::vector<std::string> outputs;
  Numerics numerics;
  std::optional<CFunction> c_function;  // of an imported program

  const Tensor& tensor(const std::string& name) const { return tensors.at(name); }
};

// The sizes in force: symbol -> value.
using SymbolValues = std::map<std::string, std::int64_t>;

// Evaluates an affine kI64 (or kBool: 0/1) expression of symbols and bound indices.
std::int64_t evaluate_index(const ExprPtr& e, const SymbolValues& values);

// Extents of a tensor for given symbol values.
std::vector<std::int64_t> extents_of(const Tensor& tensor, const SymbolValues& values);

// Deterministic text of an elaborated program: tensors, then each node's equations or loops (stage "graph").
std::string to_text(const Program& program);
std::string to_text(const Equation& equation);
std::string to_text(const LoopBody& body, int indent = 0);

}  // namespace facet
