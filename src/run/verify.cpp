// The verdict on a run: element-wise comparison by the reference's bounds.
#include "src/run/verify.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "src/run/reference/value.hpp"

namespace facet {

namespace {

constexpr double kAmbiguousShare = 0.001;   // contract: more than 0.1 % ambiguous is not verified
constexpr std::int64_t kTellingCount = 16;  // V10 applies to outputs of at least this many elements

// Under `free` numerics a sum may be computed from sums and differences of other elements (Winograd), whose rounding follows
// the largest terms of the result and not its own: any element may then be off by so many times the largest bound of its
// tensor. 3 x 3 windows in tiles of 4 x 4 and one channel, the worst of the rewrites, stay below 6 times it (uniform values).
constexpr double kFreeBounds = 16;

constexpr std::uint16_t kPoison16 = 0x7FED;  // a quiet NaN in f16 and in bf16
constexpr std::uint32_t kPoison32 = 0x7FED1E55;
constexpr std::uint64_t kPoison64 = 0x7FFD1E55DEADBEA7;
constexpr std::uint8_t kPoisonByte = 0xA5;

std::string number(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", v);
  return text;
}

std::string element_name(const std::string& name, const std::vector<std::int64_t>& shape, std::int64_t i) {
  std::string text;
  for (std::size_t d = shape.size(); d-- > 0;) {
    text = std::to_string(i % shape[d]) + (text.empty() ? "" : ", ") + text;
    i /= shape[d];
  }
  return name + "[" + text + "]";
}

// The worst element so far, by error over tolerance.
struct Worst {
  double ratio = 0;
  std::int64_t at = -1;
  std::string what;
};

struct Comparison {
  bool right = false;
  double error = 0;
  double tolerance = 0;
  const char* what = "";
};

Comparison compare_float(DType dtype, double wanted, double bound, double got) {
  if (std::isnan(wanted) || std::isnan(got)) {
    const bool both = std::isnan(wanted) && std::isnan(got);
    return {both, both ? 0 : reference::kAmbiguous, 0, std::isnan(got) ? "is NaN" : "should be NaN"};
  }
  const double rounded = round_to(dtype, wanted);
  if (got == rounded || got == wanted) return {true, std::fabs(got - wanted) > 0 ? std::fabs(got - wanted) : 0, bound, ""};
  const reference::FloatFacts facts = reference::float_facts(dtype, false);
  double tolerance = bound;
  // Rounding a value that may lie anywhere within its bound costs half an ulp; an exact value rounds to `rounded` only.
  if (bound != 0) tolerance += facts.unit * (std::fabs(wanted) + bound) + facts.tiny;
  if (!std::isfinite(rounded) && std::isfinite(got)) tolerance += facts.largest * facts.unit;
  const double error = std::fabs(got - wanted);
  return {error <= tolerance, error, tolerance, "differs"};
}

void note(Worst& worst, const Comparison& c, std::int64_t i, const char* what) {
  const double ratio = c.tolerance > 0 ? c.error / c.tolerance : reference::kAmbiguous;
  if (worst.at >= 0 && !(ratio > worst.ratio)) return;
  worst = {ratio, i, what};
}

// V10: a reference that says nothing makes every wrong kernel look right.
std::string telltale(const ReferenceTensor& t, std::int64_t elements, bool sampled) {
  if (elements < kTellingCount) return "";
  std::int64_t count = 0;
  std::int64_t nonfinite = 0;
  std::int64_t equal_to_first = 0;
  for (std::int64_t i = 0; i < elements; ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    if (sampled && !t.defined[at]) continue;  // the first element is always among the samples
    ++count;
    if (is_float(t.dtype)) {
      nonfinite += !std::isfinite(t.floats[at]);
      equal_to_first += t.floats[at] == t.floats[0];
    } else {
      equal_to_first += t.ints[at] == t.ints[0];
    }
  }
  if (2 * nonfinite > count)
    return "most of its reference values are infinite or NaN, so the random inputs check nothing; give it a sample rule";
  if (equal_to_first == count)
    return "all its reference values are equal, so the random inputs check nothing; give it a sample rule";
  return "";
}

class OutputCheck {
 public:
  OutputCheck(const ReferenceTensor& wanted, const HostTensor& got, bool sampled, bool free)
      : wanted_(wanted), got_(got), sampled_(sampled) {
    for (std::size_t at = 0; free && is_float(wanted.dtype) && at < wanted.bounds.size(); ++at)
      if (std::isfinite(wanted.bounds[at]))
        least_bound_ = std::max(least_bound_, kFreeBounds * static_cast<double>(wanted.bounds[at]));
  }

