// Convolutions as the scheduler plans them, large enough for its tiles, compared with the reference: shapes that end inside a
// tile, strides, groups, dilations, several ranks and types.
#include "tests/unit/tool/tool.hpp"

namespace facet {
namespace {

// 32 vectors of 64 bytes, of which one multiply-add starts a cycle; a second cache of 256 KiB.
constexpr const char* kWide = R"({"cpu": {"name": "wide", "isa": "avx512", "march": "x86-64-v4", "cores": 1, "vector_bytes": 64,
    "vector_registers": 32, "fma_per_cycle": 1, "caches": [{"size_bytes": 32768}, {"size_bytes": 262144}]}})";

class Convolutions : public Tool {
 protected:
  struct Shape {
    const char *x, *w, *attributes;
    int bias = 0;
    const char* dtype = "f32";
    const char* numerics = "{}";
    const char* op = "conv";
  };

  std::string program(const Shape& s) const {
    const auto tensor = [&](const std::string& name, const std::string& shape) {
      return "\"" + name + R"(": {"dtype": ")" + s.dtype + R"(", "shape": )" + shape + "}";
    };
    const std::string bias = s.bias ? ", \"b\"" : "";
    return R"({"facet": 1, "name": "p", "tensors": {)" + tensor("x", s.x) + ", " + tensor("w", s.w) +
           (s.bias ? ", " + tensor("b", "[" + std::to_string(s.bias) + "]") : "") + R"(}, "inputs": ["x", "w")" + bias +
           R"(], "numerics": )" + s.numerics + R"(, "ops": [{"op": ")" + s.op + R"(", "in": ["x", "w")" + bias +
           R"(], "out": "y", "attrs": {)" + s.attributes + R"(}}], "outputs": ["y"]})";
  }

  void verifies(const Shape& s) {
    write("c.json", program(s));
    for (const char* threads : {"1", "2"}) {
      const Answer a = facet(std::string("run c.json --verify --threads ") + threads);
      EXPECT_EQ(a.status, 0) << s.x << " " << s.w << " " << s.attributes << " on " << threads << "\n" << a.out;
      EXPECT_NE(a.out.find("verified"), std::string::npos) << a.out;
    }
  }

  std::string explained(const Shape& s) {
    write("c.json", program(s));
    return facet("explain c.json").out;
  }
};

TEST_F(Convolutions, Transposed) {
  const auto check = [&](const char* x, const char* w, const char* attributes, int bias, const char* dtype = "f32") {
    verifies({x, w, attributes, bias, dtype, "{}", "conv_transpose"});
  };
  check("[1, 16, 9, 9]", "[16, 32, 4, 4]", R"("strides": [2, 2], "pads": [1, 1, 1, 1])", 0);
  check("[2, 16, 7, 11]", "[16, 40, 3, 3]", R"("strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 0])", 0);
  check("[1, 16, 9, 13]", "[16, 32, 5, 3]", R"("strides": [3, 2])", 32);
  check("[1, 32, 64]", "[32, 48, 4]", R"("strides": [2], "pads": [1, 1])", 48);
  check("[1, 16, 5, 6, 7]", "[16, 32, 2, 2, 2]", R"("strides": [2, 2, 2])", 0);
  check("[1, 16, 9, 9]", "[16, 32, 4, 4]", R"("strides": [2, 2], "dilations": [3, 3])", 0);
  check("[1, 64, 17, 17]", "[64, 3, 4, 4]", R"("strides": [2, 2], "pads": [1, 1, 1, 1])", 3);
  check("[1, 16, 9, 9]", "[16, 32, 2, 2]", R"("strides": [3, 3])", 32, "f64");
  EXPECT_NE(explained({"[1, 16, 9, 9]", "[16, 32, 4, 4]", R"("strides": [2, 2])", 0, "f32", "{}", "conv_transpose"})
                .find("y.parts -> y: applied in the register tile"),
            std::string::npos);
}

