// Scales as fractions of small integers, positions as quasi-affine expressions.
#include "src/ops/resize_axis.hpp"

#include <cmath>
#include <numeric>

namespace facet {

namespace {

// The fraction with the smallest denominator within 1e-7 (relative) of a positive number, by continued fractions.
bool rational(double value, std::int64_t* up, std::int64_t* down) {
  std::int64_t p0 = 0, q0 = 1, p1 = 1, q1 = 0;
  double x = value;
  for (int k = 0; k < 24; ++k) {
    const double whole = std::floor(x);
    const auto w = static_cast<std::int64_t>(whole);
    const std::int64_t p = w * p1 + p0, q = w * q1 + q0;
    if (q > 1000000) return false;
    p0 = p1, q0 = q1, p1 = p, q1 = q;
    if (std::abs(static_cast<double>(p1) / static_cast<double>(q1) - value) <= 1e-7 * value) return *up = p1, *down = q1, true;
    x = 1 / (x - whole);
  }
  return false;
}

Scale by_size(OpBuilder& b, const ExprPtr& extent, const ExprPtr& size) {
  Scale s{1, 1, extent, size};
  if (same_dim(extent, size)) return s;
  const std::optional<std::int64_t> in = constant_of(extent), out = constant_of(size);
  if (!in || !out) {
    b.not_affine("resizing extent " + to_text(extent) + " to " + to_text(size) + "; give `scales`");
  } else if (*in < 1 || *out < 1) {
    b.bad_value("sizes", "extents must be positive");
  } else {
    s.up = *out, s.down = *in;
  }
  return s;
}

Scale by_factor(OpBuilder& b, const ExprPtr& extent, double factor) {
  Scale s{1, 1, extent, extent};
  if (!(factor > 0 && factor < 65536) || !rational(factor, &s.up, &s.down))
    b.bad_value("scales", "a scale must be a positive number below 65536");
  s.output = normal(idx_floordiv(idx_mul(idx(s.up), extent), s.down));
  return s;
}

// One scale for all the axes: the smallest or the largest of theirs; the extents are rounded from it.
void keep_aspect(OpBuilder& b, const std::vector<int>& axes, std::vector<Scale>* scales) {
  const std::string policy = b.word("keep_aspect_ratio_policy");
  if (policy == "stretch" || axes.empty()) return;
  if (!b.given("sizes")) return b.bad_value("keep_aspect_ratio_policy", policy + " needs sizes");
  const auto at = [&](int axis) -> Scale& { return (*scales)[static_cast<std::size_t>(axis)]; };
  Scale chosen = at(axes[0]);
  for (const int a : axes) {
    const Scale& s = at(a);
    if (!constant_of(s.input)) return b.not_affine("policy " + policy + " needs constant extents, found " + to_text(s.input));
    const bool smaller = s.up * chosen.down < chosen.up * s.down;
    if (smaller == (policy == "not_larger")) chosen = s;
  }
  for (const int a : axes) {
    Scale& s = at(a);
    s.up = chosen.up, s.down = chosen.down;
    s.output = idx((2 * s.up * *constant_of(s.input) + s.down) / (2 * s.down));
  }
}

// roi lists the starts of the axes, then the ends.
void crop(OpBuilder& b, const std::vector<int>& axes, std::vector<Scale>* scales) {
  const std::vector<double> roi = b.numbers("roi");
  const bool crops = b.word("coordinate_transformation_mode") == "tf_crop_and_resize";
  if (!crops && !roi.empty()) return b.bad_value("roi", "belongs to mode tf_crop_and_resize");
  if (!crops) return;
  const std::size_t n = axes.size();
  if (roi.size() != 2 * n)
    return b.bad_value("roi", "has " + std::to_string(roi.size()) + " entries for " + std::to_string(n) + " axes; needs " +
                                  std::to_string(2 * n));
  for (std::size_t k = 0; k < n; ++k) {
    Scale& s = (*scales)[static_cast<std::size_t>(axes[k])];
    s.crops = true;
    s.start = roi[k];
    s.finish = roi[n + k];
  }
}

// Share of input - 1 as a fraction; negative ones too.
bool share(double value, std::int64_t* up, std::int64_t* down) {
  *up = 0, *down = 1;
  if (value == 0) return true;
  if (!(std::abs(value) < 1024) || !rational(std::abs(value), up, down)) return false;
  if (value < 0) *up = -*up;
  return true;
}

// start (in - 1) + i (finish - start) (in - 1) / (out - 1); one output lies in the middle.
Position cropped(OpBuilder& b, const Scale& s, std::int64_t in, std::int64_t out) {
  std::int64_t su = 0, sd = 1, fu = 0, fd = 1;
  if (!share(s.start, &su, &sd) || !share(s.finish, &fu, &fd) || sd > 10000 || fd > 10000) {
    b.bad_value("roi", "entries must be numbers below 1024 with at most four digits behind the point");
    return {};
  }
  const std::int64_t common = std::lcm(sd, fd), start = su * (common / sd), finish = fu * (common / fd);
  if (out <= 1) return {0, (start + finish) * (in - 1), 2 * common};
  return {(finish - start) * (in - 1), start * (out - 1) * (in - 1), common * (out - 1)};
}

std::int64_t floor_div(std::int64_t a, std::int64_t d) { return a / d - (a % d != 0 && a < 0 ? 1 : 0); }

}  // namespace

std::vector<Scale> scales_of(OpBuilder& b) {
  std::vector<Scale> scales;
  for (const ExprPtr& e : b.shape(0)) scales.push_back(Scale{1, 1, e, e});
  std::vector<int> axes = b.axes("axes", b.rank(0));
  const Shape sizes = b.dims("sizes");
  const std::vector<double> factors = b.numbers("scales");
  if (b.failed()) return scales;
  if (!b.given("axes"))
    for (int a = 0; a < b.rank(0); ++a) axes.push_back(a);
  const bool sized = b.given("sizes");
  if (sized == b.given("scales")) {
    b.bad_value(sized ? "scales" : "sizes", "exactly one of sizes and scales must be given");
    return scales;
  }
  const std::size_t n = sized ? sizes.size() : factors.size();
  if (n != axes.size()) {
    b.bad_value(sized ? "sizes" : "scales",
                "has " + std::to_string(n) + " entries for " + std::to_string(axes.size()) + " axes");
    return scales;
  }
  for (std::size_t k = 0; k < n && !b.failed(); ++k) {
    const auto a = static_cast<std::size_t>(axes[k]);
    scales[a] = sized ? by_size(b, b.shape(0)[a], sizes[k]) : by_factor(b, b.shape(0)[a], factors[k]);
  }
  if (!b.failed()) keep_aspect(b, axes, &scales);
  if (!b.failed()) crop(b, axes, &scales);
  return scales;
}

Position position_of(OpBuilder& b, const Scale& s) {
  const std::string mode = b.word("coordinate_transformation_mode");
  const std::optional<std::int64_t> in = constant_of(s.input), out = constant_of(s.output);
  if (mode != "asymmetric" && mode != "half_pixel" && (!in || !out)) {
    b.not_affine("mode " + mode + " needs constant extents, found " + to_text(s.input));
    return {};
  }
  Position p;
  if (s.crops) {
    p = cropped(b, s, *in, *out);
  } else if (mode == "asymmetric") {
    p = {s.down, 0, s.up};
  } else if (mode == "align_corners") {
    p = *out > 1 ? Position{*in - 1, 0, *out - 1} : Position{0, 0, 1};
  } else {
    p = {2 * s.down, s.down - s.up, 2 * s.up};  // (i + 1/2) * down/up - 1/2
    if (mode == "pytorch_half_pixel" && *out <= 1) p = {0, 0, 1};
    if (mode == "half_pixel_symmetric") p.b += *in * s.up - *out * s.down;  // the rounded size is centred on the exact one
  }
  const std::int64_t g = std::gcd(std::gcd(std::abs(p.a), std::abs(p.b)), p.d);
  return {p.a / g, p.b / g, p.d / g};
}

ExprPtr plain_floor_at(const Position& p, const Loop& i, std::int64_t offset, const ExprPtr& extra) {
  const ExprPtr whole = idx_floordiv(normal(idx_add(idx_mul(idx(p.a), i.index()), idx(p.b))), p.d);
  return idx_add(whole, normal(idx_add(extra, idx(offset))));
}

ExprPtr floor_at(const Position& p, const Loop& i, const ExprPtr& extent, std::int64_t offset, const ExprPtr& extra,
                 std::int64_t steps) {
  const ExprPtr e = plain_floor_at(p, i, offset, extra), last = normal(idx_sub(extent, idx(1)));
  const std::optional<std::int64_t> n = constant_of(i.extent), top = constant_of(last);
  const std::int64_t first_end = floor_div(p.b, p.d) + offset;
  const std::int64_t other_end = n ? floor_div(p.a * (*n - 1) + p.b, p.d) + offset : first_end;
  const bool low = std::min(first_end, other_end) < 0 || (!n && p.a < 0);
  const bool high = !n || !top || std::max(first_end, other_end) + steps > *top;
  const ExprPtr r = low ? idx_max(e, idx(0)) : e;
  return high ? idx_min(r, last) : r;
}

ExprPtr remainder_at(const Position& p, const Loop& i) {
  return idx_mod(normal(idx_add(idx_mul(idx(p.a), i.index()), idx(p.b))), p.d);
}

std::string framed(OpBuilder& b, const std::vector<Scale>& scales, const std::vector<Position>& positions, const Loops& l,
                   const std::string& value) {
  std::string inside;
  for (std::size_t a = 0; a < scales.size(); ++a) {
    if (!scales[a].crops) continue;
    const Position& p = positions[a];
    const std::string at = to_text(normal(idx_add(idx_mul(idx(p.a), l[a].index()), idx(p.b))));
    const std::string last = to_text(normal(idx_mul(idx(p.d), idx_sub(scales[a].input, idx(1)))));
    inside += (inside.empty() ? "" : " and ") + at + " >= 0 and " + at + " <= " + last;
  }
  if (inside.empty()) return value;
  return "select(" + inside + ", " + value + ", " + number_text(b.dtype(), b.number("extrapolation_value")) + ")";
}

}  // namespace facet
