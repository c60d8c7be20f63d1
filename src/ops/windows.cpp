// Window geometry of convolutions and pools.
#include "src/ops/windows.hpp"

namespace facet {

namespace {

bool any_ceil(const OpBuilder& b) {
  for (const AttrDef& a : b.def().attributes)
    if (a.name == "ceil_mode") return b.flag("ceil_mode");
  return false;
}

// Positions of a window: floor or ceil of (input + pads - span) / stride, plus 1. With ceil, a last window that would start
// behind the input and its leading padding is dropped.
ExprPtr positions(OpBuilder& b, const Window& w, bool ceil) {
  const ExprPtr room = normal(idx_add(w.input, idx(w.begin + w.end - w.span())));
  if (!ceil || w.stride == 1) return normal(idx_add(idx_floordiv(room, w.stride), idx(1)));
  const ExprPtr count = normal(idx_add(idx_floordiv(idx_add(room, idx(w.stride - 1)), w.stride), idx(1)));
  const std::optional<std::int64_t> n = constant_of(count), input = constant_of(w.input);
  if (!n || !input) {
    b.not_affine("ceil_mode with a stride needs a constant extent, found " + to_text(w.input));
    return idx(1);
  }
  return idx((*n - 1) * w.stride >= *input + w.begin ? *n - 1 : *n);
}

// SAME_UPPER / SAME_LOWER: ceil(input / stride) positions, the padding that needs split in halves.
void pad_same(OpBuilder& b, Window& w, bool upper) {
  w.output = normal(idx_floordiv(idx_add(w.input, idx(w.stride - 1)), w.stride));
  const ExprPtr need = normal(idx_sub(idx_add(idx_mul(idx(w.stride), idx_sub(w.output, idx(1))), idx(w.span())), w.input));
  const std::optional<std::int64_t> total = constant_of(need);
  if (!total)
    return b.not_affine("auto_pad SAME with stride " + std::to_string(w.stride) + " pads extent " + to_text(w.input) +
                        " differently for each value");
  const std::int64_t pad = std::max<std::int64_t>(*total, 0);
  w.begin = upper ? pad / 2 : pad - pad / 2;
  w.end = pad - w.begin;
}

}  // namespace

ExprPtr Window::at(const ExprPtr& p, const ExprPtr& r) const {
  return idx_add(idx_add(idx_mul(idx(stride), p), idx_mul(idx(dilation), r)), idx(-begin));
}

bool Window::leaves_input() const {
  if (begin > 0) return true;
  const std::optional<std::int64_t> n = constant_of(output), input_size = constant_of(input);
  if (n && input_size) return (*n - 1) * stride + span() - 1 - begin >= *input_size;
  return end > 0;  // positions were floored: the last tap lies below input + end
}

std::vector<std::int64_t> per_axis(OpBuilder& b, const std::string& name, std::size_t count, std::int64_t fallback,
                                   std::int64_t least) {
  std::vector<std::int64_t> list = b.integers(name);
  if (list.empty()) list.assign(count, fallback);
  if (list.size() != count) {
    b.bad_value(name, "has " + std::to_string(list.size()) + " entries, expected " + std::to_string(count));
    list.assign(count, fallback);
  }
  for (const std::int64_t v : list)
    if (v < least || v > (std::int64_t{1} << 31)) {
      b.bad_value(name, "entries must be between " + std::to_string(least) + " and 2^31, found " + std::to_string(v));
      return std::vector<std::int64_t>(count, fallback);
    }
  return list;
}

Windows windows_of(OpBuilder& b, const std::vector<std::int64_t>& kernel, int first) {
  const std::size_t n = kernel.size();
  const std::vector<std::int64_t> strides = per_axis(b, "strides", n, 1, 1), dilations = per_axis(b, "dilations", n, 1, 1);
  const std::vector<std::int64_t> pads = per_axis(b, "pads", 2 * n, 0, -(std::int64_t{1} << 31));
  const std::string mode = b.word("auto_pad");
  if (mode != "NOTSET" && !b.integers("pads").empty()) b.bad_value("pads", "may not be given beside auto_pad \"" + mode + "\"");
  Windows windows;
  if (b.failed()) return windows;
  for (std::size_t a = 0; a < n; ++a) {
    Window w;
    w.input = b.dim(0, first + static_cast<int>(a));
    w.kernel = kernel[a];
    w.stride = strides[a];
    w.dilation = dilations[a];
    if (mode == "NOTSET") {
      w.begin = pads[a];
      w.end = pads[n + a];
    }
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      pad_same(b, w, mode == "SAME_UPPER");
    } else {
      w.output = positions(b, w, any_ceil(b));
    }
    if (b.failed()) return windows;
    const std::optional<std::int64_t> count = upper_bound_of(w.output, b.program());
    if (count && *count < 1 && constant_of(w.input) != 0)
      b.bad_shapes(0, "a window of " + std::to_string(w.span()) + " does not fit into extent " + to_text(w.input) +
                          " with padding " + std::to_string(w.begin) + " and " + std::to_string(w.end));
    if (constant_of(w.output) && *constant_of(w.output) < 0) w.output = idx(0);
    windows.push_back(w);
  }
  return windows;
}

Loops position_loops(OpBuilder& b, const Windows& windows) {
  static const char* const names[] = {"p", "q", "v"};
  Loops list;
  for (std::size_t a = 0; a < windows.size(); ++a) list.push_back(b.loop(names[a % 3], windows[a].output));
  return list;
}

Loops tap_loops(OpBuilder& b, const Windows& windows) {
  static const char* const names[] = {"r", "s", "t"};
  Loops list;
  for (std::size_t a = 0; a < windows.size(); ++a) list.push_back(b.loop(names[a % 3], idx(windows[a].kernel)));
  return list;
}

std::vector<AttrDef> window_attributes() {
  return {text_attr("auto_pad", "NOTSET", "padding by rule instead of `pads`", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}),
          optional_attr("dilations", AttrKind::kInts, "distance of taps, per spatial axis; absent: 1"),
          optional_attr("pads", AttrKind::kInts, "padding, all begins then all ends; absent: 0"),
          optional_attr("strides", AttrKind::kInts, "distance of windows, per spatial axis; absent: 1")};
}

}  // namespace facet
