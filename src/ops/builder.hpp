// OpBuilder: what a definition function reads (operands, attributes) and writes (outputs, equation lines, complaints).
//
// Accessors never fail hard: after a complaint they return harmless values, and finish() reports everything at once.
// Definition functions return early with `if (b.failed()) return;` where going on makes no sense.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "src/ops/dims.hpp"
#include "src/ops/op_table.hpp"

namespace facet {

// An index of an equation and its extent: 0 <= name < extent.
struct Loop {
  std::string name;
  ExprPtr extent;

  ExprPtr index() const { return facet::index(name); }
};
using Loops = std::vector<Loop>;
using Subscripts = std::vector<ExprPtr>;

class OpBuilder {
 public:
  OpBuilder(const OpCall& call, const OpDef& def) : call_(call), def_(def) { reserve_names(); }

  // Operands.
  int operand_count() const { return static_cast<int>(call_.operands.size()); }
  bool has(int k) const;
  const Tensor& operand(int k) const { return call_.operands[static_cast<std::size_t>(k)]; }
  const Shape& shape(int k) const { return operand(k).shape; }
  const ExprPtr& dim(int k, int axis) const { return shape(k)[static_cast<std::size_t>(axis)]; }
  int rank(int k) const { return static_cast<int>(shape(k).size()); }
  DType dtype(int k = 0) const { return operand(k).dtype; }
  int output_count() const { return static_cast<int>(call_.node.out.size()); }
  bool wants(int out) const { return out < output_count() && !call_.node.out[static_cast<std::size_t>(out)].empty(); }
  const Program& program() const { return call_.program; }

  // Attributes, or their defaults.
  bool given(const std::string& name) const { return call_.node.attrs.count(name) > 0; }
  std::int64_t integer(const std::string& name) const;
  double number(const std::string& name) const;
  bool flag(const std::string& name) const { return integer(name) != 0; }
  std::string word(const std::string& name) const;
  std::vector<std::int64_t> integers(const std::string& name) const;
  std::vector<double> numbers(const std::string& name) const;
  std::vector<std::string> words(const std::string& name) const;  // kTexts
  Shape dims(const std::string& name);                            // kDims
  DType dtype_attr(const std::string& name, DType fallback) const;
  int axis(const std::string& name, int rank);  // one axis, wrapped; complains when out of range
  int wrapped_axis(const std::string& name, std::int64_t axis, int rank);
  std::vector<int> axes(const std::string& name, int rank);  // a list, wrapped; absent or empty gives {}

  // Names that no symbol, index or local of this definition has.
  std::string fresh(const std::string& hint);
  Loop loop(const std::string& hint, const ExprPtr& extent) { return Loop{fresh(hint), normal(extent)}; }
  Loops loops(const Shape& shape);  // i, j, k, ... over a shape
  std::string local(const std::string& hint) { return fresh(hint); }

  // Outputs and equations.
  void out(int k, DType dtype, const Shape& shape);
  // target[left] = value where conditions for left and reduced indices.
  void line(const std::string& target, const Loops& left, const std::string& value, const Loops& reduced = {},
            const std::vector<std::string>& conditions = {});

  // The nest behind the equations: a line of it, an output that it defines, an array of its own.
  void nest(const std::string& text) { result_.nest.push_back(text); }
  void nest_defines(int k) { result_.nest_outs.push_back("y" + std::to_string(k)); }
  std::string nest_array(const std::string& hint, DType dtype, const Shape& shape);

  // Complaints. `where` is appended to the node's pointer: "/attrs/axis", "/in/1".
  void fail(Code code, const std::string& where, std::vector<std::string> args, std::vector<std::string> notes = {});
  void bad_value(const std::string& attribute, const std::string& what);
  void bad_shapes(int operand, const std::string& what);  // the operand that does not fit the others
  void not_affine(const std::string& what);
  bool failed() const { return !diagnostics_.empty(); }
  bool expect_rank(int k, int low, int high = -1);  // high -1: low or more; complains
  Result<OpDefinition> finish();

  const OpDef& def() const { return def_; }

 private:
  void reserve_names();
  const Attribute* attribute(const std::string& name) const;