// Several rows of windows side by side: rows that do not divide, strides and dilations along them, no padding, three
// dimensions.
TEST_F(Convolutions, Depthwise) {
  const auto check = [&](const char* x, const char* w, const char* attributes, const char* dtype = "f32") {
    verifies({x, w, attributes, 0, dtype});
  };
  check("[2, 6, 17, 19]", "[6, 1, 3, 3]", R"("pads": [1, 1, 1, 1], "group": 6)");
  check("[1, 6, 13, 14]", "[6, 1, 5, 5]", R"("pads": [2, 2, 2, 2], "group": 6)");
  check("[1, 4, 23, 20]", "[4, 1, 3, 3]", R"("strides": [2, 1], "group": 4)");
  check("[1, 4, 23, 20]", "[4, 1, 3, 3]", R"("dilations": [2, 1], "pads": [2, 1, 0, 1], "group": 4)", "f64");
  check("[1, 2, 5, 9, 18]", "[2, 1, 3, 3, 3]", R"("pads": [1, 1, 1, 1, 1, 1], "group": 2)");
  EXPECT_NE(explained({"[2, 6, 17, 19]", "[6, 1, 3, 3]", R"("pads": [1, 1, 1, 1], "group": 6)"}).find("rows side by side"),
            std::string::npos);
  // Windows of rows three apart have nothing in common.
  EXPECT_EQ(explained({"[2, 6, 17, 19]", "[6, 1, 3, 3]", R"("strides": [3, 1], "group": 6)"}).find("rows side by side"),
            std::string::npos);
}

// Panels of filters that L1 does not hold: all points meet a block of channels in turn. Channels, filters and points that end
// inside a block, a panel, a tile; several images, groups, three dimensions, consumers.
TEST_F(Convolutions, BlocksOfChannels) {
  const auto check = [&](const char* x, const char* w, const char* attributes, int bias = 0, const char* dtype = "f32",
                         const char* numerics = "{}") {
    verifies({x, w, attributes, bias, dtype, numerics});
  };
  check("[1, 70, 7, 9]", "[36, 70, 3, 3]", R"("pads": [1, 1, 1, 1])");
  check("[2, 67, 14, 13]", "[40, 67, 3, 3]", R"("pads": [1, 0, 2, 1])", 40);
  check("[1, 64, 12, 11]", "[80, 64, 5, 3]", R"("strides": [2, 1], "dilations": [1, 2])");
  check("[1, 128, 10, 11]", "[48, 64, 3, 3]", R"("group": 2, "pads": [1, 1, 1, 1])");
  check("[1, 40, 5, 6, 7]", "[24, 40, 3, 3, 3]", R"("pads": [1, 1, 1, 1, 1, 1])");
  check("[1, 90, 11, 11]", "[40, 90, 3, 3]", "", 0, "f64");
  check("[1, 70, 9, 9]", "[36, 70, 3, 3]", "", 0, "f32", R"({"reassociate": "strict"})");
  const char* blocks = "all points in blocks of";
  EXPECT_NE(explained({"[1, 128, 14, 14]", "[128, 128, 3, 3]", R"("pads": [1, 1, 1, 1])"}).find(blocks), std::string::npos);
  EXPECT_NE(explained({"[1, 128, 14, 14]", "[128, 128, 3, 3]", "", 0, "f32", R"({"reassociate": "strict"})"}).find(blocks),
            std::string::npos);
  // Wide vectors make panels over all channels that L2 does not hold: blocks of them are what such layers need most.
  write("wide.json", kWide);
  write("c.json", program({"[1, 256, 7, 7]", "[128, 256, 3, 3]", R"("pads": [1, 1, 1, 1])"}));
  EXPECT_NE(facet("explain c.json --machine wide.json").out.find(blocks), std::string::npos);
  // One row of points meets its filters once; those of 1 x 1 layers have no windows.
  EXPECT_EQ(explained({"[1, 128, 3, 6]", "[128, 128, 3, 3]", ""}).find(blocks), std::string::npos);
  EXPECT_EQ(explained({"[1, 128, 14, 14]", "[128, 128, 1, 1]", ""}).find(blocks), std::string::npos);
}

