// reshape, flatten, squeeze and unsqueeze: the same elements in row-major order under another shape.
//
// Axes of input and output are matched in groups of equal size. Within a group the output's position is one linear number
//     L = (o_1 * d_2 + o_2) * d_3 + o_3,
// from which each input subscript is a quotient and remainder, (L / below) % extent. A group of one input axis needs no
// division (splitting), a group of one output axis no sum (merging), and terms that a quotient or remainder makes superfluous
// are dropped, so that subscripts stay as simple as the shapes allow. Symbolic extents may only lead a group; else the index is
// not affine.
#include <algorithm>

#include "src/ops/builder.hpp"
#include "src/ops/reshape.hpp"

namespace facet {

namespace {

struct AxisGroup {
  std::vector<int> in, out;
};

// Size of some axes if it is affine.
std::optional<ExprPtr> size_of(const Shape& shape, const std::vector<int>& axes) {
  Shape dims;
  for (const int a : axes) dims.push_back(shape[static_cast<std::size_t>(a)]);
  return product_of(dims);
}

// Smallest groups of neighbouring axes with equal sizes, greedily from the left; trailing ones join the last group.
std::vector<AxisGroup> match_axes(const Shape& in, const Shape& out) {
  std::vector<AxisGroup> groups;
  std::size_t i = 0, o = 0;
  while (i < in.size() || o < out.size()) {
    AxisGroup g;
    if (i < in.size()) g.in.push_back(static_cast<int>(i++));
    if (o < out.size()) g.out.push_back(static_cast<int>(o++));
    for (;;) {
      const std::optional<ExprPtr> p = size_of(in, g.in), q = size_of(out, g.out);
      if (p && q && same_dim(*p, *q)) break;
      // Grow the smaller side; a side whose size is a symbol times something is told from the other by the quotient.
      const bool out_is_smaller =
          p && q &&
          (constant_of(*p) && constant_of(*q) ? *constant_of(*q) < *constant_of(*p)
                                              : exact_quotient(*p, *q).has_value() || constant_of(*q).has_value());
      if (out_is_smaller && o < out.size()) {
        g.out.push_back(static_cast<int>(o++));
      } else if (i < in.size()) {
        g.in.push_back(static_cast<int>(i++));
      } else if (o < out.size()) {
        g.out.push_back(static_cast<int>(o++));
      } else {
        break;  // sizes differ; the caller has checked the whole
      }
    }
    groups.push_back(std::move(g));
  }
  return groups;
}

// A term coefficient * index of L, 0 <= index < extent (none: not a constant).
struct Term {
  ExprPtr index;
  std::int64_t coefficient;
  std::optional<std::int64_t> extent;
};

ExprPtr sum_of(const std::vector<Term>& terms, std::int64_t divide) {
  ExprPtr e = idx(0);
  for (const Term& t : terms) e = idx_add(e, idx_mul(idx(t.coefficient / divide), t.index));
  return e;
}

// (L / below) % extent, without the terms that fall out. `leading`: no remainder is needed.
ExprPtr subscript(const std::vector<Term>& terms, std::int64_t below, std::optional<std::int64_t> extent, bool leading) {
  std::vector<Term> kept;
  for (const Term& t : terms)
    if (leading || !extent || t.coefficient % (below * *extent) != 0) kept.push_back(t);
  // Terms below `below` that cannot carry drop out of the quotient when all others are multiples of it.
  std::vector<Term> high;
  std::int64_t low_sum = 0;
  bool low_known = true;
  for (const Term& t : kept) {
    if (t.coefficient % below == 0) {
      high.push_back(t);
    } else {
      low_known = low_known && t.extent.has_value();
      low_sum += t.coefficient * (t.extent.value_or(1) - 1);
    }
  }
  ExprPtr e = low_known && low_sum < below ? sum_of(high, below) : idx_floordiv(sum_of(kept, 1), below);
  if (leading || !extent) return e;
  // The remainder is superfluous when the quotient cannot reach the extent.
  std::int64_t most = 0;
  bool known = true;
  for (const Term& t : kept) {
    known = known && t.extent.has_value();
    most += t.coefficient * (t.extent.value_or(1) - 1);
  }
  return known && most / below < *extent ? e : idx_mod(e, *extent);
}

bool subscripts_of_group(OpBuilder& b, const AxisGroup& g, const Shape& in, const Loops& out, Subscripts* read) {
  // Axes of extent 1 have no say: their index is 0.
  std::vector<int> outs = g.out, ins = g.in;
  std::erase_if(outs, [&](int a) { return constant_of(out[static_cast<std::size_t>(a)].extent) == 1; });
  std::erase_if(ins, [&](int a) { return constant_of(in[static_cast<std::size_t>(a)]) == 1; });
  std::vector<Term> terms;
  std::int64_t scale = 1;
  for (std::size_t k = outs.size(); k-- > 0;) {
    const Loop& l = out[static_cast<std::size_t>(outs[k])];
    const std::optional<std::int64_t> extent = constant_of(l.extent);
    terms.insert(terms.begin(), Term{l.index(), scale, extent});
    if (!extent && k > 0) {
      b.not_affine("the result's axis of extent " + to_text(l.extent) + " would be a variable stride");
      return false;
    }
    scale *= std::max<std::int64_t>(extent.value_or(1), 1);
  }
  std::int64_t below = 1;
  for (std::size_t k = ins.size(); k-- > 0;) {
    const std::optional<std::int64_t> extent = constant_of(in[static_cast<std::size_t>(ins[k])]);
    if (!extent && k > 0) {
      b.not_affine("x's axis of extent " + to_text(in[static_cast<std::size_t>(ins[k])]) + " would be a variable divisor");
      return false;
    }
    const std::int64_t size = std::max<std::int64_t>(extent.value_or(1), 1);
    (*read)[static_cast<std::size_t>(ins[k])] = subscript(terms, below, extent, k == 0);
    below *= size;
  }
  return true;
}

bool is_empty(const Shape& shape) {
  return std::any_of(shape.begin(), shape.end(), [](const ExprPtr& e) { return constant_of(e) == 0; });
}

// Numbers of elements as constant * product of symbolic extents, where the whole product need not be affine.
struct Count {
  std::int64_t constant = 1;
  std::vector<std::string> symbolic;
};

Count count_of(const Shape& shape) {
  Count c;
  for (const ExprPtr& e : shape) {
    if (constant_of(e)) {
      c.constant *= *constant_of(e);
      continue;
    }
    const std::int64_t content = content_of(e);
    c.constant *= content;
    c.symbolic.push_back(to_text(*exact_quotient(e, idx(content))));
  }
  std::sort(c.symbolic.begin(), c.symbolic.end());
  return c;
}

}  // namespace

void define_reshaped(OpBuilder& b, const Shape& shape) {
  const Shape& in = b.shape(0);
  const Count p = count_of(in), q = count_of(shape);
  if (p.constant != q.constant || (p.constant != 0 && p.symbolic != q.symbolic))
    return b.bad_shapes(0, shape_text(in) + " cannot become " + shape_text(shape) + ": the numbers of elements differ");
  const Loops out = b.loops(shape);
  Subscripts read(in.size(), idx(0));
  if (!is_empty(in))
    for (const AxisGroup& g : match_axes(in, shape))
      if (!subscripts_of_group(b, g, in, out, &read)) return;
  b.out(0, b.dtype(), shape);
  b.line("y0", out, ref("a0", read));
}

namespace {

// -1 is what remains, 0 copies x's extent unless allowzero.
void define_reshape(OpBuilder& b) {
  Shape shape = b.dims("shape");
  if (b.failed()) return;
  int open = -1;
  Shape known;
  for (std::size_t a = 0; a < shape.size(); ++a) {
    const std::optional<std::int64_t> c = constant_of(shape[a]);
    if (c == 0 && !b.flag("allowzero")) {
      if (static_cast<int>(a) >= b.rank(0))
        return b.bad_value("shape", "entry " + std::to_string(a) + " is 0 (copy), but x has rank " + std::to_string(b.rank(0)));
      shape[a] = b.dim(0, static_cast<int>(a));
    } else if (c == -1) {
      if (open >= 0) return b.bad_value("shape", "only one entry may be -1");
      open = static_cast<int>(a);
      continue;
    } else if (c && *c < 0) {
      return b.bad_value("shape", "entry " + std::to_string(a) + " is " + std::to_string(*c));
    }
    known.push_back(shape[a]);
  }
  if (open < 0) return define_reshaped(b, shape);
  // Cancel equal extents, then divide what is left.
  Shape rest;
  for (const ExprPtr& e : b.shape(0)) {
    const auto same = std::find_if(known.begin(), known.end(), [&](const ExprPtr& k) { return same_dim(k, e); });
    if (same != known.end()) {
      known.erase(same);
    } else {
      rest.push_back(e);
    }
  }
  const std::optional<ExprPtr> total = product_of(rest), divisor = product_of(known);
  const std::optional<ExprPtr> size = total && divisor ? exact_quotient(*total, *divisor) : std::nullopt;
  if (!size)
    return b.bad_value(
        "shape", "the entry -1 cannot be found: " + shape_text(b.shape(0)) + " is not a whole multiple of the other entries");
  shape[static_cast<std::size_t>(open)] = *size;
  define_reshaped(b, shape);
}

void define_flatten(OpBuilder& b) {
  const std::int64_t said = b.integer("axis");
  const int axis = said == b.rank(0) ? b.rank(0) : b.axis("axis", b.rank(0));
  if (b.failed()) return;
  const auto cut = b.shape(0).begin() + axis;
  const std::optional<ExprPtr> rows = product_of(Shape(b.shape(0).begin(), cut)),
                               columns = product_of(Shape(cut, b.shape(0).end()));
  if (!rows || !columns) return b.not_affine("the product of symbolic extents in " + shape_text(b.shape(0)));
  define_reshaped(b, {*rows, *columns});
}

void define_squeeze(OpBuilder& b) {
  std::vector<int> axes = b.axes("axes", b.rank(0));
  if (b.failed()) return;
  const bool all = !b.given("axes");
  Shape shape;
  for (int a = 0; a < b.rank(0); ++a) {
    const bool one = constant_of(b.dim(0, a)) == 1;
    const bool named = std::find(axes.begin(), axes.end(), a) != axes.end();
    if (named && !one)
      return b.bad_value("axes", "axis " + std::to_string(a) + " has extent " + to_text(b.dim(0, a)) + ", not 1");
    if (!(named || (all && one))) shape.push_back(b.dim(0, a));
  }
  define_reshaped(b, shape);
}

void define_unsqueeze(OpBuilder& b) {
  const int rank = b.rank(0) + static_cast<int>(b.integers("axes").size());
  std::vector<int> axes = b.axes("axes", rank);
  if (b.failed()) return;
  std::sort(axes.begin(), axes.end());
  Shape shape = b.shape(0);
  for (const int a : axes) shape.insert(shape.begin() + a, idx(1));
  define_reshaped(b, shape);
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

}  // namespace

void add_reshapes(std::vector<OpDef>& table) {
  OpDef reshape =
      record("reshape", "the same elements, in row-major order, under another shape",
             {required_attr("shape", AttrKind::kDims, "new extents; one may be -1 (what remains), 0 copies x's extent"),
              flag_attr("allowzero", false, "1: 0 is a size")},
             define_reshape);
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::vector<int>>>{{"f32[6, 4]", {24}},
                                                                                      {"f32[24]", {2, -1, 4}},
                                                                                      {"f32[4, 6]", {3, 8}},
                                                                                      {"f32[2, 3, 4]", {0, -1}},
                                                                                      {"i32[6]", {1, 6, 1}},
                                                                                      {"f32[2, 6, 5]", {2, 2, 3, 5}}})
    reshape.samples.push_back({{from}, {{"shape", ints(to)}}});
  reshape.samples.push_back({{"f32[0, 4]"}, {{"shape", ints({2, 0})}, {"allowzero", as_attribute(1)}}});
  table.push_back(std::move(reshape));

