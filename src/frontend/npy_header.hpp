// The header text of an .npy file: a Python dictionary literal with three keys.
#pragma once

#include <string>

#include "src/frontend/npy.hpp"

namespace facet {

// Why a header is not usable.
struct NpyFault {
  bool pickled = false;
  std::string reason;
};

// Parses "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }" plus trailing blanks. False: *fault says why.
bool parse_npy_dictionary(const std::string& text, NpyHeader* header, NpyFault* fault);

// "<f4" and so on.
std::string npy_descr(DType dtype);

// Number of elements, or -1 when it does not fit in 63 bits.
std::int64_t npy_element_count(const std::vector<std::int64_t>& shape);

}  // namespace facet
