// The policy for sums in parts: which reductions get them, which do not and why not, and that the threads then have work.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

Planned planned(const Program& p, int threads = 2, double thread_start_us = 5) {
  ScheduleOptions options = two_wide_threads();
  options.threads = threads;
  options.machine.cpu.thread_start_us = thread_start_us;
  return plan_of(p, options);
}

std::string tensor(const std::string& name, const std::string& shape) {
  return "\"" + name + R"(": {"dtype": "f32", "shape": )" + shape + "}";
}

Program sum_of(const std::string& shape, const std::string& op = R"("reduce_sum")", const std::string& more = "",
               const std::string& numerics = "tree") {
  return program_of(R"({"facet": 1, "name": "p", "numerics": {"reassociate": ")" + numerics + R"("}, "tensors": {)" +
                    tensor("x", shape) + R"(}, "inputs": ["x"], "ops": [{"op": )" + op + R"(, "in": ["x"], "out": "y")" + more +
                    R"(}], "outputs": ["y"]})");
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Partials, ASumOfEverythingIsSharedOut) {
  const std::string steps = planned(sum_of("[1048576]")).recipe;
  EXPECT_TRUE(has(steps, "rfactor")) << steps;
  EXPECT_TRUE(has(steps, "i / 131072")) << steps;
  EXPECT_TRUE(has(steps, "vectorize")) << steps;
  EXPECT_TRUE(has(steps, "parallelize")) << steps;
}

TEST(Partials, NothingIsCutWhereThreadsDoNotPay) {
  EXPECT_FALSE(has(planned(sum_of("[1048576]"), 1).recipe, "rfactor"));
  EXPECT_FALSE(has(planned(sum_of("[1048576]"), 2, 1000).recipe, "rfactor"));
  EXPECT_FALSE(has(planned(sum_of("[512]")).recipe, "rfactor"));
}

// "strict" keeps the order of a sum of floats; a maximum has none.
TEST(Partials, StrictNumericsKeepTheOrder) {
  const Planned strict = planned(sum_of("[1048576]", R"("reduce_sum")", "", "strict"));
  EXPECT_FALSE(has(strict.recipe, "rfactor"));
  EXPECT_TRUE(has(strict.told(), "rewrite sum of y: ")) << strict.told();
  EXPECT_TRUE(has(planned(sum_of("[1048576]", R"("reduce_max")")).recipe, "rfactor"));
}

TEST(Partials, RowsAreSharedOutAsTheyAre) {
  const std::string steps = planned(sum_of("[4096, 512]", R"("reduce_sum")", R"(, "attrs": {"axes": [1]})")).recipe;
  EXPECT_FALSE(has(steps, "rfactor")) << steps;
  EXPECT_TRUE(has(steps, "parallelize")) << steps;
}

// One mean a row: it lies along the results, but what is summed up lies along the rows.
TEST(Partials, RowsBesideAVectorAreSharedOutAsTheyAre) {
  const Program p = program_of(R"J({"facet": 1, "name": "p", "tensors": {)J" + tensor("x", "[1024, 4096]") + ", " +
                               tensor("m", "[1024]") + R"J(}, "inputs": ["x", "m"], "ops": [{"op": "compute",
    "in": ["x", "m"], "out": "y", "def": ["y[i] = sum[j]((x[i, j] - m[i]) * (x[i, j] - m[i]))"]}], "outputs": ["y"]})J");
  EXPECT_FALSE(has(planned(p).recipe, "rfactor")) << planned(p).recipe;
}

// Few columns: rows go to the threads, each thread's along memory.
TEST(Partials, ColumnsAreSummedAlongTheirRows) {
  const Program p = sum_of("[65536, 32]", R"("reduce_sum")", R"(, "attrs": {"axes": [0]})");
  const Planned made = planned(p);
  EXPECT_TRUE(has(made.recipe, "rfactor")) << made.recipe;
  EXPECT_TRUE(has(made.told(), "its operand lies along them")) << made.told();
  EXPECT_TRUE(has(made.recipe, "parallelize")) << made.recipe;
}

Program two_sums(const std::string& rest = "") {
  return program_of(R"({"facet": 1, "name": "p", "tensors": {)" + tensor("A", "[2000, 1500]") + ", " + tensor("p", "[1500]") +
                    ", " + tensor("r", "[2000]") + ", " + tensor("s", "[1500]") + ", " + tensor("q", "[2000]") +
                    R"(}, "inputs": ["A", "p", "r"], "ops": [{"op": "loops", "in": ["A", "p", "r"], "out": ["s", "q"], "code":
    "for (int i = 0; i < 1500; i++) s[i] = 0; for (int i = 0; i < 2000; i++) { q[i] = 0; for (int j = 0; j < 1500; j++) { s[j] = s[j] + r[i] * A[i][j]; q[i] = q[i] + A[i][j] * p[j]; } )" +
                    rest + R"( }"}], "outputs": ["s", "q"]})");
}

