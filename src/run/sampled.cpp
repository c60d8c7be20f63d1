// Sampled reference runs.
#include "src/run/sampled.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <set>
#include <stdexcept>

#include "src/run/random.hpp"
#include "src/run/reference/lazy.hpp"
#include "src/run/reference/storage.hpp"

namespace facet {

namespace {

using reference::Compiler;
using reference::LazyTensor;
using reference::State;
using reference::Storage;
using reference::Value;

// `wanted` distinct indices of an axis: ends, tile edges, then random ones.
std::vector<std::int64_t> axis_indices(std::int64_t extent, std::int64_t wanted, const RandomStream& random) {
  std::set<std::int64_t> picked = {0, extent - 1};
  for (std::uint64_t draw = 0; static_cast<std::int64_t>(picked.size()) < wanted; ++draw) {
    const std::int64_t i = random.integer(draw, 0, extent - 1);
    if (draw % 2 == 0 && i >= 8) {
      picked.insert(i - i % 8 - 1);
      picked.insert(i - i % 8);
    } else {
      picked.insert(i);
    }
  }
  return {picked.begin(), picked.end()};
}

class SampledRun {
 public:
  SampledRun(const Program& program, const SymbolValues& symbols, const HostTensors& tensors, const SampleOptions& options)
      : program_(program), symbols_(symbols), tensors_(tensors), options_(options) {
    compiler_.symbols = &symbols_;
    compiler_.storage = &storage_;
    compiler_.flush_denormals = program.numerics.flush_denormals;
    state_.budget = options.budget;
  }

  Result<ReferenceRun> run() {
    for (const std::string& name : program_.tensor_order) {
      const auto given = tensors_.find(name);
      storage_[name] = reference::make_storage(program_.tensor(name), symbols_, given == tensors_.end());
      if (given != tensors_.end()) {
        reference::fill_from(*storage_[name], given->second);
      } else {
        lazy_[name] = std::make_unique<LazyTensor>(*storage_[name]);
        storage_[name]->lazy = lazy_[name].get();
      }
    }
    for (const Node& node : program_.nodes)
      for (const Equation& q : node.equations) lazy_.at(q.tensor)->add(reference::compile_equation(compiler_, q));
    reference::make_room(state_, compiler_);
    ReferenceRun result;
    result.method = "sampled";
    result.sampled = true;
    for (const std::string& name : program_.outputs)
      if (Result<Done> done = sample(name, &result.outputs[name]); !done) return done.errors();
    result.gathers = state_.gathers;
    result.gather_count = state_.gather_count;
    return result;
  }

 private:
  Result<Done> sample(const std::string& name, ReferenceTensor* out) {
    const Storage& shape = *storage_.at(name);
    const std::size_t count = static_cast<std::size_t>(shape.count);
    *out = {shape.dtype, shape.extents, {}, {}, std::vector<float>(count), std::vector<std::uint8_t>(count)};
    shape.is_float ? out->floats.resize(count) : out->ints.resize(count);
    if (count == 0) return Done{};
    const std::vector<std::vector<std::int64_t>> grid = sample_grid(shape.extents, options_.count, options_.seed);
    std::vector<std::size_t> at(grid.size());
    while (true) {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < grid.size(); ++d) offset += grid[d][at[d]] * shape.strides[d];
      const Value v = shape.lazy ? shape.lazy->at(state_, offset) : shape.load(offset);
      if (state_.budget < 0) return diagnose(Code::kOracleTooLarge, {}, {name});
      if (!state_.violations.empty()) return diagnose(Code::kReferenceRefused, {}, {state_.violations.front()});
      const std::size_t i = static_cast<std::size_t>(offset);
      shape.is_float ? void(out->floats[i] = v.f) : void(out->ints[i] = v.i);
      out->bounds[i] = Storage::round_up(v.bound);
      out->defined[i] = 1;
      std::size_t d = grid.size();
      while (d > 0 && ++at[d - 1] == grid[d - 1].size()) at[--d] = 0;
      if (d == 0) return Done{};
    }
  }

  const Program& program_;
  const SymbolValues& symbols_;
  const HostTensors& tensors_;
  const SampleOptions& options_;
  std::map<std::string, std::unique_ptr<Storage>> storage_;
  std::map<std::string, std::unique_ptr<LazyTensor>> lazy_;
  Compiler compiler_;
  State state_;
};

}  // namespace

std::vector<std::vector<std::int64_t>> sample_grid(const std::vector<std::int64_t>& shape, std::int64_t count,
                                                   std::uint64_t seed) {
  // Small axes are taken whole; the larger ones share what is left evenly.
  std::vector<std::size_t> order(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) order[d] = d;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return shape[a] < shape[b]; });
  std::vector<std::vector<std::int64_t>> grid(shape.size());
  double left = static_cast<double>(count);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t d = order[k];
    const double share = std::ceil(std::pow(std::max(left, 1.0), 1.0 / static_cast<double>(order.size() - k)) - 1e-9);
    const std::int64_t wanted = std::min<std::int64_t>(shape[d], std::max<std::int64_t>(static_cast<std::int64_t>(share), 2));
    grid[d] = axis_indices(shape[d], wanted, RandomStream(seed, "axis " + std::to_string(d)));
    left /= static_cast<double>(grid[d].size());
  }
  return grid;
}

bool can_sample(const Program& program) {
  return std::all_of(program.nodes.begin(), program.nodes.end(), [](const Node& n) { return n.loops.empty(); });
}

Result<ReferenceRun> run_sampled(const Program& program, const SymbolValues& symbols, const HostTensors& tensors,
                                 const SampleOptions& options) {
  try {
    return SampledRun(program, symbols, tensors, options).run();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {}
  return diagnose(Code::kOutOfMemory, {}, {"a sampled reference of " + program.name, "more"});
}

}  // namespace facet
