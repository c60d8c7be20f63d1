// Double-precision trigonometry. Arguments of any size: beyond 2^20 pi/2 the quotient's fraction comes from the bits of 2 / pi.
#include "codegen/prelude.hpp"

namespace facet {

const HelperTable& math_helpers_angle() {
  using H = HelperText;
  static const HelperTable table = {{"quarter_turns", "f64", H::kScalar, R"(
// x = (4 k + n) pi/2 + r + *low with |r| <= pi/4 + a little; returns r, *turns = n in 0..3. For |x| >= 2^20, finite.
$FN double quarter_turns_f64(double x, int* turns, double* low) {
  // The first 1280 bits of 2 / pi, after a word of zeros that stands for bits before the point.
  static const uint64_t bits[21] = {
      0,
      UINT64_C(0xa2f9836e4e441529), UINT64_C(0xfc2757d1f534ddc0), UINT64_C(0xdb6295993c439041), UINT64_C(0xfe5163abdebbc561),
      UINT64_C(0xb7246e3a424dd2e0), UINT64_C(0x06492eea09d1921c), UINT64_C(0xfe1deb1cb129a73e), UINT64_C(0xe88235f52ebb4484),
      UINT64_C(0xe99c7026b45f7e41), UINT64_C(0x3991d639835339f4), UINT64_C(0x9c845f8bbdf9283b), UINT64_C(0x1ff897ffde05980f),
      UINT64_C(0xef2f118b5a0a6d1f), UINT64_C(0x6d367ecf27cb09b7), UINT64_C(0x4f463f669e5fea2d), UINT64_C(0x7527bac7ebe5f17b),
      UINT64_C(0x3d0739f78a5292ea), UINT64_C(0x6bfb5fb11f8d5d08), UINT64_C(0x56033046fc7b6bab), UINT64_C(0xf0cfbc209af4361d)};
  const uint64_t u = (uint64_t)bits_f64(abs_f64(x)), m = (u & ((UINT64_C(1) << 52) - 1)) | (UINT64_C(1) << 52);
  // |x| = m 2^e. What the bits of 2/pi above 2^(1 - e) add is a multiple of 4 turns; the next 192 give the quotient modulo 4.
  const int first = (int)(u >> 52) - 1075 - 2 + 64;
  uint64_t digits[6], product[6] = {0, 0, 0, 0, 0, 0};   // 32 bits each, least first
  for (int i = 0; i < 3; ++i) {
    const int word = first / 64 + i, shift = first % 64;
    const uint64_t w = shift ? (bits[word] << shift) | (bits[word + 1] >> (64 - shift)) : bits[word];
    digits[5 - 2 * i] = w >> 32;
    digits[4 - 2 * i] = w & 0xffffffff;
  }
  for (int j = 0; j < 2; ++j) {
    const uint64_t factor = j ? m >> 32 : m & 0xffffffff;
    uint64_t carry = 0;
    for (int i = 0; i + j < 6; ++i) {
      carry += product[i + j] + digits[i] * factor;
      product[i + j] = carry & 0xffffffff;
      carry >>= 32;
    }
  }
  const uint64_t p[3] = {product[1] << 32 | product[0], product[3] << 32 | product[2], product[5] << 32 | product[4]};
  int n = (int)(p[2] >> 62);
  uint64_t high = p[2] << 2 | p[1] >> 62, next = p[1] << 2 | p[0] >> 62;   // fraction of a quarter turn, 128 bits
  const bool up = high >> 63;
  if (up) {
    n = (n + 1) & 3;
    next = 0 - next;
    high = ~high + (next == 0);
  }
  double r = (double)(high >> 11) * 0x1p-53, rest = ((double)((high << 53) | (next >> 11)) * 0x1p-117);
  const double t = r + rest;
  rest = (r - t) + rest;
  const double y = t * 0x1.921fb54442d18p+0;
  const double yl = fma_f64(t, 0x1.921fb54442d18p+0, -y) + t * 0x1.1a62633145c07p-54 + rest * 0x1.921fb54442d18p+0;
  const bool negative = up != (x < 0);
  *turns = x < 0 ? (4 - n) & 3 : n;
  *low = negative ? -yl : yl;
  return negative ? -y : y;
}
)"},
                                    {"angle", "f64", H::kScalar, R"(
// x = n pi/2 + r + *low; returns r, *turns = n modulo 4.
$FN double angle_f64(double x, int* turns, double* low) {
  if (!(abs_f64(x) < 0x1p20)) {
    if (abs_f64(x) < __builtin_inf()) return quarter_turns_f64(x, turns, low);
    *turns = 0;
    *low = 0;
    return __builtin_nan("");
  }
  const double n = round_even_f64(x * 0.6366197723675814);
  // pi/2 in three parts of 33, 33 and 53 bits: the first two products are exact.
  const double a = x - n * 0x1.921fb544p+0, b = n * 0x1.0b4611a6p-34;
  const double c = a - b, error = (a - c) - b, rest = n * 0x1.3198a2e037073p-69 - error;
  const double r = c - rest;
  *low = (c - r) - rest;
  *turns = (int)((int64_t)n & 3);
  return r;
}
)"},
                                    {"sin_part", "f64", H::kScalar, R"(
$FN double sin_part_f64(double r, double low) {
  const double z = r * r;
  double p = fma_f64(-7.586093283910409e-13, z, 1.605852132415535e-10);
  p = fma_f64(p, z, -2.5052106167171305e-08);
  p = fma_f64(p, z, 2.7557319219150304e-06);
  p = fma_f64(p, z, -0.00019841269841264821);
  p = fma_f64(p, z, 0.008333333333333331);
  p = fma_f64(p, z, -0.16666666666666666);
  return r + (p * z * r + (low - low * 0.5 * z));
}
)"},
                                    {"cos_part", "f64", H::kScalar, R"(
$FN double cos_part_f64(double r, double low) {
  const double z = r * r, half = 0.5 * z, w = 1 - half;
  double p = fma_f64(-1.1381752459316457e-11, z, 2.0876133993327844e-09);
  p = fma_f64(p, z, -2.755731721253751e-07);
  p = fma_f64(p, z, 2.4801587298651e-05);
  p = fma_f64(p, z, -0.0013888888888887322);
  p = fma_f64(p, z, 0.041666666666666664);
  return w + (((1 - w) - half) + (p * z * z - r * low));
}
)"},
                                    {"sin", "f64", H::kScalar, R"(
// 1 ulp.
$FN double sin_f64(double x) {
  int n;
  double low;
  const double r = angle_f64(x, &n, &low);
  const double y = n & 1 ? cos_part_f64(r, low) : sin_part_f64(r, low);
  return x == 0 ? x : n & 2 ? -y : y;
}
)"},
                                    {"cos", "f64", H::kScalar, R"(
// 1 ulp.
$FN double cos_f64(double x) {
  int n;
  double low;
  const double r = angle_f64(x, &n, &low);
  const double y = n & 1 ? sin_part_f64(r, low) : cos_part_f64(r, low);
  return (n + 1) & 2 ? -y : y;
}
)"},
                                    {"tan", "f64", H::kScalar, R"(
// 3 ulp.
$FN double tan_f64(double x) {
  int n;
  double low;
  const double r = angle_f64(x, &n, &low);
  const double s = sin_part_f64(r, low), c = cos_part_f64(r, low);
  return x == 0 ? x : n & 1 ? -c / s : s / c;
}
)"},
                                    {"atan", "f64", H::kBoth, R"(
// 2 ulp. Reciprocal above tan(3 pi/8), (a - 1) / (a + 1) above tan(pi/8).
$FN $T atan_$S($T x) {
  const $T a = abs_$S(x);
  const $M far = a > $C(2.414213562373095), middle = (a > $C(0.4142135623730951)) & (a <= $C(2.414213562373095));
  const $T t = far ? $C(-1.0) / a : (middle ? (a - $C(1.0)) / (a + $C(1.0)) : a);
  const $T z = t * t;
  $T p = mad_$S($C(0.016148228546771868), z, $C(-0.034445844423577385));
  p = mad_$S(p, z, $C(0.045467195095551666));
  p = mad_$S(p, z, $C(-0.0522938047378184));
  p = mad_$S(p, z, $C(0.058787824694439814));
  p = mad_$S(p, z, $C(-0.06666412077725274));
  p = mad_$S(p, z, $C(0.07692295657328273));
  p = mad_$S(p, z, $C(-0.09090908728587459));
  p = mad_$S(p, z, $C(0.11111111104652255));
  p = mad_$S(p, z, $C(-0.14285714285654638));
  p = mad_$S(p, z, $C(0.19999999999999785));
  p = mad_$S(p, z, $C(-0.3333333333333333));
  const $T base = far ? $C(0x1.921fb54442d18p+0) : (middle ? $C(0x1.921fb54442d18p-1) : $C(0.0));
  const $T low = far ? $C(0x1.1a62633145c07p-54) : (middle ? $C(0x1.1a62633145c07p-55) : $C(0.0));
  return copysign_$S(base + (mad_$S(p * z, t, low) + t), x);
}
)"},
                                    {"asin_series", "f64", H::kBoth, R"(
// (asin(x) - x) / x for x^2 = z <= 1/4.
$FN $T asin_series_$S($T z) {
  $T p = mad_$S($C(0.02877844261259304), z, $C(-0.014881409392818066));
  p = mad_$S(p, z, $C(0.017419357964884856));
  p = mad_$S(p, z, $C(0.00545087818772055));
  p = mad_$S(p, z, $C(0.010324318288744113));
  p = mad_$S(p, z, $C(0.011478952690257387));
  p = mad_$S(p, z, $C(0.013971235301124539));
  p = mad_$S(p, z, $C(0.017352391265909227));
  p = mad_$S(p, z, $C(0.022372173002005596));
  p = mad_$S(p, z, $C(0.030381944137085216));
  p = mad_$S(p, z, $C(0.04464285714637338));
  p = mad_$S(p, z, $C(0.07499999999998425));
  return mad_$S(p, z, $C(0.16666666666666669)) * z;
}
)"},
                                    {"asin", "f64", H::kBoth, R"(
// 2 ulp; NaN beyond 1.
$FN $T asin_$S($T x) {
  const $T a = abs_$S(x);
  const $T z = a < $C(0.5) ? a * a : $C(0.5) * ($C(1.0) - a);
  const $T t = a < $C(0.5) ? a : sqrt_$S(z);
  const $T s = mad_$S(t, asin_series_$S(z), t);
  const $T outer = $C(0x1.921fb54442d18p+0) - ($C(2.0) * s - $C(0x1.1a62633145c07p-54));
  return copysign_$S(a < $C(0.5) ? s : outer, x);
}
)"},
                                    {"acos", "f64", H::kBoth, R"(
// 2 ulp; NaN beyond 1.
$FN $T acos_$S($T x) {
  const $T a = abs_$S(x);
  const $T z = a < $C(0.5) ? a * a : $C(0.5) * ($C(1.0) - a);
  const $T t = a < $C(0.5) ? x : sqrt_$S(z);
  const $T s = mad_$S(t, asin_series_$S(z), t);
  const $T inner = $C(0x1.921fb54442d18p+0) - (s - $C(0x1.1a62633145c07p-54));
  const $T left = $C(0x1.921fb54442d18p+1) - ($C(2.0) * s - $C(0x1.1a62633145c07p-53));
  return a < $C(0.5) ? inner : (x < $C(0.0) ? left : $C(2.0) * s);
}
)"}};
  return table;
}

}  // namespace facet
