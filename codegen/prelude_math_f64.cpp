// Double-precision mathematics: exponentials and logarithms, and what is made of them. Angles are in prelude_math_angle.cpp.
#include "codegen/prelude.hpp"

namespace facet {

namespace {

HelperTable with_angles(HelperTable table) {
  const HelperTable& angles = math_helpers_angle();
  table.insert(table.end(), angles.begin(), angles.end());
  return table;
}

}  // namespace

const HelperTable& math_helpers_f64() {
  using H = HelperText;
  static const HelperTable table = with_angles({{"exp_fraction", "f64", H::kBoth, R"(
// e^r - 1 for |r| <= log(2) / 2.
$FN $T exp_fraction_$S($T r) {
  $T p = mad_$S($C(2.091544229778011522e-9), r, $C(2.510627473357329469e-8));
  p = mad_$S(p, r, $C(2.755727181021979957e-7));
  p = mad_$S(p, r, $C(2.755725283351690975e-6));
  p = mad_$S(p, r, $C(0.00002480158732700718673));
  p = mad_$S(p, r, $C(0.0001984126987686435493));
  p = mad_$S(p, r, $C(0.001388888888888332667));
  p = mad_$S(p, r, $C(0.0083333333333255447));
  p = mad_$S(p, r, $C(0.04166666666666667007));
  p = mad_$S(p, r, $C(0.1666666666666667144));
  p = mad_$S(p, r, $C(0.5));
  return mad_$S(r * r, p, r);
}
)"},
                                                {"exp", "f64", H::kBoth, R"(
// 1 ulp.
$FN $T exp_$S($T x) {
  const $T y = larger_$S($C(-746.0), smaller_$S($C(710.0), x));
  const $T n = mad_$S(y, $C(1.4426950408889634), $C(0x1.8p52)) - $C(0x1.8p52);
  const $T r = mad_$S(n, $C(-0x1.a39ef35793c76p-33), mad_$S(n, $C(-0x1.62e42feep-1), y));
  return scale2_$S(exp_fraction_$S(r) + $C(1.0), n);
}
)"},
                                                {"expm1", "f64", H::kBoth, R"(
// e^x - 1, 2 ulp.
$FN $T expm1_$S($T x) {
  const $T y = x < $C(-40.0) ? $C(-40.0) : (x > $C(40.0) ? $C(40.0) : x);
  const $T n = mad_$S(y, $C(1.4426950408889634), $C(0x1.8p52)) - $C(0x1.8p52);
  const $T r = mad_$S(n, $C(-0x1.a39ef35793c76p-33), mad_$S(n, $C(-0x1.62e42feep-1), y));
  const $T power = scale2_$S($C(1.0), n);
  const $T inside = mad_$S(power, exp_fraction_$S(r), power - $C(1.0));
  return x > $C(40.0) ? exp_$S(x) : (x == $C(0.0) ? x : inside);
}
)"},
                                                {"log", "f64", H::kBoth, R"(
// 1 ulp. x = 2^n m with m in [sqrt(1/2), sqrt(2)); log(m) = 2 atanh(s) with s = f / (2 + f).
$FN $T log_$S($T x) {
  const $M tiny = x < $C(0x1p-1022);
  const $I i = (bits_$S(tiny ? x * $C(0x1p54) : x) & INT64_C(0x7fffffffffffffff)) - INT64_C(0x3fe6a09e667f3bcd);
  const $T f = from_bits_$S((i & INT64_C(0xfffffffffffff)) + INT64_C(0x3fe6a09e667f3bcd)) - $C(1.0);
  const $T n = to_float_$IS(i >> 52) - (tiny ? $C(54.0) : $C(0.0));
  const $T s = f / ($C(2.0) + f), z = s * s, half = $C(0.5) * f * f;
  $T p = mad_$S($C(0.131148348695974985), z, $C(0.1326604881220300223));
  p = mad_$S(p, z, $C(0.1538634244964514425));
  p = mad_$S(p, z, $C(0.1818179373211175407));
  p = mad_$S(p, z, $C(0.2222222240975011409));
  p = mad_$S(p, z, $C(0.2857142857072324927));
  p = mad_$S(p, z, $C(0.4000000000000100957));
  p = mad_$S(p, z, $C(0.6666666666666666643)) * z;
  const $T r = n * $C(0x1.62e42feep-1) - ((half - (s * (half + p) + n * $C(0x1.a39ef35793c76p-33))) - f);
  const $T special = x == $C(0.0) ? $C(-__builtin_inf()) : (x < $C(0.0) ? $C(__builtin_nan("")) : x);
  return ((x > $C(0.0)) & (x < $C(__builtin_inf()))) ? r : special;
}
)"},
                                                {"log1p", "f64", H::kBoth, R"(
// log(1 + x), 2 ulp: the rounding of 1 + x is put right afterwards.
$FN $T log1p_$S($T x) {
  const $T u = $C(1.0) + x;
  const $T r = log_$S(u) + (x - (u - $C(1.0))) / u;
  return u == $C(1.0) ? x : (((u > $C(0.0)) & (u < $C(__builtin_inf()))) ? r : log_$S(u));
}
)"},
                                                {"tanh", "f64", H::kBoth, R"(
// 2 ulp.
$FN $T tanh_$S($T x) {
  const $T a = abs_$S(x), e = expm1_$S(a + a);
  const $T large = $C(1.0) - $C(2.0) / (e + $C(2.0)), small = e / (e + $C(2.0));
  return copysign_$S(a < $C(0.55) ? small : large, x) + (x != x ? x : $C(0.0));
}
)"},
                                                {"sigmoid", "f64", H::kBoth, R"(
// 1 / (1 + exp(-x)), 2 ulp.
$FN $T sigmoid_$S($T x) {
  const $T e = exp_$S(-abs_$S(x));
  return (x < $C(0.0) ? e : $C(1.0)) / ($C(1.0) + e) + (x != x ? x : $C(0.0));
}
)"},
                                                {"erf", "f64", H::kBoth, R"(
// 2 ulp. A polynomial below 0.85; above, 1 - exp(-x^2) k(y) with y = (x - 2) / (x + 2).
$FN $T erf_$S($T x) {
  const $T z = x * x, a = abs_$S(x);
  $T p = mad_$S($C(-8.7795435648853e-10), z, $C(1.4167479573083205e-08));
  p = mad_$S(p, z, $C(-1.629684490244966e-07));
  p = mad_$S(p, z, $C(1.6457336524526886e-06));
  p = mad_$S(p, z, $C(-1.4925430487100736e-05));
  p = mad_$S(p, z, $C(0.00012055326208074236));
  p = mad_$S(p, z, $C(-0.0008548326885773579));
  p = mad_$S(p, z, $C(0.0052239776236655735));
  p = mad_$S(p, z, $C(-0.02686617064499584));
  p = mad_$S(p, z, $C(0.11283791670954592));
  p = mad_$S(p, z, $C(-0.3761263890318374));
  p = mad_$S(p, z, $C(0.0033791670955125737));
  const $T small = mad_$S(p, x, $C(1.125) * x);
  const $T t = a > $C(6.0) ? $C(6.0) : a;
  const $T y = (t - $C(2.0)) / (t + $C(2.0));
  $T k = mad_$S($C(-8.469886212899869e-07), y, $C(9.110330631788787e-07));
  k = mad_$S(k, y, $C(4.016450488902189e-06));
  k = mad_$S(k, y, $C(1.4564734129776817e-06));
  k = mad_$S(k, y, $C(-1.4033932072114561e-05));
  k = mad_$S(k, y, $C(-2.7586971992189837e-05));
  k = mad_$S(k, y, $C(2.753537935649886e-05));
  k = mad_$S(k, y, $C(0.00017436150335075105));
  k = mad_$S(k, y, $C(4.355477729603138e-05));
  k = mad_$S(k, y, $C(-0.000981977027282319));
  k = mad_$S(k, y, $C(-0.0008471432134507336));
  k = mad_$S(k, y, $C(0.006997461738760835));
  k = mad_$S(k, y, $C(0.003732892403487454));
  k = mad_$S(k, y, $C(-0.07897858101572143));
  k = mad_$S(k, y, $C(0.24165819424247367));
  k = mad_$S(k, y, $C(-0.42718584741395843));
  k = mad_$S(k, y, $C(0.25539567631050575));
  const $T large = $C(1.0) - exp_$S(-t * t) * k;
  return a < $C(0.85) ? small : copysign_$S(large, x) + (x != x ? x : $C(0.0));
}
)"},
                                                {"sinh", "f64", H::kBoth, R"(
// 3 ulp.
$FN $T sinh_$S($T x) {
  const $T a = abs_$S(x), e = expm1_$S(a), root = exp_$S($C(0.5) * a);
  const $T inside = $C(0.5) * (e + e / (e + $C(1.0)));
  return copysign_$S(a > $C(40.0) ? $C(0.5) * root * root : inside, x) + (x != x ? x : $C(0.0));
}
)"},
                                                {"cosh", "f64", H::kBoth, R"(
// 3 ulp.
$FN $T cosh_$S($T x) {
  const $T a = abs_$S(x), e = exp_$S(a), root = exp_$S($C(0.5) * a);
  return a > $C(40.0) ? $C(0.5) * root * root : $C(0.5) * e + $C(0.5) / e;
}
)"},
                                                {"asinh", "f64", H::kBoth, R"(
// 3 ulp.
$FN $T asinh_$S($T x) {
  const $T a = abs_$S(x), square = a * a;
  const $T inside = log1p_$S(a + square / ($C(1.0) + sqrt_$S($C(1.0) + square)));
  return copysign_$S(a > $C(0x1p28) ? log_$S(a) + $C(0x1.62e42fefa39efp-1) : inside, x) + (x != x ? x : $C(0.0));
}
)"},
                                                {"acosh", "f64", H::kBoth, R"(
// 3 ulp; NaN below 1.
$FN $T acosh_$S($T x) {
  const $T t = x - $C(1.0);
  const $T inside = log1p_$S(t + sqrt_$S($C(2.0) * t + t * t));
  return x > $C(0x1p28) ? log_$S(x) + $C(0x1.62e42fefa39efp-1) : (x < $C(1.0) ? $C(__builtin_nan("")) : inside);
}
)"},
                                                {"atanh", "f64", H::kBoth, R"(
// 3 ulp; infinite at 1 and -1, NaN beyond.
$FN $T atanh_$S($T x) {
  const $T a = abs_$S(x);
  const $T r = $C(0.5) * log1p_$S(($C(2.0) * a) / ($C(1.0) - a));
  const $T special = a == $C(1.0) ? $C(__builtin_inf()) : $C(__builtin_nan(""));
  return copysign_$S(a < $C(1.0) ? r : special, x);
}
)"},
                                                {"fmod", "f64", H::kScalar, R"(
// Exact, with the sign of x: long division of the significands, 10 quotient bits at a time.
$FN double fmod_f64(double x, double y) {
  const double a = abs_f64(x), b = abs_f64(y);
  if (!(b > 0) || !(a < __builtin_inf())) return __builtin_nan("");
  if (a < b) return x;
  const uint64_t ua = (uint64_t)bits_f64(a), ub = (uint64_t)bits_f64(b), top = UINT64_C(1) << 52;
  int64_t ea = (int64_t)(ua >> 52), eb = (int64_t)(ub >> 52);
  uint64_t ma = ea ? (ua & (top - 1)) | top : ua, mb = eb ? (ub & (top - 1)) | top : ub;
  ea = ea ? ea : 1;
  eb = eb ? eb : 1;
  uint64_t r = ma % mb;
  for (int64_t left = ea - eb; left > 0 && r != 0; left -= 10) r = (r << (left < 10 ? left : 10)) % mb;
  // r * 2^(eb - 1075); r < mb < 2^53.
  const double fraction = (double)r;
  const double whole = eb > 54 ? fraction * from_bits_f64((eb - 52) << 52) : fraction * from_bits_f64(eb << 52) * 0x1p-52;
  return copysign_f64(whole, x);
}
)"},
                                                {"pow", "f64", H::kScalar, R"(
// 2 ulp. log(|x|) as a sum of two doubles, its product with y likewise; special values as in C.
$FN double pow_f64(double x, double y) {
  if (x == 1 || y == 0) return 1;
  if (x != x || y != y) return x + y;
  const double infinity = __builtin_inf(), a = abs_f64(x);
  const bool whole = abs_f64(y) >= 0x1p52 || trunc_f64(y) == y;
  const bool odd = whole && abs_f64(y) < 0x1p53 && ((int64_t)y & 1) != 0;
  const double sign = odd && bits_f64(x) < 0 ? -1 : 1;
  if (a == 0 || a == infinity) return (a == 0) == (y < 0) ? sign * infinity : sign * 0.0;
  if (abs_f64(y) == infinity) return a == 1 ? 1 : (a > 1) == (y > 0) ? infinity : 0;
  if (x < 0 && !whole) return __builtin_nan("");
  const bool tiny = a < 0x1p-1022;
  const int64_t i = (bits_f64(tiny ? a * 0x1p54 : a) & INT64_C(0x7fffffffffffffff)) - INT64_C(0x3fe6a09e667f3bcd);
  const double m = from_bits_f64((i & INT64_C(0xfffffffffffff)) + INT64_C(0x3fe6a09e667f3bcd));
  const double n = (double)(i >> 52) - (tiny ? 54 : 0);
  // s = (m - 1) / (m + 1), s + t exact to twice the precision.
  const double f = m - 1, d = m + 1, dl = m - (d - 1);
  const double s = f / d, t = (fma_f64(-s, d, f) - s * dl) / d;
  const double z = s * s, zl = fma_f64(s, s, -z) + 2 * s * t;
  // 2/3 s^3 as two doubles, the rest of the series in one.
  const double c = s * z, cl = fma_f64(s, z, -c) + s * zl + t * z;
  const double q = 0x1.5555555555555p-1 * c;
  const double ql = fma_f64(0x1.5555555555555p-1, c, -q) + 0x1.5555555555555p-55 * c + 0x1.5555555555555p-1 * cl;
  double p = fma_f64(0.11748603565608093, z, 0.11703780772949368);
  p = fma_f64(p, z, 0.13334897308547064);
  p = fma_f64(p, z, 0.15384593242579514);
  p = fma_f64(p, z, 0.1818181835165175);
  p = fma_f64(p, z, 0.2222222222158344);
  p = fma_f64(p, z, 0.28571428571429486);
  p = fma_f64(p, z, 0.4) * c * z;
  // log = n log 2 + 2 s + q + p, largest first; each sum keeps its rounding.
  const double big = n * 0x1.62e42feep-1, s2 = 2 * s;
  const double u = big + s2, ul = n != 0 ? (big - u) + s2 : 0;
  const double v = u + q, vl = (u - v) + q;
  const double low = ul + vl + (n * 0x1.a39ef35793c76p-33 + 2 * t + ql + p);
  const double h = v + low, l = (v - h) + low;
  const double e = y * h;
  if (!(abs_f64(e) < 800)) return e > 0 ? sign * infinity : sign * 0.0;
  const double el = fma_f64(y, h, -e) + y * l;
  const double k = round_even_f64(e * 1.4426950408889634);
  const double r = fma_f64(k, -0x1.a39ef35793c76p-33, fma_f64(k, -0x1.62e42feep-1, e)) + el;
  return sign * scale2_f64(1 + exp_fraction_f64(r), k);
}
)"}});
  return table;
}

}  // namespace facet
