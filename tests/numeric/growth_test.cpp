// What must not grow: statements of recurrent layers with the length of the sequence, work of scans with its square.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "polyhedral/facet_polyhedral.hpp"
#include "src/frontend/json.hpp"
#include "src/graph/elaborate.hpp"
#include "src/run/reference.hpp"

namespace facet {
namespace {

Program program_of(const std::string& tensors, const std::string& inputs, const std::string& ops) {
  const std::string text =
      R"({"facet": 1, "name": "p", "symbols": {"T": {"min": 0, "max": 100000, "default": 8}}, "tensors": {)" + tensors +
      R"(}, "inputs": [)" + inputs + R"(], "ops": [)" + ops + R"(], "outputs": ["y"]})";
  const Result<Program> read = read_program(text, "p.json");
  EXPECT_TRUE(read) << to_text(read.errors());
  const Result<Program> elaborated = elaborate(*read);
  EXPECT_TRUE(elaborated) << to_text(elaborated.errors());
  return *elaborated;
}

int recurrent_statements(const std::string& op, int gates, const std::string& steps) {
  const std::string rows = std::to_string(gates * 5);
  const Program p =
      program_of(R"("x": {"dtype": "f32", "shape": [)" + steps + R"(, 2, 4]}, "w": {"dtype": "f32", "shape": [1, )" + rows +
                     R"(, 4]}, "r": {"dtype": "f32", "shape": [1, )" + rows + ", 5]}",
                 R"("x", "w", "r")", R"({"op": ")" + op + R"(", "in": ["x", "w", "r"], "out": "y"})");
  return *count_statements(p);
}

TEST(Growth, RecurrentLayersHaveTheSameStatementsForAnyLength) {
  for (const auto& [op, gates] : {std::pair{"rnn", 1}, std::pair{"gru", 3}, std::pair{"lstm", 4}}) {
    const int few = recurrent_statements(op, gates, "3");
    EXPECT_LT(few, 40) << op;
    EXPECT_EQ(recurrent_statements(op, gates, "3000"), few) << op;
    EXPECT_EQ(recurrent_statements(op, gates, "\"T\""), few) << op;
  }
}

TEST(Growth, ScansTakeLinearTime) {
  for (const char* op : {"cum_sum", "cum_prod"})
    for (const char* attrs : {R"({"axis": 0})", R"({"axis": 0, "reverse": 1, "exclusive": 1})"})
      for (const char* dtype : {"f32", "f16", "i8"}) {
        const Program p = program_of(std::string(R"("x": {"dtype": ")") + dtype + R"(", "shape": ["T", 3]})", R"("x")",
                                     std::string(R"({"op": ")") + op + R"(", "in": "x", "out": "y", "attrs": )" + attrs + "}");
        const double once = predicted_operations(p, {{"T", 1000}}), twice = predicted_operations(p, {{"T", 2000}});
        EXPECT_GT(once, 1000) << op;
        EXPECT_LT(twice, 2.1 * once) << op << " " << attrs << " " << dtype;
      }
}

// A chain of `count` operators of five kinds over a symbolic length.
std::string chain(int count) {
  std::string ops, last = "x";
  for (int k = 0; k < count; ++k) {
    const std::string name = k + 1 == count ? "y" : "t" + std::to_string(k);
    const std::string forms[] = {R"("relu", "in": ")" + last + "\"", R"("add", "in": [")" + last + R"(", "x"])",
                                 R"("matmul", "in": [")" + last + R"(", "w"])", R"("softmax", "in": ")" + last + "\"",
                                 R"("mul", "in": [")" + last + R"(", 0.5])"};
    ops += std::string(k ? ", " : "") + R"({"op": )" + forms[k % 5] + R"(, "out": ")" + name + "\"}";
    last = name;
  }
  return R"({"facet": 1, "name": "p", "symbols": {"T": {"min": 1, "max": 4096, "default": 8}}, "tensors": {"x": {"dtype": "f32", "shape": ["T", 8]}, )"
         R"("w": {"dtype": "f32", "shape": [8, 8]}}, "inputs": ["x", "w"], "ops": [)" +
         ops + R"(], "outputs": ["y"]})";
}

// Processor time of reading, elaborating and validating, the least of three.
double check_seconds(const std::string& text) {
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t start = std::clock();
    const Result<Program> read = read_program(text, "p.json");
    EXPECT_TRUE(read) << to_text(read.errors());
    const Result<Program> program = elaborate(*read);
    EXPECT_TRUE(program) << to_text(program.errors());
    const Result<Done> valid = validate(*program, 60, nullptr);
    EXPECT_TRUE(valid) << to_text(valid.errors());
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

// Twice the operators may take 2.6 times as long; the release tool's second for 1,000 is some seconds without optimisation.
TEST(Growth, CheckingGrowsLikeTheNumberOfOperators) {
  const double half = check_seconds(chain(500)), whole = check_seconds(chain(1000));
  EXPECT_LT(whole, 2 * 1.3 * half);
  EXPECT_LT(whole, 4);
}

// `count` operands of one operator; shapes [2, 3].
std::string many_operands(const std::string& op, const std::string& attrs, int count) {
  std::string tensors, names;
  for (int k = 0; k < count; ++k) {
    const std::string name = "\"x" + std::to_string(k) + "\"";
    tensors += (k ? ", " : "") + name + R"(: {"dtype": "f32", "shape": [2, 3]})";
    names += (k ? ", " : "") + name;
  }
  return R"({"facet": 1, "name": "p", "tensors": {)" + tensors + R"(}, "inputs": [)" + names + R"(], "ops": [{"op": ")" + op +
         R"(", "in": [)" + names + R"(], "out": "y")" + attrs + R"(}], "outputs": ["y"]})";
}