  const OpCall& call_;
  const OpDef& def_;
  std::set<std::string> names_;
  OpDefinition result_;
  Diagnostics diagnostics_;
};

// Texts.
std::string ref(const std::string& tensor, const Subscripts& subscripts, const std::string& pad = "");  // "a0[i, j ? 0.0]"
std::string formal(int operand);                                                                        // "a0"
std::string c_element(const std::string& tensor, const Subscripts& subscripts);                         // "a0[i][j - 1]"
std::string c_for(const Loop& loop);   // "for (long i = 0; i < N; i++)"
std::string c_type_text(DType dtype);  // the C type that computes with it: "float"
Subscripts indices_of(const Loops& loops);
// Operand `k` read at the indices of a broadcast result.
std::string broadcast_read(const OpBuilder& b, int k, const Loops& result);
// Numpy broadcasting of the operands' shapes; complains.
Shape broadcast_shape(OpBuilder& b, const std::vector<int>& operands);
Shape broadcast_two(OpBuilder& b, const Shape& x, const Shape& y, int operand);  // a complaint is about this one
std::string number_text(DType dtype, double value);  // literal of the dtype's kind: "0.5", "3", "-inf"
std::string lowest_text(DType dtype);
std::string highest_text(DType dtype);
std::string cast_text(DType to, DType from, const std::string& value);  // value itself when the dtypes agree
std::string calls(const std::string& function, const std::string& argument);
std::string in_parens(const std::string& text);

// "sum[k, l](value)"; value itself over no indices.
std::string reduction(const std::string& kind, const Loops& loops, const std::string& value);

// Accumulators (contract: at least f32, i32 for 8-bit integers; attribute "acc" overrides).
DType accumulator(const OpBuilder& b, DType dtype);
DType sum_result(DType dtype);  // i32 for 8-bit integers, else the dtype
DType wide_float(DType dtype);  // f32 for f16 and bf16, else the dtype
AttrDef acc_attribute();

// Extent as a number of dtype: "784.0" or "cast(f32, N)".
std::string extent_text(DType dtype, const Shape& extents);

// Attribute records.
AttrDef int_attr(const std::string& name, std::int64_t fallback, const std::string& doc);
AttrDef flag_attr(const std::string& name, bool fallback, const std::string& doc);
AttrDef float_attr(const std::string& name, double fallback, const std::string& doc);
AttrDef text_attr(const std::string& name, const std::string& fallback, const std::string& doc,
                  std::vector<std::string> choices = {});
AttrDef optional_attr(const std::string& name, AttrKind kind, const std::string& doc);
AttrDef required_attr(const std::string& name, AttrKind kind, const std::string& doc);

// Sample attributes.
Attribute as_attribute(std::int64_t value);
Attribute as_attribute(int value);
Attribute as_attribute(double value);
Attribute as_attribute(bool value);
Attribute as_attribute(const char* value);
Attribute as_attribute(const std::vector<int>& values);
Attribute as_attribute(const std::vector<double>& values);

// The families, in the order of the documentation.
void add_elementwise(std::vector<OpDef>& table);
void add_activations(std::vector<OpDef>& table);
void add_matmul(std::vector<OpDef>& table);
void add_reductions(std::vector<OpDef>& table);
void add_softmax(std::vector<OpDef>& table);
void add_normalizations(std::vector<OpDef>& table);
void add_convolutions(std::vector<OpDef>& table);
void add_pools(std::vector<OpDef>& table);
void add_movement(std::vector<OpDef>& table);
void add_reshapes(std::vector<OpDef>& table);
void add_layout(std::vector<OpDef>& table);
void add_resize(std::vector<OpDef>& table);
void add_conv_transpose(std::vector<OpDef>& table);
void add_mean_pools(std::vector<OpDef>& table);
void add_scans(std::vector<OpDef>& table);
void add_selection(std::vector<OpDef>& table);
void add_einsum(std::vector<OpDef>& table);
void add_gathers(std::vector<OpDef>& table);
void add_scatters(std::vector<OpDef>& table);
void add_losses(std::vector<OpDef>& table);
void add_attention(std::vector<OpDef>& table);
void add_rotary(std::vector<OpDef>& table);
void add_recurrent(std::vector<OpDef>& table);
void add_misc(std::vector<OpDef>& table);

}  // namespace facet
