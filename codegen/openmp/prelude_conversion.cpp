// Conversions: float to integer saturates and NaN gives 0 (contract V2); f16 and bf16 round half to even and keep NaN.
#include "codegen/openmp/prelude.hpp"

namespace facet {

namespace {

// The limits in the source's float type: `high` is the first value that is too large, both exact in float.
template <DType to>
std::string saturate(DType, int) {
  const std::string type = value_type(to, 1);
  const int bits = static_cast<int>(size_bytes(to)) * 8 - (is_signed(to) ? 1 : 0);
  std::string max = to_text(to);
  max = std::string(is_signed(to) ? "INT" : "UINT") + std::to_string(size_bytes(to) * 8) + "_MAX";
  const std::string min = is_signed(to) ? "INT" + std::to_string(size_bytes(to) * 8) + "_MIN" : "0";
  const std::string low = is_signed(to) ? "-0x1p" + std::to_string(bits) + "f" : "0";
  return "\n$FN " + type + " to_" + to_text(to) + "_$S($T x) {\n  if (!(x > " + low + ")) return x == x ? " + min +
         " : 0;\n  return x >= 0x1p" + std::to_string(bits) + "f ? " + max + " : (" + type + ")x;\n}\n";
}

}  // namespace

const HelperTable& conversion_helpers() {
  using H = HelperText;
  static const HelperTable table = {{"to_i8", "float", H::kScalar, nullptr, saturate<DType::kI8>},
                                    {"to_u8", "float", H::kScalar, nullptr, saturate<DType::kU8>},
                                    {"to_i16", "float", H::kScalar, nullptr, saturate<DType::kI16>},
                                    {"to_u16", "float", H::kScalar, nullptr, saturate<DType::kU16>},
                                    {"to_i32", "float", H::kScalar, nullptr, saturate<DType::kI32>},
                                    {"to_u32", "float", H::kScalar, nullptr, saturate<DType::kU32>},
                                    {"to_i64", "float", H::kScalar, nullptr, saturate<DType::kI64>},
                                    {"to_u64", "float", H::kScalar, nullptr, saturate<DType::kU64>},
                                    {"to_i32", "f32", H::kVector, R"(
$FN $I to_i32_$S($T x) {
  const $M low = x >= $C(-0x1p31f), high = x >= $C(0x1p31f);
  const $I inside = __builtin_convertvector(low & ~high ? x : $T{}, $I);
  return high ? splat_$IS(INT32_MAX) : (x < $C(-0x1p31f) ? splat_$IS(INT32_MIN) : inside);
}
)"},
                                    {"from_bf16", "f32", H::kScalar, R"(
$FN float from_bf16_f32(uint16_t h) { return from_bits_f32((int32_t)((uint32_t)h << 16)); }
)"},
                                    {"from_bf16", "f32", H::kVector, R"(
$FN $T from_bf16_$S(u16x$L h) { return ($T)(__builtin_convertvector(h, $U) << 16); }
)"},
                                    {"to_bf16", "f32", H::kScalar, R"(
$FN uint16_t to_bf16_f32(float x) {
  const uint32_t u = (uint32_t)bits_f32(x);
  if (x != x) return (uint16_t)((u >> 16) | 0x40);
  return (uint16_t)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}
)"},
                                    {"to_bf16", "f32", H::kVector, R"(
$FN u16x$L to_bf16_$S($T x) {
  const $U u = ($U)x;
  const $U rounded = (u + 0x7fff + ((u >> 16) & 1)) >> 16;
  return __builtin_convertvector(x != x ? ((u >> 16) | 0x40) : rounded, u16x$L);
}
)"},
                                    {"from_f16", "f32", H::kScalar, R"(
$FN float from_f16_f32(uint16_t h) {
  const int32_t magnitude = (int32_t)(h & 0x7fff) << 13, sign = (int32_t)((uint32_t)(h & 0x8000) << 16);
  // Rebias by a product, which also normalises denormals; infinity and NaN get the largest exponent.
  const int32_t finite = bits_f32(from_bits_f32(magnitude) * 0x1p112f);
  return from_bits_f32(((h & 0x7c00) == 0x7c00 ? magnitude | 0x7f800000 : finite) | sign);
}
)"},
                                    {"from_f16", "f32", H::kVector, R"(
$FN $T from_f16_$S(u16x$L h) {
  const $I w = __builtin_convertvector(h, $I);
  const $I magnitude = (w & 0x7fff) << 13, sign = ($I)(($U)(w & 0x8000) << 16);
  const $I finite = ($I)(($T)magnitude * 0x1p112f);
  return ($T)(((w & 0x7c00) == 0x7c00 ? magnitude | 0x7f800000 : finite) | sign);
}
)"},
                                    {"to_f16", "f32", H::kScalar, R"(
$FN uint16_t to_f16_f32(float x) {
  const uint32_t u = (uint32_t)bits_f32(x), a = u & 0x7fffffff, sign = (u >> 16) & 0x8000;
  if (a > 0x7f800000) return (uint16_t)(sign | 0x7e00);   // NaN
  if (a >= 0x477ff000) return (uint16_t)(sign | 0x7c00);  // 65520 and above round to infinity
  // Below 2^-14 the sum with 0.5 leaves the multiple of 2^-24 in the low bits, rounded half to even.
  if (a < 0x38800000) return (uint16_t)(sign | (uint32_t)(bits_f32(from_bits_f32((int32_t)a) + 0.5f) - 0x3f000000));
  return (uint16_t)(sign | ((a - 0x38000000 + 0xfff + ((a >> 13) & 1)) >> 13));
}
)"},
                                    {"to_f16", "f32", H::kVector, R"(
$FN u16x$L to_f16_$S($T x) {
  const $U u = ($U)x, a = u & 0x7fffffff, sign = (u >> 16) & 0x8000;
  const $U tiny = ($U)(($T)a + 0.5f) - 0x3f000000;
  const $U normal = (a - 0x38000000 + 0xfff + ((a >> 13) & 1)) >> 13;
  const $U finite = a < 0x38800000 ? tiny : normal;
  const $U special = a > 0x7f800000 ? splat_$US(0x7e00) : splat_$US(0x7c00);
  return __builtin_convertvector((a >= 0x477ff000 ? special : finite) | sign, u16x$L);
}
)"},
                                    {"round_f16", "f32", H::kBoth, R"(
$FN $T round_f16_$S($T x) { return from_f16_$S(to_f16_$S(x)); }
)"},
                                    {"round_bf16", "f32", H::kBoth, R"(
$FN $T round_bf16_$S($T x) { return from_bf16_$S(to_bf16_$S(x)); }
)"},
                                    {"narrow_odd", "f64", H::kScalar, R"(
// double to float, inexact results made odd, so that a second rounding to 16 bits is as good as one.
$FN float narrow_odd_f64(double x) {
  const float near = (float)x;
  if (near != near || (double)near == x) return near;
  const int32_t u = bits_f32(near);
  if (u & 1) return near;
  // One step towards x: from zero and below |x| outwards, above |x| inwards.
  const bool outwards = abs_f64((double)near) < abs_f64(x);
  return copysign_f32(from_bits_f32((u & 0x7fffffff) + (outwards ? 1 : -1)), (float)(x < 0 ? -1 : 1));
}
)"},
                                    {"round_f16", "f64", H::kScalar, R"(
$FN float round_f16_f64(double x) { return round_f16_f32(narrow_odd_f64(x)); }
)"},
                                    {"round_bf16", "f64", H::kScalar, R"(
$FN float round_bf16_f64(double x) { return round_bf16_f32(narrow_odd_f64(x)); }
)"}};
  return table;
}

}  // namespace facet
