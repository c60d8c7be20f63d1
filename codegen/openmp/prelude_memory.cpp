// Loads and stores of vectors: contiguous, strided, gathered, and each under a mask.
//
// Masked forms use AVX-512's or AVX2's masked instructions where the element and vector width has one: clang turns lane loops
// into branches. Lanes that are off are neither read nor written; a load gives them 0. Vectors wider than 64 bytes work on
// halves.
#include "codegen/openmp/prelude.hpp"

#include <functional>

namespace facet {

namespace {

struct Native {
  const char* element;  // the compilers' own element type
  const char* letters;  // loadups512_mask, loaddqusi512_mask
};

Native native_of(DType type) {
  if (type == DType::kF32) return {"float", "ups"};
  if (type == DType::kF64) return {"double", "upd"};
  switch (size_bytes(type)) {
    case 1: return {"char", "dquqi"};
    case 2: return {"short", "dquhi"};
    case 4: return {"int", "dqusi"};
    default: return {"long long", "dqudi"};
  }
}

// The instruction's mask register from 4-byte lanes.
std::string mask_register(int lanes) {
  switch (lanes) {
    case 64: return "__builtin_ia32_cvtb2mask512((NativeMask)__builtin_convertvector(mask, i8x64))";
    case 32: return "__builtin_ia32_cvtb2mask256((NativeMask)__builtin_convertvector(mask, i8x32))";
    case 16: return "__builtin_ia32_cvtd2mask512(mask)";
    case 8: return "__builtin_ia32_cvtd2mask256(mask)";
    default: return "__builtin_ia32_cvtd2mask128(mask)";
  }
}

std::string masked(DType type, int lanes, bool is_store) {
  const Native native = native_of(type);
  const std::int64_t bytes = size_bytes(type) * lanes;
  std::string text =
      is_store ? "\n$FN void store_masked_$S($E* p, $T x, $K mask) {\n" : "\n$FN $T load_masked_$S(const $E* p, $K mask) {\n";
  if (bytes > 64) {
    const std::string half = std::to_string(lanes / 2);
    text += "  const i32x" + half + " low = __builtin_shufflevector(mask, mask, $LOW);\n  const i32x" + half +
            " high = __builtin_shufflevector(mask, mask, $HIGH);\n";
    if (is_store)
      return text +
             "  store_masked_$H(p, __builtin_shufflevector(x, x, $LOW), low);\n  store_masked_$H(p + $HALF, __builtin_shufflevector(x, x, $HIGH), high);\n}\n";
    return text + "  return __builtin_shufflevector(load_masked_$H(p, low), load_masked_$H(p + $HALF, high), $ALL);\n}\n";
  }
  const bool has_instruction = bytes >= 16 && lanes >= 4;
  if (has_instruction) {
    const bool small = size_bytes(type) < 4;
    text += std::string("#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)") +
            (small ? " && defined(__AVX512BW__)" : "") + "\n";
    text +=
        std::string("  typedef ") + native.element + " Native __attribute__((vector_size(" + std::to_string(bytes) + ")));\n";
    if (lanes >= 32) text += "  typedef char NativeMask __attribute__((vector_size(" + std::to_string(lanes) + ")));\n";
    const std::string name =
        std::string("__builtin_ia32_") + (is_store ? "store" : "load") + native.letters + std::to_string(bytes * 8) + "_mask";
    const std::string constant = is_store ? "" : "const ";
    // The compilers' prototypes differ: clang takes a pointer to the vector, except for whole registers of 4 and 8-byte
    // elements.
    const auto call = [&](const std::string& pointer) {
      return is_store ? name + "((" + pointer + "*)p, (Native)x, " + mask_register(lanes) + ");\n"
                      : "return ($T)" + name + "((" + constant + pointer + "*)p, Native{}, " + mask_register(lanes) + ");\n";
    };
    if (bytes == 64 && !small) {
      text += "  " + call(native.element);
    } else {
      text += "#if defined(__clang__)\n  " + call("Native") + "#else\n  " + call(native.element) + "#endif\n";
    }
    if (bytes == 32 && size_bytes(type) == 4) {
      const std::string letters = type == DType::kF32 ? "ps256" : "d256";
      text += "#elif defined(__AVX2__)\n" + std::string("  typedef ") + native.element +
              " Native __attribute__((vector_size(32)));\n";
      text += is_store ? "  __builtin_ia32_maskstore" + letters + "((Native*)p, mask, (Native)x);\n"
                       : "  return ($T)__builtin_ia32_maskload" + letters + "((const Native*)p, mask);\n";
    }
    text += "#else\n";
  }
  text += is_store ? "  for (int l = 0; l < $L; ++l)\n    if (mask[l]) p[l] = x[l];\n"
                   : "  $T r = $T{};\n  for (int l = 0; l < $L; ++l)\n    if (mask[l]) r[l] = p[l];\n  return r;\n";
  if (has_instruction) text += "#endif\n";
  return text + "}\n";
}

// Past the caches, which spares the read of the line that is overwritten. Such stores need the alignment of their width: a
// vector that has not goes in halves, down to 16 bytes, the alignment that memory from malloc has.
std::string stream(DType type, int lanes) {
  const std::int64_t bytes = size_bytes(type) * lanes;
  std::string text =
      "\n// Past the caches: nobody reads it soon. What is not aligned is stored as usual.\n"
      "$FN void stream_$S($E* p, $T x) {\n";
  const char* const condition = bytes == 16 ? "__SSE__" : bytes == 32 ? "__AVX__" : bytes == 64 ? "__AVX512F__" : "";
  if (*condition)
    text += std::string("#if defined(") + condition + ")\n  typedef float Native __attribute__((vector_size(" +
            std::to_string(bytes) + ")));\n  if (((uintptr_t)p & " + std::to_string(bytes - 1) +
            ") == 0) {\n#if defined(__clang__)\n    __builtin_nontemporal_store((Native)x, (Native*)p);\n#else\n    "
            "__builtin_ia32_movntps" +
            (bytes == 16 ? "" : std::to_string(8 * bytes)) + "((float*)p, (Native)x);\n#endif\n    return;\n  }\n#endif\n";
  if (bytes <= 16) return text + "  store_$S(p, x);\n}\n";
  return text +
         "  stream_$H(p, __builtin_shufflevector(x, x, $LOW));\n  stream_$H(p + $HALF, __builtin_shufflevector(x, x, $HIGH));\n}\n";
}

// An empty statement that may change the register and memory: what is known about either ends there.
std::string keep(DType type, int lanes) {
  const std::int64_t bytes = size_bytes(type) * lanes;
  const char* const condition = bytes == 16 ? "__SSE__" : bytes == 32 ? "__AVX__" : bytes == 64 ? "__AVX512F__" : "";
  std::string text =
      "\n// In its register from here on: compilers neither read it again for each use nor carry over what other reads have in "
      "common.\n$FN $T keep_$S($T x) {\n";
  if (*condition)
    text += std::string("#if defined(") + condition + ")\n  __asm__ volatile(\"\" : \"+v\"(x) : : \"memory\");\n#endif\n";
  return text + "  return x;\n}\n";
}

// No vector survives in a register: what is needed later is made again, or in memory.
std::string free_registers(DType, int) {
  const auto clobbers = [](int first, int last) {
    std::string list;
    for (int r = first; r < last; ++r) list += (r > first ? ", \"xmm" : "\"xmm") + std::to_string(r) + "\"";
    return list;
  };
  return "\n// A register tile begins: nothing else stays in vector registers.\n$FN void free_registers_$S() {\n#if "
         "defined(__AVX512F__)\n  __asm__ volatile(\"\" : : : " +
         clobbers(0, 16) + ",\n                   " + clobbers(16, 32) +
         ");\n#elif defined(__x86_64__)\n  __asm__ volatile(\"\" : : : " + clobbers(0, 16) + ");\n#endif\n}\n";
}

std::string numbers(int count, const std::function<int(int)>& of) {
  std::string text;
  for (int l = 0; l < count; ++l) text += (l ? ", " : "") + std::to_string(of(l));
  return text;
}

// Squares of vectors are turned in log2(lanes) stages: each swaps blocks between two rows that lie a block apart. The last two
// of 4-byte elements stay within 16 bytes: single elements of two rows in turns, then pairs, are one cheap instruction each,
// where swaps of single elements take a table (Zen 4: 3 % of a layer whose filters are turned); columns 1 and 2 of four change
// places.
std::vector<int> turning_stages(int lanes) {
  std::vector<int> stages;
  for (int b = lanes / 2; b > 0; b /= 2) stages.push_back(b);
  if (lanes >= 8) std::swap(stages[stages.size() - 1], stages[stages.size() - 2]);
  return stages;
}

std::string turning_stage(int lanes, int b) {
  const bool in_turns = lanes >= 8 && b == 1;
  const auto low = [&](int l) { return in_turns ? l / 4 * 4 + l % 4 / 2 + l % 2 * lanes : l & b ? lanes + l - b : l; };
  const auto high = [&](int l) { return in_turns ? low(l) + 2 : l & b ? lanes + l : l + b; };
  return (in_turns ? "  const auto turn" : "  const auto swap") + std::to_string(b) +
         " = []($T& a, $T& b) {\n    const $T low = __builtin_shufflevector(a, b, " + numbers(lanes, low) +
         ");\n    b = __builtin_shufflevector(a, b, " + numbers(lanes, high) + ");\n    a = low;\n  };\n";
}

std::string turned_columns(const std::string& store, int lanes) {
  std::string text;
  for (const bool whole : {true, false}) {
    text += whole ? "        if (left >= $L) {\n" : "        } else {\n          const $K mask = first_i32x$L(left);\n";
    for (int i = 0; i < lanes; ++i) {
      const int column = lanes >= 8 ? i / 4 * 4 + i % 2 * 2 + i % 4 / 2 : i;
      const std::string n = std::to_string(column), at = i == 0 ? "q" : "q + " + std::to_string(i) + " * to_step";
      text += whole ? "          " + store + "_$S(" + at + ", x" + n + ");\n"
                    : "          store_masked_$S(" + at + ", x" + n + ", mask);\n";
    }
  }
  return text + "        }\n";
}

// Lines of both sides are done with after four squares: rows a multiple of the first cache's ways apart would push a line out
// before its second half, and half a line of a result that lies in memory waits for the other.
std::string across(const std::string& name, const std::string& store, int lanes) {
  std::string text = R"(
// Rows to columns: to[c * to_step + r] = from[r * from_step + c].
$FN void )" + name + R"(_$S($E* to, int64_t to_step, const $E* from, int64_t from_step, int64_t rows, int64_t columns) {
)";
  const std::vector<int> stages = turning_stages(lanes);
  for (const int b : stages) text += turning_stage(lanes, b);
  text += R"(  const int64_t squares = columns / $L * $L;
  for (int64_t line = 0; line < squares; line += 2 * $L)
    for (int64_t row = 0; row < rows; row += 2 * $L)
      for (int64_t c = line; c < squares && c < line + 2 * $L; c += $L)
      for (int64_t r = row; r < rows && r < row + 2 * $L; r += $L) {
        const int64_t left = rows - r;
        const $E* p = from + r * from_step + c;
        $E* q = to + c * to_step + r;
        $T )";
  for (int i = 0; i < lanes; ++i) {
    const std::string n = std::to_string(i);
    text += "x" + n + " = " + (i == 0 ? "load_$S(p)" : n + " < left ? load_$S(p + " + n + " * from_step) : $T{}") +
            (i + 1 < lanes ? ", " : ";\n");
  }
  for (const int b : stages) {
    text += "       ";
    for (int i = 0; i < lanes; ++i)
      if (!(i & b))
        text += (lanes >= 8 && b == 1 ? " turn" : " swap") + std::to_string(b) + "(x" + std::to_string(i) + ", x" +
                std::to_string(i + b) + ");";
    text += "\n";
  }
  text += turned_columns(store, lanes) + "      }\n";
  if (lanes > 8)
    return text +
           "  if (squares < columns) copy_across_$H(to + squares * to_step, to_step, from + squares, from_step, rows, columns - "
           "squares);\n}\n";
  return text + R"(  for (int64_t c = squares; c < columns; ++c)
    for (int64_t r = 0; r < rows; ++r) to[c * to_step + r] = from[r * from_step + c];
}
)";
}

