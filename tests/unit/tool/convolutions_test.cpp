// Convolutions as the scheduler plans them, large enough for its tiles, compared with the reference: shapes that end inside a
// tile, strides, groups, dilations, several ranks and types.
#include "tests/unit/tool/tool.hpp"

namespace facet {
namespace {

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

}  // namespace
}  // namespace facet
