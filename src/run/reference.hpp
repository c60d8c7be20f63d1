// The oracle: interprets an elaborated program independently of any schedule.
//
// Equations run in order, loops bodies statement by statement. Floats are f64, rounded to their dtype only at casts, loops
// arrays and program outputs (contract V5); integers are exact and wrap in their dtype. Every element carries a bound on how
// far a correct kernel may be from it (src/run/reference/error_model.hpp).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "facet/host_tensor.hpp"
#include "facet/program.hpp"
#include "facet/result.hpp"

namespace facet {

struct ReferenceTensor {
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
  std::vector<double> floats;         // floating dtypes, C order
  std::vector<std::int64_t> ints;     // other dtypes (u64 as its bit pattern)
  std::vector<float> bounds;          // per element; empty: all exact; infinity: ambiguous
  std::vector<std::uint8_t> defined;  // empty: every element; of a sampled run: the elements that were computed
};

struct ReferenceRun {
  std::map<std::string, ReferenceTensor> outputs;  // the program's outputs
  std::vector<std::string> gathers;                // the first gathers of equations that left their tensor, by element
  std::int64_t gather_count = 0;                   // how many there were
  std::string method = "interpreted";              // or "compiled" (src/run/naive.hpp), "sampled" (src/run/sampled.hpp)
  bool sampled = false;                            // only the elements marked `defined` were computed
};

// `tensors` holds every input and constant, with the shapes in force. Fails (kInput) if an undefined element is read, a
// subscript leaves its tensor, or argmax meets no elements; (kMissing) if memory runs out, with the size that was wanted.
Result<ReferenceRun> run_reference(const Program& program, const SymbolValues& symbols, const HostTensors& tensors);

// The reference's outputs rounded to their dtypes.
HostTensors outputs_of(const ReferenceRun& run);

// About how many scalar operations an interpretation takes: one per node of an expression and point of its domain.
double predicted_operations(const Program& program, const SymbolValues& symbols);

}  // namespace facet