// The channels are not the first loop of the reduction: sums that keep their order keep the loops' too.
TEST_F(Convolutions, BlocksOfChannelsKeepTheOrderOfStrictSums) {
  for (const char* sums : {"tree", "strict"}) {
    write("c.json", std::string(R"({"facet": 1, "name": "p", "numerics": {"reassociate": ")") + sums +
                        R"("}, "tensors": {"x": {"dtype": "f32", "shape": [130, 16, 16]}, "w": {"dtype": "f32", "shape":
      [3, 3, 130, 72]}}, "inputs": ["x", "w"], "ops": [{"op": "compute", "in": ["x", "w"], "out": ["y"], "def":
      ["y[m, p, q] = sum[r, s, c](x[c, p + r, q + s] * w[r, s, c, m]) for p in 0..14, q in 0..14"]}], "outputs": ["y"]})");
    const Answer a = facet("run c.json --verify --threads 2");
    EXPECT_NE(a.out.find("verified"), std::string::npos) << a.out;
    const bool cut = facet("explain c.json").out.find("all points in blocks of") != std::string::npos;
    EXPECT_EQ(cut, std::string(sums) == "tree");
  }
}

// The tile of windows leaves a register free, takes whole vectors rather than more of half the width, and of near equals one
// without rows left over. A product has all registers.
TEST_F(Convolutions, TilesOfWideVectors) {
  write("wide.json", kWide);
  const auto tile = [&](const Shape& s, const std::string& size) {
    write("c.json", program(s));
    const std::string text = facet("explain c.json --machine wide.json").out;
    EXPECT_NE(text.find("contraction y: " + size + " in registers"), std::string::npos) << text;
  };
  tile({"[1, 64, 28, 28]", "[128, 64, 3, 3]", R"("pads": [1, 1, 1, 1])"}, "4 x 64");
  tile({"[1, 64, 14, 14]", "[128, 64, 3, 3]", R"("pads": [1, 1, 1, 1])"}, "7 x 32");
  tile({"[1, 32, 16, 16, 16]", "[32, 32, 3, 3, 3]", R"("pads": [1, 1, 1, 1, 1, 1])"}, "16 x 16");
}

// On two threads the larger operand is shared out: filters, whose windows each thread then copies for itself, or rows of
// points. Filters that are there before any run are nobody's copy, and with an odd number of panels one thread would wait.
TEST_F(Convolutions, ThreadsShareOutTheLargerOperand) {
  const auto text = [&](const char* x, const char* w) {
    write("c.json", program({x, w, R"("pads": [1, 1, 1, 1])"}));
    return facet("explain c.json --machine two.json --threads 2").out;
  };
  std::string two = kWide;
  write("two.json", two.replace(two.find("262144"), 6, "1048576"));
  const std::string filters = text("[1, 128, 28, 28]", "[128, 128, 3, 3]");
  EXPECT_NE(filters.find("m in blocks of 64"), std::string::npos) << filters;
  EXPECT_NE(filters.find("array x: laid out with its padding and room for whole tiles, block by block"), std::string::npos);
  EXPECT_NE(filters.find("loop mt of y"), std::string::npos) << filters;
  EXPECT_NE(text("[1, 64, 28, 28]", "[64, 64, 3, 3]").find("p in blocks of 14"), std::string::npos) << "larger windows";
  EXPECT_NE(text("[1, 128, 28, 28]", "[160, 128, 3, 3]").find("p in blocks of 14"), std::string::npos) << "five panels";
}

// Masks are operations beside the multiply-adds: on cores that start one a cycle, all rows whose borders are known at once.
TEST_F(Convolutions, DepthwiseRowsAreAllTogetherWhereMasksCost) {
  write("wide.json", kWide);
  write("c.json", program({"[1, 64, 14, 14]", "[64, 1, 5, 5]", R"("pads": [2, 2, 2, 2], "group": 64)"}));
  EXPECT_NE(facet("explain c.json --machine wide.json").out.find("14 rows side by side"), std::string::npos);
  write("c.json", program({"[1, 64, 18, 18]", "[64, 1, 5, 5]", R"("group": 64)"}));
  EXPECT_EQ(facet("explain c.json --machine wide.json").out.find("14 rows side by side"), std::string::npos) << "no masks";
}

// Few channels: L1 holds a panel, and rows of points are turned as one.
TEST_F(Convolutions, RowsOfPointsAreStoredAsOne) {
  verifies({"[1, 3, 61, 57]", "[20, 3, 7, 7]", R"("strides": [2, 2], "pads": [3, 3, 3, 3])"});
  verifies({"[2, 4, 33, 40]", "[32, 4, 5, 3]", "", 32});
  verifies({"[1, 3, 61, 57]", "[20, 3, 7, 7]", "", 0, "f64", R"({"reassociate": "strict"})"});
  EXPECT_NE(explained({"[1, 3, 64, 64]", "[64, 3, 7, 7]", R"("strides": [2, 2], "pads": [3, 3, 3, 3])"})
                .find("computed for several tiles of points"),
            std::string::npos);
}

