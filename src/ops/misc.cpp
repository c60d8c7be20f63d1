// Operators that fit no other family: dropout, local response, mean-variance and Lp normalization.
#include "src/ops/simple_def.hpp"
#include "src/ops/builder.hpp"

namespace facet {

namespace {

// The row-major number of an element, as a scalar i64 text.
std::string linear_number(const Loops& l) {
  std::string text = "0";
  for (const Loop& x : l) text = text == "0" ? x.name : in_parens(text) + " * " + in_parens(to_text(x.extent)) + " + " + x.name;
  return text;
}

// A counter-based generator: the finalizer of splitmix64 (Steele, Lea, Flood 2014) of seed and element number, so that the mask
// depends on nothing else. Signed 64-bit arithmetic wraps; the masks make the arithmetic shifts logical ones.
constexpr const char* kGolden = "-7046029254386353131";  // 0x9E3779B97F4A7C15
constexpr const char* kMixA = "-4658895280553007687";    // 0xBF58476D1CE4E5B9
constexpr const char* kMixB = "-7723592293110705685";    // 0x94D049BB133111EB

std::string shifted(const std::string& x, int bits) {
  return "((" + x + " >> " + std::to_string(bits) + ") & " + std::to_string((std::int64_t{1} << (64 - bits)) - 1) + ")";
}

// Lines of a local that is true where the element is kept, with probability 1 - ratio.
std::string keep_mask(OpBuilder& b, const Loops& l, double ratio) {
  const Subscripts at = indices_of(l);
  const std::string count = b.local("count"), first = b.local("first"), second = b.local("second"), keep = b.local("keep");
  const std::string seed = "cast(i64, " + std::to_string(b.integer("seed")) + ")";
  b.line(count, l, seed + " + (cast(i64, " + linear_number(l) + ") + 1) * " + in_parens(kGolden));
  const std::string c = ref(count, at), f = ref(first, at), s = ref(second, at);
  b.line(first, l, "(" + c + " ^ " + shifted(c, 30) + ") * " + in_parens(kMixA));
  b.line(second, l, "(" + f + " ^ " + shifted(f, 27) + ") * " + in_parens(kMixB));
  // The upper 53 bits as a number in [0, 1).
  b.line(keep, l,
         "cast(f64, " + shifted("(" + s + " ^ " + shifted(s, 31) + ")", 11) +
             ") * 1.1102230246251565e-16 >= " + number_text(DType::kF64, ratio));
  return ref(keep, at);
}

void define_dropout(OpBuilder& b) {
  const double ratio = b.number("ratio");
  if (!(ratio >= 0 && ratio < 1)) return b.bad_value("ratio", "must be at least 0 and below 1");
  const Loops l = b.loops(b.shape(0));
  const std::string x = ref("a0", indices_of(l));
  b.out(0, b.dtype(), b.shape(0));
  if (b.output_count() > 1) b.out(1, DType::kBool, b.shape(0));
  if (!b.flag("training_mode") || ratio == 0) {
    b.line("y0", l, x);
    if (b.wants(1)) b.line("y1", l, "true");
    return;
  }
  const std::string keep = keep_mask(b, l, ratio);
  const DType wide = wide_float(b.dtype());
  b.line("y0", l,
         cast_text(
             b.dtype(), wide,
             "select(" + keep + ", " + cast_text(wide, b.dtype(), x) + " * " + number_text(wide, 1 / (1 - ratio)) + ", 0.0)"));
  if (b.wants(1)) b.line("y1", l, keep);
}

// x / (bias + alpha / size * sum of squares over `size` neighbouring channels)^beta
void define_lrn(OpBuilder& b) {
  if (!b.expect_rank(0, 2)) return;
  const std::int64_t size = b.integer("size");
  if (size < 1) return b.bad_value("size", "must be positive");
  const DType in = b.dtype(), acc = accumulator(b, in);
  const Loops l = b.loops(b.shape(0));
  const Loop r = b.loop("r", idx(size));
  Subscripts near = indices_of(l);
  near[1] = normal(idx_add(idx_add(l[1].index(), r.index()), idx(-(size - 1) / 2)));
  const std::string x = cast_text(acc, in, ref("a0", near, size > 1 ? "0.0" : "")),
                    own = cast_text(acc, in, ref("a0", indices_of(l)));
  b.out(0, in, b.shape(0));
  b.line("y0", l,
         cast_text(in, acc,
                   own + " / pow(" + number_text(acc, b.number("bias")) + " + " +
                       number_text(acc, b.number("alpha") / static_cast<double>(size)) + " * " +
                       reduction("sum", {r}, x + " * " + x) + ", " + number_text(acc, b.number("beta")) + ")"),
         {r});
}

// x's loops cut by a set of axes; reduced ones under second names.
struct Cut {
  Loops all, kept, reduced;
  Subscripts read;
  Shape reduced_shape;
};

Cut cut(OpBuilder& b, const std::vector<int>& axes) {
  Cut c;
  c.all = b.loops(b.shape(0));
  for (int a = 0; a < b.rank(0); ++a) {
    const Loop& l = c.all[static_cast<std::size_t>(a)];
    bool hit = false;
    for (const int x : axes) hit = hit || x == a;
    if (!hit) {
      c.kept.push_back(l);
      c.read.push_back(l.index());
      continue;
    }
    c.reduced.push_back(b.loop("r", l.extent));
    c.reduced_shape.push_back(l.extent);
    c.read.push_back(c.reduced.back().index());
  }
  return c;
}

// (x - mean) / (deviation + 1e-9), ONNX's formula.
void define_mean_variance(OpBuilder& b) {
  std::vector<int> axes;
  if (b.given("axes")) {
    axes = b.axes("axes", b.rank(0));
  } else {
    if (!b.expect_rank(0, 4, 4)) return;
    axes = {0, 2, 3};
  }
  if (b.failed()) return;
  const Cut c = cut(b, axes);
  const DType in = b.dtype(), acc = accumulator(b, in);
  const std::string mean = b.local("mean"), deviation = b.local("deviation"),
                    count = in_parens(extent_text(acc, c.reduced_shape));
  const std::string m = ref(mean, indices_of(c.kept)), x = cast_text(acc, in, ref("a0", c.read));
  b.out(0, in, b.shape(0));
  b.line(mean, c.kept, reduction("sum", c.reduced, x) + " / " + count, c.reduced);
  b.line(deviation, c.kept,
         "sqrt(" + reduction("sum", c.reduced, "(" + x + " - " + m + ") * (" + x + " - " + m + ")") + " / " + count +
             ") + 0.000000001",
         c.reduced);
  b.line("y0", c.all,
         cast_text(
             in, acc,
             "(" + cast_text(acc, in, ref("a0", indices_of(c.all))) + " - " + m + ") / " + ref(deviation, indices_of(c.kept))));
}

void define_lp_normalization(OpBuilder& b) {
  const int axis = b.axis("axis", b.rank(0));
  const std::int64_t p = b.integer("p");
  if (p != 1 && p != 2) return b.bad_value("p", "must be 1 or 2");
  if (b.failed()) return;
  const Cut c = cut(b, {axis});
  const DType in = b.dtype(), acc = accumulator(b, in);
  const std::string norm = b.local("norm"), x = cast_text(acc, in, ref("a0", c.read));
  b.out(0, in, b.shape(0));
  b.line(norm, c.kept,
         p == 1 ? reduction("sum", c.reduced, "abs(" + x + ")") : "sqrt(" + reduction("sum", c.reduced, x + " * " + x) + ")",
         c.reduced);
  b.line("y0", c.all,
         cast_text(in, acc, cast_text(acc, in, ref("a0", indices_of(c.all))) + " / " + ref(norm, indices_of(c.kept))));
}

}  // namespace

void add_misc(std::vector<OpDef>& table) {
  OpDef dropout = simple_def(
      "random", "dropout",
      "x, or in training elements zeroed with probability `ratio` and the others scaled up; the same seed gives the same mask",
      DTypes::kFloat,
      {float_attr("ratio", 0.5, "probability of zero"), flag_attr("training_mode", false, "0: x unchanged"),
       int_attr("seed", 0, "of the counter-based generator")},
      define_dropout);
  dropout.outputs = {"y", "mask"};
  dropout.tolerance = Tolerance::kMap;
  dropout.samples = {
      {{"f32[3, 4]"}, {}},
      {{"f32[5, 7]"}, {{"training_mode", as_attribute(1)}, {"ratio", as_attribute(0.25)}, {"seed", as_attribute(42)}}}};
  table.push_back(std::move(dropout));
  OpDef lrn = simple_def(
      "normalization", "lrn", "x over a power of the sum of squares of neighbouring channels", DTypes::kFloat,
      {required_attr("size", AttrKind::kInt, "number of channels"), float_attr("alpha", 0.0001, "factor of the mean square"),
       float_attr("beta", 0.75, "the power"), float_attr("bias", 1, "added to it"), acc_attribute()},
      define_lrn);
  lrn.tolerance = Tolerance::kSum;
  lrn.samples = {
      {{"f32[1, 5, 2, 2]"}, {{"size", as_attribute(3)}}},
      {{"f32[2, 4, 3]"},
       {{"size", as_attribute(2)}, {"alpha", as_attribute(0.5)}, {"beta", as_attribute(0.5)}, {"bias", as_attribute(2.0)}}}};
  table.push_back(std::move(lrn));
  OpDef mvn =
      simple_def("normalization", "mean_variance_normalization", "zero mean and unit variance over some axes", DTypes::kFloat,
                 {optional_attr("axes", AttrKind::kInts, "the axes; absent: 0, 2, 3"), acc_attribute()}, define_mean_variance);
  mvn.tolerance = Tolerance::kSum;
  mvn.samples = {{{"f32[2, 3, 2, 2]"}, {}}, {{"f32[3, 4]"}, {{"axes", as_attribute(std::vector<int>{-1})}}}};
  table.push_back(std::move(mvn));
  OpDef lp =
      simple_def("normalization", "lp_normalization", "x divided by its L1 or L2 norm along an axis", DTypes::kFloat,
                 {int_attr("axis", -1, "the axis"), int_attr("p", 2, "1 or 2"), acc_attribute()}, define_lp_normalization);
  lp.tolerance = Tolerance::kSum;
  lp.samples = {{{"f32[3, 4]"}, {}}, {{"f32[3, 4]"}, {{"axis", as_attribute(0)}, {"p", as_attribute(1)}}}};
  table.push_back(std::move(lp));
}

}  // namespace facet