  OpDef flatten = record("flatten", "a matrix: the axes before `axis` are its rows",
                         {int_attr("axis", 1, "first axis of the columns")}, define_flatten);
  flatten.samples = {
      {{"f32[2, 3, 4]"}, {}}, {{"f32[2, 3, 4]"}, {{"axis", as_attribute(-1)}}}, {{"f32[2, 3]"}, {{"axis", as_attribute(0)}}}};
  table.push_back(std::move(flatten));

  OpDef squeeze = record("squeeze", "axes of extent 1 removed",
                         {optional_attr("axes", AttrKind::kInts, "the axes; absent: all of extent 1")}, define_squeeze);
  squeeze.samples = {{{"f32[1, 3, 1]"}, {}}, {{"f32[1, 3, 1]"}, {{"axes", ints({-1})}}}};
  table.push_back(std::move(squeeze));

  OpDef unsqueeze = record("unsqueeze", "axes of extent 1 inserted",
                           {required_attr("axes", AttrKind::kInts, "positions in the result")}, define_unsqueeze);
  unsqueeze.samples = {{{"f32[3, 4]"}, {{"axes", ints({0, -1})}}}, {{"f32[3]"}, {{"axes", ints({1})}}}};
  table.push_back(std::move(unsqueeze));
}

}  // namespace facet
