// The part of an exported main.cpp that every program shares: tensors as bytes, sample rules, .npy reading, comparison.
#include "codegen/export.hpp"

namespace facet {

const char* const kExportSupport = R"support(namespace {

enum Dtype { kBool, kI8, kU8, kI16, kU16, kI32, kU32, kI64, kU64, kF16, kBF16, kF32, kF64 };
const int kBytes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};

bool is_float(Dtype type) { return type >= kF16; }

// A dense array in C order.
struct Tensor {
  const char* name;
  Dtype type;
  std::vector<std::int64_t> shape;
  std::vector<unsigned char> bytes;

  Tensor(const char* tensor_name, Dtype dtype, std::vector<std::int64_t> extents) : name(tensor_name), type(dtype), shape(std::move(extents)) {
    bytes.resize(static_cast<std::size_t>(count() * kBytes[type]) + 64, 0xff);
  }
  std::int64_t count() const {
    std::int64_t n = 1;
    for (const std::int64_t extent : shape) n *= extent;
    return n;
  }
  void* data() { return bytes.data(); }
  template <class T>
  T* as() { return reinterpret_cast<T*>(bytes.data()); }
};

// Nearest value with `digits` significant binary digits and exponents from `least` up, ties to even.
double nearest(double x, int digits, int least, double largest) {
  if (!std::isfinite(x) || x == 0) return x;
  int e;
  std::frexp(x, &e);
  const double unit = std::ldexp(1.0, std::max(e - digits, least));
  const double y = std::nearbyint(x / unit) * unit;
  return std::fabs(y) > largest ? std::copysign(HUGE_VAL, y) : y;
}

double rounded(Dtype type, double x) {
  if (type == kF16) return nearest(x, 11, -24, 65504);
  if (type == kBF16) return nearest(x, 8, -133, 3.3895313892515355e38);
  return type == kF32 ? static_cast<double>(static_cast<float>(x)) : x;
}

std::uint16_t half_bits(double x) {
  if (std::isnan(x)) return 0x7e00;
  const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const double a = std::fabs(rounded(kF16, x));
  if (std::isinf(a)) return static_cast<std::uint16_t>(sign | 0x7c00);
  if (a < 0x1p-14) return static_cast<std::uint16_t>(sign | static_cast<int>(a * 0x1p24));
  int e;
  const double m = std::frexp(a, &e);
  return static_cast<std::uint16_t>(sign | ((e + 14) << 10) | (static_cast<int>(m * 2048) & 1023));
}

double half_value_of(std::uint16_t h) {
  const int e = (h >> 10) & 31, m = h & 1023;
  const double a = e == 31 ? (m ? NAN : HUGE_VAL) : e ? std::ldexp(1024 + m, e - 25) : std::ldexp(m, -24);
  return h & 0x8000 ? -a : a;
}

void set_number(Tensor& t, std::int64_t i, double x) {
  switch (t.type) {
    case kBool: t.as<std::uint8_t>()[i] = x != 0; break;
    case kI8: t.as<std::int8_t>()[i] = static_cast<std::int8_t>(x); break;
    case kU8: t.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(x); break;
    case kI16: t.as<std::int16_t>()[i] = static_cast<std::int16_t>(x); break;
    case kU16: t.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(x); break;
    case kI32: t.as<std::int32_t>()[i] = static_cast<std::int32_t>(x); break;
    case kU32: t.as<std::uint32_t>()[i] = static_cast<std::uint32_t>(x); break;
    case kI64: t.as<std::int64_t>()[i] = static_cast<std::int64_t>(x); break;
    case kU64: t.as<std::uint64_t>()[i] = static_cast<std::uint64_t>(x); break;
    case kF16: t.as<std::uint16_t>()[i] = half_bits(x); break;
    case kBF16: {
      const float f = static_cast<float>(rounded(kBF16, x));
      std::uint32_t u;
      std::memcpy(&u, &f, 4);
      t.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(u >> 16);
      break;
    }
    case kF32: t.as<float>()[i] = static_cast<float>(x); break;
    case kF64: t.as<double>()[i] = x; break;
  }
}