std::string copy_across(DType, int lanes) { return across("copy_across", "store", lanes); }
std::string stream_across(DType, int lanes) { return across("stream_across", "stream", lanes); }

std::string load_masked(DType type, int lanes) { return masked(type, lanes, false); }
std::string store_masked(DType type, int lanes) { return masked(type, lanes, true); }

}  // namespace

const HelperTable& memory_helpers() {
  using H = HelperText;
  static const HelperTable table = {{"load", "any", H::kVector, R"(
$FN $T load_$S(const $E* p) { return *(const $S_u*)p; }
)"},
                                    {"store", "any", H::kVector, R"(
$FN void store_$S($E* p, $T x) { *($S_u*)p = x; }
)"},
                                    {"load_masked", "any", H::kVector, nullptr, load_masked},
                                    {"store_masked", "any", H::kVector, nullptr, store_masked},
                                    {"stream", "any", H::kVector, nullptr, stream},
                                    {"keep", "any", H::kVector, nullptr, keep},
                                    {"free_registers", "any", H::kVector, nullptr, free_registers},
                                    {"copy_across", "float", H::kVector, nullptr, copy_across},
                                    {"stream_across", "float", H::kVector, nullptr, stream_across},
                                    {"load_strided", "any", H::kVector, R"(
$FN $T load_strided_$S(const $E* p, int64_t step) { return $T{$EACH(p[@ * step])}; }
)"},
                                    {"load_strided_masked", "any", H::kVector, R"(
$FN $T load_strided_masked_$S(const $E* p, int64_t step, $K mask) {
  $T r = $T{};
  for (int l = 0; l < $L; ++l)
    if (mask[l]) r[l] = p[l * step];
  return r;
}
)"},
                                    {"store_strided", "any", H::kVector, R"(
$FN void store_strided_$S($E* p, int64_t step, $T x) {
  for (int l = 0; l < $L; ++l) p[l * step] = x[l];
}
)"},
                                    {"store_strided_masked", "any", H::kVector, R"(
$FN void store_strided_masked_$S($E* p, int64_t step, $T x, $K mask) {
  for (int l = 0; l < $L; ++l)
    if (mask[l]) p[l * step] = x[l];
}
)"},
                                    {"gather", "any", H::kVector, R"(
$FN $T gather_$S(const $E* p, i64x$L offsets) { return $T{$EACH(p[offsets[@]])}; }
)"},
                                    {"gather_masked", "any", H::kVector, R"(
$FN $T gather_masked_$S(const $E* p, i64x$L offsets, $K mask) {
  $T r = $T{};
  for (int l = 0; l < $L; ++l)
    if (mask[l]) r[l] = p[offsets[l]];
  return r;
}
)"},
                                    {"scatter", "any", H::kVector, R"(
$FN void scatter_$S($E* p, i64x$L offsets, $T x) {
  for (int l = 0; l < $L; ++l) p[offsets[l]] = x[l];
}
)"},
                                    {"scatter_masked", "any", H::kVector, R"(
$FN void scatter_masked_$S($E* p, i64x$L offsets, $T x, $K mask) {
  for (int l = 0; l < $L; ++l)
    if (mask[l]) p[offsets[l]] = x[l];
}
)"}};
  return table;
}

}  // namespace facet
