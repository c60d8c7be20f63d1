// What must not grow: statements of recurrent layers with the length of the sequence, work of scans with its square.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace facet