std::int64_t get_integer(Tensor& t, std::int64_t i) {
  switch (t.type) {
    case kBool:
    case kU8: return t.as<std::uint8_t>()[i];
    case kI8: return t.as<std::int8_t>()[i];
    case kI16: return t.as<std::int16_t>()[i];
    case kU16: return t.as<std::uint16_t>()[i];
    case kI32: return t.as<std::int32_t>()[i];
    case kU32: return t.as<std::uint32_t>()[i];
    default: return t.as<std::int64_t>()[i];
  }
}

double get_number(Tensor& t, std::int64_t i) {
  if (t.type == kF32) return static_cast<double>(t.as<float>()[i]);
  if (t.type == kF64) return t.as<double>()[i];
  if (t.type == kF16) return half_value_of(t.as<std::uint16_t>()[i]);
  if (t.type == kBF16) {
    const std::uint32_t u = static_cast<std::uint32_t>(t.as<std::uint16_t>()[i]) << 16;
    float f;
    std::memcpy(&f, &u, 4);
    return static_cast<double>(f);
  }
  return static_cast<double>(get_integer(t, i));
}

// Seeded random numbers: element i of a tensor is the same everywhere.
class Random {
 public:
  Random(std::uint64_t seed, const char* name) {
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (; *name; ++name) hash = (hash ^ static_cast<unsigned char>(*name)) * 0x100000001B3U;
    base_ = mixed(seed * 0x9E3779B97F4A7C15U ^ hash);
  }
  double uniform(std::int64_t i) const { return static_cast<double>(bits(i) >> 11) * 0x1p-53; }
  std::int64_t integer(std::int64_t i, std::int64_t lo, std::int64_t hi) const {
    const std::uint64_t span = static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo) + 1;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(lo) + (span ? bits(i) % span : bits(i)));
  }
  double normal(std::int64_t i) const {
    double sum = -6;
    for (std::int64_t k = 0; k < 12; ++k) sum += uniform(i * 12 + k);
    return sum;
  }

 private:
  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
  }
  std::uint64_t bits(std::int64_t i) const { return mixed(base_ + (static_cast<std::uint64_t>(i) + 1) * 0x9E3779B97F4A7C15U); }
  std::uint64_t base_ = 0;
};

[[maybe_unused]] void fill_uniform(Tensor& t, std::uint64_t seed, double lo, double hi) {
  const Random random(seed, t.name);
  for (std::int64_t i = 0; i < t.count(); ++i)
    set_number(t, i, is_float(t.type) ? lo + (hi - lo) * random.uniform(i)
                                      : static_cast<double>(random.integer(i, static_cast<std::int64_t>(std::ceil(lo)), static_cast<std::int64_t>(std::floor(hi)))));
}

[[maybe_unused]] void fill_integers(Tensor& t, std::uint64_t seed, std::int64_t lo, std::int64_t hi) {
  const Random random(seed, t.name);
  for (std::int64_t i = 0; i < t.count(); ++i) set_number(t, i, static_cast<double>(random.integer(i, lo, hi)));
}

[[maybe_unused]] void fill_normal(Tensor& t, std::uint64_t seed, double mean, double deviation) {
  const Random random(seed, t.name);
  for (std::int64_t i = 0; i < t.count(); ++i) {
    const double x = mean + deviation * random.normal(i);
    set_number(t, i, is_float(t.type) ? x : std::nearbyint(x));
  }
}

// Symmetric, diagonally dominant.
[[maybe_unused]] void fill_spd(Tensor& t, std::uint64_t seed) {
  const Random random(seed, t.name);
  const std::int64_t n = t.shape.back(), m = t.shape.size() > 1 ? t.shape[t.shape.size() - 2] : 1;
  for (std::int64_t k = 0; k < t.count(); ++k) {
    const std::int64_t batch = k / (m * n), i = k / n % m, j = k % n;
    const double u = random.uniform((batch * m + std::min(i, j)) * n + std::max(i, j));
    if (is_float(t.type)) set_number(t, k, i == j ? 1.5 + u : (2 * u - 1) / static_cast<double>(n));
    else set_number(t, k, i == j ? static_cast<double>(n + 1) : u < 0.5 ? 0 : 1);
  }
}

