// Movement with arithmetic on the indices: pad, roll, flip, tile, expand, depth_to_space, space_to_depth, unfold.
#include <algorithm>

#include "src/ops/simple_def.hpp"
#include "src/ops/windows.hpp"

namespace facet {

namespace {

struct AxisPad {
  std::int64_t begin = 0, end = 0;
};

std::vector<AxisPad> pads_of(OpBuilder& b) {
  std::vector<AxisPad> pads(b.shape(0).size());
  std::vector<int> axes = b.axes("axes", b.rank(0));
  if (!b.given("axes"))
    for (int a = 0; a < b.rank(0); ++a) axes.push_back(a);
  const std::vector<std::int64_t> list = b.integers("pads");
  if (list.size() != 2 * axes.size()) {
    b.bad_value("pads", "has " + std::to_string(list.size()) + " entries, expected a begin and an end for each of " +
                            std::to_string(axes.size()) + " axes");
    return pads;
  }
  for (std::size_t k = 0; k < axes.size(); ++k) pads[static_cast<std::size_t>(axes[k])] = {list[k], list[axes.size() + k]};
  return pads;
}

// The source position of an out-of-range index t of an axis, per mode. Complains when a pad is too wide to be answered once.
ExprPtr padded_index(OpBuilder& b, const std::string& mode, const ExprPtr& t, const ExprPtr& extent, const AxisPad& pad) {
  const ExprPtr last = normal(idx_sub(extent, idx(1)));
  if (constant_of(extent) == 0) {
    b.fail(Code::kEmptyArgument, "/in/0", {mode + " padding"});
    return t;
  }
  if (mode == "edge") {
    ExprPtr e = t;
    if (pad.begin > 0) e = idx_max(e, idx(0));
    return pad.end > 0 ? idx_min(e, last) : e;
  }
  const std::int64_t widest = std::max(pad.begin, pad.end);
  const std::optional<std::int64_t> least = lower_bound_of(extent, b.program());
  if (mode == "reflect") {
    if (!least || widest > *least - 1) {
      b.bad_value("pads", "reflect needs pads below the extent " + to_text(extent) + ", found " + std::to_string(widest));
      return t;
    }
    const ExprPtr e = pad.begin > 0 ? idx_max(t, normal(unary(Op::kNeg, t))) : t;
    return pad.end > 0 ? idx_min(e, normal(idx_sub(normal(idx_mul(idx(2), last)), t))) : e;
  }
  if (!constant_of(extent)) {  // wrap
    b.not_affine("wrap padding of the symbolic extent " + to_text(extent));
    return t;
  }
  return idx_mod(t, *constant_of(extent));
}

void define_pad(OpBuilder& b) {
  const std::string mode = b.word("mode");
  const std::vector<AxisPad> pads = pads_of(b);
  if (b.failed()) return;
  Shape shape;
  for (std::size_t a = 0; a < pads.size(); ++a) {
    shape.push_back(normal(idx_add(b.shape(0)[a], idx(pads[a].begin + pads[a].end))));
    const std::optional<std::int64_t> least = lower_bound_of(shape.back(), b.program());
    if (least && *least < 0)
      b.bad_value("pads",
                  "axis " + std::to_string(a) + " of extent " + to_text(b.shape(0)[a]) + " would get a negative extent");
  }
  const Loops l = b.loops(shape);
  Subscripts read;
  bool outside = false;
  for (std::size_t a = 0; a < pads.size(); ++a) {
    const ExprPtr t = normal(idx_sub(l[a].index(), idx(pads[a].begin)));
    const bool grows = pads[a].begin > 0 || pads[a].end > 0;
    outside = outside || grows;
    read.push_back(mode == "constant" || !grows ? t : padded_index(b, mode, t, b.shape(0)[a], pads[a]));
  }
  if (b.failed()) return;
  b.out(0, b.dtype(), shape);
  b.line("y0", l, ref("a0", read, outside && mode == "constant" ? number_text(b.dtype(), b.number("constant_value")) : ""));
}

// Each rolled axis is two shifted copies with disjoint domains.
struct Piece {
  Subscripts read;
  std::vector<std::string> conditions;
};

void define_roll(OpBuilder& b) {
  std::vector<int> axes = b.axes("axes", b.rank(0));
  const std::vector<std::int64_t> shifts = b.integers("shifts");
  if (b.failed()) return;
  if (!b.given("axes")) {
    if (b.rank(0) != 1) return b.bad_value("axes", "must be given unless x has rank 1");
    axes = {0};
  }
  if (axes.size() != shifts.size())
    return b.bad_value("shifts",
                       "has " + std::to_string(shifts.size()) + " entries for " + std::to_string(axes.size()) + " axes");
  const Loops l = b.loops(b.shape(0));
  std::vector<Piece> pieces = {{indices_of(l), {}}};
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const Loop& axis = l[static_cast<std::size_t>(axes[k])];
    std::int64_t shift = shifts[k];
    if (const std::optional<std::int64_t> n = constant_of(axis.extent)) shift = *n == 0 ? 0 : ((shift % *n) + *n) % *n;
    const std::optional<std::int64_t> least = lower_bound_of(axis.extent, b.program());
    if (!constant_of(axis.extent) && (!least || std::abs(shift) > *least))
      return b.bad_value("shifts", std::to_string(shift) + " may exceed the symbolic extent " + to_text(axis.extent));
    if (shift == 0) continue;
    // y[i] = x[i - s] for i >= s, x[i - s + n] below; a negative shift counts from the end.
    const ExprPtr start = shift > 0 ? idx(shift) : normal(idx_add(axis.extent, idx(shift)));
    std::vector<Piece> next;
    for (const Piece& p : pieces)
      for (const bool above : {true, false}) {
        Piece q = p;
        q.conditions.push_back(axis.name + (above ? " >= " : " < ") + to_text(start));
        const ExprPtr moved = idx_sub(axis.index(), start);
        q.read[static_cast<std::size_t>(axes[k])] = normal(above ? moved : idx_add(moved, axis.extent));
        next.push_back(q);
      }
    pieces = next;
  }
  b.out(0, b.dtype(), b.shape(0));
  for (const Piece& p : pieces) b.line("y0", l, ref("a0", p.read), {}, p.conditions);
}

void define_flip(OpBuilder& b) {
  const std::vector<int> axes = b.axes("axes", b.rank(0));
  if (b.failed()) return;
  const Loops l = b.loops(b.shape(0));
  Subscripts read = indices_of(l);
  for (std::size_t a = 0; a < read.size(); ++a)
    if (!b.given("axes") || std::find(axes.begin(), axes.end(), static_cast<int>(a)) != axes.end())
      read[a] = normal(idx_sub(idx_sub(l[a].extent, idx(1)), l[a].index()));
  b.out(0, b.dtype(), b.shape(0));
  b.line("y0", l, ref("a0", read));
}

void define_tile(OpBuilder& b) {
  const std::vector<std::int64_t> repeats = b.integers("repeats");
  if (static_cast<int>(repeats.size()) != b.rank(0))
    return b.bad_value("repeats",
                       "has " + std::to_string(repeats.size()) + " entries, x has rank " + std::to_string(b.rank(0)));
  Shape shape;
  for (std::size_t a = 0; a < repeats.size(); ++a) {
    if (repeats[a] < 0 || repeats[a] > (std::int64_t{1} << 31))
      return b.bad_value("repeats", "entries must be between 0 and 2^31");
    shape.push_back(normal(idx_mul(idx(repeats[a]), b.shape(0)[a])));
  }
  const Loops l = b.loops(shape);
  std::vector<Piece> pieces = {{indices_of(l), {}}};
  for (std::size_t a = 0; a < repeats.size(); ++a) {
    const ExprPtr& extent = b.shape(0)[a];
    if (repeats[a] <= 1) continue;  // of 0 copies no element is ever read
    if (const std::optional<std::int64_t> n = constant_of(extent)) {
      for (Piece& p : pieces) p.read[a] = *n <= 1 ? idx(0) : idx_mod(l[a].index(), *n);
      continue;
    }
    if (repeats[a] > 64) return b.not_affine("more than 64 copies of the symbolic extent " + to_text(extent));
    std::vector<Piece> next;  // one shifted copy each
    for (const Piece& p : pieces)
      for (std::int64_t r = 0; r < repeats[a]; ++r) {
        Piece q = p;
        const ExprPtr first = normal(idx_mul(idx(r), extent)), end = normal(idx_mul(idx(r + 1), extent));
        q.read[a] = normal(idx_sub(l[a].index(), first));
        if (r > 0) q.conditions.push_back(l[a].name + " >= " + to_text(first));
        if (r + 1 < repeats[a]) q.conditions.push_back(l[a].name + " < " + to_text(end));
        next.push_back(q);
      }
    pieces = next;
  }
  b.out(0, b.dtype(), shape);
  for (const Piece& p : pieces) b.line("y0", l, ref("a0", p.read), {}, p.conditions);
}

void define_expand(OpBuilder& b) {
  const Shape wanted = b.dims("shape");
  if (b.failed()) return;
  const Shape shape = broadcast_two(b, b.shape(0), wanted, 0);
  if (b.failed()) return;
  const Loops l = b.loops(shape);
  b.out(0, b.dtype(), shape);
  b.line("y0", l, broadcast_read(b, 0, l));
}

// Blocks of channels become blocks of pixels: pixel (h % s, w % s) of a block is channel block (DCR) or the other way round
// (CRD).
void define_depth_to_space(OpBuilder& b) {
  if (!b.expect_rank(0, 4, 4)) return;
  const std::int64_t s = b.integer("blocksize");
  const std::optional<ExprPtr> channels = s > 0 ? exact_quotient(b.dim(0, 1), idx(s * s)) : std::nullopt;
  if (!channels)
    return b.bad_value("blocksize", to_text(b.dim(0, 1)) + " channels are not a multiple of blocksize * blocksize");
  const Shape shape = {b.dim(0, 0), *channels, normal(idx_mul(idx(s), b.dim(0, 2))), normal(idx_mul(idx(s), b.dim(0, 3)))};
  const Loops l = {b.loop("n", shape[0]), b.loop("c", shape[1]), b.loop("h", shape[2]), b.loop("w", shape[3])};
  const ExprPtr c = l[1].index(), h = l[2].index(), w = l[3].index();
  const ExprPtr pixel = idx_add(idx_mul(idx(s), idx_mod(h, s)), idx_mod(w, s));
  if (b.word("mode") == "DCR" && s > 1 && !constant_of(*channels))
    return b.not_affine("mode DCR with " + to_text(b.dim(0, 1)) + " channels");
  const ExprPtr channel = b.word("mode") == "CRD" ? idx_add(idx_mul(idx(s * s), c), pixel)
                          : s == 1                ? c
                                                  : idx_add(idx_mul(*channels, pixel), c);
  b.out(0, b.dtype(), shape);
  b.line("y0", l, ref("a0", {l[0].index(), channel, idx_floordiv(h, s), idx_floordiv(w, s)}));
}

void define_space_to_depth(OpBuilder& b) {
  if (!b.expect_rank(0, 4, 4)) return;
  const std::int64_t s = b.integer("blocksize");
  const std::optional<ExprPtr> height = s > 0 ? exact_quotient(b.dim(0, 2), idx(s)) : std::nullopt,
                               width = s > 0 ? exact_quotient(b.dim(0, 3), idx(s)) : std::nullopt;
  if (!height || !width)
    return b.bad_value("blocksize",
                       "the extents " + to_text(b.dim(0, 2)) + " and " + to_text(b.dim(0, 3)) + " are not multiples of it");
  const std::optional<std::int64_t> channels = constant_of(b.dim(0, 1));
  if (!channels) return b.not_affine("a symbolic number of channels " + to_text(b.dim(0, 1)));
  const Shape shape = {b.dim(0, 0), idx(*channels * s * s), *height, *width};
  const Loops l = {b.loop("n", shape[0]), b.loop("c", shape[1]), b.loop("h", shape[2]), b.loop("w", shape[3])};
  const ExprPtr block = idx_floordiv(l[1].index(), std::max<std::int64_t>(*channels, 1));
  b.out(0, b.dtype(), shape);
  b.line("y0", l,
         ref("a0", {l[0].index(), idx_mod(l[1].index(), std::max<std::int64_t>(*channels, 1)),
                    idx_add(idx_mul(idx(s), l[2].index()), idx_floordiv(block, s)),
                    idx_add(idx_mul(idx(s), l[3].index()), idx_mod(block, s))}));
}

// Windows as columns: y[n, c * taps + tap, position].
void define_unfold(OpBuilder& b) {
  if (!b.expect_rank(0, 3, 5)) return;
  const std::vector<std::int64_t> kernel = per_axis(b, "kernel_shape", b.shape(0).size() - 2, 1, 1);
  if (b.failed()) return;
  const Windows windows = windows_of(b, kernel, 2);
  if (b.failed()) return;
  std::int64_t taps = 1, places = 1;
  bool padded = false;
  for (const Window& w : windows) {
    taps *= w.kernel;
    padded = padded || w.leaves_input();
    if (!constant_of(w.output)) return b.not_affine("a symbolic number of windows " + to_text(w.output));
    places *= *constant_of(w.output);
  }
  const Shape shape = {b.dim(0, 0), normal(idx_mul(idx(taps), b.dim(0, 1))), idx(places)};
  const Loops l = {b.loop("n", shape[0]), b.loop("c", shape[1]), b.loop("p", shape[2])};
  ExprPtr tap = idx_mod(l[1].index(), taps), place = l[2].index();
  Subscripts read;
  for (std::size_t a = windows.size(); a-- > 0;) {
    const std::int64_t n = std::max<std::int64_t>(*constant_of(windows[a].output), 1);
    read.insert(read.begin(),
                normal(windows[a].at(a == 0 ? place : idx_mod(place, n), a == 0 ? tap : idx_mod(tap, windows[a].kernel))));
    tap = idx_floordiv(tap, windows[a].kernel);
    place = idx_floordiv(place, n);
  }
  read.insert(read.begin(), {l[0].index(), idx_floordiv(l[1].index(), taps)});
  b.out(0, b.dtype(), shape);
  b.line("y0", l, ref("a0", read, padded ? number_text(b.dtype(), 0) : ""));
}

Attribute ints(std::vector<int> v) { return as_attribute(v); }

OpDef movement(const std::string& name, const std::string& summary, std::vector<AttrDef> attributes,
               void (*define)(OpBuilder&)) {
  return simple_def("movement", name, summary, DTypes::kAny, std::move(attributes), define);
}

void add_blocks(std::vector<OpDef>& table) {
  OpDef d2s = movement("depth_to_space", "blocks of channels become blocks of pixels",
                       {required_attr("blocksize", AttrKind::kInt, "edge of a block"),
                        text_attr("mode", "DCR", "DCR: block, then channel; CRD: channel, then block", {"DCR", "CRD"})},
                       define_depth_to_space);
  d2s.samples = {{{"f32[1, 8, 2, 3]"}, {{"blocksize", as_attribute(2)}}},
                 {{"f32[1, 8, 2, 3]"}, {{"blocksize", as_attribute(2)}, {"mode", as_attribute("CRD")}}}};
  table.push_back(std::move(d2s));
  OpDef s2d = movement("space_to_depth", "blocks of pixels become blocks of channels",
                       {required_attr("blocksize", AttrKind::kInt, "edge of a block")}, define_space_to_depth);
  s2d.samples = {{{"f32[1, 2, 4, 6]"}, {{"blocksize", as_attribute(2)}}}};
  table.push_back(std::move(s2d));
  OpDef unfold =
      movement("unfold", "the windows of x [n, c, ...] as columns [n, c * taps, windows]", window_attributes(), define_unfold);
  unfold.attributes.insert(unfold.attributes.begin(), required_attr("kernel_shape", AttrKind::kInts, "extents of the window"));
  unfold.samples = {{{"f32[1, 2, 4, 5]"}, {{"kernel_shape", ints({2, 3})}, {"pads", ints({1, 0, 0, 1})}}},
                    {{"f32[2, 1, 7]"}, {{"kernel_shape", ints({3})}, {"strides", ints({2})}, {"dilations", ints({2})}}}};
  table.push_back(std::move(unfold));
}

}  // namespace

