// Loading, copying and launching through the driver.
#include "codegen/cuda/runner.hpp"

#include <algorithm>
#include <map>

#include "codegen/cuda/driver_api.hpp"
#include "codegen/cuda/host_loops.hpp"

namespace facet {

namespace {

// CUdevice_attribute, CUfunction_attribute and CUstream_flags values of the CUDA Driver API reference.
constexpr int kMaxThreads = 1, kSharedPerBlock = 8, kWarpSize = 10, kMultiprocessors = 16, kMajor = 75, kMinor = 76,
              kRegistersPerSm = 82, kSharedOptIn = 97, kMaxGridX = 5, kMaxGridY = 6, kMaxGridZ = 7;
constexpr int kFuncSharedBytes = 1, kFuncLocalBytes = 3, kFuncRegisters = 4, kFuncMaxDynamicShared = 8;
// Ordered with the legacy stream, on which memset and copies run: they may return before the device has done them.
constexpr unsigned kOrderedStream = 0;

int attribute(const CudaApi& api, int which) {
  int value = 0;
  api.device_attribute(&value, which, 0);
  return value;
}

struct Loaded {
  CudaLaunch launch;
  CudaHandle function = nullptr;
  std::array<unsigned, 3> grid = {1, 1, 1};
  bool empty = false;
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

bool is_argument(const Buffer& b) {
  return b.role == BufferRole::kInput || b.role == BufferRole::kInOut || b.role == BufferRole::kWeight;
}
bool is_result(const Buffer& b) { return b.role == BufferRole::kOutput || b.role == BufferRole::kInOut; }

}  // namespace

std::int64_t bytes_of(const Buffer& buffer, const SymbolValues& symbols) {
  std::int64_t last = 0, count = 1;
  for (std::size_t d = 0; d < buffer.extents.size(); ++d) {
    const std::int64_t extent = evaluate_index(buffer.extents[d], symbols);
    count *= extent;
    if (!buffer.strides.empty()) last += (extent - 1) * evaluate_index(buffer.strides[d], symbols);
  }
  if (count > 0 && !buffer.strides.empty()) count = last + 1;
  return std::max<std::int64_t>(1, count * size_bytes(buffer.dtype));
}

Result<CudaDevice> cuda_device() {
  const Result<const CudaApi*> opened = cuda_api();
  if (!opened) return opened.errors();
  const CudaApi& api = **opened;
  CudaDevice d;
  char name[256] = {};
  if (const Result<Done> r = api.check(api.device_name(name, sizeof name, 0), "cuDeviceGetName"); !r) return r.errors();
  int version = 0;
  api.driver_version(&version);
  std::size_t memory = 0;
  api.device_memory(&memory, 0);
  d.name = name;
  d.driver = "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  d.memory_bytes = static_cast<std::int64_t>(memory);
  GpuMachine& m = d.machine;
  m.compute_major = attribute(api, kMajor);
  m.compute_minor = attribute(api, kMinor);
  d.arch = m.name = "sm_" + std::to_string(m.compute_major) + std::to_string(m.compute_minor);
  m.multiprocessors = attribute(api, kMultiprocessors);
  m.warp = attribute(api, kWarpSize);
  m.max_threads_per_block = attribute(api, kMaxThreads);
  m.registers_per_multiprocessor = attribute(api, kRegistersPerSm);
  m.shared_bytes_per_block = attribute(api, kSharedPerBlock);
  m.shared_bytes_opt_in = attribute(api, kSharedOptIn);
  m.max_grid_x = attribute(api, kMaxGridX);
  m.max_grid_y = attribute(api, kMaxGridY);
  m.max_grid_z = attribute(api, kMaxGridZ);
  return d;
}

struct CudaLibrary::State {
  const CudaApi* api = nullptr;
  CudaBinary binary;
  CudaHandle context = nullptr, handle = nullptr;