// 0 .. n - 1 in random order along the last axis.
[[maybe_unused]] void fill_permutation(Tensor& t, std::uint64_t seed) {
  const Random random(seed, t.name);
  const std::int64_t n = t.shape.empty() ? 1 : t.shape.back();
  std::vector<std::int64_t> row(static_cast<std::size_t>(n));
  for (std::int64_t start = 0; start < t.count(); start += n) {
    for (std::int64_t i = 0; i < n; ++i) row[static_cast<std::size_t>(i)] = i;
    for (std::int64_t i = n - 1; i > 0; --i) std::swap(row[static_cast<std::size_t>(i)], row[static_cast<std::size_t>(random.integer(start + i, 0, i))]);
    for (std::int64_t i = 0; i < n; ++i) set_number(t, start + i, static_cast<double>(row[static_cast<std::size_t>(i)]));
  }
}

[[maybe_unused]] void fill_value(Tensor& t, double x) {
  for (std::int64_t i = 0; i < t.count(); ++i) set_number(t, i, x);
}

[[maybe_unused]] void fill_iota(Tensor& t, std::size_t axis) {
  std::int64_t inner = 1;
  for (std::size_t d = axis + 1; d < t.shape.size(); ++d) inner *= t.shape[d];
  for (std::int64_t i = 0; i < t.count(); ++i) set_number(t, i, static_cast<double>(i / inner % t.shape[axis]));
}

template <class T>
[[maybe_unused]] void fill_list(Tensor& t, const std::vector<T>& values) {
  for (std::int64_t i = 0; i < t.count(); ++i) {
    const T x = values[static_cast<std::size_t>(i)];
    if (t.type == kI64 || t.type == kU64) std::memcpy(t.as<T>() + i, &x, sizeof x);
    else set_number(t, i, static_cast<double>(x));
  }
}

// Reads the elements of a C-order .npy file; bf16 is stored as f32.
[[maybe_unused]] void read_npy(Tensor& t, const char* path) {
  const std::string whole = std::string(FACET_FOLDER) + "/" + path;
  std::FILE* file = std::fopen(whole.c_str(), "rb");
  unsigned char head[12] = {0};
  const bool opened = file && std::fread(head, 1, 10, file) == 10 && std::memcmp(head, "\x93NUMPY", 6) == 0;
  std::size_t length = opened ? static_cast<std::size_t>(head[8] | head[9] << 8) : 0;
  if (opened && head[6] > 1 && std::fread(head + 10, 1, 2, file) == 2) length |= static_cast<std::size_t>(head[10]) << 16;
  std::vector<unsigned char> bytes(static_cast<std::size_t>(t.count()) * static_cast<std::size_t>(t.type == kBF16 ? 4 : kBytes[t.type]));
  if (!opened || std::fseek(file, static_cast<long>(length), SEEK_CUR) != 0 || std::fread(bytes.data(), 1, bytes.size(), file) != bytes.size()) {
    std::fprintf(stderr, "cannot read the weights in %s\n", whole.c_str());
    std::exit(3);
  }
  std::fclose(file);
  if (t.type != kBF16) {
    std::memcpy(t.data(), bytes.data(), bytes.size());
    return;
  }
  for (std::int64_t i = 0; i < t.count(); ++i) {
    float x;
    std::memcpy(&x, bytes.data() + 4 * i, 4);
    set_number(t, i, static_cast<double>(x));
  }
}

// What plain loops say an output is: numbers as double or int64, and a bound on the error of each.
struct Expected {
  std::vector<double> numbers;
  std::vector<std::int64_t> integers;
  std::vector<float> bounds;

  explicit Expected(const Tensor& t) : bounds(static_cast<std::size_t>(t.count()) + 1) {
    if (is_float(t.type)) numbers.resize(bounds.size());
    else integers.resize(bounds.size());
  }
  void* data() { return numbers.empty() ? static_cast<void*>(integers.data()) : static_cast<void*>(numbers.data()); }

