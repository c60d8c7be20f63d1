// NumPy's .npy files, versions 1.0 to 3.0: little-endian, C or Fortran order, never pickled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facet/host_tensor.hpp"
#include "facet/result.hpp"

namespace facet {

struct NpyHeader {
  DType dtype = DType::kF32;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::int64_t data_offset = 0;  // bytes from the start of the file
};

// Header and file size agree, or a complaint; the data is not touched.
Result<NpyHeader> read_npy_header(const std::string& path, Place place);

// The array in C order, in the file's own dtype.
Result<HostTensor> read_npy(const std::string& path, Place place);

// The same for a declared tensor: dtype and extents must be exactly these (bf16 tensors are stored as f32 and rounded here).
Result<HostTensor> read_npy_as(const std::string& path, const std::string& tensor, DType dtype,
                               const std::vector<std::int64_t>& extents, Place place);

// The dtype a tensor of `dtype` has in a file: f32 for bf16, else itself.
DType npy_dtype(DType dtype);

// Version 1.0, C order; bf16 as f32. Appears whole or not at all.
Result<Done> write_npy(const std::string& path, const HostTensor& tensor);

}  // namespace facet
