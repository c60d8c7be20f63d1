// Interval arithmetic, saturating at the extremes of int64.
#include "codegen/cuda/interval.hpp"

#include <algorithm>

namespace facet {

namespace {

constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHigh = std::numeric_limits<std::int64_t>::max();

__extension__ using Wide = __int128;

bool infinite(std::int64_t v) { return v == kLow || v == kHigh; }

std::int64_t narrow(Wide v) { return v <= kLow ? kLow : v >= kHigh ? kHigh : static_cast<std::int64_t>(v); }

std::int64_t add(std::int64_t a, std::int64_t b) {
  if (infinite(a)) return a;
  return infinite(b) ? b : narrow(static_cast<Wide>(a) + b);
}

std::int64_t negate(std::int64_t a) { return a == kLow ? kHigh : a == kHigh ? kLow : -a; }

std::int64_t multiply(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (infinite(a) || infinite(b)) return (a < 0) != (b < 0) ? kLow : kHigh;
  return narrow(static_cast<Wide>(a) * b);
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  if (infinite(a)) return a;
  const std::int64_t q = a / b;
  return a % b != 0 && a < 0 ? q - 1 : q;
}

Interval product(const Interval& a, const Interval& b) {
  const std::int64_t corners[] = {multiply(a.low, b.low), multiply(a.low, b.high), multiply(a.high, b.low),
                                  multiply(a.high, b.high)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

}  // namespace

Interval interval_of(const ExprPtr& e, const std::vector<Symbol>& symbols) {
  const auto arg = [&](std::size_t k) { return interval_of(e->args[k], symbols); };
  switch (e->op) {
    case Op::kLiteral: return {e->int_value, e->int_value};
    case Op::kIndex:
      for (const Symbol& s : symbols)
        if (s.name == e->name) return {s.min, s.max};
      return {};
    case Op::kCast: return is_integer(e->type) && size_bytes(e->type) == 8 ? arg(0) : Interval{};
    case Op::kNeg: {
      const Interval a = arg(0);
      return {negate(a.high), negate(a.low)};
    }
    case Op::kAdd: {
      const Interval a = arg(0), b = arg(1);
      return {add(a.low, b.low), add(a.high, b.high)};
    }
    case Op::kSub: {
      const Interval a = arg(0), b = arg(1);
      return {add(a.low, negate(b.high)), add(a.high, negate(b.low))};
    }
    case Op::kMul: return product(arg(0), arg(1));
    case Op::kMin: {
      const Interval a = arg(0), b = arg(1);
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    }
    case Op::kMax: {
      const Interval a = arg(0), b = arg(1);
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    }
    case Op::kFloorDiv: {
      const Interval a = arg(0), b = arg(1);
      if (!b.constant() || b.low <= 0) return {};
      return {floor_div(a.low, b.low), floor_div(a.high, b.low)};
    }
    case Op::kTruncDiv: {
      const Interval a = arg(0), b = arg(1);
      if (a.low < 0 || !b.constant() || b.low <= 0) return {};
      return {a.low / b.low, a.bounded_above() ? a.high / b.low : a.high};
    }
    case Op::kTruncMod:
      if (arg(0).low < 0) return {};
      [[fallthrough]];
    case Op::kFloorMod: {
      const Interval b = arg(1);
      if (b.low <= 0 || !b.bounded_above()) return {};
      return {0, b.high - 1};
    }
    case Op::kSelect: {
      const Interval a = arg(1), b = arg(2);
      return {std::min(a.low, b.low), std::max(a.high, b.high)};
    }
    default: return {};
  }
}

}  // namespace facet
