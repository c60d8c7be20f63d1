// Seeded random inputs, given inputs, and constants.
#include "src/run/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <stdexcept>

#include "src/frontend/files.hpp"
#include "src/frontend/npy.hpp"
#include "src/run/random.hpp"

namespace facet {

namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + text + "]";
}

void fill_uniform(HostTensor& t, const RandomStream& random, double lo, double hi) {
  const std::int64_t count = t.element_count();
  if (!is_float(t.dtype)) {
    for (std::int64_t i = 0; i < count; ++i)
      t.set_int(i, random.integer(static_cast<std::uint64_t>(i), static_cast<std::int64_t>(std::ceil(lo)),
                                  static_cast<std::int64_t>(std::floor(hi))));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) t.set(i, lo + (hi - lo) * random.uniform(static_cast<std::uint64_t>(i)));
}

void fill_integers(HostTensor& t, const RandomStream& random, std::int64_t lo, std::int64_t hi) {
  const std::int64_t count = t.element_count();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t v = random.integer(static_cast<std::uint64_t>(i), lo, hi);
    is_float(t.dtype) ? t.set(i, static_cast<double>(v)) : t.set_int(i, v);
  }
}

void fill_default(HostTensor& t, const RandomStream& random) {
  if (is_float(t.dtype)) return fill_uniform(t, random, -1, 1);
  if (t.dtype == DType::kBool) return fill_integers(t, random, 0, 1);
  fill_integers(t, random, is_signed(t.dtype) ? -8 : 0, 8);
}

void fill_normal(HostTensor& t, const RandomStream& random, double mean, double deviation) {
  const std::int64_t count = t.element_count();
  for (std::int64_t i = 0; i < count; ++i) {
    const double v = mean + deviation * random.normal(static_cast<std::uint64_t>(i));
    t.set(i, is_float(t.dtype) ? v : std::nearbyint(v));
  }
}

// A[i, j] = A[j, i] = u / n with |u| <= 1 beside a diagonal in [1.5, 2.5): each row's off-diagonal sum is below 1.
void fill_spd(HostTensor& t, const RandomStream& random) {
  const std::int64_t n = t.shape.back();
  const std::int64_t m = t.shape.size() > 1 ? t.shape[t.shape.size() - 2] : 1;
  const std::int64_t count = t.element_count();
  const bool integers = !is_float(t.dtype);
  for (std::int64_t e = 0; e < count; ++e) {
    const std::int64_t batch = e / (m * n);
    const std::int64_t i = e / n % m;
    const std::int64_t j = e % n;
    const std::int64_t low = std::min(i, j);
    const std::int64_t high = std::max(i, j);
    const double u = random.uniform(static_cast<std::uint64_t>((batch * m + low) * n + high));
    if (integers) {
      t.set_int(e, i == j ? n + 1 : u < 0.5 ? 0 : 1);
    } else {
      t.set(e, i == j ? 1.5 + u : (2 * u - 1) / static_cast<double>(n));
    }
  }
}

// Fisher-Yates along the last axis.
void fill_permutation(HostTensor& t, const RandomStream& random) {
  const std::int64_t n = t.shape.empty() ? 1 : t.shape.back();
  const std::int64_t count = t.element_count();
  std::vector<std::int64_t> row(static_cast<std::size_t>(n));
  for (std::int64_t start = 0; start < count; start += n) {
    for (std::int64_t i = 0; i < n; ++i) row[static_cast<std::size_t>(i)] = i;
    for (std::int64_t i = n - 1; i > 0; --i)
      std::swap(row[static_cast<std::size_t>(i)],
                row[static_cast<std::size_t>(random.integer(static_cast<std::uint64_t>(start + i), 0, i))]);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t v = row[static_cast<std::size_t>(i)];
      is_float(t.dtype) ? t.set(start + i, static_cast<double>(v)) : t.set_int(start + i, v);
    }
  }
}

void fill_iota(HostTensor& t, int axis) {
  std::int64_t inner = 1;
  for (std::size_t d = static_cast<std::size_t>(axis) + 1; d < t.shape.size(); ++d) inner *= t.shape[d];
  const std::int64_t extent = t.shape[static_cast<std::size_t>(axis)];
  const std::int64_t count = t.element_count();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t v = i / inner % extent;
    is_float(t.dtype) ? t.set(i, static_cast<double>(v)) : t.set_int(i, v);
  }
}

// The given tensor in the declared dtype, or what is wrong with it.
Result<HostTensor> accept(const Tensor& tensor, const HostTensor& given, const std::vector<std::int64_t>& extents) {
  const bool widened = tensor.dtype == DType::kBF16 && given.dtype == DType::kF32;  // V8: bf16 travels as f32
  if (given.dtype != tensor.dtype && !widened)
    return diagnose(Code::kInputDtype, {}, {tensor.name, to_text(tensor.dtype), to_text(given.dtype)});
  if (given.shape != extents)
    return diagnose(Code::kInputShape, {}, {tensor.name, shape_text(extents), shape_text(given.shape)});
  if (!widened) return given;
  HostTensor rounded = make_host_tensor(tensor.dtype, extents);
  const std::int64_t count = rounded.element_count();
  for (std::int64_t i = 0; i < count; ++i) rounded.set(i, given.get(i));
  return rounded;
}