  OutputVerdict run(const std::string& name, bool sampled_inputs) {
    verdict_.name = name;
    verdict_.elements = got_.element_count();
    if (got_.shape != wanted_.shape || got_.dtype != wanted_.dtype) {
      verdict_.reason = name + " has another shape or dtype than the reference";
      return verdict_;
    }
    mean_square_root_ = root_mean_square();
    for (std::int64_t i = 0; i < verdict_.elements; ++i) check(i);
    conclude(sampled_inputs);
    return verdict_;
  }

 private:
  void check(std::int64_t i) {
    const std::size_t at = static_cast<std::size_t>(i);
    if (!wanted_.defined.empty() && !wanted_.defined[at]) {
      if (is_poison(got_, i)) return fail(i, {}, "was not written");
      if (!sampled_) fail(i, {}, "is never defined by the program");
      return;
    }
    ++compared_;
    const double bound = std::max(wanted_.bounds.empty() ? 0 : static_cast<double>(wanted_.bounds[at]), least_bound_);
    if (is_poison(got_, i)) return fail(i, {}, "was not written");
    if (std::isinf(bound)) {
      ++verdict_.ambiguous;
      return;
    }
    const Comparison c =
        is_float(wanted_.dtype) ? compare_float(wanted_.dtype, wanted_.floats[at], bound, got_.get(i)) : compare_int(i);
    if (std::isfinite(c.error)) {
      verdict_.max_abs_error = std::max(verdict_.max_abs_error, c.error);
      const double size = std::max(std::fabs(wanted_at(at)), mean_square_root_);
      if (size > 0 && std::isfinite(size)) verdict_.max_rel_error = std::max(verdict_.max_rel_error, c.error / size);
    }
    verdict_.tolerance = std::max(verdict_.tolerance, c.tolerance);
    if (!c.right) return fail(i, c, c.what);
    ++verdict_.verified_elements;
  }

  double wanted_at(std::size_t at) const {
    return is_float(wanted_.dtype) ? wanted_.floats[at] : static_cast<double>(wanted_.ints[at]);
  }

  // Of the finite reference values: elements much smaller than it came out of cancellation, and their own size says little.
  double root_mean_square() const {
    double sum = 0;
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < verdict_.elements; ++i) {
      const std::size_t at = static_cast<std::size_t>(i);
      if (!wanted_.defined.empty() && !wanted_.defined[at]) continue;
      const double v = wanted_at(at);
      if (!std::isfinite(v)) continue;
      sum += v * v;
      ++count;
    }
    return count > 0 ? std::sqrt(sum / static_cast<double>(count)) : 0;
  }

  Comparison compare_int(std::int64_t i) const {
    const std::int64_t a = wanted_.ints[static_cast<std::size_t>(i)];
    const std::int64_t b = got_.get_int(i);
    return {a == b, std::fabs(static_cast<double>(a) - static_cast<double>(b)), 0, "differs"};
  }

  void fail(std::int64_t i, const Comparison& c, const char* what) {
    ++verdict_.wrong;
    note(worst_, c, i, what);
  }

  void conclude(bool sampled_inputs) {
    if (verdict_.wrong > 0) {
      verdict_.reason = worst_text() + "; " + std::to_string(verdict_.wrong) + " of " + std::to_string(verdict_.elements) +
                        " elements are wrong";
    } else if (static_cast<double>(verdict_.ambiguous) > kAmbiguousShare * static_cast<double>(compared_)) {
      verdict_.reason = verdict_.name + ": " + std::to_string(verdict_.ambiguous) + " of " + std::to_string(compared_) +
                        " elements hang on a comparison that rounding may turn over";
    } else if (sampled_inputs) {
      const std::string text = telltale(wanted_, verdict_.elements, sampled_);
      if (!text.empty()) verdict_.reason = verdict_.name + ": " + text;
    }
    verdict_.verified = verdict_.reason.empty();
  }