// Each part of a result was held against every other one (5,000 operands took minutes), sums nested as deep as their operands.
TEST(Growth, CheckingGrowsLikeTheNumberOfOperands) {
  const std::pair<const char*, const char*> ops[] = {{"concat", R"(, "attrs": {"axis": 0})"},
                                                     {"concat", R"(, "attrs": {"axis": -1})"},
                                                     {"stack", R"(, "attrs": {"axis": 1})"},
                                                     {"sum", ""},
                                                     {"max", ""}};
  for (const auto& [op, attrs] : ops) {
    const double few = check_seconds(many_operands(op, attrs, 300)), many = check_seconds(many_operands(op, attrs, 900));
    EXPECT_LT(many, 3 * 1.3 * few + 0.1) << op;  // 9 times when each is held against each
    EXPECT_LT(many, 5) << op;
  }
}

// Names and places of statements are found without walking the others.
TEST(Growth, ManyStatementsOnOneLineAreReadInLinearTime) {
  const auto seconds = [](int count) {
    std::string code;
    for (int i = 0; i < count; ++i) code += "x[0]=x[0]+1;";
    const std::string text =
        R"({"facet": 1, "name": "p", "tensors": {"x": {"dtype": "f32", "shape": [4]}}, "inputs": ["x"], "ops": [{"op": "loops", "inout": "x", "code": ")" +
        code + R"("}], "outputs": ["x"]})";
    double least = 1e9;
    for (int i = 0; i < 2; ++i) {
      const std::clock_t start = std::clock();
      const Result<Program> program = elaborate(*read_program(text, "p.json"));
      EXPECT_EQ(*count_statements(*program), count);
      least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return least;
  };
  EXPECT_LT(seconds(4000), 2.8 * seconds(2000));
}

// All reads of one array of a nest are one question over the statements that touch it.
TEST(Growth, ARecurrentLayerIsCheckedInATenthOfASecond) {
  const std::string text =
      R"({"facet": 1, "name": "p", "symbols": {"T": {"min": 1, "max": 1000, "default": 8}}, "tensors": {"x": {"dtype": "f32", "shape": ["T", 2, 4]}, )"
      R"("w": {"dtype": "f32", "shape": [2, 20, 4]}, "r": {"dtype": "f32", "shape": [2, 20, 5]}}, "inputs": ["x", "w", "r"], )"
      R"("ops": [{"op": "lstm", "in": ["x", "w", "r"], "out": "y", "attrs": {"direction": "bidirectional"}}], "outputs": ["y"]})";
  EXPECT_LT(check_seconds(text), 1);
}

}  // namespace
}  // namespace facet
