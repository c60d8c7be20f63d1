// Values exchanged between threads: butterfly reductions in warps, block-wide ones through shared memory, atomic updates.
#include "codegen/cuda/prelude.hpp"

namespace facet {

namespace {

// a OP b at the helper's type.
std::string combined(const std::string& kind, DType t, const std::string& a, const std::string& b) {
  const bool floating = is_float(t);
  if (kind == "sum") return floating ? a + " + " + b : "wrap_add_$S(" + a + ", " + b + ")";
  if (kind == "prod") return floating ? a + " * " + b : "wrap_mul_$S(" + a + ", " + b + ")";
  if (kind == "any") return a + " | " + b;
  if (kind == "all") return a + " & " + b;
  return kind + "_$S(" + a + ", " + b + ")";
}

std::string identity(const std::string& kind, DType t) {
  if (kind == "prod" || kind == "all") return "1";
  if (kind != "max" && kind != "min") return "0";
  if (is_float(t)) return std::string(kind == "max" ? "-" : "") + (t == DType::kF64 ? "__builtin_inf()" : "__builtin_inff()");
  const std::string width = std::to_string(size_bytes(t) * 8);
  if (!is_signed(t)) return kind == "max" ? "0" : "UINT" + width + "_MAX";
  return "INT" + width + (kind == "max" ? "_MIN" : "_MAX");
}

std::string warp(const std::string& kind, DType t) {
  return "\n// The " + kind + " over groups of `width` neighbouring lanes, the same bits in each of them.\n$FN $T warp_" +
         kind +
         "_$S($T x, int width, uint32_t lanes) {\n#pragma unroll\n  for (int distance = width / 2; distance > 0; distance /= 2) x = " +
         combined(kind, t, "x", "shuffle_xor_$S(x, distance, lanes)") + ";\n  return x;\n}\n";
}

std::string block(const std::string& kind, DType t) {
  return "\n// The " + kind + " over the block: in each warp, then over the warps' results.\n$FN $T block_" + kind +
         "_$S($T x, int thread, int threads) {\n  __shared__ $T partial[32];\n  x = warp_" + kind +
         "_$S(x, 32, 0xffffffffu);\n  if (thread % 32 == 0) partial[thread / 32] = x;\n"
         "  __syncthreads();  // the warps' results -> their " +
         kind + "\n  const $T mine = thread % 32 < threads / 32 ? partial[thread % 32] : ($T)(" + identity(kind, t) +
         ");\n  const $T total = warp_" + kind +
         "_$S(mine, 32, 0xffffffffu);\n  __syncthreads();  // partial may be written again\n  return total;\n}\n";
}

std::string warp_sum(DType t, int) { return warp("sum", t); }
std::string warp_prod(DType t, int) { return warp("prod", t); }
std::string warp_max(DType t, int) { return warp("max", t); }
std::string warp_min(DType t, int) { return warp("min", t); }
std::string warp_any(DType t, int) { return warp("any", t); }
std::string warp_all(DType t, int) { return warp("all", t); }
std::string block_sum(DType t, int) { return block("sum", t); }
std::string block_prod(DType t, int) { return block("prod", t); }
std::string block_max(DType t, int) { return block("max", t); }
std::string block_min(DType t, int) { return block("min", t); }
std::string block_any(DType t, int) { return block("any", t); }
std::string block_all(DType t, int) { return block("all", t); }

}  // namespace

const HelperTable& cuda_exchange_helpers() {
  using H = HelperText;
  static const HelperTable table = {{"shuffle_xor", "i32", H::kScalar, R"(
// The value of the lane whose number differs in the bits of `distance`; `lanes` take part.
$FN int32_t shuffle_xor_i32(int32_t x, int distance, uint32_t lanes) {
  int32_t r;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, %3;" : "=r"(r) : "r"(x), "r"(distance), "r"(lanes));
  return r;
}
)"},
                                    {"shuffle_xor", "i64", H::kScalar, R"(
$FN int64_t shuffle_xor_i64(int64_t x, int distance, uint32_t lanes) {
  const uint32_t low = (uint32_t)shuffle_xor_i32((int32_t)x, distance, lanes);
  const uint32_t high = (uint32_t)shuffle_xor_i32((int32_t)((uint64_t)x >> 32), distance, lanes);
  return (int64_t)(((uint64_t)high << 32) | low);
}
)"},
                                    {"shuffle_xor", "u64", H::kScalar, R"(
$FN uint64_t shuffle_xor_u64(uint64_t x, int distance, uint32_t lanes) { return (uint64_t)shuffle_xor_i64((int64_t)x, distance, lanes); }
)"},
                                    {"shuffle_xor", "f32 f64", H::kScalar, R"(
$FN $T shuffle_xor_$S($T x, int distance, uint32_t lanes) { return from_bits_$S(shuffle_xor_$IS(bits_$S(x), distance, lanes)); }
)"},
                                    {"shuffle_xor", "i8 u8 i16 u16 u32", H::kScalar, R"(
$FN $T shuffle_xor_$S($T x, int distance, uint32_t lanes) { return ($T)shuffle_xor_i32((int32_t)x, distance, lanes); }
)"},
                                    {"copy_word8", "any", H::kScalar, R"(
// 8 bytes at once; both places are aligned to them.
$FN void copy_word8_$S($T* to, const $T* from) {
  struct __attribute__((aligned(8), may_alias)) Word { uint32_t part[2]; };
  *(Word*)to = *(const Word*)from;
}
)"},
                                    {"copy_word16", "any", H::kScalar, R"(
// 16 bytes at once; both places are aligned to them.
$FN void copy_word16_$S($T* to, const $T* from) {
  struct __attribute__((aligned(16), may_alias)) Word { uint32_t part[4]; };
  *(Word*)to = *(const Word*)from;
}
)"},
                                    {"warp_sum", "any", H::kScalar, nullptr, warp_sum},
                                    {"warp_prod", "any", H::kScalar, nullptr, warp_prod},
                                    {"warp_max", "any", H::kScalar, nullptr, warp_max},
                                    {"warp_min", "any", H::kScalar, nullptr, warp_min},
                                    {"warp_any", "any", H::kScalar, nullptr, warp_any},
                                    {"warp_all", "any", H::kScalar, nullptr, warp_all},
                                    {"block_sum", "any", H::kScalar, nullptr, block_sum},
                                    {"block_prod", "any", H::kScalar, nullptr, block_prod},
                                    {"block_max", "any", H::kScalar, nullptr, block_max},
                                    {"block_min", "any", H::kScalar, nullptr, block_min},
                                    {"block_any", "any", H::kScalar, nullptr, block_any},
                                    {"block_all", "any", H::kScalar, nullptr, block_all},
                                    {"atomic_add", "f32", H::kScalar, R"(
$FN void atomic_add_f32(float* p, float x) { asm volatile("red.add.f32 [%0], %1;" : : "l"(p), "f"(x) : "memory"); }
)"},
                                    {"atomic_add", "f64", H::kScalar, R"(
$FN void atomic_add_f64(double* p, double x) { asm volatile("red.add.f64 [%0], %1;" : : "l"(p), "d"(x) : "memory"); }
)"},
                                    {"atomic_add", "i32 u32", H::kScalar, R"(
$FN void atomic_add_$S($T* p, $T x) { asm volatile("red.add.u32 [%0], %1;" : : "l"(p), "r"(x) : "memory"); }
)"},
                                    {"atomic_add", "i64 u64", H::kScalar, R"(
$FN void atomic_add_$S($T* p, $T x) { asm volatile("red.add.u64 [%0], %1;" : : "l"(p), "l"(x) : "memory"); }
)"},
                                    {"atomic_min", "i32", H::kScalar, R"(
$FN void atomic_min_i32(int32_t* p, int32_t x) { asm volatile("red.min.s32 [%0], %1;" : : "l"(p), "r"(x) : "memory"); }
)"},
                                    {"atomic_max", "i32", H::kScalar, R"(
$FN void atomic_max_i32(int32_t* p, int32_t x) { asm volatile("red.max.s32 [%0], %1;" : : "l"(p), "r"(x) : "memory"); }
)"},
                                    {"atomic_min", "i64", H::kScalar, R"(
$FN void atomic_min_i64(int64_t* p, int64_t x) { asm volatile("red.min.s64 [%0], %1;" : : "l"(p), "l"(x) : "memory"); }
)"},
                                    {"atomic_max", "i64", H::kScalar, R"(
$FN void atomic_max_i64(int64_t* p, int64_t x) { asm volatile("red.max.s64 [%0], %1;" : : "l"(p), "l"(x) : "memory"); }
)"}};
  return table;
}

}  // namespace facet
