// Spells loop trees and expressions in C++ for every target that is a C dialect: OpenMP C++ and CUDA C++.
//
// What a dialect adds (parallel loops, thread axes, barriers) are a few virtual functions. Everything that needs code of its
// own (exp, floor division, masked loads) is a *helper*: a small function with a typed name, `exp_f32x16`, `floor_div_i64`,
// that the target's prelude defines; `helpers` lists the ones that the printed text calls, so that only those are emitted.
//
// The C type of a value: bool, the stdint types, float, double; f16 and bf16 values are float (their storage is uint16_t);
// bool storage is uint8_t. Vectors are GNU vector types named f32x16. A vector of bools is an integer vector with lanes 0 or -1
// whose elements are as wide as the compared ones; named masks have 4-byte elements.
//
// Wrapping: 8 and 16-bit arithmetic is cast back to its type, signed 32 and 64-bit arithmetic goes through helpers on unsigned
// values; index arithmetic (kIndex, literals, named kI64 values in subscripts and bounds) is plain and 64 bits wide.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "codegen/text_writer.hpp"
#include "facet/loop_ast.hpp"
#include "facet/result.hpp"

namespace facet {

// One helper function at one type; `type` is that of its (first) operand, lanes 1 is the scalar version.
struct HelperUse {
  std::string name;
  DType type = DType::kF32;
  int lanes = 1;
  friend bool operator<(const HelperUse& a, const HelperUse& b) {
    return std::tie(a.name, a.type, a.lanes) < std::tie(b.name, b.type, b.lanes);
  }
};

// "f32", "f32x16"; f16 and bf16 values are f32.
std::string type_suffix(DType type, int lanes);
// C type of a value, "float", "f32x16"; kBool with lanes is a mask of 4-byte elements.
std::string value_type(DType type, int lanes);
// C type of one element in memory.
std::string storage_type(DType type);
// The dtype whose C type holds values of `type`: f16 and bf16 are f32, the rest is itself.
DType computed_as(DType type);
// Float literal text that reads back exactly: "0.5f", "__builtin_inff()".
std::string float_literal(DType type, double value);

// Binding strength of printed expressions, loosest first.
enum class Level { kTernary, kOr, kAnd, kBitOr, kBitXor, kBitAnd, kEqual, kCompare, kShift, kSum, kTerm, kUnary, kAtom };

class CPrinter {
 public:
  explicit CPrinter(const std::set<std::string>& reserved) : names(reserved) {}
  virtual ~CPrinter() = default;

  // Makes a buffer known; reads and stores of its name linearise by its strides.
  void declare(const Buffer& buffer);
  // Tells that an index or symbol is never negative: its / and % are then plain.
  void assume_non_negative(const std::string& index) { non_negative_.insert(index); }
  // Is at least 1: a non-negative index divided by it is plain too.
  void assume_positive(const std::string& index) { positive_.insert(index); }

  // The expression as text that may stand beside operators of strength `level`.
  std::string value(const ExprPtr& e, Level level = Level::kTernary);
  // A subscript, bound or size: plain 64-bit arithmetic.
  std::string index_text(const ExprPtr& e, Level level = Level::kTernary);
  std::string buffer_name(const std::string& buffer) { return names.of("buffer", buffer); }
  std::string index_name(const std::string& index) { return names.of("index", index); }
  // Row-major or explicit strides, in elements.
  static std::vector<ExprPtr> strides_of(const Buffer& buffer);

  void statements(const LoopList& body);

  TextWriter out;
  NameTable names;
  std::set<HelperUse> helpers;
  Diagnostics errors;  // trees that cannot be spelled: bugs of an earlier stage

 protected:
  // Does the index expression surely fit 32 unsigned bits? Then it is divided so, where 64-bit division is slow.
  virtual bool is_narrow(const ExprPtr&) const { return false; }

  // Printed text with its strength; mask_bytes: element width of a bool vector.
  struct Spelled {
    std::string text;
    Level level = Level::kAtom;
    int mask_bytes = 0;
  };

  // A loop whose kind the dialect knows; the base prints a serial loop.
  virtual void loop(const For& f);
  // Statements only some dialects have (barriers, collectives, asynchronous copies): an error here.
  virtual void special(const LoopNode& node);
  virtual void allocate(const Allocate& a);
  virtual void atomic_store(const Store& s);

  void serial_loop(const For& f);
  std::string for_header(const For& f);
  void loop_body(const For& f);
  virtual void store(const Store& s);
  virtual void let(const Let& n);
  // What a named value starts with; `text` is its expression.
  virtual std::string initial(const Let&, const std::string& text) { return text; }
  void fail(const std::string& what);

  std::string call(const std::string& helper, DType type, int lanes, const std::vector<std::string>& args);
  Spelled spell(const ExprPtr& e);
  std::string at(const ExprPtr& e, Level level);          // spell + parentheses
  std::string mask(const ExprPtr& e, int element_bytes);  // a bool vector with elements of that width
  std::string vector_arg(const ExprPtr& e, int lanes);    // splats scalars

  const Buffer& buffer_of(const std::string& name);
  std::string offset(const Buffer& buffer, const std::vector<ExprPtr>& subscripts);
  std::string element(const Buffer& buffer, const std::vector<ExprPtr>& subscripts);
  std::string address(const Buffer& buffer, const std::vector<ExprPtr>& subscripts);

 private:
  Spelled literal_text(const Expr& e);
  Spelled scalar_read(const ExprPtr& e);
  Spelled vector_read(const ExprPtr& e);
  Spelled unary_text(const ExprPtr& e);
  Spelled infix_text(const ExprPtr& e);
  Spelled division(const ExprPtr& e);
  Spelled cast_text(const ExprPtr& e);
  Spelled select_text(const ExprPtr& e);
  Spelled mask_text(const ExprPtr& e);
  Spelled lanes_text(const ExprPtr& e);
  std::string shuffle_text(const ExprPtr& e);
  Spelled index_spelled(const ExprPtr& e);
  bool non_negative(const ExprPtr& e) const;
  bool positive(const ExprPtr& e) const;
  bool is_plain_index(const ExprPtr& e) const;
  bool is_index_value(const ExprPtr& e) const;
  std::vector<ExprPtr> clamped(const Buffer& buffer, const ExprPtr& e);
  std::string from_storage(DType type, int lanes, const std::string& text);
  std::string to_storage(DType type, int lanes, const ExprPtr& value);
  void vector_store(const Store& s, const Buffer& buffer);

  std::map<std::string, Buffer> buffers_;
  std::set<std::string> non_negative_, positive_;
};

// The lanes of a vector index expression as base + lane * step, where it has that form: kIota, splats and affine arithmetic.
struct LaneForm {
  bool affine = false;
  ExprPtr base;  // scalar
  std::int64_t step = 0;
};
LaneForm lane_form(const ExprPtr& e);

// Whether a tree holds a read, so that its value depends on data.
bool holds_read(const ExprPtr& e);

}  // namespace facet
