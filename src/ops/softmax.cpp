// softmax, log_softmax and hardmax along one axis. The largest element is subtracted first, so that exp cannot overflow.
#include "src/ops/builder.hpp"

namespace facet {

namespace {

struct Row {
  Loops all, rest, along;  // all axes; all but the axis; the axis under a second name
  Subscripts moved;        // x's subscripts with the axis renamed
};

Row row_of(OpBuilder& b) {
  Row r;
  const int axis = b.axis("axis", b.rank(0));
  if (b.failed()) return r;
  r.all = b.loops(b.shape(0));
  for (int a = 0; a < b.rank(0); ++a) {
    const Loop& l = r.all[static_cast<std::size_t>(a)];
    if (a == axis) {
      r.along.push_back(b.loop("r", l.extent));
      r.moved.push_back(r.along[0].index());
    } else {
      r.rest.push_back(l);
      r.moved.push_back(l.index());
    }
  }
  return r;
}

void define_softmax(OpBuilder& b, bool logarithm) {
  const Row r = row_of(b);
  if (b.failed()) return;
  const DType in = b.dtype(), acc = accumulator(b, in);
  const std::string top = b.local("top"), total = b.local("total");
  const std::string at_top = ref(top, indices_of(r.rest)), at_total = ref(total, indices_of(r.rest));
  b.out(0, in, b.shape(0));
  b.line(top, r.rest, reduction("max", r.along, cast_text(acc, in, ref("a0", r.moved))), r.along);
  const std::string here = cast_text(acc, in, ref("a0", indices_of(r.all)));
  if (logarithm) {
    b.line(total, r.rest,
           "log(" + reduction("sum", r.along, "exp(" + cast_text(acc, in, ref("a0", r.moved)) + " - " + at_top + ")") + ")",
           r.along);
    b.line("y0", r.all, cast_text(in, acc, here + " - " + at_top + " - " + at_total));
    return;
  }
  const std::string powers = b.local("powers");
  b.line(powers, r.all, "exp(" + here + " - " + at_top + ")");
  b.line(total, r.rest, reduction("sum", r.along, ref(powers, r.moved)), r.along);
  b.line("y0", r.all, cast_text(in, acc, ref(powers, indices_of(r.all)) + " * (1.0 / " + at_total + ")"));
}

// 1 at the first largest element along the axis, else 0.
void define_hardmax(OpBuilder& b) {
  const Row r = row_of(b);
  if (b.failed()) return;
  if (constant_of(r.along[0].extent) == 0) return b.fail(Code::kEmptyArgument, "/in/0", {b.def().name});
  const std::string first = b.local("first");
  b.out(0, b.dtype(), b.shape(0));
  b.line(first, r.rest, reduction("argmax", r.along, ref("a0", r.moved)), r.along);
  const Loop& axis = r.all[static_cast<std::size_t>(b.axis("axis", b.rank(0)))];
  b.line("y0", r.all,
         "select(" + ref(first, indices_of(r.rest)) + " == " + axis.name + ", " + cast_text(b.dtype(), DType::kBool, "true") +
             ", " + cast_text(b.dtype(), DType::kBool, "false") + ")");
}

}  // namespace

void add_softmax(std::vector<OpDef>& table) {
  OpDef def;
  def.family = "softmax";
  def.operands = {{"x", DTypes::kFloat, 'T', false}};
  def.outputs = {"y"};
  def.attributes = {int_attr("axis", -1, "the axis that sums to 1"), acc_attribute()};
  def.tolerance = Tolerance::kSum;
  def.samples = {{{"f32[3, 4]"}, {}},
                 {{"f32[3, 4]"}, {{"axis", as_attribute(0)}}},
                 {{"f32[2, 3, 4]"}, {{"axis", as_attribute(-2)}}},
                 {{"f32[13]"}, {}},
                 {{"f32[1, 1]"}, {}},
                 {{"f32[0, 3]"}, {}},
                 {{"bf16[3, 4]"}, {}}};
  def.gradient = Gradient::kSmooth;  // the maximum that is subtracted cancels
  def.name = "softmax";
  def.summary = "exp(x) divided by its sum along the axis";
  def.define = [](OpBuilder& b) { define_softmax(b, false); };
  table.push_back(def);
  def.name = "log_softmax";
  def.summary = "logarithm of softmax along the axis";
  def.define = [](OpBuilder& b) { define_softmax(b, true); };
  table.push_back(def);
  def.name = "hardmax";
  def.gradient.reset();
  def.summary = "1 at the first largest element along the axis, else 0";
  def.tolerance = Tolerance::kExact;
  def.attributes.pop_back();
  def.define = define_hardmax;
  table.push_back(def);
}

}  // namespace facet
