// Data-dependent reads: gather, gather_elements, gather_nd, embedding, one_hot. Indices wrap once when negative, then are
// clamped.
#include "src/ops/simple_def.hpp"
#include "src/ops/builder.hpp"

namespace facet {

namespace {

std::string wrapped(const std::string& index) { return "wrap(" + index + ")"; }

// y[before.., j.., after..] = x[before.., indices[j..], after..].
void gather_along(OpBuilder& b, int data, int ids, int axis) {
  Shape shape;
  for (int a = 0; a < b.rank(data); ++a) {
    if (a == axis)
      shape.insert(shape.end(), b.shape(ids).begin(), b.shape(ids).end());
    else
      shape.push_back(b.dim(data, a));
  }
  const Loops l = b.loops(shape);
  const std::size_t first = static_cast<std::size_t>(axis), count = b.shape(ids).size();
  const Loops chosen(l.begin() + static_cast<std::ptrdiff_t>(first), l.begin() + static_cast<std::ptrdiff_t>(first + count));
  std::string read = formal(data) + "[";
  for (std::size_t a = 0, at = 0; a < b.shape(data).size(); ++a) {
    if (a) read += ", ";
    if (a == first) {
      read += wrapped(ref(formal(ids), indices_of(chosen)));
      at += count;
    } else {
      read += l[at++].name;
    }
  }
  b.out(0, b.dtype(data), shape);
  b.line("y0", l, read + "]");
}

bool has_elements(OpBuilder& b, int operand, int axis) {
  const std::optional<std::int64_t> least = lower_bound_of(b.dim(operand, axis), b.program());
  if (least && *least > 0) return true;
  b.bad_shapes(operand, "axis " + std::to_string(axis) + " of extent " + to_text(b.dim(operand, axis)) +
                            " may have no element to gather");
  return false;
}

void define_gather(OpBuilder& b) {
  if (!b.expect_rank(0, 1)) return;
  const int axis = b.axis("axis", b.rank(0));
  if (b.failed() || !has_elements(b, 0, axis)) return;
  gather_along(b, 0, 1, axis);
}

// The table is the operand of rank 2 that is not integer; of two integer operands the first are the ids.
void define_embedding(OpBuilder& b) {
  const bool ids_first = is_integer(b.dtype(0)) && !(is_integer(b.dtype(1)) && b.rank(0) == 2 && b.rank(1) != 2);
  const int ids = ids_first ? 0 : 1, data = 1 - ids;
  if (!is_integer(b.dtype(ids)))
    return b.fail(Code::kOperandDtype, "/in/" + std::to_string(ids),
                  {b.def().name, b.operand(ids).name, to_text(b.dtype(ids)), "an integer (one operand holds the ids)"});
  if (!b.expect_rank(data, 2, 2) || !has_elements(b, data, 0)) return;
  gather_along(b, data, ids, 0);
}

void define_gather_elements(OpBuilder& b) {
  if (!b.expect_rank(0, 1) || !b.expect_rank(1, b.rank(0), b.rank(0))) return;
  const int axis = b.axis("axis", b.rank(0));
  if (b.failed() || !has_elements(b, 0, axis)) return;
  for (int a = 0; a < b.rank(0); ++a) {
    const std::optional<std::int64_t> room = lower_bound_of(normal(idx_sub(b.dim(0, a), b.dim(1, a))), b.program());
    if (a != axis && (!room || *room < 0))
      return b.bad_shapes(
          1, "indices " + shape_text(b.shape(1)) + " exceed x " + shape_text(b.shape(0)) + " on axis " + std::to_string(a));
  }
  const Loops l = b.loops(b.shape(1));
  std::string read = "a0[";
  for (int a = 0; a < b.rank(0); ++a)
    read += (a ? ", " : "") + (a == axis ? wrapped(ref("a1", indices_of(l))) : l[static_cast<std::size_t>(a)].name);
  b.out(0, b.dtype(), b.shape(1));
  b.line("y0", l, read + "]");
}

// The last axis of the indices holds positions along data's axes behind the batch axes.
void define_gather_nd(OpBuilder& b) {
  if (!b.expect_rank(0, 1) || !b.expect_rank(1, 1)) return;
  const auto batch = static_cast<int>(b.integer("batch_dims"));
  const std::optional<std::int64_t> depth = constant_of(b.shape(1).back());
  if (!depth) return b.not_affine("indices whose last axis " + to_text(b.shape(1).back()) + " is symbolic");
  if (batch < 0 || batch >= b.rank(1) || batch + *depth > b.rank(0))
    return b.bad_value("batch_dims",
                       "with " + std::to_string(*depth) + " positions exceeds data's rank " + std::to_string(b.rank(0)));
  for (int a = 0; a < batch; ++a)
    if (!same_dim(b.dim(0, a), b.dim(1, a)))
      return b.bad_shapes(
          1, "batch axis " + std::to_string(a) + " differs: " + shape_text(b.shape(0)) + " and " + shape_text(b.shape(1)));
  Shape shape(b.shape(1).begin(), b.shape(1).end() - 1);
  const std::size_t outer = shape.size();
  for (int a = batch + static_cast<int>(*depth); a < b.rank(0); ++a) shape.push_back(b.dim(0, a));
  for (int a = batch; a < batch + static_cast<int>(*depth); ++a)
    if (!has_elements(b, 0, a)) return;
  const Loops l = b.loops(shape);
  std::string read = "a0[";
  for (int a = 0; a < b.rank(0); ++a) {
    if (a) read += ", ";
    if (a < batch) {
      read += l[static_cast<std::size_t>(a)].name;
    } else if (a < batch + *depth) {
      Subscripts s = indices_of(Loops(l.begin(), l.begin() + static_cast<std::ptrdiff_t>(outer)));
      s.push_back(idx(a - batch));
      read += wrapped(ref("a1", s));
    } else {
      read += l[outer + static_cast<std::size_t>(a - batch) - static_cast<std::size_t>(*depth)].name;
    }
  }
  b.out(0, b.dtype(), shape);
  b.line("y0", l, read + "]");
}

// on where the (wrapped) index equals the position on the new axis; indices outside give off everywhere.
void define_one_hot(OpBuilder& b) {
  const std::int64_t depth = b.integer("depth");
  if (depth < 1) return b.bad_value("depth", "must be positive");
  const int axis = b.axis("axis", b.rank(0) + 1);
  std::vector<double> values = b.numbers("values");
  if (values.empty()) values = {0, 1};
  if (values.size() != 2) return b.bad_value("values", "must be [off, on]");
  const DType result = b.dtype_attr("dtype", DType::kF32);
  if (b.failed()) return;
  Shape shape = b.shape(0);
  shape.insert(shape.begin() + axis, idx(depth));
  Loops l = b.loops(shape);
  Subscripts read = indices_of(l);
  read.erase(read.begin() + axis);
  const std::string index = ref("a0", read), at = "cast(i64, " + l[static_cast<std::size_t>(axis)].name + ")";
  const std::string wide = cast_text(DType::kI64, b.dtype(), index);
  b.out(0, result, shape);
  b.line("y0", l,
         "cast(" + to_text(result) + ", select(" + wide + " == " + at + " or " + wide + " + " + std::to_string(depth) +
             " == " + at + ", cast(" + to_text(result) + ", " + number_text(result, values[1]) + "), cast(" + to_text(result) +
             ", " + number_text(result, values[0]) + ")))");
}

OpDef record(const std::string& name, const std::string& summary, std::vector<AttrDef> attributes, void (*define)(OpBuilder&)) {
  OpDef def = simple_def("gather", name, summary, DTypes::kAny, std::move(attributes), define);
  def.operands = {{"data", DTypes::kAny, 'T', false}, {"indices", DTypes::kInteger, 'I', false}};
  return def;
}

}  // namespace

void add_gathers(std::vector<OpDef>& table) {
  OpDef gather = record("gather", "slices of data along an axis, chosen by indices of any shape",
                        {int_attr("axis", 0, "the axis the indices replace")}, define_gather);
  gather.samples = {
      {{"f32[5, 3]", "i64[4]"}, {}}, {{"f32[2, 5, 3]", "i32[2, 2]"}, {{"axis", as_attribute(-2)}}}, {{"i32[7]", "i64[]"}, {}}};
  table.push_back(std::move(gather));
  OpDef elements = record("gather_elements", "elements of data, chosen along an axis by an index for each",
                          {int_attr("axis", 0, "the axis of the indices")}, define_gather_elements);
  elements.samples = {{{"f32[5, 3]", "i64[2, 3]"}, {}}, {{"f32[3, 4]", "i32[3, 6]"}, {{"axis", as_attribute(-1)}}}};
  table.push_back(std::move(elements));
  OpDef nd = record("gather_nd", "parts of data at positions given by the last axis of the indices",
                    {int_attr("batch_dims", 0, "leading axes that data and indices share")}, define_gather_nd);
  nd.samples = {{{"f32[3, 4]", "i64[5, 2]"}, {}},
                {{"f32[3, 4, 2]", "i64[5, 1]"}, {}},
                {{"f32[2, 3, 4]", "i64[2, 5, 1]"}, {{"batch_dims", as_attribute(1)}}}};
  table.push_back(std::move(nd));
  OpDef embedding =
      record("embedding", "rows of a table [rows, features], chosen by integer ids of any shape; the operands in either order",
             {}, define_embedding);
  embedding.operands = {{"ids", DTypes::kAny, 'I', false}, {"table", DTypes::kAny, 'T', false}};
  embedding.samples = {{{"i64[2, 3]", "f32[7, 4]"}, {}}, {{"f32[7, 4]", "i32[5]"}, {}}};
  table.push_back(std::move(embedding));
  OpDef hot = record(
      "one_hot", "a new axis that is `on` at the index and `off` elsewhere",
      {required_attr("depth", AttrKind::kInt, "extent of the new axis"), int_attr("axis", -1, "position of the new axis"),
       optional_attr("values", AttrKind::kFloats, "[off, on]; absent: [0, 1]"),
       AttrDef{"dtype", AttrKind::kDType, as_attribute("f32"), false, "dtype of the result", {}}},
      define_one_hot);
  hot.operands = {{"indices", DTypes::kInteger, 'I', false}};
  hot.samples = {{{"i64[5]"}, {{"depth", as_attribute(4)}}},
                 {{"i32[2, 3]"}, {{"depth", as_attribute(3)}, {"axis", as_attribute(1)}, {"dtype", as_attribute("i32")}}}};
  table.push_back(std::move(hot));
}

}  // namespace facet
