// Operators that only move elements: transpose, slice, concat, squeeze, unsqueeze, expand, tile, flip, roll, split, stack,
// trilu.
#include <algorithm>

#include "src/ops/builder.hpp"

namespace facet {

namespace {

void define_transpose(OpBuilder& b) {
  std::vector<int> perm = b.axes("perm", b.rank(0));
  if (b.failed()) return;
  if (perm.empty())
    for (int a = b.rank(0); a-- > 0;) perm.push_back(a);
  if (static_cast<int>(perm.size()) != b.rank(0))
    return b.bad_value("perm", "has " + std::to_string(perm.size()) + " entries, x has rank " + std::to_string(b.rank(0)));
  Shape shape;
  for (const int a : perm) shape.push_back(b.dim(0, a));
  const Loops l = b.loops(shape);
  Subscripts read(perm.size());
  for (std::size_t a = 0; a < perm.size(); ++a) read[static_cast<std::size_t>(perm[a])] = l[a].index();
  b.out(0, b.dtype(), shape);
  b.line("y0", l, ref("a0", read));
}

// One end of a slice, ONNX's way: negative counts from the end, then limited to low..high (given as extent + offset).
ExprPtr slice_end(OpBuilder& b, const std::string& attribute, const ExprPtr& value, const ExprPtr& extent, const ExprPtr& low,
                  const ExprPtr& high) {
  ExprPtr v = value;
  const std::optional<std::int64_t> c = constant_of(value);
  if (c && *c < 0) {
    // "Everything" is written as a huge number; keep it from overflowing.
    v = *c < -(std::int64_t{1} << 40) ? low : normal(idx_add(extent, value));
  } else if (c && *c > (std::int64_t{1} << 40)) {
    v = high;
  }
  const auto below = [&](const ExprPtr& x, const ExprPtr& y) { return upper_bound_of(normal(idx_sub(x, y)), b.program()); };
  const std::optional<std::int64_t> under = below(v, low), over = below(high, v),
                                    least = lower_bound_of(normal(idx_sub(v, low)), b.program()),
                                    room = lower_bound_of(normal(idx_sub(high, v)), b.program());
  if (under && *under <= 0) return low;
  if (over && *over <= 0) return high;
  if (least && *least >= 0 && room && *room >= 0) return v;
  if (!constant_of(extent) || !constant_of(v)) {
    b.bad_value(attribute, to_text(value) + " of extent " + to_text(extent) +
                               " is inside the axis for some symbol values and outside for others");
    return low;
  }
  return idx(std::clamp(*constant_of(v), *constant_of(low), *constant_of(high)));
}

struct Cut {
  ExprPtr start = idx(0);
  std::int64_t step = 1;
  ExprPtr count;
};

Cut cut_of(OpBuilder& b, const ExprPtr& extent, const ExprPtr& start, const ExprPtr& end, std::int64_t step) {
  Cut c;
  c.step = step;
  c.count = idx(0);
  if (constant_of(extent) == 0) return c;  // nothing to start at, whatever the step
  const ExprPtr last = normal(idx_sub(extent, idx(1)));
  if (step > 0) {
    c.start = slice_end(b, "starts", start, extent, idx(0), extent);
    const ExprPtr stop = slice_end(b, "ends", end, extent, idx(0), extent);
    c.count = normal(idx_floordiv(idx_add(idx_sub(stop, c.start), idx(step - 1)), step));
  } else {
    c.start = slice_end(b, "starts", start, extent, idx(0), last);
    const ExprPtr stop = slice_end(b, "ends", end, extent, idx(-1), last);
    c.count = normal(idx_floordiv(idx_add(idx_sub(c.start, stop), idx(-step - 1)), -step));
  }
  const std::optional<std::int64_t> high = upper_bound_of(c.count, b.program());
  if (high && *high <= 0) c.count = idx(0);
  return c;
}

void define_slice(OpBuilder& b) {
  const Shape starts = b.dims("starts"), ends = b.dims("ends");
  std::vector<int> axes = b.axes("axes", b.rank(0));
  const std::vector<std::int64_t> steps = b.integers("steps");
  if (b.failed()) return;
  if (axes.empty() && !b.given("axes"))
    for (std::size_t a = 0; a < starts.size(); ++a) axes.push_back(static_cast<int>(a));
  if (ends.size() != starts.size())
    return b.bad_value("ends", "has " + std::to_string(ends.size()) + " entries, starts has " + std::to_string(starts.size()));
  if (axes.size() != starts.size() || static_cast<int>(axes.size()) > b.rank(0))
    return b.bad_value("starts", "has " + std::to_string(starts.size()) + " entries for " +
                                     std::to_string(b.given("axes") ? axes.size() : b.shape(0).size()) + " axes");
  if (!steps.empty() && steps.size() != starts.size())
    return b.bad_value("steps",
                       "has " + std::to_string(steps.size()) + " entries, starts has " + std::to_string(starts.size()));
  std::vector<Cut> cuts;
  for (const ExprPtr& e : b.shape(0)) cuts.push_back(Cut{idx(0), 1, e});
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::int64_t step = steps.empty() ? 1 : steps[k];
    if (step == 0 || step > (std::int64_t{1} << 31) || step < -(std::int64_t{1} << 31))
      return b.bad_value("steps", "a step may not be " + std::to_string(step));
    cuts[static_cast<std::size_t>(axes[k])] = cut_of(b, b.dim(0, axes[k]), starts[k], ends[k], step);
  }
  if (b.failed()) return;
  Shape shape;
  for (const Cut& c : cuts) shape.push_back(c.count);
  const Loops l = b.loops(shape);
  Subscripts read;
  for (std::size_t a = 0; a < cuts.size(); ++a)
    read.push_back(normal(idx_add(cuts[a].start, idx_mul(idx(cuts[a].step), l[a].index()))));
  b.out(0, b.dtype(), shape);
  b.line("y0", l, ref("a0", read));
}

// The operands one after another along an axis: one equation per operand, on its part of the result.
void define_concat(OpBuilder& b) {
  if (!b.expect_rank(0, 1)) return;
  const int axis = b.axis("axis", b.rank(0));
  if (b.failed()) return;
  ExprPtr total = idx(0);
  std::vector<ExprPtr> offsets;
  for (int k = 0; k < b.operand_count(); ++k) {
    Shape like = b.shape(0);
    if (b.rank(k) == b.rank(0)) like[static_cast<std::size_t>(axis)] = b.dim(k, axis);
    if (!same_shape(like, b.shape(k)))
      return b.bad_shapes(k, "operand " + std::to_string(k) + " " + shape_text(b.shape(k)) + " differs from " +
                                 shape_text(b.shape(0)) + " off axis " + std::to_string(axis));
    offsets.push_back(total);
    total = normal(idx_add(total, b.dim(k, axis)));
  }
  Shape shape = b.shape(0);
  shape[static_cast<std::size_t>(axis)] = total;
  const Loops l = b.loops(shape);
  b.out(0, b.dtype(), shape);
  for (int k = 0; k < b.operand_count(); ++k) {
    const std::string& name = l[static_cast<std::size_t>(axis)].name;
    const ExprPtr& first = offsets[static_cast<std::size_t>(k)];
    Subscripts read = indices_of(l);
    read[static_cast<std::size_t>(axis)] = normal(idx_sub(l[static_cast<std::size_t>(axis)].index(), first));
    std::vector<std::string> part;
    if (k > 0) part.push_back(name + " >= " + to_text(first));
    if (k + 1 < b.operand_count()) part.push_back(name + " < " + to_text(normal(idx_add(first, b.dim(k, axis)))));
    if (constant_of(b.dim(k, axis)) != 0) b.line("y0", l, ref("a0", read).replace(0, 2, formal(k)), {}, part);
  }
  if (constant_of(total) == 0) b.line("y0", l, ref("a0", indices_of(l)));
}

void define_stack(OpBuilder& b) {
  const int axis = b.axis("axis", b.rank(0) + 1);
  if (b.failed()) return;
  for (int k = 1; k < b.operand_count(); ++k)
    if (!same_shape(b.shape(k), b.shape(0)))
      return b.bad_shapes(
          k, "operand " + std::to_string(k) + " " + shape_text(b.shape(k)) + " differs from " + shape_text(b.shape(0)));
  Shape shape = b.shape(0);
  shape.insert(shape.begin() + axis, idx(b.operand_count()));
  const Loops l = b.loops(shape);
  Subscripts read = indices_of(l);
  read.erase(read.begin() + axis);
  b.out(0, b.dtype(), shape);
  for (int k = 0; k < b.operand_count(); ++k)
    b.line("y0", l, ref(formal(k), read), {}, {l[static_cast<std::size_t>(axis)].name + " == " + std::to_string(k)});
}

// Sizes from `split`, or `num_outputs` (default: the outputs named) equal parts, the last one smaller.
std::vector<ExprPtr> split_sizes(OpBuilder& b, const ExprPtr& extent) {
  const std::size_t outputs = static_cast<std::size_t>(b.output_count());
  std::vector<ExprPtr> sizes = b.dims("split");
  if (!sizes.empty()) {
    ExprPtr total = idx(0);
    for (const ExprPtr& s : sizes) total = normal(idx_add(total, s));
    if (!same_dim(total, extent))
      b.bad_value("split", "sizes add up to " + to_text(total) + ", the axis has " + to_text(extent));
    if (sizes.size() != outputs)
      b.bad_value("split", "has " + std::to_string(sizes.size()) + " sizes for " + std::to_string(outputs) + " outputs");
    return sizes;
  }
  if (b.given("num_outputs") && b.integer("num_outputs") != static_cast<std::int64_t>(outputs))
    b.bad_value("num_outputs", "differs from the " + std::to_string(outputs) + " outputs named");
  const auto n = static_cast<std::int64_t>(outputs);
  if (const std::optional<ExprPtr> each = exact_quotient(extent, idx(n))) return std::vector<ExprPtr>(outputs, *each);
  if (!constant_of(extent)) {
    b.not_affine("extent " + to_text(extent) + " is not a multiple of " + std::to_string(n) + "; give `split`");
    return {};
  }
  const std::int64_t each = (*constant_of(extent) + n - 1) / n, last = *constant_of(extent) - each * (n - 1);
  if (last < 0)
    b.bad_value("num_outputs", std::to_string(n) + " parts of extent " + to_text(extent) + " leave an empty last one");
  sizes.assign(outputs, idx(each));
  sizes.back() = idx(std::max<std::int64_t>(last, 0));
  return sizes;
}

void define_split(OpBuilder& b) {
  if (!b.expect_rank(0, 1)) return;
  const int axis = b.axis("axis", b.rank(0));
  if (b.failed()) return;
  const std::vector<ExprPtr> sizes = split_sizes(b, b.dim(0, axis));
  if (b.failed()) return;
  const Loops l = b.loops(b.shape(0));
  ExprPtr first = idx(0);
  for (int k = 0; k < b.output_count(); ++k) {
    const ExprPtr& size = sizes[static_cast<std::size_t>(k)];
    Shape shape = b.shape(0);
    Loops mine = l;
    mine[static_cast<std::size_t>(axis)].extent = shape[static_cast<std::size_t>(axis)] = size;
    Subscripts read = indices_of(l);
    read[static_cast<std::size_t>(axis)] = normal(idx_add(l[static_cast<std::size_t>(axis)].index(), first));
    b.out(k, b.dtype(), shape);
    if (b.wants(k)) b.line("y" + std::to_string(k), mine, ref("a0", read));
    first = normal(idx_add(first, size));
  }
}

// A kept triangle and a zero triangle, each with its own domain.
void define_triangle(OpBuilder& b, bool upper) {
  if (!b.expect_rank(0, 2)) return;
  const Loops l = b.loops(b.shape(0));
  const Loop &row = l[l.size() - 2], &column = l.back();
  const std::string diagonal = to_text(idx_add(row.index(), idx(b.integer("k"))));
  b.out(0, b.dtype(), b.shape(0));
  b.line("y0", l, ref("a0", indices_of(l)), {}, {column.name + (upper ? " >= " : " <= ") + diagonal});
  b.line("y0", l, cast_text(b.dtype(), DType::kI32, number_text(b.dtype(), 0)), {},
         {column.name + (upper ? " < " : " > ") + diagonal});
}

OpDef record(const std::string& name, const std::string& summary, std::vector<AttrDef> attributes, void (*define)(OpBuilder&)) {
  OpDef def;
  def.name = name;
  def.family = "movement";
  def.summary = summary;
  def.operands = {{"x", DTypes::kAny, 'T', false}};
  def.outputs = {"y"};
  def.attributes = std::move(attributes);
  def.tolerance = Tolerance::kExact;
  def.define = define;
  return def;
}

Attribute ints(std::vector<int> v) { return as_attribute(v); }

void add_triangles(std::vector<OpDef>& table) {
  const AttrDef k = int_attr("k", 0, "diagonal: 0 the main one, positive above it");
  OpDef trilu = record("trilu", "upper or lower triangle, the rest 0", {flag_attr("upper", true, "0: the lower triangle"), k},
                       [](OpBuilder& b) { define_triangle(b, b.flag("upper")); });
  trilu.samples = {{{"f32[4, 5]"}, {}}, {{"f32[2, 4, 3]"}, {{"upper", as_attribute(0)}, {"k", as_attribute(-1)}}}};
  table.push_back(std::move(trilu));
  OpDef tril = record("tril", "lower triangle, the rest 0", {k}, [](OpBuilder& b) { define_triangle(b, false); });
  tril.samples = {{{"f32[4, 5]"}, {}}, {{"i32[2, 4, 3]"}, {{"k", as_attribute(1)}}}};
  table.push_back(std::move(tril));
  OpDef triu = record("triu", "upper triangle, the rest 0", {k}, [](OpBuilder& b) { define_triangle(b, true); });
  triu.samples = {{{"f32[4, 5]"}, {}}, {{"f32[2, 4, 3]"}, {{"k", as_attribute(-2)}}}};
  table.push_back(std::move(triu));
}

}  // namespace

