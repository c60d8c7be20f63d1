// Integer arithmetic with every corner defined (contract V2), and minimum and maximum that keep NaN (V3).
#include "codegen/openmp/prelude.hpp"

namespace facet {

PreludeDialect openmp_prelude() {
  // Always inlined: passing wide vectors between functions depends on the instruction set, which compilers warn of.
  return {"static inline",
          {&integer_helpers(), &memory_helpers(), &vector_helpers(), &rounding_helpers(), &conversion_helpers(),
           &math_helpers_f32(), &math_helpers_f64()},
          "[[gnu::always_inline]] static inline"};
}

const HelperTable& integer_helpers() {
  using H = HelperText;
  static const HelperTable table = {{"wrap_add", "int", H::kScalar, R"(
$FN $T wrap_add_$S($T a, $T b) { return ($T)(($WU)a + ($WU)b); }
)"},
                                    {"wrap_add", "int", H::kVector, R"(
$FN $T wrap_add_$S($T a, $T b) { return ($T)(($U)a + ($U)b); }
)"},
                                    {"wrap_sub", "int", H::kScalar, R"(
$FN $T wrap_sub_$S($T a, $T b) { return ($T)(($WU)a - ($WU)b); }
)"},
                                    {"wrap_sub", "int", H::kVector, R"(
$FN $T wrap_sub_$S($T a, $T b) { return ($T)(($U)a - ($U)b); }
)"},
                                    {"wrap_mul", "int", H::kScalar, R"(
$FN $T wrap_mul_$S($T a, $T b) { return ($T)(($WU)a * ($WU)b); }
)"},
                                    {"wrap_mul", "int", H::kVector, R"(
$FN $T wrap_mul_$S($T a, $T b) { return ($T)(($U)a * ($U)b); }
)"},
                                    {"wrap_neg", "int", H::kScalar, R"(
$FN $T wrap_neg_$S($T a) { return ($T)(0 - ($WU)a); }
)"},
                                    {"wrap_neg", "int", H::kVector, R"(
$FN $T wrap_neg_$S($T a) { return ($T)(-($U)a); }
)"},
                                    {"abs", "unsigned", H::kBoth, R"(
$FN $T abs_$S($T a) { return a; }
)"},
                                    {"abs", "signed", H::kBoth, R"(
$FN $T abs_$S($T a) { return a < 0 ? wrap_neg_$S(a) : a; }
)"},
                                    {"floor_div", "signed", H::kScalar, R"(
// Rounds towards minus infinity; by zero gives 0.
$FN $T floor_div_$S($T a, $T b) {
  if (b == 0) return 0;
  if (b == -1) return wrap_neg_$S(a);
  return ($T)(a / b - ((a % b != 0) & ((a < 0) != (b < 0))));
}
)"},
                                    {"floor_mod", "signed", H::kScalar, R"(
// The sign of the divisor; by zero gives 0.
$FN $T floor_mod_$S($T a, $T b) {
  if (b == 0 || b == -1) return 0;
  const $T r = ($T)(a % b);
  return r != 0 && (r < 0) != (b < 0) ? ($T)(r + b) : r;
}
)"},
                                    {"trunc_div", "signed", H::kScalar, R"(
$FN $T trunc_div_$S($T a, $T b) { return b == 0 ? ($T)0 : b == -1 ? wrap_neg_$S(a) : ($T)(a / b); }
)"},
                                    {"trunc_mod", "signed", H::kScalar, R"(
$FN $T trunc_mod_$S($T a, $T b) { return b == 0 || b == -1 ? ($T)0 : ($T)(a % b); }
)"},
                                    {"floor_div", "unsigned", H::kScalar, R"(
$FN $T floor_div_$S($T a, $T b) { return b == 0 ? ($T)0 : ($T)(a / b); }
)"},
                                    {"floor_mod", "unsigned", H::kScalar, R"(
$FN $T floor_mod_$S($T a, $T b) { return b == 0 ? ($T)0 : ($T)(a % b); }
)"},
                                    {"trunc_div", "unsigned", H::kScalar, R"(
$FN $T trunc_div_$S($T a, $T b) { return b == 0 ? ($T)0 : ($T)(a / b); }
)"},
                                    {"trunc_mod", "unsigned", H::kScalar, R"(
$FN $T trunc_mod_$S($T a, $T b) { return b == 0 ? ($T)0 : ($T)(a % b); }
)"},
                                    {"shl", "int", H::kScalar, R"(
$FN $T shl_$S($T a, $T n) { return ($T)(($WU)a << (n & ($B - 1))); }
)"},
                                    {"shr", "int", H::kScalar, R"(
$FN $T shr_$S($T a, $T n) { return ($T)(a >> (n & ($B - 1))); }
)"},
                                    {"shl", "int", H::kVector, R"(
$FN $T shl_$S($T a, $T n) { return ($T)(($U)a << ($U)(n & ($B - 1))); }
)"},
                                    {"shr", "int", H::kVector, R"(
$FN $T shr_$S($T a, $T n) { return a >> (n & ($B - 1)); }
)"},
                                    {"pow", "signed", H::kScalar, R"(
// Wraps; a negative exponent gives 0 except for bases 1 and -1.
$FN $T pow_$S($T a, $T n) {
  if (n < 0) return a == 1 || (a == -1 && n % 2 == 0) ? ($T)1 : a == -1 ? ($T)-1 : ($T)0;
  $T r = 1;
  for (; n != 0; n = ($T)(n >> 1)) {
    if (n & 1) r = wrap_mul_$S(r, a);
    a = wrap_mul_$S(a, a);
  }
  return r;
}
)"},
                                    {"pow", "unsigned", H::kScalar, R"(
$FN $T pow_$S($T a, $T n) {
  $T r = 1;
  for (; n != 0; n = ($T)(n >> 1)) {
    if (n & 1) r = wrap_mul_$S(r, a);
    a = wrap_mul_$S(a, a);
  }
  return r;
}
)"},
                                    {"sign", "signed", H::kScalar, R"(
$FN $T sign_$S($T a) { return ($T)((a > 0) - (a < 0)); }
)"},
                                    {"sign", "unsigned", H::kScalar, R"(
$FN $T sign_$S($T a) { return ($T)(a != 0); }
)"},
                                    {"sign", "float", H::kBoth, R"(
// NaN and zeros stay as they are.
$FN $T sign_$S($T a) { return a > 0 ? $C(1.0f) : (a < 0 ? $C(-1.0f) : a); }
)"},
                                    {"min", "int", H::kBoth, R"(
$FN $T min_$S($T a, $T b) { return a < b ? a : b; }
)"},
                                    {"max", "int", H::kBoth, R"(
$FN $T max_$S($T a, $T b) { return a > b ? a : b; }
)"},
                                    {"min", "float", H::kVector, R"(
// NaN wins on either side.
$FN $T min_$S($T a, $T b) { return a != a ? a : smaller_$S(a, b); }
)"},
                                    {"min", "float", H::kScalar, R"(
// NaN wins on either side.
$FN $T min_$S($T a, $T b) { return a != a ? a : (a < b ? a : b); }
)"},
                                    {"max", "float", H::kVector, R"(
// NaN wins on either side.
$FN $T max_$S($T a, $T b) { return a != a ? a : larger_$S(a, b); }
)"},
                                    {"max", "float", H::kScalar, R"(
// NaN wins on either side.
$FN $T max_$S($T a, $T b) { return a != a ? a : (a > b ? a : b); }
)"},
                                    {"fmin", "int", H::kBoth, R"(
$FN $T fmin_$S($T a, $T b) { return a < b ? a : b; }
)"},
                                    {"fmax", "int", H::kBoth, R"(
$FN $T fmax_$S($T a, $T b) { return a > b ? a : b; }
)"},
                                    {"fmin", "float", H::kBoth, R"(
// C's fmin: the number wins over NaN.
$FN $T fmin_$S($T a, $T b) { return b != b ? a : (a < b ? a : b); }
)"},
                                    {"fmax", "float", H::kBoth, R"(
// C's fmax: the number wins over NaN.
$FN $T fmax_$S($T a, $T b) { return b != b ? a : (a > b ? a : b); }
)"},
                                    {"is_nan", "float", H::kBoth, R"(
$FN $M is_nan_$S($T a) { return a != a; }
)"},
                                    {"is_inf", "float", H::kBoth, R"(
$FN $M is_inf_$S($T a) { return abs_$S(a) == $C(__builtin_inff()); }
)"}};
  return table;
}

}  // namespace facet
