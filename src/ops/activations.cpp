// Functions of one operand: ONNX's elementwise functions and activations, one template each.
#include <cmath>

#include "src/ops/map_template.hpp"

namespace facet {

namespace {

struct UnaryRow {
  const char* name;
  const char* alias;  // or null
  const char* summary;
  DTypes dtypes;
  const char* text;
  bool wide;
  bool boolean;
};

constexpr const char* kSoftplus = "max($0, @0) + log1p(exp(-abs($0)))";  // log(1 + exp x) without overflow

constexpr UnaryRow kUnary[] = {
    {"abs", nullptr, "absolute value", DTypes::kNumber, "abs($0)", false, false},
    {"neg", nullptr, "-x", DTypes::kSigned, "-$0", false, false},
    {"sign", nullptr, "-1, 0 or 1", DTypes::kNumber, "sign($0)", false, false},
    {"relu", nullptr, "max(x, 0); NaN stays NaN", DTypes::kNumber, "max($0, @0)", false, false},
    {"identity", nullptr, "x", DTypes::kAny, "$0", false, false},
    {"not", nullptr, "logical negation", DTypes::kBool, "not $0", false, true},
    {"bitwise_not", nullptr, "all bits flipped", DTypes::kInteger, "~$0", false, false},
    {"is_nan", "isnan", "true where x is NaN", DTypes::kFloat, "isnan($0)", false, true},
    {"exp", nullptr, "e to the power x", DTypes::kFloat, "exp($0)", true, false},
    {"log", nullptr, "natural logarithm", DTypes::kFloat, "log($0)", true, false},
    {"sqrt", nullptr, "square root", DTypes::kFloat, "sqrt($0)", true, false},
    {"rsqrt", nullptr, "1 / square root", DTypes::kFloat, "rsqrt($0)", true, false},
    {"reciprocal", nullptr, "1 / x", DTypes::kFloat, "@1 / $0", true, false},
    {"square", nullptr, "x * x", DTypes::kNumber, "$0 * $0", false, false},
    {"tanh", nullptr, "hyperbolic tangent", DTypes::kFloat, "tanh($0)", true, false},
    {"erf", nullptr, "error function", DTypes::kFloat, "erf($0)", true, false},
    {"sigmoid", nullptr, "1 / (1 + exp(-x))", DTypes::kFloat, "sigmoid($0)", true, false},
    {"floor", nullptr, "largest integer not above x", DTypes::kFloat, "floor($0)", false, false},
    {"ceil", nullptr, "smallest integer not below x", DTypes::kFloat, "ceil($0)", false, false},
    {"round", nullptr, "nearest integer, halves to even", DTypes::kFloat, "round($0)", false, false},
    {"trunc", nullptr, "integer part", DTypes::kFloat, "trunc($0)", false, false},
    {"sin", nullptr, "sine", DTypes::kFloat, "sin($0)", true, false},
    {"cos", nullptr, "cosine", DTypes::kFloat, "cos($0)", true, false},
    {"tan", nullptr, "tangent", DTypes::kFloat, "tan($0)", true, false},
    {"asin", nullptr, "inverse sine", DTypes::kFloat, "asin($0)", true, false},
    {"acos", nullptr, "inverse cosine", DTypes::kFloat, "acos($0)", true, false},
    {"atan", nullptr, "inverse tangent", DTypes::kFloat, "atan($0)", true, false},
    {"sinh", nullptr, "hyperbolic sine", DTypes::kFloat, "sinh($0)", true, false},
    {"cosh", nullptr, "hyperbolic cosine", DTypes::kFloat, "cosh($0)", true, false},
    {"asinh", nullptr, "inverse hyperbolic sine", DTypes::kFloat, "asinh($0)", true, false},
    {"acosh", nullptr, "inverse hyperbolic cosine", DTypes::kFloat, "acosh($0)", true, false},
    {"atanh", nullptr, "inverse hyperbolic tangent", DTypes::kFloat, "atanh($0)", true, false},
    {"log1p", nullptr, "log(1 + x)", DTypes::kFloat, "log1p($0)", true, false},
    {"expm1", nullptr, "exp(x) - 1", DTypes::kFloat, "expm1($0)", true, false},
    {"softplus", nullptr, "log(1 + exp x)", DTypes::kFloat, kSoftplus, true, false},
    {"softsign", nullptr, "x / (1 + |x|)", DTypes::kFloat, "$0 / (@1 + abs($0))", true, false},
    {"mish", nullptr, "x * tanh(softplus x)", DTypes::kFloat, "$0 * tanh(max($0, @0) + log1p(exp(-abs($0))))", true, false},
    {"hard_swish", nullptr, "x * clamp(x/6 + 1/2, 0, 1)", DTypes::kFloat,
     "$0 * max(@0, min(@1, $0 * 0.16666666666666666 + 0.5))", true, false},
    {"silu", "swish", "x * sigmoid(x)", DTypes::kFloat, "$0 * sigmoid($0)", true, false},
};

OpDef unary_def(const std::string& name, const std::string& summary, DTypes dtypes) {
  OpDef def;
  def.name = name;
  def.family = "activation";
  def.summary = summary;
  def.operands = {{"x", dtypes, 'T', false}};
  def.outputs = {"y"};
  const std::string dtype = dtypes == DTypes::kBool ? "bool" : dtypes == DTypes::kInteger ? "i32" : "f32";
  for (const char* shape : {"[2, 3]", "[]", "[0]", "[1]", "[13]", "[2, 3, 5]"}) def.samples.push_back({{dtype + shape}, {}});
  return def;
}

// An activation with number attributes, sampled at its defaults and at `other` values.
void add_with_numbers(std::vector<OpDef>& table, const std::string& name, const std::string& summary, const std::string& text,
                      const std::vector<std::pair<std::string, double>>& attributes, const std::vector<double>& other) {
  OpDef def = unary_def(name, summary, DTypes::kFloat);
  OpSample changed{{"f32[2, 5]"}, {}};
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    def.attributes.push_back(float_attr(attributes[i].first, attributes[i].second, "as in the formula"));
    changed.attrs[attributes[i].first] = as_attribute(other[i]);
  }
  def.samples.push_back(changed);
  def.define = [text](OpBuilder& b) { define_map(b, MapTemplate{text, true, false}); };
  table.push_back(std::move(def));
}

void add_number_activations(std::vector<OpDef>& table) {
  // A single-precision neighbour of the published constants, as ONNX has them.
  constexpr double kSeluAlpha = 1.67326319217681884765625, kSeluGamma = 1.05070102214813232421875;
  add_with_numbers(table, "elu", "x, below 0 alpha * (exp x - 1)", "select($0 < @0, {alpha} * expm1($0), $0)", {{"alpha", 1.0}},
                   {0.5});
  add_with_numbers(table, "selu", "gamma * elu(x)", "{gamma} * select($0 <= @0, {alpha} * expm1($0), $0)",
                   {{"alpha", kSeluAlpha}, {"gamma", kSeluGamma}}, {1.5, 0.75});
  add_with_numbers(table, "celu", "max(0, x) + min(0, alpha * (exp(x / alpha) - 1))",
                   "max(@0, $0) + min(@0, {alpha} * expm1($0 / {alpha}))", {{"alpha", 1.0}}, {2.0});
  add_with_numbers(table, "leaky_relu", "x, below 0 alpha * x", "select($0 < @0, {alpha} * $0, $0)", {{"alpha", 0.01}}, {0.25});
  add_with_numbers(table, "thresholded_relu", "x above alpha, else 0", "select($0 > {alpha}, $0, @0)", {{"alpha", 1.0}},
                   {0.25});
  add_with_numbers(table, "hard_sigmoid", "clamp(alpha * x + beta, 0, 1)", "max(@0, min(@1, {alpha} * $0 + {beta}))",
                   {{"alpha", 0.2}, {"beta", 0.5}}, {0.5, 0.25});
  add_with_numbers(table, "shrink", "x + bias below -lambd, x - bias above lambd, else 0",
                   "select($0 < -{lambd}, $0 + {bias}, select($0 > {lambd}, $0 - {bias}, @0))", {{"bias", 0.0}, {"lambd", 0.5}},
                   {0.25, 0.125});
}

void add_gelu(std::vector<OpDef>& table) {
  OpDef def =
      unary_def("gelu", "x * Phi(x), the normal distribution function by erf or its tanh approximation", DTypes::kFloat);
  def.attributes = {text_attr("approximate", "none", "\"tanh\" uses the tanh formula", {"none", "tanh"})};
  def.define = [](OpBuilder& b) {
    const std::string exact = "0.5 * $0 * (@1 + erf($0 * 0.7071067811865476))";
    const std::string by_tanh = "0.5 * $0 * (@1 + tanh(0.7978845608028654 * ($0 + 0.044715 * $0 * $0 * $0)))";
    define_map(b, MapTemplate{b.word("approximate") == "tanh" ? by_tanh : exact, true, false});
  };
  def.samples.push_back({{"f32[2, 5]"}, {{"approximate", as_attribute("tanh")}}});
  table.push_back(std::move(def));
}

void add_clip(std::vector<OpDef>& table) {
  OpDef def = unary_def("clip", "x limited to min..max; NaN stays NaN", DTypes::kNumber);
  def.attributes = {optional_attr("min", AttrKind::kFloat, "lower limit; absent: none"),
                    optional_attr("max", AttrKind::kFloat, "upper limit; absent: none")};
  def.define = [](OpBuilder& b) {
    std::string text = "$0";
    for (const std::string side : {"min", "max"}) {
      if (!b.given(side)) continue;
      const double v = b.number(side);
      if (is_integer(b.dtype()) && v != std::floor(v)) return b.bad_value(side, "must be an integer for integer operands");
      text = side == "min" ? "max(" + text + ", {min})" : "min(" + text + ", {max})";
    }
    define_map(b, MapTemplate{text, false, false});
  };
  def.samples.push_back({{"f32[2, 5]"}, {{"min", as_attribute(-0.5)}, {"max", as_attribute(0.25)}}});
  def.samples.push_back({{"i32[5]"}, {{"max", as_attribute(3)}}});
  table.push_back(std::move(def));
}

void add_is_inf(std::vector<OpDef>& table) {
  OpDef def = unary_def("is_inf", "true where x is infinite", DTypes::kFloat);
  def.aliases = {"isinf"};
  def.tolerance = Tolerance::kExact;
  def.attributes = {flag_attr("detect_negative", true, "0: -inf does not count"),
                    flag_attr("detect_positive", true, "0: +inf does not count")};
  def.define = [](OpBuilder& b) {
    std::string text = "isinf($0)";
    if (!b.flag("detect_negative")) text += " and $0 > @0";
    if (!b.flag("detect_positive")) text += " and $0 < @0";
    define_map(b, MapTemplate{text, false, true});
  };
  table.push_back(std::move(def));
}

void add_prelu(std::vector<OpDef>& table) {
  OpDef def = unary_def("prelu", "x, below 0 slope * x; the slope broadcasts to x", DTypes::kNumber);
  def.aliases = {"p_relu"};
  def.operands.push_back({"slope", DTypes::kNumber, 'T', false});
  def.samples = {{{"f32[2, 3]", "f32[3]"}, {}}, {{"f32[2, 3, 4]", "f32[3, 1]"}, {}}, {{"f32[5]", "f32[]"}, {}}};
  def.define = [](OpBuilder& b) {
    if (!same_shape(broadcast_shape(b, {0, 1}), b.shape(0)) && !b.failed())
      b.bad_shapes(1, "slope " + shape_text(b.shape(1)) + " does not broadcast to x " + shape_text(b.shape(0)));
    if (!b.failed()) define_map(b, MapTemplate{"select($0 < @0, $1 * $0, $0)", false, false});
  };
  table.push_back(std::move(def));
}

}  // namespace

void add_activations(std::vector<OpDef>& table) {
  for (const UnaryRow& row : kUnary) {
    OpDef def = unary_def(row.name, row.summary, row.dtypes);
    if (row.alias) def.aliases = {row.alias};
    if (!row.wide) def.tolerance = Tolerance::kExact;
    if (std::string(row.text).find(kSoftplus) != std::string::npos) def.gradient = Gradient::kSmooth;
    const MapTemplate map{row.text, row.wide, row.boolean};
    def.define = [map](OpBuilder& b) { define_map(b, map); };
    table.push_back(std::move(def));
  }
  add_number_activations(table);
  add_gelu(table);
  add_clip(table);
  add_is_inf(table);
  add_prelu(table);
}

}  // namespace facet