void add_movement(std::vector<OpDef>& table) {
  OpDef transpose =
      record("transpose", "axes in another order",
             {optional_attr("perm", AttrKind::kInts, "new order of the axes; absent: reversed")}, define_transpose);
  transpose.samples = {{{"f32[3, 4]"}, {}}, {{"f32[2, 3, 4]"}, {{"perm", ints({1, 2, 0})}}}, {{"i8[0, 3]"}, {}}};
  table.push_back(std::move(transpose));

  OpDef slice = record("slice", "a part of each axis, with steps (negative ones walk backwards)",
                       {required_attr("starts", AttrKind::kDims, "first position, per axis; negative counts from the end"),
                        required_attr("ends", AttrKind::kDims, "position behind the last"),
                        optional_attr("axes", AttrKind::kInts, "the axes cut; absent: the leading ones"),
                        optional_attr("steps", AttrKind::kInts, "step, per axis; absent: 1")},
                       define_slice);
  slice.samples = {
      {{"f32[5, 6]"}, {{"starts", ints({1, 2})}, {"ends", ints({4, 6})}}},
      {{"f32[5, 6]"}, {{"starts", ints({-1})}, {"ends", ints({-100})}, {"axes", ints({-2})}, {"steps", ints({-2})}}},
      {{"i32[7]"}, {{"starts", ints({1})}, {"ends", ints({1000})}, {"steps", ints({3})}}}};
  table.push_back(std::move(slice));

  OpDef concat = record("concat", "the operands one after another along an axis",
                        {required_attr("axis", AttrKind::kInt, "the axis that grows")}, define_concat);
  concat.variadic = true;
  concat.samples = {{{"f32[2, 3]", "f32[2, 4]"}, {{"axis", as_attribute(-1)}}},
                    {{"f32[1, 3]", "f32[2, 3]", "f32[0, 3]"}, {{"axis", as_attribute(0)}}}};
  table.push_back(std::move(concat));

  OpDef stack = record("stack", "the operands side by side along a new axis", {int_attr("axis", 0, "position of the new axis")},
                       define_stack);
  stack.variadic = true;
  stack.samples = {{{"f32[2, 3]", "f32[2, 3]"}, {}}, {{"f32[2, 3]", "f32[2, 3]", "f32[2, 3]"}, {{"axis", as_attribute(-1)}}}};
  table.push_back(std::move(stack));

  OpDef split = record("split", "x cut into parts along an axis",
                       {int_attr("axis", 0, "the axis that is cut"),
                        optional_attr("split", AttrKind::kDims, "sizes of the parts; absent: equal ones"),
                        optional_attr("num_outputs", AttrKind::kInt, "number of equal parts, the last one may be smaller")},
                       define_split);
  split.variadic_outputs = true;
  split.samples = {{{"f32[6, 2]"}, {}}};
  table.push_back(std::move(split));
  add_triangles(table);
}

}  // namespace facet
