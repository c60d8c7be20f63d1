// Rounding, square roots, extrema and conversions as single PTX instructions. Names and rules: PTX ISA, "Floating Point
// Instructions".
#include "codegen/cuda/prelude.hpp"

#include "codegen/openmp/prelude.hpp"

namespace facet {

namespace {

std::string bits(DType t) { return t == DType::kF64 ? "64" : "32"; }
std::string constraint(DType t) { return t == DType::kF64 ? "d" : "f"; }

// One instruction from one operand.
std::string instruction(const std::string& name, const std::string& ptx, DType t) {
  const std::string c = constraint(t);
  return "\n$FN $T " + name + "_$S($T x) {\n  $T r;\n  asm(\"" + ptx + " %0, %1;\" : \"=" + c + "\"(r) : \"" + c +
         "\"(x));\n  return r;\n}\n";
}

std::string rounding(const std::string& name, const std::string& mode, DType t) {
  const std::string type = ".f" + bits(t);
  return instruction(name, "cvt." + mode + type + type, t);
}

std::string sqrt_text(DType t, int) { return instruction("sqrt", "sqrt.rn.f" + bits(t), t); }
std::string floor_text(DType t, int) { return rounding("floor", "rmi", t); }
std::string ceil_text(DType t, int) { return rounding("ceil", "rpi", t); }
std::string trunc_text(DType t, int) { return rounding("trunc", "rzi", t); }
std::string round_text(DType t, int) { return rounding("round_even", "rni", t); }

std::string fma_text(DType t, int) {
  const std::string c = constraint(t);
  return "\n// One rounding.\n$FN $T fma_$S($T a, $T b, $T c) {\n  $T r;\n  asm(\"fma.rn.f" + bits(t) +
         " %0, %1, %2, %3;\" : \"=" + c + "\"(r) : \"" + c + "\"(a), \"" + c + "\"(b), \"" + c + "\"(c));\n  return r;\n}\n";
}

std::string extremum(const std::string& name, const std::string& ptx) {
  return "\n$FN float " + name + "_f32(float a, float b) {\n  float r;\n  asm(\"" + ptx +
         " %0, %1, %2;\" : \"=f\"(r) : \"f\"(a), \"f\"(b));\n  return r;\n}\n";
}
std::string min_text(DType, int) { return "\n// NaN wins on either side.\n" + extremum("min", "min.NaN.f32").substr(1); }
std::string max_text(DType, int) { return "\n// NaN wins on either side.\n" + extremum("max", "max.NaN.f32").substr(1); }
std::string fmin_text(DType, int) { return "\n// The number wins over NaN.\n" + extremum("fmin", "min.f32").substr(1); }
std::string fmax_text(DType, int) { return "\n// The number wins over NaN.\n" + extremum("fmax", "max.f32").substr(1); }

}  // namespace

const HelperTable& cuda_math_helpers() {
  using H = HelperText;
  static const HelperTable table = {{"fma", "float", H::kScalar, nullptr, fma_text},
                                    {"mad", "float", H::kScalar, R"(
$FN $T mad_$S($T a, $T b, $T c) { return fma_$S(a, b, c); }
)"},
                                    {"sqrt", "float", H::kScalar, nullptr, sqrt_text},
                                    {"rsqrt", "f32", H::kScalar, R"(
// At most 2 ulp.
$FN float rsqrt_f32(float x) {
  float r;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
)"},
                                    {"floor", "float", H::kScalar, nullptr, floor_text},
                                    {"ceil", "float", H::kScalar, nullptr, ceil_text},
                                    {"trunc", "float", H::kScalar, nullptr, trunc_text},
                                    {"round_even", "float", H::kScalar, nullptr, round_text},
                                    {"min", "f32", H::kScalar, nullptr, min_text},
                                    {"max", "f32", H::kScalar, nullptr, max_text},
                                    {"fmin", "f32", H::kScalar, nullptr, fmin_text},
                                    {"fmax", "f32", H::kScalar, nullptr, fmax_text},
                                    {"to_i32", "f32", H::kScalar, R"(
// Saturates; NaN gives 0: both are the instruction's own rules.
$FN int32_t to_i32_f32(float x) {
  int32_t r;
  asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return r;
}
)"},
                                    {"to_f16", "f32", H::kScalar, R"(
$FN uint16_t to_f16_f32(float x) {
  uint16_t r;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x));
  return r;
}
)"},
                                    {"from_f16", "f32", H::kScalar, R"(
$FN float from_f16_f32(uint16_t h) {
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(h));
  return r;
}
)"}};
  return table;
}

PreludeDialect cuda_prelude() {
  return {"static __device__ inline",
          {&cuda_math_helpers(), &cuda_exchange_helpers(), &integer_helpers(), &rounding_helpers(), &conversion_helpers(),
           &math_helpers_f32(), &math_helpers_f64(), &math_helpers_angle()}};
}

std::string cuda_environment() {
  return R"(#if defined(__NVCC__) || defined(__CUDACC_RTC__)
// Meant as they are: a mean over no elements divides by 0, a total may turn out not to be needed.
#pragma nv_diag_suppress 39, 550
#endif

#if defined(__CUDACC_RTC__)
// The run-time compiler comes without the C headers and without the host compiler's built-in functions.
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define INT64_C(value) value##LL
#define UINT64_C(value) value##ULL
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295u
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT64_MAX 9223372036854775807LL
#define UINT64_MAX 18446744073709551615ULL
#define __builtin_inff() __builtin_bit_cast(float, 0x7f800000u)
#define __builtin_inf() __builtin_bit_cast(double, 0x7ff0000000000000ULL)
#define __builtin_nanf(text) __builtin_bit_cast(float, 0x7fc00000u)
#define __builtin_nan(text) __builtin_bit_cast(double, 0x7ff8000000000000ULL)
#else
#include <stddef.h>
#include <stdint.h>
#endif

#if defined(__clang__) && defined(__CUDA__) && !defined(__CLANG_CUDA_RUNTIME_WRAPPER_H__)
// clang without CUDA's headers: the words of CUDA C++ that are not the compiler's own.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
struct Coordinates {
  unsigned x, y, z;
};
static __device__ inline __attribute__((unused)) Coordinates block_coordinates() {
  return {(unsigned)__nvvm_read_ptx_sreg_ctaid_x(), (unsigned)__nvvm_read_ptx_sreg_ctaid_y(), (unsigned)__nvvm_read_ptx_sreg_ctaid_z()};
}
static __device__ inline __attribute__((unused)) Coordinates thread_coordinates() {
  return {(unsigned)__nvvm_read_ptx_sreg_tid_x(), (unsigned)__nvvm_read_ptx_sreg_tid_y(), (unsigned)__nvvm_read_ptx_sreg_tid_z()};
}
#define blockIdx block_coordinates()
#define threadIdx thread_coordinates()
#endif
)";
}

}  // namespace facet