class Winograd : public Convolutions {
 protected:
  static constexpr const char* kFree = R"({"reassociate": "free"})";

  void recipe(const std::string& statement, int tile, const std::string& steps) {
    write("r.json",
          R"({"facet_recipe": 1, "target": "openmp", "variants": [{"groups": [{"name": "k0", "ops": ["y"], "rewrites": [)"
          R"({"do": "winograd", "statement": ")" +
              statement + R"(", "tile": )" + std::to_string(tile) + "}]" + steps + "}]}]}");
  }

  // One tile in the program's own order, the other as the scheduler completes it.
  void rewritten(const std::string& text, const std::string& statement = "y", bool planned_four = true) {
    write("c.json", text);
    for (const int tile : {2, 4}) {
      recipe(statement, tile, (tile == 4) == planned_four ? "" : R"(, "steps": [])");
      const Answer a = facet("run c.json --schedule r.json --verify --threads 2");
      EXPECT_EQ(a.status, 0) << text << "\n" << a.out;
      EXPECT_NE(a.out.find("verified"), std::string::npos) << a.out;
    }
  }

  std::string refusal(const std::string& text, const std::string& statement = "y") {
    write("c.json", text);
    recipe(statement, 4, "");
    const Answer a = facet("legal c.json --schedule r.json 2>&1");
    EXPECT_EQ(a.status, 1) << text;
    return a.out;
  }

  static std::string equation(const std::string& line, const std::string& x = "[5, 10, 10]",
                              const std::string& w = "[4, 5, 3, 3]") {
    return R"({"facet": 1, "name": "p", "numerics": {"reassociate": "free"}, "tensors": {"x": {"dtype": "f32", "shape": )" + x +
           R"(}, "w": {"dtype": "f32", "shape": )" + w +
           R"(}}, "inputs": ["x", "w"], "ops": [{"op": "compute", "in": ["x", "w"], "out": ["y"], "def": [")" + line +
           R"("]}], "outputs": ["y"]})";
  }
};

TEST_F(Winograd, OperatorsOfEveryShape) {
  rewritten(program({"[2, 5, 9, 11]", "[6, 5, 3, 3]", R"("pads": [1, 0, 2, 1])", 0, "f32", kFree}));
  rewritten(program({"[1, 17, 13, 8]", "[20, 17, 3, 3]", "", 20, "f64", kFree}), "y.sum");
  rewritten(program({"[1, 8, 10, 10]", "[12, 4, 3, 3]", R"("group": 2, "pads": [1, 1, 1, 1])", 0, "f32", kFree}));
  rewritten(program({"[1, 1, 3, 4]", "[2, 1, 3, 3]", "", 0, "f32", kFree}));
}

TEST_F(Winograd, EquationsAndLoopNests) {
  rewritten(
      equation("y[n, p, q, k] = sum[c, r, s](x[n, p + r - 1, q + s - 1, c ? 0.0] * w[r, s, c, k]) for p in 0..10, q in 0..7",
               "[2, 10, 7, 5]", "[3, 3, 5, 6]"));
  // The taps' own indices are called like the stages' loops.
  rewritten(equation("y[k, a, b] = sum[t, i, j](w[k, t, i, j] * x[t, a + i, b + j]) for a in 0..8, b in 0..8"));
  rewritten(
      R"-({"facet": 1, "name": "p", "numerics": {"reassociate": "free"}, "tensors": {"x": {"dtype": "f32", "shape": [4, 12, 12]},
    "w": {"dtype": "f32", "shape": [6, 4, 3, 3]}, "y": {"dtype": "f32", "shape": [6, 10, 10]}}, "inputs": ["x", "w"],
    "ops": [{"op": "loops", "in": ["x", "w"], "out": ["y"], "code": ["for (int k = 0; k < 6; k++) for (int p = 0; p < 10; p++)",
      "for (int q = 0; q < 10; q++) { y[k][p][q] = 0; for (int c = 0; c < 4; c++) for (int r = 0; r < 3; r++)",
      "for (int s = 0; s < 3; s++) y[k][p][q] += x[c][p+r][q+s] * w[k][c][r][s]; }"]}], "outputs": ["y"]})-",
      "y.1");
}

