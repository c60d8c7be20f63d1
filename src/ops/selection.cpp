// Positions of extremes, and the k largest elements.
#include "src/ops/simple_def.hpp"
#include "src/ops/builder.hpp"

namespace facet {

namespace {

// x's loops with one axis taken out and read under a second name.
struct Along {
  Loops all, rest;
  Loop axis, other;  // the output's index and the reading one
  Subscripts read;   // with `other`
};

Along along(OpBuilder& b, int axis) {
  Along r;
  r.all = b.loops(b.shape(0));
  r.axis = r.all[static_cast<std::size_t>(axis)];
  r.other = b.loop("t", r.axis.extent);
  r.read = indices_of(r.all);
  r.read[static_cast<std::size_t>(axis)] = r.other.index();
  for (int a = 0; a < b.rank(0); ++a)
    if (a != axis) r.rest.push_back(r.all[static_cast<std::size_t>(a)]);
  return r;
}

void define_arg(OpBuilder& b, const std::string& kind) {
  if (!b.expect_rank(0, 1)) return;
  const int axis = b.axis("axis", b.rank(0));
  if (b.failed()) return;
  const ExprPtr extent = b.dim(0, axis);
  const std::optional<std::int64_t> least = lower_bound_of(extent, b.program());
  if (!least || *least < 1) return b.fail(Code::kEmptyArgument, "/in/0", {b.def().name});
  const Along r = along(b, axis);
  Shape shape;
  Loops left;
  for (int a = 0; a < b.rank(0); ++a) {
    if (a == axis && !b.flag("keepdims")) continue;
    left.push_back(a == axis ? b.loop("u", idx(1)) : r.all[static_cast<std::size_t>(a)]);
    shape.push_back(left.back().extent);
  }
  const ExprPtr last = normal(idx_sub(extent, idx(1)));
  Subscripts read = r.read;
  if (b.flag("select_last_index")) read[static_cast<std::size_t>(axis)] = normal(idx_sub(last, r.other.index()));
  const std::string first = reduction(kind, {r.other}, ref("a0", read));
  b.out(0, DType::kI64, shape);
  b.line("y0", left, b.flag("select_last_index") ? to_text(last) + " - " + first : first, {r.other});
}

// NaN counts as the largest element, as numpy sorts it.
struct Order {
  bool largest, floats;
  std::string before(const std::string& x, const std::string& y) const {
    const std::string plain = x + (largest ? " > " : " < ") + y;
    if (!floats) return plain;
    return "(" + plain + " or (isnan(" + (largest ? x : y) + ") and not isnan(" + (largest ? y : x) + ")))";
  }
  std::string equal(const std::string& x, const std::string& y) const {
    return floats ? "(" + x + " == " + y + " or (isnan(" + x + ") and isnan(" + y + ")))" : "(" + x + " == " + y + ")";
  }
};

// rank[j] = number of elements before x[j]; the element of rank r is the one found at place r.
void rank_all(OpBuilder& b, const Along& r, const Order& order, const Loops& places, const Subscripts& at_place, int axis) {
  const std::string rank = b.local("rank"), place = b.local("place");
  const std::string here = ref("a0", indices_of(r.all)), there = ref("a0", r.read);
  const std::string first =
      order.before(there, here) + " or (" + order.equal(there, here) + " and " + r.other.name + " < " + r.axis.name + ")";
  b.line(rank, r.all, reduction("sum", {r.other}, "select(" + first + ", cast(i64, 1), cast(i64, 0))"), {r.other});
  const Loop& k = places[static_cast<std::size_t>(axis)];
  b.line(place, places,
         reduction("sum", {r.other},
                   "select(" + ref(rank, r.read) + " == " + k.name + ", cast(i64, " + r.other.name + "), cast(i64, 0))"),
         {r.other});
  std::string gather = "a0[";
  for (int a = 0; a < b.rank(0); ++a)
    gather += (a ? ", " : "") + (a == axis ? ref(place, indices_of(places)) : to_text(at_place[static_cast<std::size_t>(a)]));
  b.line("y0", places, gather + "]");
  if (b.wants(1)) b.line("y1", places, ref(place, indices_of(places)));
}

// One after another: the best value behind the previous one, then its first position.
void select_each(OpBuilder& b, const Along& r, const Order& order, const Loops& places, int axis, std::int64_t k) {
  const std::string x = ref("a0", r.read), worst = order.largest ? lowest_text(b.dtype()) : highest_text(b.dtype());
  const Subscripts rest = indices_of(r.rest);
  const Loop& place = places[static_cast<std::size_t>(axis)];
  std::string behind;
  for (std::int64_t n = 0; n < k; ++n) {
    const std::string value = b.local("value"), position = b.local("position");
    const std::string v = ref(value, rest), p = ref(position, rest);
    // Smallest first with NaN behind everything: NaN is replaced by the worst value unless only NaNs are left, which `position`
    // then finds.
    const std::string candidate = order.floats && !order.largest ? "select(isnan(" + x + "), " + worst + ", " + x + ")" : x;
    b.line(value, r.rest,
           reduction(order.largest ? "max" : "min", {r.other},
                     behind.empty() ? candidate : "select(" + behind + ", " + candidate + ", " + worst + ")"),
           {r.other});
    const std::string fits = order.equal(x, v);
    const std::string any = behind.empty() ? fits : "(" + behind + ") and " + fits;
    b.line(position, r.rest,
           reduction("min", {r.other},
                     "select(" + any + ", cast(i64, " + r.other.name + "), cast(i64, " + to_text(r.axis.extent) + "))"),
           {r.other});
    behind = order.before(v, x) + " or (" + order.equal(x, v) + " and " + r.other.name + " > " + p + ")";
    const std::vector<std::string> here = {place.name + " == " + std::to_string(n)};
    b.line("y0", places, v, {}, here);
    if (b.wants(1)) b.line("y1", places, p, {}, here);
  }
}

constexpr std::int64_t kMostSelected = 64;  // contract of the operator list: k <= 64
constexpr std::int64_t kFewSelected = 8;    // above it the statements of select_each outgrow the comparisons of rank_all
constexpr std::int64_t kShortAxis = 32;

void define_top_k(OpBuilder& b) {
  if (!b.expect_rank(0, 1)) return;
  const int axis = b.axis("axis", b.rank(0));
  const std::int64_t k = b.integer("k");
  if (b.failed()) return;
  const std::optional<std::int64_t> least = lower_bound_of(b.dim(0, axis), b.program());
  if (k < 0 || k > kMostSelected) return b.bad_value("k", "must be between 0 and " + std::to_string(kMostSelected));
  if (!least || k > *least) return b.bad_value("k", std::to_string(k) + " exceeds the extent " + to_text(b.dim(0, axis)));
  const Along r = along(b, axis);
  const Order order{b.flag("largest"), is_float(b.dtype())};
  Loops places = r.all;
  Shape shape = b.shape(0);
  shape[static_cast<std::size_t>(axis)] = idx(k);
  places[static_cast<std::size_t>(axis)] = b.loop("k", idx(k));
  b.out(0, b.dtype(), shape);
  if (b.output_count() > 1) b.out(1, DType::kI64, shape);
  const std::optional<std::int64_t> n = constant_of(b.dim(0, axis));
  const bool nan_last = order.floats && !order.largest;  // select_each cannot tell the worst value from NaN there
  if (nan_last || k == 0 || k > kFewSelected || (n && *n <= kShortAxis))
    return rank_all(b, r, order, places, indices_of(places), axis);
  select_each(b, r, order, places, axis, k);
}

}  // namespace

void add_selection(std::vector<OpDef>& table) {
  for (const std::string kind : {"sum", "prod"}) {
    const std::string extreme = kind == "sum" ? "max" : "min";
    OpDef arg =
        simple_def("selection", "arg_" + extreme,
                   "position of the " + extreme + "imum along an axis (i64), the first one on ties; NaN wins", DTypes::kNumber,
                   {int_attr("axis", 0, "the axis searched"), flag_attr("keepdims", true, "1: the axis stays with size 1"),
                    flag_attr("select_last_index", false, "1: the last one on ties")},
                   [extreme](OpBuilder& b) { define_arg(b, "arg" + extreme); });
    arg.aliases = {"arg" + extreme};
    arg.samples = {{{"f32[5]"}, {}},
                   {{"f32[3, 4]"}, {{"axis", as_attribute(-1)}, {"keepdims", as_attribute(0)}}},
                   {{"i32[3, 4]"}, {{"axis", as_attribute(1)}, {"select_last_index", as_attribute(1)}}}};
    table.push_back(std::move(arg));
  }
  OpDef top = simple_def(
      "selection", "top_k",
      "the k largest (or smallest) elements along an axis in order, and their positions; NaN counts as largest",
      DTypes::kNumber,
      {required_attr("k", AttrKind::kInt, "how many, at most 64"), int_attr("axis", -1, "the axis searched"),
       flag_attr("largest", true, "0: the smallest"), flag_attr("sorted", true, "accepted; the result is always sorted")},
      define_top_k);
  top.outputs = {"values", "indices"};
  top.samples = {{{"f32[7]"}, {{"k", as_attribute(3)}}},
                 {{"f32[3, 40]"}, {{"k", as_attribute(4)}}},
                 {{"i32[5, 3]"}, {{"k", as_attribute(2)}, {"axis", as_attribute(0)}, {"largest", as_attribute(0)}}}};
  table.push_back(std::move(top));
}

}  // namespace facet
