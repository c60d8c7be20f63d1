// Rotary position embedding: pairs of features turned by angles that a cache holds by position.
#include "src/ops/head_view.hpp"
#include "src/ops/simple_def.hpp"

namespace facet {

namespace {

// The cosine or sine for (batch, position, pair): the cache directly, or gathered by the position ids.
std::string angle(const OpBuilder& b, int cache, const ExprPtr& n, const ExprPtr& s, const ExprPtr& pair, DType acc) {
  std::string read = ref(formal(cache), {n, s, pair});
  if (b.has(3)) read = formal(cache) + "[wrap(" + ref("a3", {n, s}) + "), " + to_text(pair) + "]";
  return cast_text(acc, b.dtype(), read);
}

// Pairs (x1, x2) of features are turned by an angle: halves of the rotated features, or (interleaved) neighbours.
void define_rotary(OpBuilder& b) {
  const HeadView x = view_of(b, 0, "num_heads");
  if (b.failed()) return;
  const std::optional<std::int64_t> features = constant_of(x.features);
  if (!features) return b.not_affine("a symbolic number of features " + to_text(x.features));
  const std::int64_t rotated = b.integer("rotary_embedding_dim") > 0 ? b.integer("rotary_embedding_dim") : *features,
                     half = rotated / 2;
  if (rotated % 2 != 0 || rotated > *features)
    return b.bad_value("rotary_embedding_dim",
                       std::to_string(rotated) + " must be even and at most " + std::to_string(*features));
  const Shape cache = b.has(3) ? Shape{b.dim(1, 0), idx(half)} : Shape{x.batch, x.length, idx(half)};
  for (int k = 1; k < 3; ++k)
    if (!same_shape(b.shape(k), cache))
      return b.bad_shapes(k, "the cache " + shape_text(b.shape(k)) + " should be " + shape_text(cache));
  if (b.has(3) && !same_shape(b.shape(3), {x.batch, x.length}))
    return b.bad_shapes(3, "position ids " + shape_text(b.shape(3)) + " should be " + shape_text({x.batch, x.length}));
  if (b.has(3) && constant_of(b.dim(1, 0)) == 0) return b.fail(Code::kEmptyArgument, "/in/1", {b.def().name});
  const DType in = b.dtype(), acc = wide_float(in);
  b.out(0, in, b.shape(0));
  const Loops l = x.packed ? Loops{b.loop("b", x.batch), b.loop("s", x.length), b.loop("j", b.dim(0, 2))}
                           : Loops{b.loop("b", x.batch), b.loop("h", x.heads), b.loop("s", x.length), b.loop("d", x.features)};
  const ExprPtr n = l[0].index(), s = l[x.packed ? 1 : 2].index();
  const ExprPtr d = x.packed ? idx_mod(l[2].index(), *features) : l[3].index();
  const auto piece = [&](const ExprPtr& pair, std::int64_t first_shift, bool first, const std::string& condition) {
    // first: x1*cos - x2*sin at x1's place; second: x1*sin + x2*cos at x2's place, x1 lies `first_shift` below.
    const std::string own = cast_text(acc, in, ref("a0", indices_of(l)));
    Subscripts other = indices_of(l);
    other.back() = normal(idx_add(other.back(), idx(first ? first_shift : -first_shift)));
    const std::string partner = cast_text(acc, in, ref("a0", other));
    const std::string c = angle(b, 1, n, s, pair, acc), sn = angle(b, 2, n, s, pair, acc);
    b.line("y0", l, cast_text(in, acc, own + " * " + c + (first ? " - " : " + ") + partner + " * " + sn), {}, {condition});
    return 0;
  };
  const std::string at = to_text(d);
  if (b.flag("interleaved")) {
    const std::string inside = rotated < *features ? at + " < " + std::to_string(rotated) + " and " : "";
    piece(idx_floordiv(d, 2), 1, true, inside + at + " % 2 == 0");
    piece(idx_floordiv(d, 2), 1, false, inside + at + " % 2 == 1");
  } else {
    piece(d, half, true, at + " < " + std::to_string(half));
    piece(normal(idx_sub(d, idx(half))), half, false,
          at + " >= " + std::to_string(half) + (rotated < *features ? " and " + at + " < " + std::to_string(rotated) : ""));
  }
  if (rotated < *features) b.line("y0", l, ref("a0", indices_of(l)), {}, {at + " >= " + std::to_string(rotated)});
}

}  // namespace

void add_rotary(std::vector<OpDef>& table) {
  OpDef rotary = simple_def(
      "attention", "rotary_embedding", "pairs of features of x turned by position-dependent angles", DTypes::kFloat,
      {flag_attr("interleaved", false, "1: a pair is two neighbours, else one of each half"),
       int_attr("num_heads", 0, "of a rank 3 x"), int_attr("rotary_embedding_dim", 0, "features that are turned; 0: all")},
      define_rotary);
  rotary.operands = {{"x", DTypes::kFloat, 'T', false},
                     {"cos_cache", DTypes::kFloat, 'T', false},
                     {"sin_cache", DTypes::kFloat, 'T', false},
                     {"position_ids", DTypes::kInteger, 'I', true}};
  rotary.tolerance = Tolerance::kMap;
  rotary.samples = {{{"f32[1, 2, 3, 4]", "f32[1, 3, 2]", "f32[1, 3, 2]"}, {}},
                    {{"f32[2, 2, 3, 6]", "f32[9, 2]", "f32[9, 2]", "i64[2, 3]"},
                     {{"interleaved", as_attribute(1)}, {"rotary_embedding_dim", as_attribute(4)}}},
                    {{"f32[2, 3, 8]", "f32[9, 2]", "f32[9, 2]", "i64[2, 3]"}, {{"num_heads", as_attribute(2)}}}};
  table.push_back(std::move(rotary));
}

}  // namespace facet
