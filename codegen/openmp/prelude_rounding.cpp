// Fused multiply-add, square root, rounding to integers and bit access: one instruction each where the machine has it.
//
// clang has elementwise builtins for every vector width. g++ 12 has builtins for whole registers only: wider vectors work on
// halves, narrower ones on lanes.
#include "codegen/openmp/prelude.hpp"

namespace facet {

namespace {

struct Register {
  const char* guard;
  const char* call;  // of the machine's builtin
};

// g++: the builtin for exactly this vector, between its #elif guard, or halves, or lanes.
std::string by_register(const std::string& head, const std::string& clang, const std::string& guard, const std::string& native,
                        const std::string& on_halves, const std::string& on_lanes) {
  std::string text = head + "#if defined(__clang__)\n  return " + clang + ";\n";
  if (!native.empty()) text += "#elif " + guard + "\n  return " + native + ";\n";
  text += "#else\n";
  if (!on_halves.empty())
    text += "  return __builtin_shufflevector(" + on_halves + ", $ALL);\n";
  else
    text += "  $T r;\n  for (int l = 0; l < $L; ++l) r[l] = " + on_lanes + ";\n  return r;\n";
  return text + "#endif\n}\n";
}

std::string letters(DType type) { return type == DType::kF64 ? "pd" : "ps"; }
std::string scalar_builtin(const std::string& name, DType type) {
  return "__builtin_" + name + (type == DType::kF64 ? "" : "f");
}
std::int64_t bytes_of(DType type, int lanes) { return size_bytes(type) * lanes; }

std::string half(const std::string& name, const std::string& part) {
  return "__builtin_shufflevector(" + name + ", " + name + ", " + part + ")";
}

std::string fma_vector(DType type, int lanes) {
  const std::int64_t bytes = bytes_of(type, lanes);
  std::string guard, native, halves;
  if (bytes == 64) {
    guard = "defined(__AVX512F__)";
    native = "__builtin_ia32_vfmadd" + letters(type) + "512_mask(a, b, c, -1, 4)";
  } else if (bytes == 32 || bytes == 16) {
    guard = "defined(__FMA__)";
    native = "__builtin_ia32_vfmadd" + letters(type) + (bytes == 32 ? "256" : "") + "(a, b, c)";
  }
  if (bytes > 16)
    for (const char* part : {"$LOW", "$HIGH"})
      halves +=
          (halves.empty() ? "fma_$H(" : ", fma_$H(") + half("a", part) + ", " + half("b", part) + ", " + half("c", part) + ")";
  return by_register("\n$FN $T fma_$S($T a, $T b, $T c) {\n", "__builtin_elementwise_fma(a, b, c)", guard, native, halves,
                     scalar_builtin("fma", type) + "(a[l], b[l], c[l])");
}

// One-argument functions; `code` is the rounding immediate of the x86 instructions, "" for sqrt.
std::string unary_vector(const std::string& name, const std::string& clang, const std::string& builtin, const std::string& code,
                         DType type, int lanes) {
  const std::int64_t bytes = bytes_of(type, lanes);
  std::string guard, native;
  if (bytes == 64) {
    guard = "defined(__AVX512F__)";
    native = code.empty() ? "__builtin_ia32_sqrt" + letters(type) + "512_mask(x, x, -1, 4)"
                          : "__builtin_ia32_rndscale" + letters(type) + "_mask(x, " + code + ", x, -1, 4)";
  } else if (bytes == 32 || bytes == 16) {
    guard = bytes == 32 ? "defined(__AVX__)" : code.empty() ? "defined(__SSE2__)" : "defined(__SSE4_1__)";
    native = (code.empty() ? "__builtin_ia32_sqrt" : "__builtin_ia32_round") + letters(type) + (bytes == 32 ? "256" : "") +
             (code.empty() ? "(x)" : "(x, " + code + ")");
  }
  std::string halves;
  if (bytes > 16) halves = name + "_$H(" + half("x", "$LOW") + "), " + name + "_$H(" + half("x", "$HIGH") + ")";
  return by_register("\n$FN $T " + name + "_$S($T x) {\n", "__builtin_elementwise_" + clang + "(x)", guard, native, halves,
                     scalar_builtin(builtin, type) + "(x[l])");
}

std::string sqrt_vector(DType t, int l) { return unary_vector("sqrt", "sqrt", "sqrt", "", t, l); }
std::string floor_vector(DType t, int l) { return unary_vector("floor", "floor", "floor", "9", t, l); }
std::string ceil_vector(DType t, int l) { return unary_vector("ceil", "ceil", "ceil", "10", t, l); }
std::string trunc_vector(DType t, int l) { return unary_vector("trunc", "trunc", "trunc", "11", t, l); }
std::string round_vector(DType t, int l) { return unary_vector("round_even", "roundeven", "rint", "8", t, l); }

std::string scalar(const std::string& name, const std::string& builtin, DType type) {
  return "\n$FN $T " + name + "_$S($T x) { return " + scalar_builtin(builtin, type) + "(x); }\n";
}
std::string sqrt_scalar(DType t, int) { return scalar("sqrt", "sqrt", t); }
std::string floor_scalar(DType t, int) { return scalar("floor", "floor", t); }
std::string ceil_scalar(DType t, int) { return scalar("ceil", "ceil", t); }
std::string trunc_scalar(DType t, int) { return scalar("trunc", "trunc", t); }
std::string round_scalar(DType t, int) {
  // rint follows the rounding mode, which nobody changes; roundeven is not inlined by g++ without SSE4.1.
  return scalar("round_even", "rint", t);
}
std::string fma_scalar(DType t, int) {
  return "\n// One rounding.\n$FN $T fma_$S($T a, $T b, $T c) { return " + scalar_builtin("fma", t) + "(a, b, c); }\n";
}

// What a comparison chooses, in one instruction: g++ 12 makes a mask and a blend of it where there are mask registers. The x86
// instructions give their second operand where the two are equal or not ordered, as the comparison does.
std::string chosen_vector(const std::string& name, const std::string& builtin, const std::string& sign, DType type, int lanes) {
  const std::int64_t bytes = bytes_of(type, lanes);
  const std::string plain = "  return a " + sign + " b ? a : b;\n",
                    head = "\n// b where a or b is NaN.\n$FN $T " + name + "_$S($T a, $T b) {\n";
  if (bytes != 64 && bytes != 32 && bytes != 16) return head + plain + "}\n";
  const std::string native = "__builtin_ia32_" + builtin + letters(type) +
                             (bytes == 64   ? "512_mask(a, b, a, -1, 4)"
                              : bytes == 32 ? "256(a, b)"
                                            : "(a, b)");
  const std::string guard = bytes == 64 ? "__AVX512F__" : bytes == 32 ? "__AVX__" : "__SSE2__";
  return head + "#if defined(" + guard + ") && !defined(__clang__)\n  return " + native + ";\n#else\n" + plain + "#endif\n}\n";
}
std::string larger_vector(DType t, int l) { return chosen_vector("larger", "max", ">", t, l); }
std::string smaller_vector(DType t, int l) { return chosen_vector("smaller", "min", "<", t, l); }

// 2^n for the scaling of exp: AVX-512 has it as an instruction with overflow and denormals right.
std::string scale2_vector(DType type, int lanes) {
  const bool native = bytes_of(type, lanes) == 64;
  const bool single = type != DType::kF64;
  const std::string shift = single ? "23" : "52";
  const std::string bias = single ? "127" : "1023";
  std::string text = "\n// x * 2^n for whole n, |n| < 2 * " + bias +
                     ": two factors, so that results may be denormal.\n$FN $T scale2_$S($T x, $T n) {\n";
  if (native)
    text += "#if defined(__AVX512F__)\n  return __builtin_ia32_scalef" + letters(type) + "512_mask(x, n, x, -1, 4);\n#else\n";
  text +=
      "  const $I k = __builtin_convertvector(n, $I);\n  const $I half = k >> 1;\n"
      "  return x * from_bits_$S((half + " +
      bias + ") << " + shift + ") * from_bits_$S((k - half + " + bias + ") << " + shift + ");\n";
  if (native) text += "#endif\n";
  return text + "}\n";
}
std::string scale2_scalar(DType type, int) {
  const std::string shift = type == DType::kF64 ? "52" : "23";
  const std::string bias = type == DType::kF64 ? "1023" : "127";
  return "\n// x * 2^n for whole n, |n| < 2 * " + bias +
         ": two factors, so that results may be denormal.\n"
         "$FN $T scale2_$S($T x, $T n) {\n  const $I k = n != n ? 0 : ($I)n;\n  const $I half = k >> 1;\n"
         "  return x * from_bits_$S((half + " +
         bias + ") << " + shift + ") * from_bits_$S((k - half + " + bias + ") << " + shift + ");\n}\n";
}

}  // namespace

const HelperTable& rounding_helpers() {
  using H = HelperText;
  static const HelperTable table = {{"fma", "float", H::kScalar, nullptr, fma_scalar},
                                    {"fma", "float", H::kVector, nullptr, fma_vector},
                                    {"fma", "int", H::kBoth, R"(
$FN $T fma_$S($T a, $T b, $T c) { return wrap_add_$S(wrap_mul_$S(a, b), c); }
)"},
                                    {"mad", "float", H::kBoth, R"(
// a * b + c, with one rounding where the machine does that in one instruction.
$FN $T mad_$S($T a, $T b, $T c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return fma_$S(a, b, c);
#else
  return a * b + c;
#endif
}
)"},
                                    {"larger", "float", H::kScalar, R"(
// b where a or b is NaN.
$FN $T larger_$S($T a, $T b) { return a > b ? a : b; }
)"},
                                    {"larger", "float", H::kVector, nullptr, larger_vector},
                                    {"smaller", "float", H::kScalar, R"(
// b where a or b is NaN.
$FN $T smaller_$S($T a, $T b) { return a < b ? a : b; }
)"},
                                    {"smaller", "float", H::kVector, nullptr, smaller_vector},
                                    {"sqrt", "float", H::kScalar, nullptr, sqrt_scalar},
                                    {"sqrt", "float", H::kVector, nullptr, sqrt_vector},
                                    {"rsqrt", "float", H::kBoth, R"(
// At most 1.5 ulp.
$FN $T rsqrt_$S($T x) { return 1.0f / sqrt_$S(x); }
)"},
                                    {"floor", "float", H::kScalar, nullptr, floor_scalar},
                                    {"floor", "float", H::kVector, nullptr, floor_vector},
                                    {"ceil", "float", H::kScalar, nullptr, ceil_scalar},
                                    {"ceil", "float", H::kVector, nullptr, ceil_vector},
                                    {"trunc", "float", H::kScalar, nullptr, trunc_scalar},
                                    {"trunc", "float", H::kVector, nullptr, trunc_vector},
                                    {"round_even", "float", H::kScalar, nullptr, round_scalar},
                                    {"round_even", "float", H::kVector, nullptr, round_vector},
                                    {"bits", "float", H::kScalar, R"(
$FN $I bits_$S($T x) { return __builtin_bit_cast($I, x); }
)"},
                                    {"bits", "float", H::kVector, R"(
$FN $I bits_$S($T x) { return ($I)x; }
)"},
                                    {"from_bits", "float", H::kScalar, R"(
$FN $T from_bits_$S($I x) { return __builtin_bit_cast($T, x); }
)"},
                                    {"from_bits", "float", H::kVector, R"(
$FN $T from_bits_$S($I x) { return ($T)x; }
)"},
                                    {"to_float", "i32", H::kScalar, R"(
$FN float to_float_i32(int32_t x) { return (float)x; }
)"},
                                    {"to_float", "i64", H::kScalar, R"(
$FN double to_float_i64(int64_t x) { return (double)x; }
)"},
                                    {"to_float", "i32", H::kVector, R"(
$FN $F to_float_$S($T x) { return __builtin_convertvector(x, $F); }
)"},
                                    {"to_float", "i64", H::kVector, R"(
$FN $D to_float_$S($T x) { return __builtin_convertvector(x, $D); }
)"},
                                    {"abs", "f32", H::kBoth, R"(
$FN $T abs_$S($T x) { return from_bits_$S(bits_$S(x) & 0x7fffffff); }
)"},
                                    {"abs", "f64", H::kBoth, R"(
$FN $T abs_$S($T x) { return from_bits_$S(bits_$S(x) & INT64_C(0x7fffffffffffffff)); }
)"},
                                    {"copysign", "f32", H::kBoth, R"(
$FN $T copysign_$S($T x, $T sign) {
  return from_bits_$S((bits_$S(x) & 0x7fffffff) | (bits_$S(sign) & (-0x7fffffff - 1)));
}
)"},
                                    {"copysign", "f64", H::kBoth, R"(
$FN $T copysign_$S($T x, $T sign) {
  return from_bits_$S((bits_$S(x) & INT64_MAX) | (bits_$S(sign) & INT64_MIN));
}
)"},
                                    {"scale2", "float", H::kVector, nullptr, scale2_vector},
                                    {"scale2", "float", H::kScalar, nullptr, scale2_scalar}};
  return table;
}

}  // namespace facet
