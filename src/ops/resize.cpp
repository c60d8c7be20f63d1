// resize: nearest, linear and cubic interpolation along any axes, in exact integer arithmetic.
//
// With sizes known, output position i maps to the rational input position (A*i + B) / D. Its floor is a quasi-affine subscript
// and its fraction ((A*i + B) % D) / D gives the weights; positions outside are clamped to the border.
#include "src/ops/resize_taps.hpp"
#include "src/ops/simple_def.hpp"

namespace facet {

namespace {

// The position to round down to, for each rule of rounding.
Position rounding(const std::string& rule, const Position& p) {
  if (rule == "floor") return p;
  if (rule == "ceil") return {p.a, p.b + p.d - 1, p.d};
  if (rule == "round_prefer_ceil") return {2 * p.a, 2 * p.b + p.d, 2 * p.d};
  return {2 * p.a, 2 * p.b + p.d - 1, 2 * p.d};  // ceil(x - 1/2)
}

void nearest(OpBuilder& b, const std::vector<Scale>& scales, const std::vector<Position>& positions) {
  Shape shape;
  for (const Scale& s : scales) shape.push_back(s.output);
  const Loops l = b.loops(shape);
  Subscripts read;
  for (std::size_t a = 0; a < scales.size(); ++a)
    read.push_back(scales[a].changes() ? floor_at(rounding(b.word("nearest_mode"), positions[a]), l[a], scales[a].input, 0)
                                       : l[a].index());
  b.out(0, b.dtype(), shape);
  b.line("y0", l, framed(b, scales, positions, l, ref("a0", read)));
}

void define_resize(OpBuilder& b) {
  const std::string mode = b.word("mode");
  if (mode != "nearest" && !is_float(b.dtype()))
    return b.fail(Code::kOperandDtype, "/in/0",
                  {b.def().name, b.operand(0).name, to_text(b.dtype()), "a float for mode " + mode});
  const std::vector<Scale> scales = scales_of(b);
  if (b.failed()) return;
  std::vector<Position> positions(scales.size());
  for (std::size_t a = 0; a < scales.size(); ++a)
    if (scales[a].changes()) positions[a] = position_of(b, scales[a]);
  if (b.failed()) return;
  if (mode == "nearest") return nearest(b, scales, positions);
  const bool two_neighbours = mode == "linear" && !b.flag("antialias") && !b.flag("exclude_outside");
  return two_neighbours ? resize_linear(b, scales, positions) : resize_by_kernel(b, scales, positions);
}

}  // namespace

void add_resize(std::vector<OpDef>& table) {
  OpDef def = simple_def(
      "movement", "resize", "x sampled at other sizes: nearest element, linear or cubic interpolation", DTypes::kNumber,
      {text_attr("mode", "nearest", "the interpolation", {"nearest", "linear", "cubic"}),
       optional_attr("sizes", AttrKind::kDims, "new extents (this or scales)"),
       optional_attr("scales", AttrKind::kFloats, "factors (this or sizes)"),
       optional_attr("axes", AttrKind::kInts, "the axes they belong to; absent: all"),
       text_attr(
           "coordinate_transformation_mode", "half_pixel", "where the samples lie",
           {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"}),
       text_attr("nearest_mode", "round_prefer_floor", "rounding of mode nearest",
                 {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}),
       float_attr("cubic_coeff_a", -0.75, "A of the cubic kernel"),
       flag_attr("exclude_outside", false, "1: neighbours outside x weigh nothing, the others are scaled to sum 1"),
       flag_attr("antialias", false, "1: below scale 1 the linear or cubic kernel is widened to what an output covers"),
       optional_attr("roi", AttrKind::kFloats, "of mode tf_crop_and_resize: starts, then ends, of the axes"),
       float_attr("extrapolation_value", 0, "of positions outside x in mode tf_crop_and_resize"),
       text_attr("keep_aspect_ratio_policy", "stretch", "how sizes are met: not_larger and not_smaller use one scale",
                 {"stretch", "not_larger", "not_smaller"})},
      define_resize);
  def.tolerance = Tolerance::kMap;
  const auto ints = [](std::vector<int> v) { return as_attribute(v); };
  def.samples = {{{"f32[1, 2, 3, 4]"}, {{"sizes", ints({1, 2, 5, 8})}}},
                 {{"f32[1, 1, 3, 4]"}, {{"scales", ints({2, 2})}, {"axes", ints({2, 3})}, {"mode", as_attribute("linear")}}},
                 {{"f32[4, 6]"},
                  {{"sizes", ints({7, 3})},
                   {"mode", as_attribute("linear")},
                   {"coordinate_transformation_mode", as_attribute("align_corners")}}},
                 {{"f32[5]"},
                  {{"sizes", ints({8})},
                   {"coordinate_transformation_mode", as_attribute("asymmetric")},
                   {"nearest_mode", as_attribute("floor")}}},
                 {{"f32[2, 5, 7]"},
                  {{"scales", as_attribute(std::vector<double>{1.5, 0.6})},
                   {"axes", ints({1, 2})},
                   {"mode", as_attribute("cubic")},
                   {"exclude_outside", as_attribute(1)}}},
                 {{"f32[11, 9]"}, {{"sizes", ints({4, 12})}, {"mode", as_attribute("cubic")}, {"antialias", as_attribute(1)}}},
                 {{"f32[6, 8]"},
                  {{"sizes", ints({4, 5})},
                   {"mode", as_attribute("linear")},
                   {"coordinate_transformation_mode", as_attribute("tf_crop_and_resize")},
                   {"roi", as_attribute(std::vector<double>{0.25, -0.2, 0.75, 1.1})},
                   {"extrapolation_value", as_attribute(9.5)}}}};
  table.push_back(std::move(def));
}

}  // namespace facet