void add_layout(std::vector<OpDef>& table) {
  OpDef pad = movement("pad", "x with elements added (or, by negative pads, removed) around it",
                       {required_attr("pads", AttrKind::kInts, "all begins, then all ends"),
                        text_attr("mode", "constant", "what is added", {"constant", "reflect", "edge", "wrap"}),
                        float_attr("constant_value", 0, "of mode constant"),
                        optional_attr("axes", AttrKind::kInts, "the padded axes; absent: all")},
                       define_pad);
  pad.samples = {{{"f32[3, 4]"}, {{"pads", ints({1, 0, 2, 1})}}},
                 {{"f32[3, 4]"}, {{"pads", ints({-1, 1, 0, 1})}, {"constant_value", as_attribute(1.5)}}},
                 {{"f32[3, 4]"}, {{"pads", ints({2, 1, 1, 3})}, {"mode", as_attribute("reflect")}}},
                 {{"i32[3, 4]"}, {{"pads", ints({2, 3})}, {"axes", ints({-1})}, {"mode", as_attribute("edge")}}},
                 {{"f32[3, 4]"}, {{"pads", ints({2, 1, 4, 5})}, {"mode", as_attribute("wrap")}}}};
  table.push_back(std::move(pad));
  OpDef roll = movement("roll", "x shifted around along some axes",
                        {required_attr("shifts", AttrKind::kInts, "distance, per axis; positive moves to higher indices"),
                         optional_attr("axes", AttrKind::kInts, "the axes; absent: the only one")},
                        define_roll);
  roll.samples = {{{"f32[5]"}, {{"shifts", ints({2})}}}, {{"f32[3, 4]"}, {{"shifts", ints({-1, 5})}, {"axes", ints({0, -1})}}}};
  table.push_back(std::move(roll));
  OpDef flip =
      movement("flip", "some axes reversed", {optional_attr("axes", AttrKind::kInts, "the axes; absent: all")}, define_flip);
  flip.samples = {{{"f32[3, 4]"}, {}}, {{"i32[3, 4]"}, {{"axes", ints({-1})}}}};
  table.push_back(std::move(flip));
  OpDef tile = movement("tile", "x repeated along each axis", {required_attr("repeats", AttrKind::kInts, "copies, per axis")},
                        define_tile);
  tile.samples = {{{"f32[2, 3]"}, {{"repeats", ints({2, 3})}}},
                  {{"f32[1, 3]"}, {{"repeats", ints({4, 1})}}},
                  {{"f32[2]"}, {{"repeats", ints({0})}}}};
  table.push_back(std::move(tile));
  OpDef expand = movement("expand", "x broadcast against a shape",
                          {required_attr("shape", AttrKind::kDims, "the shape; 1 keeps x's extent")}, define_expand);
  expand.samples = {{{"f32[3, 1]"}, {{"shape", ints({2, 1, 4})}}},
                    {{"f32[3, 4]"}, {{"shape", ints({1})}}},
                    {{"f32[]"}, {{"shape", ints({2, 2})}}}};
  table.push_back(std::move(expand));
  add_blocks(table);
}

}  // namespace facet