// Rows serve q and columns s: one of the two has to give way, and only a sum can.
TEST(Partials, SumsThatShareALoopGetPartsOfIt) {
  const std::string steps = planned(two_sums()).recipe;
  EXPECT_TRUE(has(steps, "\"i / 256\"")) << steps;
  EXPECT_TRUE(has(steps, "parallelize")) << steps;
}

// Somebody looks at the sum in every iteration: it has no parts.
TEST(Partials, ASumThatIsReadOnTheWayStaysWhole) {
  const std::string steps = planned(two_sums("q[i] = q[i] + s[0];")).recipe;
  EXPECT_FALSE(has(steps, "rfactor")) << steps;
}

// A[i] waits for the iteration before: parts of the sum beside it would as well.
TEST(Partials, ALoopThatCarriesMoreThanSumsKeepsThemWhole) {
  const Program p = program_of(R"({"facet": 1, "name": "p", "tensors": {)" + tensor("x", "[2000, 1500]") + ", " +
                               tensor("s", "[1500]") + ", " + tensor("q", "[2001]") + R"(}, "inputs": ["x"],
    "ops": [{"op": "loops", "in": ["x"], "out": ["s", "q"], "code":
    "for (int i = 0; i < 1500; i++) s[i] = 0; q[0] = 1; for (int i = 0; i < 2000; i++) { q[i+1] = q[i] * x[i][0]; for (int j = 0; j < 1500; j++) s[j] = s[j] + q[i] * x[i][j]; }"}],
    "outputs": ["s", "q"]})");
  const Planned made = planned(p);
  EXPECT_FALSE(has(made.recipe, "rfactor")) << made.recipe;
  EXPECT_TRUE(has(made.told(), "carries more than sums")) << made.told();
}

// x1 += A y1 and x2 += A' y2 in nests of their own.
Program both_ways(std::int64_t n, const std::string& second = "x2[i] = x2[i] + A[j][i] * y2[j];") {
  const std::string count = std::to_string(n), size = "[" + count + "]";
  const std::string loops = "for (int i = 0; i < " + count + "; i++) for (int j = 0; j < " + count + "; j++) ";
  return program_of(R"({"facet": 1, "name": "p", "tensors": {)" + tensor("A", "[" + count + ", " + count + "]") + ", " +
                    tensor("x1", size) + ", " + tensor("x2", size) + ", " + tensor("y1", size) + ", " + tensor("y2", size) +
                    R"(}, "inputs": ["A", "x1", "x2", "y1", "y2"], "ops": [{"op": "loops", "in": ["A", "y1", "y2"],
    "inout": ["x1", "x2"], "code": ")" +
                    loops + "x1[i] = x1[i] + A[i][j] * y1[j]; " + loops + second + R"("}], "outputs": ["x1", "x2"]})");
}

TEST(Partials, AMatrixThatTwoNestsReadIsReadOnce) {
  const Planned made = planned(both_ways(2000));
  EXPECT_TRUE(has(made.recipe, R"({"do": "rfactor", "by": "j / 256", "statement": "x2"})")) << made.recipe;
  EXPECT_TRUE(has(made.recipe, R"({"do": "fuse", "loops": {"x1": ["i", "j"], "x2": ["j", "i"]}, "statements": ["x1", "x2"]})"))
      << made.recipe;
  EXPECT_TRUE(has(made.told(), "one pass over it for both")) << made.told();
}

// From the second cache it may be read twice; where the second nest waits for the first it has to be.
TEST(Partials, NestsThatGainNothingFromOnePassGetNoPartsForIt) {
  const Planned small = planned(both_ways(600)), waits = planned(both_ways(2100, "x2[i] = x2[i] + A[j][i] * y2[j] * x1[j];"));
  EXPECT_FALSE(has(small.told(), "one pass over it for both")) << small.told();
  EXPECT_FALSE(has(waits.told(), "one pass over it for both")) << waits.told();
  EXPECT_FALSE(has(waits.recipe, "fuse")) << waits.recipe;
}

// A loss: what is summed up is not stored, and the loop over it stays parallel.
TEST(Partials, AProducerSharesTheLoopOfItsSum) {
  const auto loss = [](const std::string& numerics) {
    return program_of(R"({"facet": 1, "name": "p", "numerics": {"reassociate": ")" + numerics + R"("}, "tensors": {)" +
                      tensor("x", "[1048576]") + R"(}, "inputs": ["x"], "ops": [{"op": "mul", "in": ["x", "x"], "out": "d"},
      {"op": "reduce_sum", "in": ["d"], "out": "y"}], "outputs": ["y"]})");
  };
  const Planned tree = planned(loss("tree"));
  ASSERT_EQ(tree.groups, 1U);
  EXPECT_TRUE(has(tree.recipe, "fuse")) << tree.recipe;
  EXPECT_TRUE(has(tree.recipe, R"({"do": "contract", "array": "d"})")) << tree.recipe;
  EXPECT_TRUE(has(tree.recipe, "parallelize")) << tree.recipe;
  EXPECT_EQ(planned(loss("strict")).groups, 2U);
}

}  // namespace
}  // namespace facet
