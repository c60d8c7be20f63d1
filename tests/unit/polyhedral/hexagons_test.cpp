// hexagons: the loops it makes, the slopes it finds, what it refuses. Its numbers: tests/legal and gpu_time_tiles_test.
#include <cstdlib>
#include <utility>

#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

Program line(const std::string& body) {
  return in_place("[\"N\"]", "for (int t = 0; t < N; t++) for (int i = 2; i < N - 2; i++) " + body);
}

// Two arrays in turns, one dimension.
Program ping_pong(const std::string& b = "B[i] = A[i-1] + A[i+1]", const std::string& a = "A[i] = B[i-1] + B[i+1]") {
  return program_of(R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 5, "max": 1000, "default": 100},
      "T": {"min": 1, "max": 1000, "default": 100}}, "tensors": {"A": {"dtype": "f64", "shape": ["N"]},
      "B": {"dtype": "f64", "shape": ["N"]}}, "inputs": ["A", "B"], "ops": [{"op": "loops", "in": ["N", "T"],
      "inout": ["A", "B"], "code": "for (int t = 0; t < T; t++) {)" +
                    std::string(" for (int i = 2; i < N - 2; i++) ") + b + "; for (int i = 2; i < N - 2; i++) " + a +
                    R"(; }"}], "outputs": ["A", "B"]})");
}

std::string step(const std::string& sizes, const std::string& statements = R"("B", "A")", const std::string& more = "") {
  return R"({"do": "hexagons", "statements": [)" + statements + R"(], "time": "t", "loops": ["i"], "sizes": [)" + sizes + "]" +
         more + "}";
}

std::string refusal(const Program& p, const std::string& steps) {
  const LegalReport report = judge(p, steps);
  EXPECT_FALSE(report.legal) << steps;
  EXPECT_EQ(report.reason, "precondition") << report.message;
  return report.message;
}

TEST(Hexagons, AFrontsTilesAreParallel) {
  const std::string text =
      last_kernel(loops_text(ping_pong(), step("2, 8") + R"(, {"do": "parallelize", "statement": "A", "loop": "ih"})"));
  EXPECT_EQ(text,
            "  for tf in 0..tdiv(T + 1, 2) + 1\n"
            "    for ih in max(tf - tdiv(T + 2, 4), tdiv(tf, 2))..min(tdiv(N + 2 * T + 4, 8), tdiv(N + 4 * tf - 3, 8) + 1"
            ") parallel\n"
            "      for tt in max(max(0, tf - 1), 2 * ih - tdiv(N + 4, 4) + 1)..min(tf + 1, tdiv(T + 1, 2))\n"
            "        for t in max(max(4 * tf - 4 * ih - 3, 2 * tt), -N + 4 * ih + tdiv(N + 1, 2) + 1)..min(min(min(T, 4 *"
            " ih + 3), 2 * tt + 2), 4 * tf - 4 * ih + tdiv(N + 1, 2) - 1)\n"
            "          for i in max(max(2, (-8) * tf + 8 * ih + 2 * t), 8 * ih - 2 * t)..min(min(N - 2, (-8) * tf + 8 * i"
            "h + 2 * t + 8), 8 * ih - 2 * t + 8)\n"
            "            B[i] = A[i - 1] + A[i + 1]\n"
            "          for i in max(max(2, 8 * ih - 2 * t - 1), (-8) * tf + 8 * ih + 2 * t + 1)..min(min(N - 2, 8 * ih - "
            "2 * t + 7), (-8) * tf + 8 * ih + 2 * t + 9)\n"
            "            A[i] = B[i - 1] + B[i + 1]\n");
}

// Every height has its least width: at it a front is parallel, one less is refused by the number.
TEST(Hexagons, NoWidthBelowTheLeast) {
  const std::string parallel = R"(, {"do": "parallelize", "statement": "A", "loop": "ih"})";
  for (int height = 1; height <= 3; ++height) {
    const std::string h = std::to_string(height) + ", ";
    EXPECT_TRUE(judge(ping_pong(), step(h + std::to_string(4 * height)) + parallel).legal) << height;
    const std::string why = refusal(ping_pong(), step(h + std::to_string(4 * height - 1)));
    EXPECT_NE(why.find("data run over " + std::to_string(4 * height) + " iterations of 'i'"), std::string::npos) << why;
  }
}

// Whatever runs where: at the width that the refusal of a narrow one names, hexagons of a front need nothing of each other.
TEST(Hexagons, SlopesOfAnyStencil) {
  const std::string parallel = R"(, {"do": "parallelize", "statement": "A", "loop": "ih"})";
  int wide = 0;
  for (const auto& [b, a] : std::vector<std::pair<const char*, const char*>>{{"A[i-2] + A[i]", "B[i]"},
                                                                             {"A[i+2]", "B[i-1] + B[i+1]"},
                                                                             {"A[i-1]", "B[i-2]"},
                                                                             {"A[i+1] + A[i+2]", "B[i-2] + A[i]"},
                                                                             {"B[i] + A[i-2]", "A[i] + B[i+1]"}})
    for (const char* height : {"1, ", "3, "}) {
      const Program p = ping_pong(std::string("B[i] = ") + b, std::string("A[i] = ") + a);
      const std::string why = refusal(p, step(height + std::string("1")));
      const std::size_t over = why.find("run over ");
      ASSERT_NE(over, std::string::npos) << why;
      const int least = std::atoi(why.c_str() + over + 9);
      wide = std::max(wide, least);
      for (const int width : {least, least + 3}) {
        const LegalReport report = judge(p, step(height + std::to_string(width)) + parallel);
        EXPECT_TRUE(report.legal) << a << "; " << b << ", " << height << width << ": " << report.message;
      }
    }
  EXPECT_GT(wide, 8);
}

