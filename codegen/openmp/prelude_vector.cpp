// Making vectors, taking them apart, and reducing over lanes in a fixed tree order.
#include "codegen/openmp/prelude.hpp"

namespace facet {

namespace {

// Folds halves: x[0..L/2) OP x[L/2..L), until one lane is left.
std::string lane_reduction(const char* name, const char* vector_form, const char* scalar_form, int lanes) {
  std::string text = std::string("\n$FN $E ") + name + "_$S($T x) {\n";
  if (lanes == 2) return text + "  const $E a = x[0], b = x[1];\n  return " + scalar_form + ";\n}\n";
  return text +
         "  const $TH a = __builtin_shufflevector(x, x, $LOW);\n"
         "  const $TH b = __builtin_shufflevector(x, x, $HIGH);\n"
         "  return " +
         name + "_$H(" + vector_form + ");\n}\n";
}

std::string lane_sum(DType type, int lanes) {
  return is_float(type) ? lane_reduction("lane_sum", "a + b", "a + b", lanes)
                        : lane_reduction("lane_sum", "wrap_add_$H(a, b)", "wrap_add_$ES(a, b)", lanes);
}
std::string lane_prod(DType type, int lanes) {
  return is_float(type) ? lane_reduction("lane_prod", "a * b", "a * b", lanes)
                        : lane_reduction("lane_prod", "wrap_mul_$H(a, b)", "wrap_mul_$ES(a, b)", lanes);
}
std::string lane_max(DType, int lanes) { return lane_reduction("lane_max", "max_$H(a, b)", "max_$ES(a, b)", lanes); }
std::string lane_min(DType, int lanes) { return lane_reduction("lane_min", "min_$H(a, b)", "min_$ES(a, b)", lanes); }
std::string lane_any(DType, int lanes) { return lane_reduction("lane_any", "a | b", "a | b", lanes); }
std::string lane_all(DType, int lanes) { return lane_reduction("lane_all", "a & b", "a & b", lanes); }

}  // namespace

const HelperTable& vector_helpers() {
  using H = HelperText;
  static const HelperTable table = {{"splat", "float", H::kVector, R"(
$FN $T splat_$S($E x) { return x - $T{}; }
)"},
                                    {"splat", "int", H::kVector, R"(
$FN $T splat_$S($E x) { return x + $T{}; }
)"},
                                    {"iota", "int", H::kVector, R"(
$FN $T iota_$S($E base) { return base + $T{$ALL}; }
)"},
                                    {"iota", "float", H::kVector, R"(
$FN $T iota_$S($E base) { return base + $T{$ALL}; }
)"},
                                    {"first", "i32", H::kVector, R"(
// Mask of the first n lanes; n may be negative or larger than the vector.
$FN $T first_$S(int64_t n) {
  const int32_t count = n < 0 ? 0 : n > $L ? $L : (int32_t)n;
  return $T{$ALL} < splat_$S(count);
}
)"},
                                    {"lane_sum", "any", H::kVector, nullptr, lane_sum},
                                    {"lane_prod", "any", H::kVector, nullptr, lane_prod},
                                    {"lane_max", "any", H::kVector, nullptr, lane_max},
                                    {"lane_min", "any", H::kVector, nullptr, lane_min},
                                    {"lane_any", "int", H::kVector, nullptr, lane_any},
                                    {"lane_all", "int", H::kVector, nullptr, lane_all}};
  return table;
}

}  // namespace facet
