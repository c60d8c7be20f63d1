// Wrong calls: each row is one mistake, its code and the place it is reported at. What is right about them is in
// define_test.cpp.
#include <gtest/gtest.h>

#include "src/ops/op_table.hpp"
#include "src/ops/samples.hpp"

namespace facet {
namespace {

Attribute attr(int v) { return Attribute{static_cast<std::int64_t>(v)}; }
Attribute attr(double v) { return Attribute{v}; }
Attribute attr(const char* v) { return Attribute{std::string(v)}; }
template <class T>
Attribute attr(std::initializer_list<T> list) {
  std::vector<Attribute> items;
  for (const T& x : list) items.push_back(attr(x));
  return Attribute{items};
}

struct Row {
  std::string op;
  std::vector<std::string> operands;
  Attributes attrs;
  std::string code, where;  // where: behind "/ops/0"
  int outputs = 1;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> list = {
      {"nosuch", {"f32[2]"}, {}, "unknown-op", "/op"},
      {"matmul", {"f32[2, 3]"}, {}, "op-operand-count", "/in"},
      {"matmul", {"f32[2, 3]", "f32[3, 2]", "f32[2]"}, {}, "op-operand-count", "/in"},
      {"concat", {}, {{"axis", attr(0)}}, "op-operand-count", "/in"},
      {"add", {"f32[2]", ""}, {}, "op-operand-omitted", "/in/1"},
      {"conv", {"", "f32[1, 1, 1]"}, {}, "op-operand-omitted", "/in/0"},
      {"relu", {"f32[2]"}, {}, "op-output-count", "/out", 2},
      {"softmax", {"i32[2]"}, {}, "operand-dtype", "/in/0"},
      {"and", {"f32[2]", "f32[2]"}, {}, "operand-dtype", "/in/0"},
      {"bitwise_and", {"f32[2]", "f32[2]"}, {}, "operand-dtype", "/in/0"},
      {"neg", {"u8[2]"}, {}, "operand-dtype", "/in/0"},
      {"gather", {"f32[4]", "f32[2]"}, {}, "operand-dtype", "/in/1"},
      {"embedding", {"f32[2]", "f32[4, 3]"}, {}, "operand-dtype", "/in/1"},
      {"resize", {"i32[4]"}, {{"sizes", attr({2})}, {"mode", attr("linear")}}, "operand-dtype", "/in/0"},
      {"add", {"f32[2]", "f16[2]"}, {}, "operand-dtypes-differ", "/in/1"},
      {"where", {"bool[2]", "f32[2]", "i32[2]"}, {}, "operand-dtypes-differ", "/in/2"},
      {"relu", {"f32[2]"}, {{"alpha", attr(1)}}, "unknown-attribute", "/attrs/alpha"},
      {"conv", {"f32[1, 1, 4]", "f32[1, 1, 2]"}, {{"stride", attr({1})}}, "unknown-attribute", "/attrs/stride"},
      {"cast", {"f32[2]"}, {}, "missing-attribute", "/attrs"},
      {"concat", {"f32[2]"}, {}, "missing-attribute", "/attrs"},
      {"reshape", {"f32[2]"}, {}, "missing-attribute", "/attrs"},
      {"one_hot", {"i32[2]"}, {}, "missing-attribute", "/attrs"},
      {"softmax", {"f32[2]"}, {{"axis", attr(0.5)}}, "bad-attribute-kind", "/attrs/axis"},
      {"softmax", {"f32[2]"}, {{"axis", attr({0})}}, "bad-attribute-kind", "/attrs/axis"},
      {"reduce_sum", {"f32[2]"}, {{"keepdims", attr(2)}}, "bad-attribute-kind", "/attrs/keepdims"},
      {"reduce_sum", {"f32[2]"}, {{"axes", attr({0.5})}}, "bad-attribute-kind", "/attrs/axes"},
      {"elu", {"f32[2]"}, {{"alpha", attr("x")}}, "bad-attribute-kind", "/attrs/alpha"},
      {"cast", {"f32[2]"}, {{"to", attr("float32")}}, "bad-attribute-kind", "/attrs/to"},
      {"matmul", {"f32[2, 2]", "f32[2, 2]"}, {{"acc", attr(64)}}, "bad-attribute-kind", "/attrs/acc"},
      {"gelu", {"f32[2]"}, {{"approximate", attr("yes")}}, "bad-attribute-value", "/attrs/approximate"},
      {"pad", {"f32[2]"}, {{"pads", attr({1, 1})}, {"mode", attr("mirror")}}, "bad-attribute-value", "/attrs/mode"},
      {"bit_shift", {"i32[2]", "i32[2]"}, {{"direction", attr("left")}}, "bad-attribute-value", "/attrs/direction"},
      {"mod", {"f32[2]", "f32[2]"}, {}, "bad-attribute-value", "/attrs/fmod"},
      {"clip", {"i32[2]"}, {{"min", attr(0.5)}}, "bad-attribute-value", "/attrs/min"},
      {"softmax", {"f32[2]"}, {{"axis", attr(1)}}, "axis-out-of-range", "/attrs/axis"},
      {"softmax", {"f32[]"}, {}, "axis-out-of-range", "/attrs/axis"},
      {"concat", {"f32[2]"}, {{"axis", attr(-2)}}, "axis-out-of-range", "/attrs/axis"},
      {"stack", {"f32[2]"}, {{"axis", attr(2)}}, "axis-out-of-range", "/attrs/axis"},
      {"unsqueeze", {"f32[2]"}, {{"axes", attr({2})}}, "axis-out-of-range", "/attrs/axes"},
      {"reduce_max", {"f32[2, 2]"}, {{"axes", attr({1, -1})}}, "repeated-axis", "/attrs/axes"},
      {"transpose", {"f32[2, 2]"}, {{"perm", attr({0, 0})}}, "repeated-axis", "/attrs/perm"},
      {"transpose", {"f32[2, 2]"}, {{"perm", attr({0})}}, "bad-attribute-value", "/attrs/perm"},
      {"matmul", {"f32[2, 3]", "f32[2, 3]"}, {}, "operand-shapes", "/in/1"},
      {"matmul", {"f32[2, 2, 3]", "f32[3, 3, 2]"}, {}, "broadcast", "/in/1"},
      {"matmul", {"f32[]", "f32[3]"}, {}, "operand-rank", "/in/0"},
      {"gemm", {"f32[2, 3]", "f32[2, 3]"}, {}, "operand-shapes", "/in/1"},
      {"gemm", {"f32[2, 3]", "f32[3, 4]", "f32[5]"}, {}, "broadcast", "/in/2"},
      {"gemm", {"f32[2, 3]", "f32[3, 1]", "f32[4]"}, {}, "operand-shapes", "/in/2"},
      {"gemm", {"i32[2, 3]", "i32[3, 1]"}, {{"alpha", attr(0.5)}}, "bad-attribute-value", "/attrs/alpha"},
      {"linear", {"f32[2, 3]", "f32[3, 4]"}, {}, "operand-shapes", "/in/1"},
      {"linear", {"f32[2, 3]", "f32[4, 3]", "f32[3]"}, {}, "operand-shapes", "/in/2"},
      {"einsum", {"f32[2, 3]"}, {{"equation", attr("ij,jk->ik")}}, "bad-attribute-value", "/attrs/equation"},
      {"einsum", {"f32[2, 3]"}, {{"equation", attr("ijk->i")}}, "bad-attribute-value", "/attrs/equation"},
      {"einsum", {"f32[2, 3]"}, {{"equation", attr("i1->i")}}, "bad-attribute-value", "/attrs/equation"},
      {"einsum", {"f32[2, 3]"}, {{"equation", attr("ij->k")}}, "bad-attribute-value", "/attrs/equation"},
      {"einsum", {"f32[2, 3]"}, {{"equation", attr("ij->ii")}}, "bad-attribute-value", "/attrs/equation"},
      {"einsum", {"f32[2, 3]", "f32[2, 3]"}, {{"equation", attr("ij,jk->ik")}}, "operand-shapes", "/in/1"},
      {"add", {"f32[2, 3]", "f32[2]"}, {}, "broadcast", "/in/1"},
      {"prelu", {"f32[3]", "f32[2, 3]"}, {}, "operand-shapes", "/in/1"},
      {"conv", {"f32[4, 4]", "f32[1, 1, 1, 1]"}, {}, "operand-rank", "/in/0"},
      {"conv", {"f32[1, 1, 4, 4]", "f32[1, 1, 2]"}, {}, "operand-rank", "/in/1"},
      {"conv", {"f32[1, 3, 4]", "f32[2, 2, 3]"}, {}, "operand-shapes", "/in/1"},
      {"conv", {"f32[1, 2, 4]", "f32[3, 1, 3]"}, {{"group", attr(2)}}, "bad-attribute-value", "/attrs/group"},
      {"conv", {"f32[1, 2, 4]", "f32[3, 1, 3]"}, {{"group", attr(0)}}, "bad-attribute-value", "/attrs/group"},
      {"conv", {"f32[1, 1, 4]", "f32[2, 1, 3]", "f32[3]"}, {}, "operand-shapes", "/in/2"},
      {"conv", {"f32[1, 1, 4]", "f32[2, 1, 5]"}, {}, "operand-shapes", "/in/0"},
      {"conv", {"f32[1, 1, 4]", "f32[2, 1, 3]"}, {{"strides", attr({1, 1})}}, "bad-attribute-value", "/attrs/strides"},
      {"conv", {"f32[1, 1, 4]", "f32[2, 1, 3]"}, {{"strides", attr({0})}}, "bad-attribute-value", "/attrs/strides"},
      {"conv", {"f32[1, 1, 4]", "f32[2, 1, 3]"}, {{"pads", attr({1})}}, "bad-attribute-value", "/attrs/pads"},
      {"conv",
       {"f32[1, 1, 4]", "f32[2, 1, 3]"},
       {{"pads", attr({1, 1})}, {"auto_pad", attr("VALID")}},
       "bad-attribute-value",
       "/attrs/pads"},
      {"conv", {"f32[1, 1, 4]", "f32[2, 1, 3]"}, {{"kernel_shape", attr({2})}}, "bad-attribute-value", "/attrs/kernel_shape"},
      {"conv",
       {"f32[1, 1, N]", "f32[2, 1, 3]"},
       {{"strides", attr({2})}, {"auto_pad", attr("SAME_UPPER")}},
       "not-affine-op",
       ""},
      {"conv", {"f32[1, 1, 9]", "f32[2, 1, M]"}, {}, "not-affine-op", ""},
      {"conv_transpose", {"f32[1, 2, 4]", "f32[1, 2, 3]"}, {}, "operand-shapes", "/in/1"},
      {"conv_transpose",
       {"f32[1, 1, 4]", "f32[1, 2, 3]"},
       {{"output_shape", attr({4, 4})}},
       "bad-attribute-value",
       "/attrs/output_shape"},
      {"max_pool", {"f32[1, 1, 4]"}, {{"kernel_shape", attr({5})}}, "operand-shapes", "/in/0"},
      {"max_pool",
       {"f32[1, 1, N]"},
       {{"kernel_shape", attr({2})}, {"strides", attr({2})}, {"ceil_mode", attr(1)}},
       "not-affine-op",
       ""},
      {"average_pool", {"f32[1, 1, 4]"}, {{"kernel_shape", attr({2, 2})}}, "bad-attribute-value", "/attrs/kernel_shape"},
      {"lp_pool", {"f32[1, 1, 4]"}, {{"kernel_shape", attr({2})}, {"p", attr(0)}}, "bad-attribute-value", "/attrs/p"},
      {"adaptive_max_pool", {"f32[1, 1, N]"}, {{"output_size", attr({2})}}, "not-affine-op", ""},
      {"layer_normalization", {"f32[2, 3]", "f32[2]"}, {}, "broadcast", "/in/1"},
      {"group_normalization",
       {"f32[1, 4, 2]", "f32[4]", "f32[4]"},
       {{"num_groups", attr(3)}},
       "bad-attribute-value",
       "/attrs/num_groups"},
      {"batch_normalization", {"f32[1, 3, 2]", "f32[3]", "f32[3]", "f32[3]", "f32[2]"}, {}, "operand-shapes", "/in/4"},
      {"batch_normalization",
       {"f32[1, 3, 2]", "f32[3]", "f32[3]", "f32[3]", "f32[3]"},
       {},
       "bad-attribute-value",
       "/attrs/training_mode",
       3},
      {"reshape", {"f32[6]"}, {{"shape", attr({4})}}, "operand-shapes", "/in/0"},
      {"reshape", {"f32[6]"}, {{"shape", attr({-1, -1})}}, "bad-attribute-value", "/attrs/shape"},
      {"reshape", {"f32[6]"}, {{"shape", attr({4, -1})}}, "bad-attribute-value", "/attrs/shape"},
      {"reshape", {"f32[6]"}, {{"shape", attr({6, 0})}}, "bad-attribute-value", "/attrs/shape"},
      {"reshape", {"f32[6]"}, {{"shape", attr({-2, 3})}}, "bad-attribute-value", "/attrs/shape"},
      {"reshape", {"f32[N, M]"}, {{"shape", attr({-1})}}, "bad-attribute-value", "/attrs/shape"},
      {"flatten", {"f32[2, N, M]"}, {}, "not-affine-op", ""},
      {"squeeze", {"f32[1, 2]"}, {{"axes", attr({1})}}, "bad-attribute-value", "/attrs/axes"},
      {"slice", {"f32[4]"}, {{"starts", attr({0})}, {"ends", attr({1, 2})}}, "bad-attribute-value", "/attrs/ends"},
      {"slice",
       {"f32[4]"},
       {{"starts", attr({0})}, {"ends", attr({1})}, {"steps", attr({0})}},
       "bad-attribute-value",
       "/attrs/steps"},
      {"slice", {"f32[N]"}, {{"starts", attr({0})}, {"ends", attr({9})}}, "bad-attribute-value", "/attrs/ends"},
      {"slice", {"f32[4]"}, {{"starts", attr({"Q"})}, {"ends", attr({1})}}, "unknown-name-in-text", "/attrs/starts/0"},
      {"concat", {"f32[2, 3]", "f32[3, 3]"}, {{"axis", attr(1)}}, "operand-shapes", "/in/1"},
      {"stack", {"f32[2, 3]", "f32[2]"}, {}, "operand-shapes", "/in/1"},
      {"split", {"f32[4]"}, {{"split", attr({1, 2})}}, "bad-attribute-value", "/attrs/split", 2},
      {"split", {"f32[4]"}, {{"split", attr({4})}}, "bad-attribute-value", "/attrs/split", 2},
      {"split", {"f32[4]"}, {{"num_outputs", attr(3)}}, "bad-attribute-value", "/attrs/num_outputs", 2},
      {"split", {"f32[N]"}, {}, "not-affine-op", "", 2},
      {"pad", {"f32[2, 2]"}, {{"pads", attr({1, 1})}}, "bad-attribute-value", "/attrs/pads"},
      {"pad", {"f32[2]"}, {{"pads", attr({2, 0})}, {"mode", attr("reflect")}}, "bad-attribute-value", "/attrs/pads"},
      {"pad", {"f32[2]"}, {{"pads", attr({-2, -1})}}, "bad-attribute-value", "/attrs/pads"},
      {"pad", {"f32[N]"}, {{"pads", attr({1, 1})}, {"mode", attr("wrap")}}, "not-affine-op", ""},
      {"roll", {"f32[2, 2]"}, {{"shifts", attr({1})}}, "bad-attribute-value", "/attrs/axes"},
      {"roll", {"f32[2]"}, {{"shifts", attr({1, 1})}}, "bad-attribute-value", "/attrs/shifts"},
      {"roll", {"f32[N]"}, {{"shifts", attr({2})}}, "bad-attribute-value", "/attrs/shifts"},
      {"tile", {"f32[2]"}, {{"repeats", attr({1, 1})}}, "bad-attribute-value", "/attrs/repeats"},
      {"tile", {"f32[2]"}, {{"repeats", attr({-1})}}, "bad-attribute-value", "/attrs/repeats"},
      {"expand", {"f32[2]"}, {{"shape", attr({3})}}, "broadcast", "/in/0"},
      {"depth_to_space", {"f32[1, 3, 2, 2]"}, {{"blocksize", attr(2)}}, "bad-attribute-value", "/attrs/blocksize"},
      {"space_to_depth", {"f32[1, 1, 3, 2]"}, {{"blocksize", attr(2)}}, "bad-attribute-value", "/attrs/blocksize"},
      {"resize", {"f32[4]"}, {}, "bad-attribute-value", "/attrs/sizes"},
      {"resize", {"f32[4]"}, {{"sizes", attr({2})}, {"scales", attr({2})}}, "bad-attribute-value", "/attrs/scales"},
      {"resize", {"f32[4]"}, {{"scales", attr({-1.0})}}, "bad-attribute-value", "/attrs/scales"},
      {"resize", {"f32[4]"}, {{"sizes", attr({0})}}, "bad-attribute-value", "/attrs/sizes"},
      {"resize", {"f32[N]"}, {{"sizes", attr({8})}}, "not-affine-op", ""},
      {"trilu", {"f32[4]"}, {}, "operand-rank", "/in/0"},
      {"gather", {"f32[0]", "i64[2]"}, {}, "operand-shapes", "/in/0"},
      {"gather", {"f32[]", "i64[2]"}, {}, "operand-rank", "/in/0"},
      {"gather_elements", {"f32[3, 3]", "i64[3]"}, {}, "operand-rank", "/in/1"},
      {"gather_elements", {"f32[3, 3]", "i64[2, 4]"}, {}, "operand-shapes", "/in/1"},
      {"gather_nd", {"f32[3]", "i64[2, 2]"}, {}, "bad-attribute-value", "/attrs/batch_dims"},
      {"one_hot", {"i64[2]"}, {{"depth", attr(0)}}, "bad-attribute-value", "/attrs/depth"},
      {"one_hot", {"i64[2]"}, {{"depth", attr(2)}, {"values", attr({1})}}, "bad-attribute-value", "/attrs/values"},
      {"scatter_elements", {"f32[3]", "i64[2]", "f32[3]"}, {}, "operand-shapes", "/in/2"},
      {"scatter_elements", {"f32[3, 2]", "i64[2, 3]", "f32[2, 3]"}, {}, "operand-shapes", "/in/1"},
      {"scatter_elements",
       {"bool[3]", "i64[2]", "bool[2]"},
       {{"reduction", attr("add")}},
       "bad-attribute-value",
       "/attrs/reduction"},
      {"scatter_nd", {"f32[3, 2]", "i64[4, 1]", "f32[4]"}, {}, "operand-shapes", "/in/2"},
      {"arg_max", {"f32[0]"}, {}, "empty-argument", "/in/0"},
      {"hardmax", {"f32[2, 0]"}, {}, "empty-argument", "/in/0"},
      {"softmax_cross_entropy_loss", {"f32[4, 0]", "i64[4]"}, {}, "empty-argument", "/in/0"},
      {"negative_log_likelihood_loss", {"f32[2, 0, 5]", "i64[2, 5]"}, {}, "empty-argument", "/in/0"},
      {"pad", {"f32[3, 0]"}, {{"pads", attr({0, 1, 0, 1})}, {"mode", attr("edge")}}, "empty-argument", "/in/0"},
      {"pad", {"f32[3, 0]"}, {{"pads", attr({0, 1, 0, 1})}, {"mode", attr("wrap")}}, "empty-argument", "/in/0"},
      {"rotary_embedding", {"f32[2, 2, 3, 6]", "f32[0, 3]", "f32[0, 3]", "i64[2, 3]"}, {}, "empty-argument", "/in/1"},
      {"top_k", {"f32[4]"}, {{"k", attr(5)}}, "bad-attribute-value", "/attrs/k"},
      {"top_k", {"f32[400]"}, {{"k", attr(65)}}, "bad-attribute-value", "/attrs/k"},
      {"softmax_cross_entropy_loss", {"f32[4, 3]", "i64[3]"}, {}, "operand-shapes", "/in/1"},
      {"softmax_cross_entropy_loss", {"f32[4, 3]", "i64[4]", "f32[4]"}, {}, "operand-shapes", "/in/2"},
      {"triplet_margin_loss", {"f32[4, 3]", "f32[4, 3]", "f32[4, 2]"}, {}, "operand-shapes", "/in/2"},
      {"triplet_margin_loss", {"f32[4, 3]", "f32[4, 3]", "f32[4, 3]"}, {{"p", attr(0.0)}}, "bad-attribute-value", "/attrs/p"},
      {"attention", {"f32[1, 2, 3, 4]", "f32[1, 2, 3, 5]", "f32[1, 2, 3, 4]"}, {}, "operand-shapes", "/in/1"},
      {"attention", {"f32[1, 3, 3, 4]", "f32[1, 2, 3, 4]", "f32[1, 2, 3, 4]"}, {}, "operand-shapes", "/in/1"},
      {"attention", {"f32[1, 3, 8]", "f32[1, 3, 8]", "f32[1, 3, 8]"}, {}, "bad-attribute-value", "/attrs/q_num_heads"},
      {"attention", {"f32[1, 2, 3, 4]", "f32[1, 2, 3, 4]", "f32[1, 2, 3, 4]", "f32[2, 3]"}, {}, "broadcast", "/in/3"},
      {"rotary_embedding", {"f32[1, 2, 3, 4]", "f32[1, 3, 4]", "f32[1, 3, 4]"}, {}, "operand-shapes", "/in/1"},
      {"rotary_embedding",
       {"f32[1, 2, 3, 4]", "f32[1, 3, 2]", "f32[1, 3, 2]"},
       {{"rotary_embedding_dim", attr(3)}},
       "bad-attribute-value",
       "/attrs/rotary_embedding_dim"},
      {"lstm", {"f32[3, 2, 4]", "f32[1, 12, 5]", "f32[1, 12, 3]"}, {}, "operand-shapes", "/in/1"},
      {"gru",
       {"f32[3, 2, 4]", "f32[1, 9, 4]", "f32[1, 9, 3]"},
       {{"hidden_size", attr(4)}},
       "bad-attribute-value",
       "/attrs/hidden_size"},
      {"rnn",
       {"f32[3, 2, 4]", "f32[1, 3, 4]", "f32[1, 3, 3]"},
       {{"activations", attr({"Sin"})}},
       "bad-attribute-value",
       "/attrs/activations"},
      {"dropout", {"f32[3]"}, {{"ratio", attr(1.0)}}, "bad-attribute-value", "/attrs/ratio"},
      {"lrn", {"f32[1, 3]"}, {{"size", attr(0)}}, "bad-attribute-value", "/attrs/size"},
      {"lp_normalization", {"f32[3]"}, {{"p", attr(3)}}, "bad-attribute-value", "/attrs/p"},
      {"mean_variance_normalization", {"f32[3]"}, {}, "operand-rank", "/in/0"},
  };
  return list;
}

TEST(Refuse, EveryMistakeHasItsCodeAndPlace) {
  for (const Row& row : rows()) {
    Program p;
    p.symbols = {{"N", 1, 64, 8, {}}, {"M", 1, 64, 8, {}}};
    Node node;
    node.op = row.op;
    node.attrs = row.attrs;
    node.place.pointer = "/ops/0";
    for (int k = 0; k < row.outputs; ++k) node.out.push_back("z" + std::to_string(k));
    OpCall call{node, {}, p};
    std::string what = row.op;
    for (std::size_t k = 0; k < row.operands.size(); ++k) {
      what += " " + row.operands[k];
      call.operands.push_back(row.operands[k].empty() ? Tensor{}
                                                      : *parse_tensor(row.operands[k], "x" + std::to_string(k), {"N", "M"}));
    }
    const Result<OpDefinition> d = define(call);
    ASSERT_FALSE(d.ok()) << what << " was accepted";
    EXPECT_EQ(code_name(d.errors()[0].code), row.code) << what << "\n" << to_text(d.errors());
    EXPECT_EQ(d.errors()[0].place.pointer, "/ops/0" + row.where) << what << "\n" << to_text(d.errors());
    EXPECT_EQ(d.errors()[0].message.find('{'), std::string::npos) << d.errors()[0].message;
  }
}

}  // namespace
}  // namespace facet