TEST(Hexagons, SaysWhatItCannotDo) {
  const std::string reach = refusal(line("A[i] = A[N - 1 - i];"), step("2, 8", "\"A\""));
  EXPECT_NE(reach.find("back along 'i'"), std::string::npos) << reach;
  const std::string other = refusal(ping_pong(), step("2, 8", "\"B\""));
  EXPECT_NE(other.find("holds 'A' too"), std::string::npos) << other;
  const std::string marked =
      refusal(ping_pong(), R"({"do": "vectorize", "statement": "A", "loop": "i", "width": 4}, )" + step("2, 8"));
  EXPECT_NE(marked.find("is marked by `"), std::string::npos) << marked;
  const std::string taken = refusal(ping_pong(), step("2, 8", R"("B", "A")", R"(, "names": ["t", "h", "tt"])"));
  EXPECT_NE(taken.find("exists already"), std::string::npos) << taken;
  for (const std::string& wrong : {step("2"), step("2, 8, 4"), step("2, 8", R"("B", "A")", R"(, "names": ["f", "h"])"),
                                   step("0, 8"), step("2, 8", R"("B", "C")")}) {
    const Result<LegalReport> report = check_recipe(ping_pong(), recipe_of(ping_pong(), wrong), ScheduleOptions{});
    ASSERT_FALSE(report.ok()) << wrong;
    EXPECT_EQ(report.errors()[0].code, Code::kBadStepArgument) << to_text(report.errors());
  }
}

// isl 0.25 loses the formula of a division in these orders: one was an internal error ("please report it"), the other got a
// loop whose lower bound mentions its own iterator.
TEST(Hexagons, AnOrderThatIslCannotScanIsToldAsThat) {
  const char* const in_hexagons =
      R"({"do": "tile", "loops": ["i", "j"], "names": ["a", "b"], "sizes": [3, 1], "statement": "t"},
      {"do": "hexagons", "loops": {"t": ["b", "i"]}, "names": ["front", "hexagon", "inner", "past"], "sizes": [2, 11, 3],
       "statements": ["t"], "time": "a"},
      {"do": "hexagons", "loops": {"t": ["i"]}, "names": ["front2", "hexagon2", "past2"], "sizes": [3, 12],
       "statements": ["t"], "time": "b"},
      {"do": "skew", "by": "b", "factor": 2, "loop": "front2", "statement": "t"})";
  const char* const peeled = R"({"do": "hexagons", "loops": {"t": ["j", "k"]}, "names": ["front", "hexagon", "inner", "past"],
      "sizes": [2, 17, 4], "statements": ["t"], "time": "i"}, {"do": "peel", "first": 1, "loop": "past", "statement": "t"})";
  const std::pair<const char*, const char*> cases[] = {{"13", in_hexagons}, {"8, 1", peeled}};
  for (const auto& [sizes, steps] : cases) {
    const bool deep = std::string(sizes) != "13";
    const std::string shape = std::string(R"(["N", )") + sizes + "]", at = deep ? "[i][j][k]" : "[i][j]";
    const Program p = program_of(
        R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 1, "max": 40, "default": 14}},
        "tensors": {"x": {"dtype": "i32", "shape": )" +
        shape + R"(}, "t": {"dtype": "i32", "shape": )" + shape + R"(}},
        "inputs": ["x"], "ops": [{"op": "loops", "in": ["x", "N"], "out": "t", "code": "for (int i = 0; i < N; i++) )" +
        std::string(deep ? "for (int j = 0; j < 8; j++) for (int k = 0; k < 1; k++) " : "for (int j = 0; j < 13; j++) ") + "t" +
        at + " = x" + at + R"(;"}], "outputs": ["t"]})");
    const Result<Recipe> recipe =
        read_recipe(R"({"facet_recipe": 1, "variants": [{"groups": [{"name": "k", "ops": ["t"], "steps": [)" +
                        std::string(steps) + "]}]}]}",
                    "recipe");
    ASSERT_TRUE(recipe.ok()) << to_text(recipe.errors());
    const Result<Scheduled> made = schedule_program(p, *recipe, {});
    ASSERT_FALSE(made.ok()) << steps;
    EXPECT_EQ(made.errors()[0].code, Code::kNotScanned) << to_text(made.errors());
    EXPECT_NE(to_text(made.errors()).find("leave out steps of group k"), std::string::npos) << to_text(made.errors());
  }
}

}  // namespace
}  // namespace facet