  std::string worst_text() const {
    const std::string element = element_name(verdict_.name, got_.shape, worst_.at);
    const std::size_t at = static_cast<std::size_t>(worst_.at);
    std::string text = element + " " + worst_.what;
    if (!wanted_.defined.empty() && !wanted_.defined[at]) return text;
    const bool floats = is_float(wanted_.dtype);
    const std::string wanted = floats ? number(wanted_.floats[at]) : std::to_string(wanted_.ints[at]);
    const std::string got = floats ? number(got_.get(worst_.at)) : std::to_string(got_.get_int(worst_.at));
    text += ": it is " + got + ", the reference is " + wanted;
    if (floats && !wanted_.bounds.empty()) text += " with an error bound of " + number(static_cast<double>(wanted_.bounds[at]));
    return text;
  }

  const ReferenceTensor& wanted_;
  const HostTensor& got_;
  bool sampled_;
  double least_bound_ = 0;  // that every element is granted
  double mean_square_root_ = 0;
  std::int64_t compared_ = 0;
  OutputVerdict verdict_;
  Worst worst_;
};

template <class T>
void fill_pattern(HostTensor& t, T pattern) {
  for (std::size_t i = 0; i + sizeof(T) <= t.bytes.size(); i += sizeof(T))
    std::memcpy(t.bytes.data() + i, &pattern, sizeof pattern);
}

template <class T>
bool has_pattern(const HostTensor& t, std::int64_t i, T pattern) {
  return std::memcmp(t.bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &pattern, sizeof pattern) == 0;
}

}  // namespace

Verdict verify(const Program& program, const ReferenceRun& reference, const HostTensors& results, bool sampled_inputs) {
  Verdict verdict;
  verdict.sampled = reference.sampled;
  const bool free = program.numerics.reassociate == Numerics::Reassociate::kFree;
  for (const std::string& name : program.outputs) {
    const auto got = results.find(name);
    const auto wanted = reference.outputs.find(name);
    OutputVerdict output;
    output.name = name;
    if (got == results.end() || wanted == reference.outputs.end()) {
      output.reason = name + " has no result";
    } else {
      output = OutputCheck(wanted->second, got->second, reference.sampled, free).run(name, sampled_inputs);
    }
    verdict.max_abs_error = std::max(verdict.max_abs_error, output.max_abs_error);
    verdict.max_rel_error = std::max(verdict.max_rel_error, output.max_rel_error);
    verdict.tolerance = std::max(verdict.tolerance, output.tolerance);
    verdict.verified_elements += output.verified_elements;
    verdict.ambiguous += output.ambiguous;
    if (verdict.reason.empty()) verdict.reason = output.reason;
    verdict.outputs.push_back(std::move(output));
  }
  if (verdict.reason.empty() && reference.gather_count > 0)
    verdict.reason = reference.gathers.front() + " (" + std::to_string(reference.gather_count) + " gathers were clamped)";
  verdict.verified = verdict.reason.empty();
  return verdict;
}

void poison(HostTensor& t) {
  if (!is_float(t.dtype)) return fill_pattern(t, kPoisonByte);
  if (t.dtype == DType::kF64) return fill_pattern(t, kPoison64);
  if (t.dtype == DType::kF32) return fill_pattern(t, kPoison32);
  fill_pattern(t, kPoison16);
}

bool is_poison(const HostTensor& t, std::int64_t i) {
  switch (t.dtype) {
    case DType::kF64: return has_pattern(t, i, kPoison64);
    case DType::kF32: return has_pattern(t, i, kPoison32);
    case DType::kF16:
    case DType::kBF16: return has_pattern(t, i, kPoison16);
    case DType::kBool: return has_pattern(t, i, kPoisonByte);
    default: return false;
  }
}

}  // namespace facet
