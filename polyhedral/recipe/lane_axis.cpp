// What makes an iterator a good lane axis.
#include "polyhedral/recipe/lane_axis.hpp"

#include "polyhedral/model.hpp"

namespace facet {

DType widest_type(const Statement& s) {
  DType t = s.value->type;
  walk(s.value, [&](const Expr& e) {
    if (e.op == Op::kRead && size_bytes(e.type) > size_bytes(t)) t = e.type;
  });
  return t;
}

int gathers(const Statement& s, const std::string& name) {
  int n = 0;
  walk(s.value, [&](const Expr& e) { n += e.op == Op::kRead && Model::stride(e.args, name) == Model::Stride::kOther; });
  return n;
}

bool good_lanes(const Statement& s, const std::string& name, std::string* why) {
  const Model::Stride w = Model::stride(s.subscripts, name);
  if (w == Model::Stride::kOther || (w == Model::Stride::kNone && !s.update)) {
    *why = "'" + s.target + "' is not written contiguously along it";
    return false;
  }
  int unit = w == Model::Stride::kUnit, other = 0;
  walk(s.value, [&](const Expr& e) {
    if (e.op != Op::kRead) return;
    const Model::Stride r = Model::stride(e.args, name);
    unit += r == Model::Stride::kUnit;
    other += r == Model::Stride::kOther;
  });
  if (other > unit) {
    *why = "most reads are not contiguous along it";
    return false;
  }
  return true;
}

}  // namespace facet