Result<HostTensors> collect(const Program& program, const SymbolValues& symbols, std::uint64_t seed, const HostTensors& given) {
  HostTensors tensors;
  for (const std::string& name : program.inputs) {
    const Tensor& tensor = program.tensor(name);
    const auto at = given.find(name);
    if (at == given.end()) {
      tensors[name] = sample_tensor(tensor, symbols, seed);
      continue;
    }
    Result<HostTensor> accepted = accept(tensor, at->second, extents_of(tensor, symbols));
    if (!accepted) return accepted.errors();
    tensors[name] = std::move(*accepted);
  }
  for (const std::string& name : program.tensor_order) {
    const Tensor& tensor = program.tensor(name);
    if (!tensor.data) continue;
    Result<HostTensor> values = constant_tensor(tensor, symbols, program.folder);
    if (!values) return values.errors();
    tensors[name] = std::move(*values);
  }
  return tensors;
}

}  // namespace

HostTensor sample_tensor(const Tensor& tensor, const SymbolValues& symbols, std::uint64_t seed) {
  HostTensor t = make_host_tensor(tensor.dtype, extents_of(tensor, symbols));
  if (t.element_count() == 0) return t;
  const RandomStream random(seed, tensor.name);
  const Sample& s = tensor.sample;
  switch (s.kind) {
    case Sample::Kind::kDefault: fill_default(t, random); break;
    case Sample::Kind::kUniform: fill_uniform(t, random, s.a, s.b); break;
    case Sample::Kind::kNormal: fill_normal(t, random, s.a, s.b); break;
    case Sample::Kind::kIntegers:
      fill_integers(t, random, static_cast<std::int64_t>(s.a), static_cast<std::int64_t>(s.b));
      break;
    case Sample::Kind::kSpd: fill_spd(t, random); break;
    case Sample::Kind::kPermutation: fill_permutation(t, random); break;
  }
  return t;
}

Result<HostTensor> constant_tensor(const Tensor& tensor, const SymbolValues& symbols, const std::string& folder) {
  const TensorData& data = *tensor.data;
  const std::vector<std::int64_t> extents = extents_of(tensor, symbols);
  if (data.kind == TensorData::Kind::kFile) {
    Result<std::string> path = path_inside(folder, data.path, tensor.place);
    if (!path) return path.errors();
    return read_npy_as(*path, tensor.name, tensor.dtype, extents, tensor.place);
  }
  HostTensor t = make_host_tensor(tensor.dtype, extents);
  const std::int64_t count = t.element_count();
  if (data.kind == TensorData::Kind::kIota) {
    if (count > 0) fill_iota(t, data.axis);
    return t;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    if (data.kind == TensorData::Kind::kFill) {
      is_float(t.dtype) ? t.set(i, data.fill) : t.set_int(i, data.int_fill);
    } else if (is_float(t.dtype)) {
      t.set(i, at < data.values.size() ? data.values[at] : 0);
    } else {
      t.set_int(i, at < data.int_values.size() ? data.int_values[at] : 0);
    }
  }
  return t;
}

Result<HostTensors> make_inputs(const Program& program, const SymbolValues& symbols, std::uint64_t seed,
                                const HostTensors& given) {
  for (const auto& [name, tensor] : given)
    if (std::find(program.inputs.begin(), program.inputs.end(), name) == program.inputs.end())
      return diagnose(Code::kUnknownInput, {}, {name});
  try {
    return collect(program, symbols, seed, given);
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {}
  std::int64_t bytes = 0;
  for (const std::string& name : program.inputs) {
    std::int64_t size = size_bytes(program.tensor(name).dtype);
    for (const std::int64_t extent : extents_of(program.tensor(name), symbols)) size *= extent;
    bytes += size;
  }
  return diagnose(Code::kOutOfMemory, {}, {"the inputs of " + program.name, std::to_string(bytes)});
}

Result<Done> check_symbols(const Program& program, const SymbolValues& symbols) {
  for (const Symbol& s : program.symbols) {
    const std::int64_t value = symbols.at(s.name);
    if (value < s.min || value > s.max)
      return diagnose(Code::kSymbolOutsideRange, s.place,
                      {s.name, std::to_string(value), std::to_string(s.min), std::to_string(s.max)});
  }
  for (const ExprPtr& assumption : program.assumptions)
    if (!evaluate_index(assumption, symbols)) return diagnose(Code::kAssumptionBroken, {}, {to_text(assumption)});
  return Done{};
}

}  // namespace facet
