// Runs a program through the reference interpreter: memory for each tensor, nodes in order, intermediates freed after last use.
#include "src/run/reference.hpp"

#include <algorithm>
#include <new>
#include <set>
#include <stdexcept>

#include "src/run/reference/nodes.hpp"
#include "src/run/reference/spread.hpp"
#include "src/run/reference/storage.hpp"
#include "src/run/uses.hpp"

namespace facet {

namespace {

using reference::Compiler;
using reference::State;
using reference::Storage;

// One run: the storage map and who still needs which tensor.
class Run {
 public:
  Run(const Program& program, const SymbolValues& symbols, const HostTensors& tensors, std::uint64_t seed)
      : program_(program), symbols_(symbols), tensors_(tensors) {
    compiler_.seed = seed;
    compiler_.symbols = &symbols_;
    compiler_.storage = &storage_;
    compiler_.flush_denormals = program.numerics.flush_denormals;
  }

  Result<ReferenceRun> run() {
    last_use_ = last_uses(program_);
    for (std::size_t n = 0; n < program_.nodes.size(); ++n) {
      if (Result<Done> done = run_node(n); !done) return done.errors();
      if (!state_.violations.empty())
        return diagnose(Code::kReferenceRefused, program_.nodes[n].place, {state_.violations.front()});
    }
    return collect();
  }

  const std::string& wanted() const { return wanted_; }
  std::int64_t wanted_bytes() const { return wanted_bytes_; }

 private:
  Result<Done> run_node(std::size_t n) {
    const Node& node = program_.nodes[n];
    const std::set<std::string> defined = defined_by(node);
    const std::set<std::string> names = names_of(node);
    for (const std::string& name : names) {
      if (storage_.count(name)) continue;
      const Tensor& tensor = program_.tensor(name);
      const bool fresh = defined.count(name) || (tensor.local && !tensor.data);  // a number among operands is a local constant
      if (Result<Done> done = provide(name, fresh); !done) return done;
    }
    for (const Equation& q : node.equations) {
      const reference::EquationCode code = reference::compile_equation(compiler_, q);
      reference::make_room(state_, compiler_);
      reference::run_equation(state_, code);
    }
    if (!node.loops.empty()) reference::run_loops(state_, compiler_, node.loops);
    for (const std::string& name : names) release(name, n, defined.count(name) != 0);
    return Done{};
  }

  // Memory for a tensor: fresh ones start undefined, the others hold the given values.
  Result<Done> provide(const std::string& name, bool fresh) {
    const Tensor& tensor = program_.tensor(name);
    wanted_ = name;
    wanted_bytes_ = 13;  // value, bound, defined bit
    for (const std::int64_t extent : extents_of(tensor, symbols_)) wanted_bytes_ *= extent;
    const auto given = tensors_.find(name);
    if (!fresh && given == tensors_.end()) return diagnose(Code::kNoValuesForTensor, tensor.place, {name});
    std::unique_ptr<Storage> storage = reference::make_storage(tensor, symbols_, false);
    if (fresh) {
      storage->defined.assign(static_cast<std::size_t>(storage->count), 0);
    } else {
      reference::fill_from(*storage, given->second);
    }
    storage_[name] = std::move(storage);
    return Done{};
  }

  void release(const std::string& name, std::size_t n, bool was_defined_here) {
    Storage& storage = *storage_.at(name);
    storage.magnitudes = {};
    const auto& bits = storage.defined;
    if (was_defined_here && std::find(bits.begin(), bits.end(), 0) == bits.end()) storage.defined = {};
    if (last_use_[name] <= n && !is_output(program_, name)) storage_.erase(name);
  }

  Result<ReferenceRun> collect() {
    ReferenceRun result;
    for (const std::string& name : program_.outputs) {
      if (!storage_.count(name))
        if (Result<Done> done = provide(name, false); !done) return done.errors();
      const Storage& from = *storage_.at(name);
      result.outputs[name] = {from.dtype, from.extents, from.floats, from.ints, from.bounds, from.defined};
    }
    result.gathers = state_.gathers;
    result.gather_count = state_.gather_count;
    return result;
  }

  const Program& program_;
  const SymbolValues& symbols_;
  const HostTensors& tensors_;
  std::map<std::string, std::unique_ptr<Storage>> storage_;
  std::map<std::string, std::size_t> last_use_;
  Compiler compiler_;
  State state_;
  std::string wanted_;
  std::int64_t wanted_bytes_ = 0;
};

Result<ReferenceRun> run_once(const Program& program, const SymbolValues& symbols, const HostTensors& tensors,
                              std::uint64_t seed) {
  Run run(program, symbols, tensors, seed);
  try {
    return run.run();
  } catch (const std::bad_alloc&) {
    return diagnose(Code::kOutOfMemory, {}, {"the reference value of " + run.wanted(), std::to_string(run.wanted_bytes())});
  } catch (const std::length_error&) {
    return diagnose(Code::kOutOfMemory, {}, {"the reference value of " + run.wanted(), std::to_string(run.wanted_bytes())});
  }
}

}  // namespace

Result<ReferenceRun> run_reference(const Program& program, const SymbolValues& symbols, const HostTensors& tensors) {
  Result<ReferenceRun> run = run_once(program, symbols, tensors, 0);
  if (!run || !reference::can_be_vague(program) || !reference::bounds_are_vague(*run)) return run;
  reference::Spread spread(*run);
  for (std::uint64_t seed = 1; seed <= reference::kSpreadRuns; ++seed) {
    const Result<ReferenceRun> moved = run_once(program, symbols, tensors, seed);
    if (!moved) return moved;
    spread.add(*moved);
  }
  spread.tighten(*run);
  return run;
}

HostTensors outputs_of(const ReferenceRun& run) {
  HostTensors outputs;
  for (const auto& [name, from] : run.outputs) {
    HostTensor tensor = make_host_tensor(from.dtype, from.shape);
    const std::int64_t count = tensor.element_count();
    for (std::int64_t i = 0; i < count; ++i)
      if (is_float(from.dtype)) {
        tensor.set(i, from.floats[static_cast<std::size_t>(i)]);
      } else {
        tensor.set_int(i, from.ints[static_cast<std::size_t>(i)]);
      }
    outputs[name] = std::move(tensor);
  }
  return outputs;
}

}  // namespace facet