TEST_F(Winograd, DrawnShapes) {
  std::uint64_t state = 20261201;
  const auto draw = [&](int low, int high) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + static_cast<int>((state >> 33) % static_cast<std::uint64_t>(high - low + 1));
  };
  for (int k = 0; k < 4; ++k) {
    const auto list = [](std::vector<int> v) {
      std::string text;
      for (const int x : v) text += (text.empty() ? "[" : ", ") + std::to_string(x);
      return text + "]";
    };
    const int c = draw(1, 40), m = draw(1, 40), p = draw(0, 2), q = draw(0, 2);
    const std::string x = list({draw(1, 2), c, draw(3, 20), draw(3, 20)}), w = list({m, c, 3, 3}),
                      pads = "\"pads\": " + list({p, q, draw(0, 2), draw(0, 2)});
    rewritten(program({x.c_str(), w.c_str(), pads.c_str(), 0, draw(0, 1) ? "f32" : "f64", kFree}), "y", k % 2 == 0);
  }
}

// Filters that differ along one axis at a time are transformed in prepare, few as one array and many in panels; bias, residual
// and activation join the tiles.
TEST_F(Winograd, ConstantFiltersAndConsumers) {
  const auto run = [&](int channels, int filters, int tile, int axis) {
    const std::string c = std::to_string(channels), m = std::to_string(filters);
    write("c.json", R"({"facet": 1, "name": "p", "numerics": {"reassociate": "free"}, "tensors": {
        "x": {"dtype": "f32", "shape": [1, )" +
                        c + R"(, 9, 22]}, "w": {"dtype": "f32", "shape": [)" + m + ", " + c + R"(, 3, 3], "data": {"iota": )" +
                        std::to_string(axis) + R"(}}, "b": {"dtype": "f32", "shape": [)" + m +
                        R"(]}, "r": {"dtype": "f32", "shape": [1, )" + m + R"(, 9, 22]}}, "inputs": ["x", "b", "r"], "ops": [
        {"op": "conv", "in": ["x", "w", "b"], "out": "s", "attrs": {"pads": [1, 1, 1, 1]}},
        {"op": "add", "in": ["s", "r"], "out": "t"}, {"op": "relu", "in": "t", "out": "y"}], "outputs": ["y"]})");
    write(
        "r.json",
        R"({"facet_recipe": 1, "target": "openmp", "variants": [{"groups": [{"name": "k0", "ops": ["s", "t", "y"], "rewrites": [
        {"do": "winograd", "statement": "s.sum", "tile": )" +
            std::to_string(tile) + "}]}]}]}");
    const Answer a = facet("run c.json --schedule r.json --verify --threads 2");
    EXPECT_EQ(a.status, 0) << c << " " << m << "\n" << a.out;
    EXPECT_NE(a.out.find("verified"), std::string::npos) << a.out;
    const std::string text = facet("explain c.json --schedule r.json").out;
    EXPECT_NE(text.find("array s.sum.winograd.filter: made of weights alone: once, in prepare"), std::string::npos) << text;
    EXPECT_NE(text.find("s.sum -> y: applied in the register tile"), std::string::npos) << text;
  };
  for (const int axis : {0, 1, 3}) run(20, 24, axis == 1 ? 2 : 4, axis);
  for (const int axis : {0, 1, 2}) run(90, 100, axis == 1 ? 2 : 4, axis);
}