  // Free numerics: sums may be made of sums of other elements, so 16 times the largest bound holds for each.
  void share_largest() {
    float most = 0;
    for (const float b : bounds)
      if (std::isfinite(b)) most = std::max(most, 16 * b);
    for (float& b : bounds) b = std::max(b, most);
  }
};

// Whether `got` may stand for `wanted` known to within `bound`, after rounding to the type.
bool is_right(Dtype type, double wanted, double bound, double got, double* error) {
  *error = 0;
  if (std::isnan(wanted) || std::isnan(got)) return std::isnan(wanted) && std::isnan(got);
  if (got == wanted || got == rounded(type, wanted)) return true;
  static const double unit[] = {0x1p-11, 0x1p-8, 0x1p-24, 0x1p-53}, tiny[] = {0x1p-25, 0x1p-134, 0x1p-150, 0}, largest[] = {65504, 3.4e38, 3.4e38, 1.7e308};
  const int k = type - kF16;
  double tolerance = bound;
  if (bound != 0) tolerance += unit[k] * (std::fabs(wanted) + bound) + tiny[k];
  if (!std::isfinite(rounded(type, wanted)) && std::isfinite(got)) tolerance += largest[k] * unit[k];
  *error = std::fabs(got - wanted);
  return *error <= tolerance;
}

// Compares all elements, prints one line; true when the output is right.
bool check(Tensor& t, Expected& expected) {
  std::int64_t wrong = 0, first = -1, ambiguous = 0;
  double worst = 0;
  for (std::int64_t i = 0; i < t.count(); ++i) {
    const std::size_t k = static_cast<std::size_t>(i);
    if (std::isinf(expected.bounds[k])) {
      ++ambiguous;
      continue;
    }
    double error = 0;
    const bool right = is_float(t.type) ? is_right(t.type, expected.numbers[k], static_cast<double>(expected.bounds[k]), get_number(t, i), &error)
                                        : get_integer(t, i) == expected.integers[k];
    worst = std::max(worst, error);
    if (right) continue;
    if (wrong++ == 0) first = i;
  }
  const bool decided = static_cast<double>(ambiguous) <= 0.001 * static_cast<double>(t.count());
  std::printf("%s: %lld elements, largest error %.3g, %lld wrong, %lld ambiguous: %s\n", t.name, static_cast<long long>(t.count()), worst,
              static_cast<long long>(wrong), static_cast<long long>(ambiguous), wrong == 0 && decided ? "right" : "WRONG");
  if (first >= 0) {
    const double wanted = is_float(t.type) ? expected.numbers[static_cast<std::size_t>(first)] : static_cast<double>(expected.integers[static_cast<std::size_t>(first)]);
    std::printf("  first at %lld: %.9g, plain loops give %.9g\n", static_cast<long long>(first), get_number(t, first), wanted);
  }
  return wrong == 0 && decided;
}

// SYMBOL=value sets a size, --seed N the random inputs, --repeat N the timed runs.
void read_arguments(int argc, char** argv, const std::vector<const char*>& names, std::int64_t* symbols, std::uint64_t* seed, int* repeat) {
  for (int a = 1; a < argc; ++a) {
    const std::string text = argv[a];
    bool known = false;
    if ((text == "--seed" || text == "--repeat") && a + 1 < argc) {
      const long long number = std::atoll(argv[++a]);
      if (text == "--seed") *seed = static_cast<std::uint64_t>(number);
      else *repeat = static_cast<int>(number);
      known = true;
    }
    for (std::size_t s = 0; s < names.size(); ++s) {
      if (text.compare(0, std::strlen(names[s]) + 1, std::string(names[s]) + "=") != 0) continue;
      symbols[s] = std::atoll(text.c_str() + std::strlen(names[s]) + 1);
      known = true;
    }
    if (known) continue;
    std::fprintf(stderr, "%s is no symbol of this program: use SYMBOL=value, --seed N or --repeat N\n", argv[a]);
    std::exit(2);
  }
}

double now_ms() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

)support";

}  // namespace facet
