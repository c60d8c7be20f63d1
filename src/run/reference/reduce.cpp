// Reductions of the reference interpreter: the terms in lexicographic order, with a bound that holds for every other order.
//
// A sum of n terms added in any order by correctly rounded operations is within (n-1) * u * sum|terms| of the exact sum
// (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2), to first order. Sums of integers below 2^24 (f32) are
// exact in every order. argmax/argmin are ambiguous where another candidate comes within the bounds of the winner.
#include <algorithm>

#include "src/run/reference/bytecode.hpp"
#include "src/run/reference/error_model.hpp"
#include "src/run/reference/integer.hpp"

namespace facet::reference {

namespace {

// Runs `visit` on the body's value at every point of the ranges that satisfies the conditions; stops when it returns false.
template <class Visit>
bool for_each_term(State& state, const ReduceCode& reduce, std::size_t depth, const Visit& visit) {
  if (depth == reduce.ranges.size()) {
    if (--state.budget < 0) return false;
    for (const CodePtr& condition : reduce.conditions)
      if (!execute(state, *condition).i) return true;
    return visit(execute(state, *reduce.body));
  }
  const RangeCode& range = reduce.ranges[depth];
  const std::int64_t lower = evaluate(state, range.lower);
  const std::int64_t upper = evaluate(state, range.upper);
  std::int64_t& i = state.slots[static_cast<std::size_t>(range.slot)];
  for (i = lower; i < upper; ++i)
    if (!for_each_term(state, reduce, depth + 1, visit)) return false;
  return true;
}

// Largest integer up to which every integer is a value of the dtype.
double exact_integers(DType type) {
  switch (type) {
    case DType::kF64: return 0x1p53;
    case DType::kF16: return 0x1p11;
    case DType::kBF16: return 0x1p8;
    default: return 0x1p24;
  }
}

Value sum_floats(State& state, const ReduceCode& reduce) {
  double sum = 0;
  double magnitude = 0;
  double bounds = 0;
  std::int64_t terms = 0;
  bool integral = true;
  for_each_term(state, reduce, 0, [&](Value t) {
    sum += t.f;
    magnitude += std::fabs(t.f);
    bounds += t.bound;
    ++terms;
    if (integral) integral = t.f == std::nearbyint(t.f);  // rarely reached: a call without SSE 4.1
    return true;
  });
  if (std::isinf(bounds)) return float_value(sum, kAmbiguous);
  if (!std::isfinite(sum)) return float_value(sum, 0);  // infinities and NaNs among the terms win in every order
  if (bounds == 0 && integral && magnitude <= exact_integers(reduce.type)) return float_value(sum, 0);
  if (terms <= 1) return finish(reduce.type, reduce.facts, sum, bounds);
  if (magnitude > reduce.facts.largest) return finish_slow(reduce.type, reduce.facts, sum, magnitude, 1);
  return finish(reduce.type, reduce.facts, sum, bounds + static_cast<double>(terms - 1) * reduce.facts.unit * magnitude);
}

Value product_floats(State& state, const ReduceCode& reduce) {
  Value product = float_value(1);
  for_each_term(state, reduce, 0, [&](Value t) {
    product = float_mul(reduce.type, reduce.facts, product, t);
    return true;
  });
  return product;
}

Value extremum_floats(State& state, const ReduceCode& reduce) {
  const bool max = reduce.kind == ReduceKind::kMax;
  const double sign = max ? 1 : -1;
  double best = -kAmbiguous;  // of sign * term, as are the ends of the interval
  double low = -kAmbiguous;
  double high = -kAmbiguous;
  bool nan = false;
  bool ambiguous = false;
  for_each_term(state, reduce, 0, [&](Value t) {
    const double v = sign * t.f;
    nan = nan || std::isnan(v);
    ambiguous = ambiguous || std::isinf(t.bound);
    best = std::max(best, v);
    low = std::max(low, v - t.bound);
    high = std::max(high, v + t.bound);
    return true;
  });
  if (nan) return float_value(std::numeric_limits<double>::quiet_NaN(), ambiguous ? kAmbiguous : 0);
  if (ambiguous) return float_value(sign * best, kAmbiguous);
  return float_value(sign * best, std::isfinite(best) ? std::max(high - best, best - low) : 0);
}

Value reduce_ints(State& state, const ReduceCode& reduce) {
  const DType type = reduce.type;
  std::int64_t acc = 0;
  Op op = Op::kAdd;
  switch (reduce.kind) {
    case ReduceKind::kProd:
      acc = 1;
      op = Op::kMul;
      break;
    case ReduceKind::kMax:
      acc = lowest_of(type);
      op = Op::kMax;
      break;
    case ReduceKind::kMin:
      acc = highest_of(type);
      op = Op::kMin;
      break;
    case ReduceKind::kAny: op = Op::kOr; break;
    case ReduceKind::kAll:
      acc = 1;
      op = Op::kAnd;
      break;
    default: break;
  }
  double bound = 0;
  bool decided = false;  // a certain term that settles any / all
  for_each_term(state, reduce, 0, [&](Value t) {
    acc = integer_binary(op, type, acc, t.i);
    bound = std::max(bound, t.bound);
    decided = decided || (t.bound == 0 && ((op == Op::kOr && t.i) || (op == Op::kAnd && !t.i)));
    return true;
  });
  return int_value(acc, decided ? 0 : bound);
}

// First position of the largest (smallest) term; the first NaN wins.
Value arg_extremum(State& state, const ReduceCode& reduce) {
  const double sign = reduce.kind == ReduceKind::kArgMax ? 1 : -1;
  const Op better = reduce.kind == ReduceKind::kArgMax ? Op::kGt : Op::kLt;
  const bool floats = is_float(reduce.body_type);
  const int slot = reduce.ranges[0].slot;
  std::int64_t position = -1;
  Value best = {};
  double rival = -kAmbiguous;  // highest upper end of the candidates that are not the winner and not exact ties
  bool ambiguous = false;
  for_each_term(state, reduce, 0, [&](Value t) {
    const std::int64_t here = state.slots[static_cast<std::size_t>(slot)];
    ambiguous = ambiguous || std::isinf(t.bound);
    if (!floats) {
      if (position >= 0 && !integer_binary(better, reduce.body_type, t.i, best.i)) return true;
    } else if (std::isnan(t.f)) {
      position = here;
      rival = -kAmbiguous;
      best = float_value(t.f);
      return false;
    } else if (position >= 0 && !(sign * t.f > sign * best.f)) {
      if (t.f != best.f || t.bound != 0 || best.bound != 0) rival = std::max(rival, sign * t.f + t.bound);
      return true;
    } else if (position >= 0) {
      rival = std::max(rival, sign * best.f + best.bound);
    }
    best = t;
    position = here;
    return true;
  });
  if (position < 0) {
    add_violation(state, element_text(state) + ": " + to_text(reduce.kind) + " over no elements");
    return int_value(0, kAmbiguous);
  }
  if (floats && rival >= sign * best.f - best.bound) ambiguous = true;
  return int_value(position, ambiguous ? kAmbiguous : 0);
}

}  // namespace

Value execute_reduce(State& state, const ReduceCode& reduce) {
  if (reduce.kind == ReduceKind::kArgMax || reduce.kind == ReduceKind::kArgMin) return arg_extremum(state, reduce);
  if (!is_float(reduce.type)) return reduce_ints(state, reduce);
  if (reduce.kind == ReduceKind::kSum) return sum_floats(state, reduce);
  if (reduce.kind == ReduceKind::kProd) return product_floats(state, reduce);
  return extremum_floats(state, reduce);
}

}  // namespace facet::reference