  Result<Done> start() {
    if (const Result<Done> r = api->check(api->context_retain(&context, 0), "cuDevicePrimaryCtxRetain"); !r) return r;
    if (const Result<Done> r = api->check(api->context_set(context), "cuCtxSetCurrent"); !r) return r;
    return api->check(api->module_load(&handle, binary.cubin.data()), "cuModuleLoadData");
  }
  ~State() {
    if (!context) return;
    api->context_set(context);
    if (handle) api->module_unload(handle);
    api->context_release(0);
  }
};

CudaLibrary::CudaLibrary(std::unique_ptr<State> state) : state_(std::move(state)) {}
CudaLibrary::~CudaLibrary() = default;
const CudaBinary& CudaLibrary::binary() const { return state_->binary; }

Result<std::shared_ptr<const CudaLibrary>> CudaLibrary::load(CudaBinary binary) {
  const Result<const CudaApi*> opened = cuda_api();
  if (!opened) return opened.errors();
  auto state = std::make_unique<State>();
  state->api = *opened;
  state->binary = std::move(binary);
  if (const Result<Done> r = state->start(); !r) return r.errors();
  return std::shared_ptr<const CudaLibrary>(new CudaLibrary(std::move(state)));
}

struct CudaRunner::State {
  const CudaApi* api = nullptr;
  CudaDevice device;
  CudaModule module;
  SymbolValues symbols;
  std::shared_ptr<const CudaLibrary> library;
  CudaHandle stream = nullptr;
  std::vector<Loaded> prepare, kernels;
  std::vector<CudaKernelFacts> facts;
  std::map<std::string, CudaAddress> memory;

