// cum_sum and cum_prod: scans, one step an element.
//
//   for i.. { y[i, 0] = x[i, 0];  for t in 1..T: y[i, t] = y[i, t-1] + x[i, t] }
//
// The result carries the running value, so that the axes behind the scanned one stay inside and are walked along memory. Where
// the accumulator is wider than the result (f16), a scalar carries it instead and the scanned axis is the innermost. Exclusive
// scans start with the identity and read one element behind; reverse ones walk down.
#include "src/ops/builder.hpp"
#include "src/ops/simple_def.hpp"

namespace facet {

namespace {

struct Scan {
  Loops outer, inner;  // around and behind the scanned axis
  Loop t;
  std::size_t axis = 0;
  bool reverse = false, exclusive = false;
  std::string combine, identity;

  Subscripts at(const ExprPtr& position) const {
    Subscripts s = indices_of(outer);
    s.push_back(position);
    for (const Loop& l : inner) s.push_back(l.index());
    return s;
  }
  ExprPtr first() const { return reverse ? normal(idx_sub(t.extent, idx(1))) : idx(0); }
  // The element before in the order of the walk.
  ExprPtr before() const { return normal(reverse ? idx_add(t.index(), idx(1)) : idx_sub(t.index(), idx(1))); }
  std::string header(const std::string& start) const {
    return reverse ? "for (long " + t.name + " = " + to_text(t.extent) + " - 1 - " + start + "; " + t.name + " >= 0; " +
                         t.name + "--)"
                   : "for (long " + t.name + " = " + start + "; " + t.name + " < " + to_text(t.extent) + "; " + t.name + "++)";
  }
};

std::string headers(const Loops& loops) {
  std::string text;
  for (const Loop& l : loops) text += c_for(l) + " ";
  return text;
}

void carried_by_result(OpBuilder& b, const Scan& s) {
  const std::string start = s.exclusive ? s.identity : c_element("a0", s.at(s.first()));
  b.nest(headers(s.outer) + "{");
  b.nest("  if (0 < " + to_text(s.t.extent) + ") " + headers(s.inner) + c_element("y0", s.at(s.first())) + " = " + start + ";");
  b.nest("  " + s.header("1") + " " + headers(s.inner) + c_element("y0", s.at(s.t.index())) + " = " +
         c_element("y0", s.at(s.before())) + " " + s.combine + " " +
         c_element("a0", s.at(s.exclusive ? s.before() : s.t.index())) + ";");
  b.nest("}");
}

void carried_by_scalar(OpBuilder& b, const Scan& s, DType acc) {
  const std::string sum = b.local("sum"), x = c_element("a0", s.at(s.t.index())), y = c_element("y0", s.at(s.t.index()));
  const std::string add = sum + " = " + sum + " " + s.combine + " (" + c_type_text(acc) + ")" + x + ";",
                    store = y + " = " + sum + ";";
  b.nest(headers(s.outer) + headers(s.inner) + "{");
  b.nest("  " + c_type_text(acc) + " " + sum + " = " + s.identity + ";");
  b.nest("  " + s.header("0") + " { " + (s.exclusive ? store + " " + add : add + " " + store) + " }");
  b.nest("}");
}

void define_cumulative(OpBuilder& b, const std::string& kind) {
  if (!b.expect_rank(0, 1)) return;
  Scan s;
  s.axis = static_cast<std::size_t>(b.axis("axis", b.rank(0)));
  if (b.failed()) return;
  const Loops all = b.loops(b.shape(0));
  for (std::size_t a = 0; a < all.size(); ++a)
    if (a != s.axis) (a < s.axis ? s.outer : s.inner).push_back(all[a]);
  s.t = all[s.axis];
  s.reverse = b.flag("reverse");
  s.exclusive = b.flag("exclusive");
  s.combine = kind == "sum" ? "+" : "*";
  s.identity = kind == "sum" ? "0" : "1";
  const DType in = b.dtype(), acc = accumulator(b, in);
  b.out(0, in, b.shape(0));
  b.nest_defines(0);
  // Integers wrap, so that the result's own width gives what any wider one would.
  if (acc == in || (is_integer(acc) && is_integer(in))) return carried_by_result(b, s);
  carried_by_scalar(b, s, acc);
}

}  // namespace

void add_scans(std::vector<OpDef>& table) {
  for (const std::string kind : {"sum", "prod"}) {
    OpDef def = simple_def(
        "scan", "cum_" + kind, kind == "sum" ? "sum of the elements up to each one" : "product of the elements up to each one",
        DTypes::kNumber,
        {int_attr("axis", 0, "the axis walked along"), flag_attr("exclusive", false, "1: without the element itself"),
         flag_attr("reverse", false, "1: from the end"), acc_attribute()},
        [kind](OpBuilder& b) { define_cumulative(b, kind); });
    def.aliases = {"cum" + kind};
    def.tolerance = Tolerance::kSum;
    def.samples = {{{"f32[7]"}, {}},
                   {{"f32[3, 5]"}, {{"axis", as_attribute(-1)}, {"exclusive", as_attribute(1)}}},
                   {{"i32[3, 5]"}, {{"axis", as_attribute(0)}, {"reverse", as_attribute(1)}}},
                   {{"f32[2, 3]"}, {{"axis", as_attribute(1)}, {"reverse", as_attribute(1)}, {"exclusive", as_attribute(1)}}}};
    table.push_back(std::move(def));
  }
}

}  // namespace facet
