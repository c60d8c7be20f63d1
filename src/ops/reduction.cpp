// Reductions over any axes: sum, mean, prod, max, min, norms and logarithmic sums, any and all.
#include <algorithm>

#include "src/ops/builder.hpp"

namespace facet {

namespace {

// A reduction reads x at `all` indices; `kept` are the output's, `reduced` the others.
struct Plan {
  Loops kept, reduced;
  Subscripts read;
  Shape shape;  // of the output
  Shape reduced_shape;
};

Plan plan_of(OpBuilder& b) {
  Plan p;
  std::vector<int> axes = b.axes("axes", b.rank(0));
  if (b.failed()) return p;
  const bool all = axes.empty() && !b.flag("noop_with_empty_axes");
  const bool keep = b.flag("keepdims");
  const Loops loops = b.loops(b.shape(0));
  for (int a = 0; a < b.rank(0); ++a) {
    const Loop& l = loops[static_cast<std::size_t>(a)];
    p.read.push_back(l.index());
    if (!all && std::find(axes.begin(), axes.end(), a) == axes.end()) {
      p.kept.push_back(l);
      p.shape.push_back(l.extent);
      continue;
    }
    p.reduced.push_back(l);
    p.reduced_shape.push_back(l.extent);
    if (!keep) continue;
    p.kept.push_back(b.loop("u", idx(1)));
    p.shape.push_back(idx(1));
  }
  return p;
}

struct Row {
  const char* name;
  const char* summary;
  DTypes dtypes;
  const char* reduce;  // "sum", "max", ...
  const char* body;    // of $: the element in the accumulator
  const char* after;   // of $: the reduction
};

constexpr Row kRows[] = {
    {"reduce_sum", "sum of x", DTypes::kNumber, "sum", "$", "$"},
    {"reduce_prod", "product of x", DTypes::kNumber, "prod", "$", "$"},
    {"reduce_max", "largest element; NaN wins", DTypes::kAny, "max", "$", "$"},
    {"reduce_min", "smallest element; NaN wins", DTypes::kAny, "min", "$", "$"},
    {"reduce_l1", "sum of |x|", DTypes::kNumber, "sum", "abs($)", "$"},
    {"reduce_l2", "root of the sum of squares", DTypes::kFloat, "sum", "$ * $", "sqrt($)"},
    {"reduce_log_sum", "log of the sum", DTypes::kFloat, "sum", "$", "log($)"},
    {"reduce_sum_square", "sum of squares", DTypes::kNumber, "sum", "$ * $", "$"},
    {"reduce_any", "true if any element is", DTypes::kBool, "any", "$", "$"},
    {"reduce_all", "true if all elements are", DTypes::kBool, "all", "$", "$"},
};

std::string fill(const std::string& pattern, const std::string& value) {
  std::string text;
  for (const char c : pattern) text += c == '$' ? value : std::string(1, c);
  return text;
}

void define_row(OpBuilder& b, const Row& row) {
  const std::string kind = row.reduce;
  const Plan p = plan_of(b);
  if (b.failed()) return;
  const DType in = b.dtype();
  const bool moves = kind == "max" || kind == "min" || kind == "any" || kind == "all";
  const bool boolean_extreme = in == DType::kBool && (kind == "max" || kind == "min");
  const DType acc = moves ? in : accumulator(b, in);
  const DType result = kind == "sum" ? sum_result(in) : in;
  const std::string element = cast_text(acc, in, ref("a0", p.read));
  std::string value = p.reduced.empty() ? fill(row.body, element)
                                        : reduction(boolean_extreme ? (kind == "max" ? "any" : "all") : kind, p.reduced,
                                                    fill(row.body, element));
  b.out(0, result, p.shape);
  b.line("y0", p.kept, cast_text(result, acc, fill(row.after, value)), p.reduced);
}

// Integers: the quotient truncates, as the operator div does.
void define_mean(OpBuilder& b) {
  const Plan p = plan_of(b);
  if (b.failed()) return;
  const DType in = b.dtype(), acc = accumulator(b, in);
  const std::string sum = reduction("sum", p.reduced, cast_text(acc, in, ref("a0", p.read)));
  const std::string count = extent_text(acc, p.reduced_shape);
  b.out(0, in, p.shape);
  b.line("y0", p.kept, cast_text(in, acc, is_float(acc) ? sum + " / " + in_parens(count) : "tdiv(" + sum + ", " + count + ")"),
         p.reduced);
}

// log(sum(exp(x))) with the largest element taken out; an infinite one stays in, where the plain formula is right.
void define_log_sum_exp(OpBuilder& b) {
  const Plan p = plan_of(b);
  if (b.failed()) return;
  const DType in = b.dtype(), acc = accumulator(b, in);
  b.out(0, in, p.shape);
  const std::string element = cast_text(acc, in, ref("a0", p.read));
  const std::string top = b.local("top"), shift = b.local("shift");
  b.line(top, p.kept, reduction("max", p.reduced, element), p.reduced);
  const std::string at = ref(top, indices_of(p.kept));
  b.line(shift, p.kept, "select(isinf(" + at + "), 0.0, " + at + ")");
  const std::string by = ref(shift, indices_of(p.kept));
  b.line("y0", p.kept,
         cast_text(in, acc, "log(" + reduction("sum", p.reduced, "exp(" + element + " - " + by + ")") + ") + " + by),
         p.reduced);
}

OpDef record(const std::string& name, const std::string& summary, DTypes dtypes) {
  OpDef def;
  def.name = name;
  def.family = "reduction";
  def.summary = summary + " over the axes";
  def.operands = {{"x", dtypes, 'T', false}};
  def.outputs = {"y"};
  def.attributes = {optional_attr("axes", AttrKind::kInts, "the reduced axes; absent or empty: all of them"),
                    flag_attr("keepdims", true, "1: reduced axes stay with size 1"),
                    flag_attr("noop_with_empty_axes", false, "1: no axes reduces nothing"), acc_attribute()};
  const std::string t = dtypes == DTypes::kBool ? "bool" : "f32";
  def.samples = {{{t + "[3, 4]"}, {}},
                 {{t + "[3, 4]"}, {{"axes", as_attribute(std::vector<int>{1})}, {"keepdims", as_attribute(0)}}},
                 {{t + "[2, 3, 4]"}, {{"axes", as_attribute(std::vector<int>{0, -1})}}},
                 {{t + "[2, 3, 4]"}, {{"axes", as_attribute(std::vector<int>{-2})}, {"keepdims", as_attribute(0)}}},
                 {{t + "[0, 4]"}, {{"axes", as_attribute(std::vector<int>{0})}}},
                 {{t + "[13]"}, {{"keepdims", as_attribute(0)}}},
                 {{t + "[2, 3]"}, {{"noop_with_empty_axes", as_attribute(1)}}}};
  def.tolerance = Tolerance::kSum;
  return def;
}

}  // namespace

void add_reductions(std::vector<OpDef>& table) {
  for (const Row& row : kRows) {
    OpDef def = record(row.name, row.summary, row.dtypes);
    const std::string kind = row.reduce;
    if (kind != "sum" && kind != "prod") def.tolerance = Tolerance::kExact;
    def.define = [&row](OpBuilder& b) { define_row(b, row); };
    table.push_back(std::move(def));
  }
  table.push_back(record("reduce_mean", "mean of x", DTypes::kNumber));
  table.back().define = define_mean;
  table.push_back(record("reduce_log_sum_exp", "log of the sum of exponentials, without overflow,", DTypes::kFloat));
  table.back().define = define_log_sum_exp;
  table.back().gradient = Gradient::kSmooth;
}

}  // namespace facet
