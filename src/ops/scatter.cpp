// scatter_elements and scatter_nd, seen from the result: each element combines the updates whose index names it.
//
// That is a reduction over the updates with a comparison, so conflicts need no atomics and have one meaning: with reduction
// "none" the last update (in row-major order) wins, otherwise all are combined. The cost is elements times updates along the
// searched axes.
#include "src/ops/simple_def.hpp"
#include "src/ops/builder.hpp"

namespace facet {

namespace {

// How matching updates change the old value.
struct Combine {
  std::string kind, neutral;
};

Combine combine_of(const OpBuilder& b) {
  const std::string r = b.word("reduction");
  const DType t = b.dtype();
  if (r == "add") return {"sum", number_text(t, 0)};
  if (r == "mul") return {"prod", number_text(t, 1)};
  if (r == "max") return {"max", lowest_text(t)};
  return {"min", highest_text(t)};
}

// y0 = old value combined with reduction over `over` of select(match, update, neutral).
void combined_line(OpBuilder& b, const Loops& left, const Loops& over, const std::string& match, const std::string& update) {
  const Combine c = combine_of(b);
  const DType t = b.dtype(), acc = c.kind == "sum" ? sum_result(wide_float(t)) : wide_float(t);
  const std::string old = cast_text(acc, t, ref("a0", indices_of(left)));
  const std::string all =
      reduction(c.kind, over,
                "select(" + match + ", " + cast_text(acc, t, update) + ", " +
                    (c.kind == "max" || c.kind == "min" ? cast_text(acc, t, "cast(" + to_text(t) + ", " + c.neutral + ")")
                                                        : number_text(acc, c.kind == "prod" ? 1 : 0)) +
                    ")");
  const std::string value = c.kind == "sum"    ? old + " + " + all
                            : c.kind == "prod" ? old + " * " + all
                                               : c.kind + "(" + old + ", " + all + ")";
  b.line("y0", left, cast_text(t, acc, value), over);
}

bool number_or_none(OpBuilder& b) {
  if (b.word("reduction") == "none" || b.dtype() != DType::kBool) return true;
  b.bad_value("reduction", "bool tensors take \"none\" only");
  return false;
}

// The index as i64, with negative ones counted from the end.
std::string positive(const OpBuilder& b, const std::string& index, const ExprPtr& extent) {
  const std::string wide = cast_text(DType::kI64, b.dtype(1), index);
  return "select(" + wide + " < 0, " + wide + " + " + in_parens(to_text(extent)) + ", " + wide + ")";
}

void define_elements(OpBuilder& b) {
  if (!b.expect_rank(0, 1) || !b.expect_rank(1, b.rank(0), b.rank(0)) || !number_or_none(b)) return;
  if (!same_shape(b.shape(1), b.shape(2)))
    return b.bad_shapes(2, "indices " + shape_text(b.shape(1)) + " and updates " + shape_text(b.shape(2)) + " differ");
  const int axis = b.axis("axis", b.rank(0));
  if (b.failed()) return;
  const Loops l = b.loops(b.shape(0));
  const Loop over = b.loop("t", b.dim(1, axis)), at = l[static_cast<std::size_t>(axis)];
  Subscripts source = indices_of(l);
  source[static_cast<std::size_t>(axis)] = over.index();
  // Where the updates are smaller than data on another axis, the padded index matches nothing.
  bool smaller = false;
  for (int a = 0; a < b.rank(0); ++a) {
    const ExprPtr room = normal(idx_sub(b.dim(0, a), b.dim(1, a)));
    const std::optional<std::int64_t> least = lower_bound_of(room, b.program());
    if (a != axis && (!least || *least < 0))
      return b.bad_shapes(
          1, "indices " + shape_text(b.shape(1)) + " exceed data " + shape_text(b.shape(0)) + " on axis " + std::to_string(a));
    smaller = smaller || (a != axis && constant_of(room) != 0);
  }
  const std::string nowhere = lowest_text(b.dtype(1));
  const std::string index = ref("a1", source, smaller ? nowhere : "");
  const std::string match =
      (smaller ? index + " != " + nowhere + " and " : "") + positive(b, index, at.extent) + " == " + at.name;
  const std::string update = ref("a2", source, smaller ? number_text(b.dtype(), 0) : "");
  b.out(0, b.dtype(), b.shape(0));
  if (b.word("reduction") != "none") return combined_line(b, l, {over}, match, update);
  const std::string last = b.local("last");
  b.line(last, l, reduction("max", {over}, "select(" + match + ", cast(i64, " + over.name + "), cast(i64, -1))"), {over});
  const std::string which = ref(last, indices_of(l));
  std::string chosen = "a2[";
  for (int a = 0; a < b.rank(0); ++a) {
    const std::string& name = l[static_cast<std::size_t>(a)].name;
    const bool short_axis = a != axis && constant_of(normal(idx_sub(b.dim(0, a), b.dim(1, a)))) != 0;
    chosen += (a ? ", " : "") + (a == axis    ? which
                                 : short_axis ? "min(" + name + ", " + to_text(normal(idx_sub(b.dim(1, a), idx(1)))) + ")"
                                              : name);
  }
  const std::optional<std::int64_t> updates = lower_bound_of(b.dim(1, axis), b.program());
  if (!updates || *updates < 1)
    return b.bad_shapes(1, "there may be no update along axis " + std::to_string(axis) + " of " + shape_text(b.shape(1)));
  b.line("y0", l, "select(" + which + " < 0, " + ref("a0", indices_of(l)) + ", " + chosen + "])");
}

void define_nd(OpBuilder& b) {
  if (!b.expect_rank(0, 1) || !b.expect_rank(1, 1) || !number_or_none(b)) return;
  const std::optional<std::int64_t> depth = constant_of(b.shape(1).back());
  if (!depth || *depth < 1 || *depth > b.rank(0))
    return b.bad_shapes(1, "the last axis of the indices " + shape_text(b.shape(1)) + " must be a constant up to data's rank " +
                               std::to_string(b.rank(0)));
  Shape outer(b.shape(1).begin(), b.shape(1).end() - 1), expected = outer;
  for (int a = static_cast<int>(*depth); a < b.rank(0); ++a) expected.push_back(b.dim(0, a));
  if (!same_shape(expected, b.shape(2)))
    return b.bad_shapes(2, "updates " + shape_text(b.shape(2)) + " should be " + shape_text(expected));
  const Loops l = b.loops(b.shape(0));
  Loops over;
  for (const ExprPtr& e : outer) over.push_back(b.loop("t", e));
  std::string match;
  for (std::int64_t a = 0; a < *depth; ++a) {
    Subscripts s = indices_of(over);
    s.push_back(idx(a));
    match += (match.empty() ? "" : " and ") + positive(b, ref("a1", s), b.dim(0, static_cast<int>(a))) +
             " == " + l[static_cast<std::size_t>(a)].name;
  }
  Subscripts update = indices_of(over);
  for (std::size_t a = static_cast<std::size_t>(*depth); a < l.size(); ++a) update.push_back(l[a].index());
  b.out(0, b.dtype(), b.shape(0));
  if (b.word("reduction") != "none") return combined_line(b, l, over, match, ref("a2", update));
  // The linear number of the last matching update, then its coordinates.
  const Loops hit(l.begin(), l.begin() + static_cast<std::ptrdiff_t>(*depth));
  std::string number = over.empty() ? "0" : over[0].name;
  for (std::size_t a = 1; a < over.size(); ++a)
    number = in_parens(number) + " * " + in_parens(to_text(over[a].extent)) + " + " + over[a].name;
  const std::string last = b.local("last"), which = ref(last, indices_of(hit));
  b.line(last, hit, reduction("max", over, "select(" + match + ", cast(i64, " + number + "), cast(i64, -1))"), over);
  std::string chosen = "a2[", below;
  std::vector<std::string> coordinates(over.size());
  for (std::size_t a = over.size(); a-- > 0;) {
    coordinates[a] = b.local("at");
    std::string value = "max(" + which + ", 0)";
    if (!below.empty()) value += " / " + in_parens(below);
    if (a > 0) value = in_parens(value) + " % " + in_parens(to_text(over[a].extent));
    b.line(coordinates[a], hit, value);
    below += (below.empty() ? "" : " * ") + in_parens(to_text(over[a].extent));
  }
  for (std::size_t a = 0; a < over.size(); ++a) chosen += (a ? ", " : "") + ref(coordinates[a], indices_of(hit));
  for (std::size_t a = static_cast<std::size_t>(*depth); a < l.size(); ++a)
    chosen += (chosen.back() == '[' ? "" : ", ") + l[a].name;
  for (const ExprPtr& e : outer) {
    const std::optional<std::int64_t> least = lower_bound_of(e, b.program());
    if (!least || *least < 1) return b.bad_shapes(2, "there may be no update in " + shape_text(b.shape(2)));
  }
  b.line("y0", l, "select(" + which + " < 0, " + ref("a0", indices_of(l)) + ", " + chosen + "])");
}

}  // namespace

void add_scatters(std::vector<OpDef>& table) {
  const AttrDef how = text_attr("reduction", "none", "none: the last update wins; else all are combined with the old value",
                                {"none", "add", "mul", "max", "min"});
  const std::vector<OperandDef> operands = {
      {"data", DTypes::kAny, 'T', false}, {"indices", DTypes::kSigned, 'I', false}, {"updates", DTypes::kAny, 'T', false}};
  OpDef elements = simple_def("gather", "scatter_elements",
                              "data with elements replaced by updates, placed along an axis by an index for each", DTypes::kAny,
                              {int_attr("axis", 0, "the axis of the indices"), how}, define_elements);
  elements.operands = operands;
  elements.tolerance = Tolerance::kSum;
  elements.samples = {
      {{"f32[3, 4]", "i64[2, 4]", "f32[2, 4]"}, {}},
      {{"f32[3, 4]", "i32[2, 3]", "f32[2, 3]"}, {{"axis", as_attribute(1)}, {"reduction", as_attribute("add")}}},
      {{"i32[5]", "i64[4]", "i32[4]"}, {{"reduction", as_attribute("max")}}}};
  table.push_back(std::move(elements));
  OpDef nd = simple_def("gather", "scatter_nd",
                        "data with parts replaced by updates, at positions given by the last axis of the indices", DTypes::kAny,
                        {how}, define_nd);
  nd.operands = operands;
  nd.tolerance = Tolerance::kSum;
  nd.samples = {{{"f32[4, 3]", "i64[2, 1]", "f32[2, 3]"}, {}},
                {{"f32[4, 3]", "i64[5, 2]", "f32[5]"}, {{"reduction", as_attribute("add")}}},
                {{"f32[4, 3]", "i64[2, 2, 2]", "f32[2, 2]"}, {}}};
  table.push_back(std::move(nd));
}

}  // namespace facet
