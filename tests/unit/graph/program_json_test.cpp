// Programs as JSON: accepted forms and what they become; refusals are in tests/errors.
#include "src/frontend/json.hpp"

#include <gtest/gtest.h>

#include "src/frontend/sha256.hpp"

namespace facet {
namespace {

Program read_ok(const std::string& text) {
  Result<Program> p = read_program(text, "dir/p.json");
  if (!p) ADD_FAILURE() << to_text(p.errors());
  return p ? *p : Program{};
}

const char* const kMlp = R"({
  "facet": 1, "name": "mlp",
  "symbols": {"N": {"min": 1, "max": 4096, "default": 64}},
  "assume": ["N % 2 == 0"],
  "tensors": {
    "x":  {"dtype": "f32", "shape": ["N", 784], "sample": {"uniform": [0, 1]}},
    "w1": {"dtype": "f32", "shape": [784, "2*N+1"], "data": {"fill": "-inf"}},
    "i":  {"dtype": "i32", "shape": [2, 2], "data": {"values": [[1, 2], [3, 4]]}},
    "r":  {"dtype": "i64", "shape": ["N"], "data": {"iota": -1}}
  },
  "inputs": ["x"],
  "ops": [
    {"op": "matmul", "in": ["x", "w1"], "out": ["h0"]},
    {"op": "mul", "in": ["h0", 0.125], "out": "h1"},
    {"op": "clip", "in": ["h1", ""], "out": ["h2"], "attrs": {"min": 0, "axes": [1, -1], "mode": "x", "on": true}},
    {"op": "compute", "in": "h2", "out": "p", "def": "p[i, j] = h2[i, j]"}
  ],
  "outputs": ["p"], "numerics": {"reassociate": "strict", "denormals": "flush"}
})";

TEST(ProgramJson, ReadsTheWholeForm) {
  const Program p = read_ok(kMlp);
  EXPECT_EQ(p.name, "mlp");
  EXPECT_EQ(p.folder, "dir");
  ASSERT_EQ(p.symbols.size(), 1u);
  EXPECT_EQ(p.symbols[0].value, 64);
  EXPECT_EQ(p.assumptions.size(), 1u);
  EXPECT_EQ(to_text(p.tensor("w1").shape[1]), "2 * N + 1");
  EXPECT_EQ(p.tensor("i").data->int_values, (std::vector<std::int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(p.tensor("r").data->axis, 0);
  EXPECT_EQ(p.tensor("x").sample.b, 1);
  ASSERT_EQ(p.nodes.size(), 4u);
  EXPECT_EQ(p.nodes[1].in, (std::vector<std::string>{"h0", "h1.c1"}));
  EXPECT_FALSE(p.tensor("h1.c1").inferred);
  EXPECT_EQ(p.tensor("h1.c1").dtype, DType::kF64);
  EXPECT_EQ(p.tensor("h1.c1").data->fill, 0.125);
  EXPECT_EQ(p.nodes[2].in[1], "");
  EXPECT_EQ(p.nodes[2].attrs.size(), 4u);
  EXPECT_EQ(p.nodes[3].text_places[0].pointer, "/ops/3/def");
  EXPECT_EQ(p.nodes[3].text_places[0].column, 55);
  EXPECT_EQ(p.numerics.reassociate, Numerics::Reassociate::kStrict);
  EXPECT_TRUE(p.numerics.flush_denormals);
  EXPECT_FALSE(p.tensor("h0").declared);
}

TEST(ProgramJson, WritingIsCanonical) {
  const Program p = read_ok(kMlp);
  const std::string text = to_json(p);
  const Program again = read_ok(text);
  EXPECT_EQ(to_json(again), text);
  EXPECT_EQ(program_hash(again), program_hash(p));
  EXPECT_EQ(program_hash(p).size(), 64u);
  EXPECT_NE(text.find("[\"h0\", 0.125]"), std::string::npos);
}

TEST(ProgramJson, EveryNameIsValid) {
  std::string tensors, ops;
  for (const char* name :
       {"class", "float", "blockIdx", "exp", "_Reserved", "__x", "int", "main", "linux", "N2", "NULL", "errno"}) {
    tensors += std::string(tensors.empty() ? "" : ",") + "\"" + name + "\": {\"dtype\": \"f32\", \"shape\": [4]}";
    ops += std::string(ops.empty() ? "" : ",") + "{\"op\": \"loops\", \"out\": \"" + name + "\", \"code\": \"\"}";
  }
  const std::string name(255, 'a');
  read_ok("{\"facet\": 1, \"name\": \"" + name + "\", \"tensors\": {" + tensors + "}, \"ops\": [" + ops +
          "], \"outputs\": [\"class\"]}");
}

TEST(ProgramJson, InOutSeesOrder) {
  const Program p = read_ok(R"({"facet": 1, "name": "a", "tensors": {"x": {"dtype": "f32", "shape": [4]}}, "inputs": ["x"],
    "ops": [{"op": "neg", "in": "x", "out": "y"}, {"op": "loops", "inout": "x", "code": ["x[0] = 1;"]}, {"op": "neg", "in": "x", "out": "z"}],
    "outputs": ["x", "y", "z"]})");
  EXPECT_EQ(p.nodes[1].inout, std::vector<std::string>{"x"});
}

TEST(ProgramJson, ReportsSeveralComplaints) {
  const Result<Program> p = read_program(R"({"facet": 1, "nam": "a", "tensors": {"x": {"dtype": "f33", "shape": [-1]}},
    "ops": [{"op": "neg", "in": ["q"], "out": ["y"], "foo": 1}], "outputs": ["z"]})",
                                         "p.json");
  ASSERT_FALSE(p);
  EXPECT_GE(p.errors().size(), 6u);
  for (const Diagnostic& d : p.errors()) EXPECT_GT(d.place.line, 0) << to_text(d);
}

TEST(ProgramJson, Sha256KnownAnswers) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(ProgramJson, AnAttributeBesideTheFieldsIsSentHome) {
  const Result<Program> p =
      read_program(R"({"facet": 1, "name": "p", "tensors": {"x": {"dtype": "f32", "shape": [4]}}, "inputs": ["x"],
    "ops": [{"op": "softmax", "in": ["x"], "out": "y", "axis": -1}], "outputs": ["y"]})",
                   "p.json");
  ASSERT_FALSE(p.ok());
  EXPECT_NE(to_text(p.errors()).find("\"attrs\": {\"axis\": ...}"), std::string::npos) << to_text(p.errors());
}

}  // namespace
}  // namespace facet
