// Single-precision mathematics. The same text serves scalars and vectors, both compilers and both targets.
//
// exp, log, tanh, sigmoid and erf are worked out in f32: polynomials fitted at Chebyshev nodes, reduction with split constants.
// The others are the f64 functions rounded once. Bounds in the comments are the largest errors seen in the tests, in units of
// the last place of the result, on dense samples against long double.
#include "codegen/prelude.hpp"

namespace facet {

const HelperTable& math_helpers_f32() {
  using H = HelperText;
  static const HelperTable table = {{"exp", "f32", H::kBoth, R"(
// 1 ulp. x = n log 2 + r with |r| <= log(2) / 2; beyond the limits the result is 0 or infinity.
$FN $T exp_$S($T x) {
  const $T y = larger_$S($C(-104.0f), smaller_$S($C(89.0f), x));
  const $T n = mad_$S(y, $C(1.44269504f), $C(0x1.8p23f)) - $C(0x1.8p23f);
  $T r = mad_$S(n, $C(-0.693359375f), y);
  r = mad_$S(n, $C(2.12194440e-4f), r);
  $T p = mad_$S($C(0.001392692661f), r, $C(0.008363773874f));
  p = mad_$S(p, r, $C(0.04166655011f));
  p = mad_$S(p, r, $C(0.1666657338f));
  p = mad_$S(p, r, $C(0.5f));
  p = mad_$S(p, r, $C(1.0f));
  return scale2_$S(mad_$S(p, r, $C(1.0f)), n);
}
)"},
                                    {"log", "f32", H::kBoth, R"(
// 1 ulp. x = 2^n m with m in [sqrt(1/2), sqrt(2)); denormals are scaled first.
$FN $T log_$S($T x) {
  const $M tiny = x < $C(0x1p-126f);
  const $I i = (bits_$S(tiny ? x * $C(0x1p23f) : x) & 0x7fffffff) - 0x3f3504f3;
  const $T f = from_bits_$S((i & 0x7fffff) + 0x3f3504f3) - $C(1.0f);
  const $T n = to_float_$IS(i >> 23) - (tiny ? $C(23.0f) : $C(0.0f));
  const $T s = f * f;
  $T p = mad_$S($C(0.06971611471f), f, $C(-0.1147973385f));
  p = mad_$S(p, f, $C(0.1168541992f));
  p = mad_$S(p, f, $C(-0.1242568733f));
  p = mad_$S(p, f, $C(0.1424905765f));
  p = mad_$S(p, f, $C(-0.1666780232f));
  p = mad_$S(p, f, $C(0.2000071575f));
  p = mad_$S(p, f, $C(-0.2499999696f));
  p = mad_$S(p, f, $C(0.3333333118f));
  $T r = mad_$S(p, f * s, n * $C(-2.12194440e-4f));
  r = mad_$S($C(-0.5f), s, r);
  r = mad_$S(n, $C(0.693359375f), f + r);
  const $T special = x == $C(0.0f) ? $C(-__builtin_inff()) : (x < $C(0.0f) ? $C(__builtin_nanf("")) : x);
  return ((x > $C(0.0f)) & (x < $C(__builtin_inff()))) ? r : special;
}
)"},
                                    {"tanh", "f32", H::kBoth, R"(
// 2 ulp.
$FN $T tanh_$S($T x) {
  const $T a = abs_$S(x), z = x * x;
  $T p = mad_$S($C(-0.008343945516f) + $C(0.002292744816f) * z, z, $C(0.02176891865f));
  p = mad_$S(p, z, $C(-0.05395925958f));
  p = mad_$S(p, z, $C(0.1333330356f));
  p = mad_$S(p, z, $C(-0.3333333317f));
  const $T small = mad_$S(p * z, x, x);
  const $T large = $C(1.0f) - $C(2.0f) / (exp_$S(a + a) + $C(1.0f));
  return a < $C(0.625f) ? small : copysign_$S(large, x);
}
)"},
                                    {"sigmoid", "f32", H::kBoth, R"(
// 1 / (1 + exp(-x)), 2.5 ulp, denormal results included.
$FN $T sigmoid_$S($T x) {
  const $T e = exp_$S(-abs_$S(x));
  return (x < $C(0.0f) ? e : $C(1.0f)) / ($C(1.0f) + e) + (x != x ? x : $C(0.0f));
}
)"},
                                    {"erf", "f32", H::kBoth, R"(
// 2 ulp. A polynomial below 31 / 32. Above, 1 - q^4, where q is a polynomial near (1 - erf)^(1/4): what is subtracted is small
// there, and so is what its rounding costs. From 4 on the result rounds to 1.
$FN $T erf_$S($T x) {
  const $T z = x * x, a = abs_$S(x);
  $T p = mad_$S($C(-0.0005777127226f), z, $C(0.004949759226f));
  p = mad_$S(p, z, $C(-0.0267360229f));
  p = mad_$S(p, z, $C(0.1128094643f));
  p = mad_$S(p, z, $C(-0.376124084f));
  p = mad_$S(p, z, $C(0.1283791363f));
  const $T small = mad_$S(p, x, x);
  const $T t = a > $C(4.0f) ? $C(4.0f) : a;
  $T q = mad_$S($C(-2.496485104e-5f), t, $C(0.0002213063708f));
  q = mad_$S(q, t, $C(0.0004785983183f));
  q = mad_$S(q, t, $C(-0.0116142258f));
  q = mad_$S(q, t, $C(0.04116661847f));
  q = mad_$S(q, t, $C(-0.01363498438f));
  q = mad_$S(q, t, $C(-0.09675525874f));
  q = mad_$S(q, t, $C(-0.2918863595f));
  q = mad_$S(q, t, $C(1.001818776f));
  const $T square = q * q, large = mad_$S(-square, square, $C(1.0f));
  return a < $C(0.96875f) ? small : from_bits_$S(bits_$S(large) | (bits_$S(x) ^ bits_$S(a)));
}
)"},
#define FACET_FROM_F64(name)                                                                                      \
  {#name, "f32", H::kScalar, "\n$FN float " #name "_f32(float x) { return (float)" #name "_f64((double)x); }\n"}, \
      {#name, "f32", H::kVector,                                                                                  \
       "\n$FN $T " #name "_$S($T x) { return __builtin_convertvector(" #name "_$DS(__builtin_convertvector(x, $D)), $T); }\n"}
                                    FACET_FROM_F64(sin),
                                    FACET_FROM_F64(cos),
                                    FACET_FROM_F64(tan),
                                    FACET_FROM_F64(asin),
                                    FACET_FROM_F64(acos),
                                    FACET_FROM_F64(atan),
                                    FACET_FROM_F64(sinh),
                                    FACET_FROM_F64(cosh),
                                    FACET_FROM_F64(asinh),
                                    FACET_FROM_F64(acosh),
                                    FACET_FROM_F64(atanh),
                                    FACET_FROM_F64(log1p),
                                    FACET_FROM_F64(expm1),
#undef FACET_FROM_F64
                                    {"pow", "f32", H::kScalar, R"(
$FN float pow_f32(float x, float y) { return (float)pow_f64((double)x, (double)y); }
)"},
                                    {"fmod", "f32", H::kScalar, R"(
// Exact.
$FN float fmod_f32(float x, float y) { return (float)fmod_f64((double)x, (double)y); }
)"}};
  return table;
}

}  // namespace facet
