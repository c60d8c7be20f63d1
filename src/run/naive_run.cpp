// Loading and calling naive programs.
#include "src/run/naive_run.hpp"

#include <dlfcn.h>

#include <memory>
#include <new>
#include <stdexcept>

namespace facet {

namespace {

using Entry = std::int64_t (*)(const std::int64_t*, const void* const*, void* const*, float* const*);
using GatherText = const char* (*)();

struct Closer {
  void operator()(void* handle) const { dlclose(handle); }
};

// The arguments of a naive entry point, and the results they point into.
struct Call {
  std::vector<std::int64_t> symbols;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  std::vector<float*> bounds;
  ReferenceRun run;
};

Result<Call> prepare(const Program& program, const SymbolValues& symbols, const HostTensors& tensors) {
  Call call;
  for (const Symbol& s : program.symbols) call.symbols.push_back(symbols.at(s.name));
  std::vector<std::string> given = program.inputs;
  for (const std::string& name : program.tensor_order)
    if (program.tensor(name).data) given.push_back(name);
  for (const std::string& name : given) {
    const auto at = tensors.find(name);
    if (at == tensors.end()) return diagnose(Code::kNoValuesForTensor, program.tensor(name).place, {name});
    call.inputs.push_back(at->second.bytes.data());
  }
  for (const std::string& name : program.outputs) {
    ReferenceTensor& t = call.run.outputs[name];
    t.dtype = program.tensor(name).dtype;
    t.shape = extents_of(program.tensor(name), symbols);
    std::size_t count = 1;
    for (const std::int64_t extent : t.shape) count *= static_cast<std::size_t>(extent);
    t.bounds.resize(count);
    is_float(t.dtype) ? t.floats.resize(count) : t.ints.resize(count);
    call.outputs.push_back(is_float(t.dtype) ? static_cast<void*>(t.floats.data()) : static_cast<void*>(t.ints.data()));
    call.bounds.push_back(t.bounds.data());
  }
  return call;
}

}  // namespace

Result<ReferenceRun> run_naive_library(const std::string& path, const Program& program, const SymbolValues& symbols,
                                       const HostTensors& tensors) {
  const std::unique_ptr<void, Closer> library(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!library) return diagnose(Code::kLibraryUnusable, {}, {path, dlerror()});
  const std::string name = "naive_" + program.name;
  const Entry entry = reinterpret_cast<Entry>(dlsym(library.get(), name.c_str()));
  const GatherText gather = reinterpret_cast<GatherText>(dlsym(library.get(), (name + "_gather").c_str()));
  if (!entry || !gather) return diagnose(Code::kLibraryUnusable, {}, {path, "it does not define " + name});
  try {
    Result<Call> call = prepare(program, symbols, tensors);
    if (!call) return call.errors();
    call->run.gather_count = entry(call->symbols.data(), call->inputs.data(), call->outputs.data(), call->bounds.data());
    if (call->run.gather_count > 0) call->run.gathers.push_back(gather());
    return std::move(call->run);
  } catch (const std::bad_alloc&) {
    return diagnose(Code::kOutOfMemory, {}, {"the naive program of " + program.name, "more"});
  } catch (const std::length_error&) {
    return diagnose(Code::kOutOfMemory, {}, {"the naive program of " + program.name, "more"});
  }
}

}  // namespace facet
