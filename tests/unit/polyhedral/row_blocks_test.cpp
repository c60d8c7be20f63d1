// The policy for rows of matrix-vector products: which nests take several at once, how many, and which are left alone.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

// y = A x, z = A' y' and the like: `body` runs for the rows of A[M, N].
Program rows(const std::string& body, std::int64_t m = 2000, std::int64_t n = 1500) {
  const std::string M = std::to_string(m), N = std::to_string(n);
  const auto tensor = [](const std::string& name, const std::string& shape) {
    return "\"" + name + R"(": {"dtype": "f64", "shape": [)" + shape + "]}";
  };
  return program_of(R"({"facet": 1, "name": "p", "tensors": {)" + tensor("A", M + ", " + N) + ", " + tensor("B", M + ", " + N) +
                    ", " + tensor("x", N) + ", " + tensor("t", M) + ", " + tensor("u", M) + ", " + tensor("y", N) +
                    R"(}, "inputs": ["A", "B", "x", "t", "u", "y"], "ops": [{"op": "loops", "in": ["A", "B", "x"],
    "inout": ["t", "u", "y"], "code": "for (int i = 0; i < )" +
                    M + "; i++) { " + body + R"( }"}], "outputs": ["t", "u", "y"]})");
}

std::string over(const std::string& statement, std::int64_t n = 1500) {
  return "for (int j = 0; j < " + std::to_string(n) + "; j++) " + statement;
}

// The factor of the one unroll_and_jam step; 0: there is none.
std::int64_t rows_at_once(const Program& p, int registers = 32, std::int64_t second_cache = 2 << 20) {
  ScheduleOptions options = two_wide_threads();
  options.machine.cpu.vector_registers = registers;
  options.machine.cpu.caches[1].size_bytes = second_cache;
  const Planned made = plan_of(p, options);
  EXPECT_LE(made.count("unroll_and_jam"), 1) << made.recipe;
  for (const Step& s : made.steps)
    if (s.verb == "unroll_and_jam") return std::get<std::int64_t>(s.arguments.at("factor").value);
  return 0;
}

const std::string kSum = "t[i] = t[i] + A[i][j] * x[j];", kAdd = "y[j] = y[j] + A[i][j] * t[i];";

TEST(RowBlocks, AVectorIsLoadedOnceForEightRows) { EXPECT_EQ(rows_at_once(rows(over(kSum))), 8); }

// Two matrices are twice the streams; a sum and a factor for each row twice the registers.
TEST(RowBlocks, StreamsAndRegistersBoundTheRows) {
  EXPECT_EQ(rows_at_once(rows(over(kSum) + over("u[i] = u[i] + A[i][j] * x[j];"))), 8);
  EXPECT_EQ(rows_at_once(rows(over("{ " + kSum + " u[i] = u[i] + B[i][j] * x[j]; }"))), 4);
  EXPECT_EQ(rows_at_once(rows(over(kSum)), 8), 4);
}

// atax: the sums of some rows, then the rows times these, from the second cache. Where that holds fewer, so many.
TEST(RowBlocks, RowsThatAreMetAgainStayInCache) {
  EXPECT_EQ(rows_at_once(rows(over(kSum) + over(kAdd))), 8);
  EXPECT_EQ(rows_at_once(rows(over(kSum) + over(kAdd)), 32, 120000), 4);
}

TEST(RowBlocks, WhereRowsShareNothingTheyStayAlone) {
  EXPECT_EQ(rows_at_once(rows(over("t[i] = t[i] + A[i][j];"))), 0);
  EXPECT_EQ(rows_at_once(rows(over(kSum, 40), 2000, 40)), 0);  // a register tile
  EXPECT_EQ(rows_at_once(rows(over(kSum), 9)), 0);             // fewer than two blocks
  EXPECT_EQ(rows_at_once(rows(over(kSum + over("y[j] = t[i];")))), 0);
}

// Each row's sum needs the one before.
TEST(RowBlocks, RowsThatWaitForEachOtherStayAlone) {
  const std::string body = over("t[i] = t[i] + A[i][j] * x[j];") + " y[i] = t[i];" + over("u[i] = u[i] + A[i][j] * y[j];");
  EXPECT_EQ(rows_at_once(rows(body, 1500)), 0);
}

}  // namespace
}  // namespace facet
