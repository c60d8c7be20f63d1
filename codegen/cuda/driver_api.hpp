// The entry points of libcuda and libnvrtc that Facet calls, opened at run time; no CUDA header or library at build time.
//
// Signatures and constants are those of the CUDA Driver API and NVRTC reference manuals. Private to codegen/cuda.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "facet/result.hpp"

namespace facet {

using CudaHandle = void*;           // contexts, modules, functions, streams, events: opaque pointers
using CudaAddress = std::uint64_t;  // CUdeviceptr

struct CudaApi {
  std::string library;  // the file that was opened
  int (*init)(unsigned) = nullptr;
  int (*driver_version)(int*) = nullptr;
  int (*device_count)(int*) = nullptr;
  int (*device_get)(int*, int) = nullptr;
  int (*device_name)(char*, int, int) = nullptr;
  int (*device_attribute)(int*, int, int) = nullptr;
  int (*device_memory)(std::size_t*, int) = nullptr;
  int (*context_retain)(CudaHandle*, int) = nullptr;
  int (*context_release)(int) = nullptr;
  int (*context_set)(CudaHandle) = nullptr;
  int (*module_load)(CudaHandle*, const void*) = nullptr;
  int (*module_unload)(CudaHandle) = nullptr;
  int (*module_function)(CudaHandle*, CudaHandle, const char*) = nullptr;
  int (*function_attribute)(int*, int, CudaHandle) = nullptr;
  int (*function_set_attribute)(CudaHandle, int, int) = nullptr;
  int (*launch)(CudaHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CudaHandle, void**,
                void**) = nullptr;
  int (*memory_alloc)(CudaAddress*, std::size_t) = nullptr;
  int (*memory_free)(CudaAddress) = nullptr;
  int (*memory_info)(std::size_t*, std::size_t*) = nullptr;
  int (*copy_to_device)(CudaAddress, const void*, std::size_t) = nullptr;
  int (*copy_to_host)(void*, CudaAddress, std::size_t) = nullptr;
  int (*memory_set)(CudaAddress, unsigned char, std::size_t) = nullptr;
  int (*stream_create)(CudaHandle*, unsigned) = nullptr;
  int (*stream_synchronize)(CudaHandle) = nullptr;
  int (*stream_destroy)(CudaHandle) = nullptr;
  int (*event_create)(CudaHandle*, unsigned) = nullptr;
  int (*event_record)(CudaHandle, CudaHandle) = nullptr;
  int (*event_synchronize)(CudaHandle) = nullptr;
  int (*event_elapsed)(float*, CudaHandle, CudaHandle) = nullptr;
  int (*event_destroy)(CudaHandle) = nullptr;
  int (*error_name)(int, const char**) = nullptr;
  int (*error_text)(int, const char**) = nullptr;

  // Ok for 0; else kCudaCall with the call's name, the error's name and its text.
  Result<Done> check(int status, const std::string& call) const;
};

struct NvrtcApi {
  std::string library;
  int (*version)(int*, int*) = nullptr;
  int (*create)(CudaHandle*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*compile)(CudaHandle, int, const char* const*) = nullptr;
  int (*log_size)(CudaHandle, std::size_t*) = nullptr;
  int (*log)(CudaHandle, char*) = nullptr;
  int (*cubin_size)(CudaHandle, std::size_t*) = nullptr;
  int (*cubin)(CudaHandle, char*) = nullptr;
  int (*ptx_size)(CudaHandle, std::size_t*) = nullptr;
  int (*ptx)(CudaHandle, char*) = nullptr;
  int (*destroy)(CudaHandle*) = nullptr;
  const char* (*error_text)(int) = nullptr;
};

// Opens libcuda.so.1 and initialises it, once per process. kNoGpu with the reason: no library, a missing entry point, no
// device.
Result<const CudaApi*> cuda_api();

// Opens libnvrtc from the loader's path, $CUDA_HOME, $CUDA_PATH or /usr/local/cuda, once per process. kNoCudaCompiler.
Result<const NvrtcApi*> nvrtc_api();

}  // namespace facet
