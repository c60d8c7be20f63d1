// dlopen and dlsym of the CUDA driver and NVRTC. A process-wide cache of two libraries: they cannot be opened twice with use.
#include "codegen/cuda/driver_api.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

namespace facet {

namespace {

// The first entry point that the library lacks, or "".
template <class Function>
void look_up(void* library, const char* name, Function* function, std::string* missing) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  if (*function == nullptr && missing->empty()) *missing = name;
}

Result<const CudaApi*> open_cuda(CudaApi* api) {
  void* lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (lib == nullptr) {
    const char* why = dlerror();
    return diagnose(Code::kNoGpu, Place{},
                    {std::string("the NVIDIA driver library cannot be opened (") + (why ? why : "libcuda.so.1") + ")"});
  }
  api->library = "libcuda.so.1";
  std::string missing;
  look_up(lib, "cuInit", &api->init, &missing);
  look_up(lib, "cuDriverGetVersion", &api->driver_version, &missing);
  look_up(lib, "cuDeviceGetCount", &api->device_count, &missing);
  look_up(lib, "cuDeviceGet", &api->device_get, &missing);
  look_up(lib, "cuDeviceGetName", &api->device_name, &missing);
  look_up(lib, "cuDeviceGetAttribute", &api->device_attribute, &missing);
  look_up(lib, "cuDeviceTotalMem_v2", &api->device_memory, &missing);
  look_up(lib, "cuDevicePrimaryCtxRetain", &api->context_retain, &missing);
  look_up(lib, "cuDevicePrimaryCtxRelease_v2", &api->context_release, &missing);
  look_up(lib, "cuCtxSetCurrent", &api->context_set, &missing);
  look_up(lib, "cuModuleLoadData", &api->module_load, &missing);
  look_up(lib, "cuModuleUnload", &api->module_unload, &missing);
  look_up(lib, "cuModuleGetFunction", &api->module_function, &missing);
  look_up(lib, "cuFuncGetAttribute", &api->function_attribute, &missing);
  look_up(lib, "cuFuncSetAttribute", &api->function_set_attribute, &missing);
  look_up(lib, "cuLaunchKernel", &api->launch, &missing);
  look_up(lib, "cuMemAlloc_v2", &api->memory_alloc, &missing);
  look_up(lib, "cuMemFree_v2", &api->memory_free, &missing);
  look_up(lib, "cuMemGetInfo_v2", &api->memory_info, &missing);
  look_up(lib, "cuMemcpyHtoD_v2", &api->copy_to_device, &missing);
  look_up(lib, "cuMemcpyDtoH_v2", &api->copy_to_host, &missing);
  look_up(lib, "cuMemsetD8_v2", &api->memory_set, &missing);
  look_up(lib, "cuStreamCreate", &api->stream_create, &missing);
  look_up(lib, "cuStreamSynchronize", &api->stream_synchronize, &missing);
  look_up(lib, "cuStreamDestroy_v2", &api->stream_destroy, &missing);
  look_up(lib, "cuEventCreate", &api->event_create, &missing);
  look_up(lib, "cuEventRecord", &api->event_record, &missing);
  look_up(lib, "cuEventSynchronize", &api->event_synchronize, &missing);
  look_up(lib, "cuEventElapsedTime", &api->event_elapsed, &missing);
  look_up(lib, "cuEventDestroy_v2", &api->event_destroy, &missing);
  look_up(lib, "cuGetErrorName", &api->error_name, &missing);
  look_up(lib, "cuGetErrorString", &api->error_text, &missing);
  if (!missing.empty()) return diagnose(Code::kNoGpu, Place{}, {"the NVIDIA driver is too old: it has no " + missing});
  if (const Result<Done> ready = api->check(api->init(0), "cuInit"); !ready)
    return diagnose(Code::kNoGpu, Place{}, {ready.errors().front().message});
  int count = 0;
  if (api->device_count(&count) != 0 || count == 0) return diagnose(Code::kNoGpu, Place{}, {"the driver sees no device"});
  return api;
}

std::vector<std::string> nvrtc_candidates() {
  std::vector<std::string> folders = {""};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable)) folders.push_back(std::string(home) + "/lib64/");
  folders.push_back("/usr/local/cuda/lib64/");
  folders.push_back("/usr/lib/x86_64-linux-gnu/");
  std::vector<std::string> files;
  for (const std::string& folder : folders)
    for (const char* name : {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"}) files.push_back(folder + name);
  return files;
}

Result<const NvrtcApi*> open_nvrtc(NvrtcApi* api) {
  void* lib = nullptr;
  for (const std::string& file : nvrtc_candidates()) {
    lib = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (lib == nullptr) continue;
    api->library = file;
    break;
  }
  if (lib == nullptr) return diagnose(Code::kNoCudaCompiler, Place{}, {"libnvrtc is not found"});
  std::string missing;
  look_up(lib, "nvrtcVersion", &api->version, &missing);
  look_up(lib, "nvrtcCreateProgram", &api->create, &missing);
  look_up(lib, "nvrtcCompileProgram", &api->compile, &missing);
  look_up(lib, "nvrtcGetProgramLogSize", &api->log_size, &missing);
  look_up(lib, "nvrtcGetProgramLog", &api->log, &missing);
  look_up(lib, "nvrtcGetCUBINSize", &api->cubin_size, &missing);
  look_up(lib, "nvrtcGetCUBIN", &api->cubin, &missing);
  look_up(lib, "nvrtcGetPTXSize", &api->ptx_size, &missing);
  look_up(lib, "nvrtcGetPTX", &api->ptx, &missing);
  look_up(lib, "nvrtcDestroyProgram", &api->destroy, &missing);
  look_up(lib, "nvrtcGetErrorString", &api->error_text, &missing);
  if (!missing.empty()) return diagnose(Code::kNoCudaCompiler, Place{}, {api->library + " has no " + missing});
  return api;
}

}  // namespace

Result<Done> CudaApi::check(int status, const std::string& call) const {
  if (status == 0) return Done{};
  const char* name = nullptr;
  const char* text = nullptr;
  if (error_name) error_name(status, &name);
  if (error_text) error_text(status, &text);
  return diagnose(Code::kCudaCall, Place{}, {call, name ? name : "error " + std::to_string(status), text ? text : "no text"});
}

Result<const CudaApi*> cuda_api() {
  static CudaApi api;
  static const Result<const CudaApi*> opened = open_cuda(&api);
  return opened;
}

Result<const NvrtcApi*> nvrtc_api() {
  static NvrtcApi api;
  static const Result<const NvrtcApi*> opened = open_nvrtc(&api);
  return opened;
}

}  // namespace facet