  Result<Done> check(int status, const std::string& call) const { return api->check(status, call); }
  Result<Done> start(const CudaRunOptions& options);
  Result<Done> allocate();
  Result<Done> load_kernels(const std::vector<CudaLaunch>& launches, std::vector<Loaded>* loaded);
  Result<Done> place(const SymbolValues& values, Loaded* kernel) const;  // the grid for these sizes
  Result<Done> launch(const Loaded& kernel, const SymbolValues& values) const;
  Result<Done> launch_all(const std::vector<Loaded>& list, bool one_by_one = false) const;
  Result<Done> synchronize(const std::string& what) const {
    return check(api->stream_synchronize(stream), "cuStreamSynchronize after " + what);
  }
  Result<double> timed(const std::vector<Loaded>& list, int warm_up, int repeats) const;
  ~State();
};

CudaRunner::State::~State() {
  if (!library) return;
  api->context_set(library->state_->context);
  for (const auto& [name, address] : memory) api->memory_free(address);
  if (stream) api->stream_destroy(stream);
}

CudaRunner::CudaRunner(std::unique_ptr<State> state) : state_(std::move(state)) {}
CudaRunner::~CudaRunner() = default;

Result<Done> CudaRunner::State::start(const CudaRunOptions& options) {
  library = options.library;
  if (!library) {
    CudaCompileOptions compile = options.compile;
    if (compile.arch.empty()) compile.arch = device.arch;
    Result<CudaBinary> compiled = compile_cuda(module.module.source.text, module.module.source.name, compile);
    if (!compiled) return compiled.errors();
    Result<std::shared_ptr<const CudaLibrary>> loaded = CudaLibrary::load(std::move(*compiled));
    if (!loaded) return loaded.errors();
    library = std::move(*loaded);
  }
  if (const Result<Done> r = check(api->context_set(library->state_->context), "cuCtxSetCurrent"); !r) return r;
  return check(api->stream_create(&stream, kOrderedStream), "cuStreamCreate");
}

Result<Done> CudaRunner::State::allocate() {
  for (const Buffer& b : module.buffers) {
    const std::size_t bytes = static_cast<std::size_t>(bytes_of(b, symbols));
    CudaAddress address = 0;
    if (const Result<Done> r =
            check(api->memory_alloc(&address, bytes), "cuMemAlloc of " + std::to_string(bytes) + " bytes for " + b.name);
        !r)
      return r;
    memory[b.name] = address;
  }
  return Done{};
}

Result<Done> CudaRunner::State::load_kernels(const std::vector<CudaLaunch>& launches, std::vector<Loaded>* loaded) {
  for (const CudaLaunch& l : launches) {
    Loaded k;
    k.launch = l;
    if (const Result<Done> r = check(api->module_function(&k.function, library->state_->handle, l.entry.c_str()),
                                     "cuModuleGetFunction of " + l.entry);
        !r)
      return r;
    CudaKernelFacts f;
    f.entry = l.entry;
    api->function_attribute(&f.registers, kFuncRegisters, k.function);
    api->function_attribute(&f.local_bytes, kFuncLocalBytes, k.function);
    api->function_attribute(&f.shared_bytes, kFuncSharedBytes, k.function);
    facts.push_back(f);
    if (f.shared_bytes + l.shared_bytes > device.machine.shared_bytes_opt_in)
      return diagnose(
          Code::kGpuLaunch, Place{},
          {l.entry, "a block wants " + std::to_string(f.shared_bytes + l.shared_bytes) + " bytes of shared memory, " +
                        device.name + " has " + std::to_string(device.machine.shared_bytes_opt_in)});
    if (l.shared_bytes > 0)
      if (const Result<Done> r =
              check(api->function_set_attribute(k.function, kFuncMaxDynamicShared, static_cast<int>(l.shared_bytes)),
                    "cuFuncSetAttribute(max dynamic shared memory) of " + l.entry);
          !r)
        return r;
    if (l.host.empty())
      if (const Result<Done> r = place(symbols, &k); !r) return r;
    loaded->push_back(std::move(k));
  }
  return Done{};
}

Result<std::unique_ptr<CudaRunner>> CudaRunner::load(const CudaModule& module, const SymbolValues& symbols,
                                                     const CudaRunOptions& options) {
  const Result<CudaDevice> device = cuda_device();
  if (!device) return device.errors();
  auto state = std::make_unique<State>();
  state->api = *cuda_api();
  state->device = *device;
  state->module = module;
  state->symbols = symbols;
  if (const Result<Done> r = state->start(options); !r) return r.errors();
  if (const Result<Done> r = state->load_kernels(module.prepare, &state->prepare); !r) return r.errors();
  if (const Result<Done> r = state->load_kernels(module.kernels, &state->kernels); !r) return r.errors();
  if (const Result<Done> r = state->allocate(); !r) return r.errors();
  return std::unique_ptr<CudaRunner>(new CudaRunner(std::move(state)));
}

Result<Done> CudaRunner::upload(const HostTensors& tensors) {
  State& s = *state_;
  for (const Buffer& b : s.module.buffers) {
    const std::size_t bytes = static_cast<std::size_t>(bytes_of(b, s.symbols));
    if (const Result<Done> r = s.check(s.api->memory_set(s.memory[b.name], 0xFF, bytes), "cuMemsetD8 of " + b.name); !r)
      return r;
    if (!is_argument(b)) continue;
    const auto it = tensors.find(b.name);
    if (it == tensors.end() || it->second.dtype != b.dtype || it->second.bytes.size() > bytes)
      return diagnose(Code::kInterpretBuffer, Place{}, {b.name, "was not given with its element type and size"});
    if (it->second.bytes.empty()) continue;
    if (const Result<Done> r =
            s.check(s.api->copy_to_device(s.memory[b.name], it->second.bytes.data(), it->second.bytes.size()),
                    "cuMemcpyHtoD of " + b.name);
        !r)
      return r;
  }
  return Done{};
}

Result<Done> CudaRunner::State::place(const SymbolValues& values, Loaded* k) const {
  const std::int64_t limits[3] = {device.machine.max_grid_x, device.machine.max_grid_y, device.machine.max_grid_z};
  k->empty = false;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t size = evaluate_index(k->launch.grid[a], values);
    if (size > limits[a])
      return diagnose(Code::kGpuLaunch, Place{},
                      {k->launch.entry,
                       "its grid has " + std::to_string(size) + " blocks on an axis of at most " + std::to_string(limits[a])});
    k->empty = k->empty || size <= 0;
    k->grid[a] = static_cast<unsigned>(std::max<std::int64_t>(size, 1));
  }
  return Done{};
}

Result<Done> CudaRunner::State::launch(const Loaded& k, const SymbolValues& values) const {
  if (k.empty) return Done{};
  std::vector<CudaAddress> pointers;
  std::vector<std::int64_t> integers;
  for (const std::string& b : k.launch.buffers) pointers.push_back(memory.at(b));
  for (const std::string& n : k.launch.symbols) integers.push_back(values.at(n));
  std::vector<void*> arguments;
  for (CudaAddress& p : pointers) arguments.push_back(&p);
  for (std::int64_t& v : integers) arguments.push_back(&v);
  const auto size = [&](std::size_t a) { return static_cast<unsigned>(k.launch.block[a]); };
  return check(api->launch(k.function, k.grid[0], k.grid[1], k.grid[2], size(0), size(1), size(2),
                           static_cast<unsigned>(k.launch.shared_bytes), stream, arguments.data(), nullptr),
               "cuLaunchKernel of " + k.launch.entry);
}

// `one_by_one`: wait for each, so that a fault names its kernel.
Result<Done> CudaRunner::State::launch_all(const std::vector<Loaded>& list, bool one_by_one) const {
  return for_each_launch(
      list, [](const Loaded& k) -> const std::vector<For>& { return k.launch.host; }, symbols,
      [&](const Loaded& k, const SymbolValues& values) -> Result<Done> {
        Result<Done> state = Done{};
        if (k.launch.host.empty()) {
          state = launch(k, values);
        } else {
          Loaded here = k;
          state = place(values, &here);
          if (state) state = launch(here, values);
        }
        if (state && one_by_one) state = synchronize("kernel " + k.launch.entry);
        return state;
      });
}

Result<Done> CudaRunner::prepare() {
  if (const Result<Done> r = state_->launch_all(state_->prepare); !r) return r;
  return state_->synchronize("the prepare kernels");
}

Result<Done> CudaRunner::run() { return state_->launch_all(state_->kernels, true); }

Result<Done> CudaRunner::download(HostTensors* outputs) {
  State& s = *state_;
  for (const Buffer& b : s.module.buffers) {
    if (!is_result(b)) continue;
    std::vector<std::int64_t> shape;
    for (const ExprPtr& e : b.extents) shape.push_back(evaluate_index(e, s.symbols));
    HostTensor t = make_host_tensor(b.dtype, shape);
    if (!t.bytes.empty())
      if (const Result<Done> r =
              s.check(s.api->copy_to_host(t.bytes.data(), s.memory[b.name], t.bytes.size()), "cuMemcpyDtoH of " + b.name);
          !r)
        return r;
    (*outputs)[b.name] = std::move(t);
  }
  return Done{};
}

Result<double> CudaRunner::State::timed(const std::vector<Loaded>& list, int warm_up, int repeats) const {
  for (int i = 0; i < warm_up; ++i)
    if (const Result<Done> r = launch_all(list); !r) return r.errors();
  CudaHandle before = nullptr, after = nullptr;
  if (const Result<Done> r = check(api->event_create(&before, 0), "cuEventCreate"); !r) return r.errors();
  if (const Result<Done> r = check(api->event_create(&after, 0), "cuEventCreate"); !r) return r.errors();
  std::vector<double> times;
  Result<Done> state = Done{};
  for (int i = 0; i < repeats && state; ++i) {
    state = check(api->event_record(before, stream), "cuEventRecord");
    if (state) state = launch_all(list);
    if (state) state = check(api->event_record(after, stream), "cuEventRecord");
    if (state) state = check(api->event_synchronize(after), "cuEventSynchronize");
    float ms = 0;
    if (state) state = check(api->event_elapsed(&ms, before, after), "cuEventElapsedTime");
    times.push_back(static_cast<double>(ms));
  }
  api->event_destroy(before);
  api->event_destroy(after);
  if (!state) return state.errors();
  return median(std::move(times));
}

Result<double> CudaRunner::time_ms(int warm_up, int repeats) { return state_->timed(state_->kernels, warm_up, repeats); }

Result<std::vector<double>> CudaRunner::kernel_times_ms(int warm_up, int repeats) {
  std::vector<double> times;
  for (const Loaded& k : state_->kernels) {
    const Result<double> t = state_->timed({k}, warm_up, repeats);
    if (!t) return t.errors();
    times.push_back(*t);
  }
  return times;
}

const CudaDevice& CudaRunner::device() const { return state_->device; }
const CudaBinary& CudaRunner::binary() const { return state_->library->binary(); }
const std::vector<CudaKernelFacts>& CudaRunner::kernel_facts() const { return state_->facts; }

}  // namespace facet
