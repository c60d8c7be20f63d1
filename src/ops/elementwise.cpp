// Arithmetic, comparison, logic and bit operators: one template per operator, filled with the operands' reads.
//
// In a template $0, $1 are operands, @1 is the literal 1 in the operands' dtype, {alpha} is a number attribute. "wide" rows are
// computed in f32 for the 16-bit floats, so that their constants are not rounded to 8 or 11 bits.
#include <cassert>

#include "src/ops/builder.hpp"
#include "src/ops/map_template.hpp"

namespace facet {

namespace {

OpDef base(const std::string& name, const std::string& summary) {
  OpDef def;
  def.name = name;
  def.family = "elementwise";
  def.summary = summary;
  def.outputs = {"y"};
  return def;
}

std::vector<OpSample> binary_samples(const std::string& dtype) {
  std::vector<OpSample> list;
  for (const char* shapes : {"[2, 3]|[2, 3]", "[5]|[]", "[2, 1, 3]|[4, 1]", "[1]|[1]", "[0, 3]|[3]", "[13, 7]|[7]"}) {
    const std::string s = shapes;
    const std::size_t bar = s.find('|');
    list.push_back({{dtype + s.substr(0, bar), dtype + s.substr(bar + 1)}, {}});
  }
  return list;
}

struct BinaryRow {
  const char* name;
  const char* summary;
  DTypes dtypes;
  const char* floats;    // template for floats
  const char* integers;  // for integers and bool; null: as floats
  bool boolean;          // the result is bool
};

// The remainder with the divisor's sign, from C's remainder.
constexpr const char* kFloorModText =
    "select((tmod($0, $1) < @0 and $1 > @0) or (tmod($0, $1) > @0 and $1 < @0), tmod($0, $1) + $1, tmod($0, $1))";

constexpr BinaryRow kBinary[] = {
    {"add", "a + b", DTypes::kNumber, "$0 + $1", nullptr, false},
    {"sub", "a - b", DTypes::kNumber, "$0 - $1", nullptr, false},
    {"mul", "a * b", DTypes::kNumber, "$0 * $1", nullptr, false},
    {"div", "a / b; integers truncate", DTypes::kNumber, "$0 / $1", "tdiv($0, $1)", false},
    {"pow", "a to the power b", DTypes::kNumber, "pow($0, $1)", nullptr, false},
    {"equal", "a == b", DTypes::kAny, "$0 == $1", nullptr, true},
    {"not_equal", "a != b", DTypes::kAny, "$0 != $1", nullptr, true},
    {"less", "a < b", DTypes::kNumber, "$0 < $1", nullptr, true},
    {"less_or_equal", "a <= b", DTypes::kNumber, "$0 <= $1", nullptr, true},
    {"greater", "a > b", DTypes::kNumber, "$0 > $1", nullptr, true},
    {"greater_or_equal", "a >= b", DTypes::kNumber, "$0 >= $1", nullptr, true},
    {"and", "logical and", DTypes::kBool, "$0 and $1", nullptr, true},
    {"or", "logical or", DTypes::kBool, "$0 or $1", nullptr, true},
    {"xor", "exactly one is true", DTypes::kBool, "$0 != $1", nullptr, true},
    {"bitwise_and", "bits set in both", DTypes::kInteger, "$0 & $1", nullptr, false},
    {"bitwise_or", "bits set in one or both", DTypes::kInteger, "$0 | $1", nullptr, false},
    {"bitwise_xor", "bits set in exactly one", DTypes::kInteger, "$0 ^ $1", nullptr, false},
};

const char* sample_dtype(DTypes d) { return d == DTypes::kBool ? "bool" : d == DTypes::kInteger ? "i32" : "f32"; }

void add_binary_rows(std::vector<OpDef>& table) {
  for (const BinaryRow& row : kBinary) {
    OpDef def = base(row.name, row.summary);
    def.operands = {{"a", row.dtypes, 'T', false}, {"b", row.dtypes, 'T', false}};
    def.tolerance = row.boolean || row.dtypes == DTypes::kInteger ? Tolerance::kExact : Tolerance::kMap;
    const MapTemplate floats{row.floats, row.name == std::string("pow"), row.boolean};
    const MapTemplate integers{row.integers ? row.integers : row.floats, false, row.boolean};
    def.define = [floats, integers](OpBuilder& b) { define_map(b, is_float(b.dtype()) ? floats : integers); };
    def.samples = binary_samples(sample_dtype(row.dtypes));
    table.push_back(std::move(def));
  }
}

// Operands first..last - 1 in halves, so that thousands of them do not nest thousands deep.
std::string paired(const std::string& name, int first, int last) {
  if (last - first == 1) return "$" + std::to_string(first);
  const int middle = first + (last - first + 1) / 2;
  const std::string a = paired(name, first, middle), b = paired(name, middle, last);
  if (name == "max" || name == "min") return name + "(" + a + ", " + b + ")";
  return a + " + " + (last - middle > 1 ? in_parens(b) : b);
}

// max, min, sum, mean of any number of operands.
void add_variadic(std::vector<OpDef>& table, const std::string& name, const std::string& summary, DTypes dtypes) {
  OpDef def = base(name, summary);
  def.operands = {{"a", dtypes, 'T', false}};
  def.variadic = true;
  def.define = [name](OpBuilder& b) {
    std::string text = paired(name, 0, b.operand_count());
    if (name == "mean") text = "(" + text + ") / " + number_text(DType::kF32, b.operand_count());
    define_map(b, MapTemplate{text, name == "mean", false});
  };
  def.samples = binary_samples("f32");
  def.samples.push_back({{"f32[4]", "f32[3, 1]", "f32[3, 4]"}, {}});
  def.samples.push_back({{"f32[4]"}, {}});
  table.push_back(std::move(def));
}

void add_mod(std::vector<OpDef>& table) {
  OpDef def = base("mod", "remainder: with the divisor's sign, or (fmod) the dividend's");
  def.operands = {{"a", DTypes::kNumber, 'T', false}, {"b", DTypes::kNumber, 'T', false}};
  def.attributes = {flag_attr("fmod", false, "1: the sign of the dividend, as C's fmod; floats need it")};
  def.define = [](OpBuilder& b) {
    const bool floats = is_float(b.dtype());
    if (floats && !b.flag("fmod")) return b.bad_value("fmod", "must be 1 for floats");
    const std::string text = floats                 ? "fmod($0, $1)"
                             : b.flag("fmod")       ? "tmod($0, $1)"
                             : is_signed(b.dtype()) ? kFloorModText
                                                    : "tmod($0, $1)";
    define_map(b, MapTemplate{text, floats, false});
  };
  def.samples = {{{"i32[5]", "i32[5]"}, {}},
                 {{"i32[2, 3]", "i32[3]"}, {{"fmod", as_attribute(1)}}},
                 {{"f32[2, 3]", "f32[3]"}, {{"fmod", as_attribute(1)}}}};
  table.push_back(std::move(def));
}

void add_bit_shift(std::vector<OpDef>& table) {
  OpDef def = base("bit_shift", "a shifted by b bits; counts are taken modulo the width");
  def.operands = {{"a", DTypes::kInteger, 'T', false}, {"b", DTypes::kInteger, 'T', false}};
  def.attributes = {required_attr("direction", AttrKind::kText, "\"LEFT\" or \"RIGHT\"")};
  def.attributes[0].choices = {"LEFT", "RIGHT"};
  def.tolerance = Tolerance::kExact;
  def.define = [](OpBuilder& b) {
    define_map(b, MapTemplate{b.word("direction") == "LEFT" ? "$0 << $1" : "$0 >> $1", false, false});
  };
  def.samples = {{{"u8[5]", "u8[5]"}, {{"direction", as_attribute("LEFT")}}},
                 {{"i32[2, 3]", "i32[3]"}, {{"direction", as_attribute("RIGHT")}}}};
  table.push_back(std::move(def));
}

void add_where(std::vector<OpDef>& table) {
  OpDef def = base("where", "a where the condition holds, else b; a choice, never arithmetic");
  def.operands = {{"condition", DTypes::kBool, 'C', false}, {"a", DTypes::kAny, 'T', false}, {"b", DTypes::kAny, 'T', false}};
  def.tolerance = Tolerance::kExact;
  def.define = [](OpBuilder& b) {
    const Shape shape = broadcast_shape(b, {0, 1, 2});
    if (b.failed()) return;
    const Loops l = b.loops(shape);
    b.out(0, b.dtype(1), shape);
    b.line("y0", l,
           "select(" + broadcast_read(b, 0, l) + ", " + broadcast_read(b, 1, l) + ", " + broadcast_read(b, 2, l) + ")");
  };
  def.samples = {{{"bool[2, 3]", "f32[2, 3]", "f32[2, 3]"}, {}},
                 {{"bool[2, 1]", "f32[3]", "f32[]"}, {}},
                 {{"bool[3]", "i32[3]", "i32[1]"}, {}}};
  table.push_back(std::move(def));
}

void add_cast(std::vector<OpDef>& table) {
  OpDef def =
      base("cast", "conversion to another dtype: rounds half to even, float to integer truncates and saturates, NaN gives 0");
  def.operands = {{"x", DTypes::kAny, 'T', false}};
  def.attributes = {required_attr("to", AttrKind::kDType, "the result's dtype"),
                    flag_attr("saturate", true, "accepted; all casts saturate as the contract says")};
  def.tolerance = Tolerance::kExact;
  def.define = [](OpBuilder& b) {
    const DType to = b.dtype_attr("to", b.dtype());
    const Loops l = b.loops(b.shape(0));
    b.out(0, to, b.shape(0));
    b.line("y0", l, cast_text(to, b.dtype(), broadcast_read(b, 0, l)));
  };
  for (const char* to : {"f16", "bf16", "f64", "i8", "u8", "i64", "bool"})
    def.samples.push_back({{"f32[7]"}, {{"to", as_attribute(to)}}});
  def.samples.push_back({{"i32[2, 3]"}, {{"to", as_attribute("f32")}}});
  def.samples.push_back({{"bool[3]"}, {{"to", as_attribute("f32")}}});
  table.push_back(std::move(def));
}

// The dtype of another operand, whose elements are not read.
void add_cast_like(std::vector<OpDef>& table) {
  OpDef def = base("cast_like", "conversion to the dtype of a second operand");
  def.operands = {{"x", DTypes::kAny, 'T', false}, {"target", DTypes::kAny, 'U', false}};
  def.attributes = {flag_attr("saturate", true, "accepted; all casts saturate as the contract says")};
  def.tolerance = Tolerance::kExact;
  def.define = [](OpBuilder& b) {
    const Loops l = b.loops(b.shape(0));
    b.out(0, b.dtype(1), b.shape(0));
    b.line("y0", l, cast_text(b.dtype(1), b.dtype(), broadcast_read(b, 0, l)));
  };
  def.samples = {{{"f32[2, 3]", "i32[4]"}, {}}, {{"i64[5]", "f16[]"}, {}}};
  table.push_back(std::move(def));
}

// Ones on a diagonal.
void add_eye_like(std::vector<OpDef>& table) {
  OpDef def = base("eye_like", "ones on a diagonal, zeros elsewhere, in the shape of a matrix");
  def.operands = {{"x", DTypes::kAny, 'T', false}};
  def.attributes = {optional_attr("dtype", AttrKind::kDType, "the result's dtype; absent: that of x"),
                    int_attr("k", 0, "diagonal: 0 the main one, positive above it")};
  def.tolerance = Tolerance::kExact;
  def.define = [](OpBuilder& b) {
    if (!b.expect_rank(0, 2, 2)) return;
    const DType dtype = b.given("dtype") ? b.dtype_attr("dtype", b.dtype()) : b.dtype();
    const Loops l = b.loops(b.shape(0));
    b.out(0, dtype, b.shape(0));
    b.line("y0", l,
           cast_text(dtype, DType::kBool, l[1].name + " == " + to_text(normal(idx_add(l[0].index(), idx(b.integer("k")))))));
  };
  def.samples = {{{"f32[3, 4]"}, {}}, {{"i32[4, 3]"}, {{"k", as_attribute(-1)}, {"dtype", as_attribute("f64")}}}};
  table.push_back(std::move(def));
}

}  // namespace

void add_elementwise(std::vector<OpDef>& table) {
  add_binary_rows(table);
  add_variadic(table, "max", "largest operand, element by element; NaN wins", DTypes::kNumber);
  add_variadic(table, "min", "smallest operand, element by element; NaN wins", DTypes::kNumber);
  add_variadic(table, "sum", "sum of the operands, element by element", DTypes::kNumber);
  add_variadic(table, "mean", "mean of the operands, element by element", DTypes::kFloat);
  add_mod(table);
  add_bit_shift(table);
  add_where(table);
  add_cast(table);
  add_cast_like(table);
  add_eye_like(table);
}

}  // namespace facet