TEST_F(Winograd, RefusalsSayWhy) {
  const auto conv = [&](const char* x, const char* w, const char* attributes, const char* dtype = "f32",
                        const char* numerics = kFree) {
    return refusal(program({x, w, attributes, 0, dtype, numerics}), std::string(dtype) == "f16" ? "y.sum" : "y");
  };
  const auto says = [](const std::string& text, const char* why) { EXPECT_NE(text.find(why), std::string::npos) << text; };
  says(conv("[1, 4, 12, 12]", "[5, 4, 3, 3]", R"("strides": [2, 2])"), "windows have a stride");
  says(conv("[1, 4, 12, 12]", "[5, 4, 3, 3]", R"("dilations": [1, 2])"), "windows are dilated");
  says(conv("[1, 4, 12, 12]", "[5, 4, 5, 5]", ""), "windows are not 3 wide");
  says(conv("[1, 4, 12, 12]", "[5, 4, 3, 2]", ""), "windows are not 3 wide");
  says(conv("[1, 4, 12, 12]", "[5, 4, 3, 1]", ""), "one dimension only");
  says(conv("[1, 4, 16]", "[5, 4, 3]", ""), "one dimension only");
  says(conv("[1, 4, 6, 6, 6]", "[5, 4, 3, 3, 3]", ""), "along three dimensions");
  says(conv("[1, 4, 12, 12]", "[5, 4, 3, 3]", "", "i32"), "only f32 and f64");
  says(conv("[1, 4, 12, 12]", "[5, 4, 3, 3]", "", "f16"), "not the product of two elements as they are");
  says(conv("[1, 4, 12, 12]", "[5, 4, 3, 3]", "", "f32", "{}"), "numerics are not free");
  says(conv("[1, 4, 12, 12]", "[5, 4, 3, 3]", "", "f32", R"({"reassociate": "strict"})"), "numerics are not free");
  const auto eq = [&](const std::string& value, const std::string& clauses = "for p in 0..8, q in 0..8") {
    return refusal(equation("y[k, p, q] = " + value + " " + clauses));
  };
  says(eq("max[c, r, s](x[c, p + r, q + s] * w[k, c, r, s])"), "is no sum");
  says(eq("sum[c, r, s](x[c, p + r, q + s] + w[k, c, r, s])"), "not the product of two elements");
  says(eq("sum[c, r, s](x[c, p + r, p + s] * w[k, c, r, s])"), "diagonal");
  says(eq("sum[c, r, s](x[c, p - r + 2, q + s] * w[k, c, r, s])"), "windows are dilated");
  says(eq("sum[c, r, s](x[c, p + r, q + s] * w[k, c, r, s])", "where r <= s for p in 0..8, q in 0..8"), "no box");
  says(eq("sum[c, r, s](x[c, p + r - 1, q + s - 1 ? 1.0] * w[k, c, r, s])", "for p in 0..10, q in 0..10"),
       "padding value is not 0");
  says(eq("sum[c, r, s](x[c, p + r, q + s] * w[k, c, r, (s + p) % 3])", "for p in 0..8, q in 0..8, s in 0..3"),
       "not indexed by plain indices");
  says(eq("sum[c, r, s](x[c - 1, p + r - 1, q + s - 1 ? 0.0] * w[k, c, r, s])", "for p in 0..10, q in 0..10"),
       "padded beside its windows");
}

TEST_F(Winograd, WrongTilesAreWrongArguments) {
  write("c.json", program({"[1, 4, 12, 12]", "[5, 4, 3, 3]", "", 0, "f32", kFree}));
  recipe("y", 3, "");
  EXPECT_EQ(facet("legal c.json --schedule r.json").status, 2);
}

// Chosen where it pays and is allowed; the printed recipe gives the same source.
TEST_F(Winograd, TheSchedulerChoosesItUnderFreeNumerics) {
  const Shape large{"[1, 64, 56, 56]", "[64, 64, 3, 3]", R"("pads": [1, 1, 1, 1])", 0, "f32", kFree};
  EXPECT_NE(explained(large).find("by Winograd's tiles"), std::string::npos);
  Shape tree = large;
  tree.numerics = "{}";
  EXPECT_EQ(explained(tree).find("Winograd"), std::string::npos);
  const Shape few{"[1, 2, 20, 20]", "[3, 2, 3, 3]", "", 0, "f32", kFree};
  EXPECT_EQ(explained(few).find("Winograd"), std::string::npos);
  const Shape deep{"[1, 256, 14, 14]", "[256, 256, 3, 3]", R"("pads": [1, 1, 1, 1])", 0, "f32", kFree};
  for (const Shape& s : {large, deep}) {
    write("c.json", program(s));
    ASSERT_EQ(facet("schedule c.json -o chosen.json").status, 0);
    ASSERT_EQ(facet("compile c.json -o own").status, 0);
    ASSERT_EQ(facet("compile c.json --schedule chosen.json -o given").status, 0);
    EXPECT_EQ(read("own/p.cpp"), read("given/p.cpp"));
    verifies(s);
  }
}

}  // namespace
}  // namespace facet
