// The parts of read_program, one function per section of the document, in the order they run. Each complains to `json`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "facet/program.hpp"
#include "src/frontend/json_reader.hpp"

namespace facet {

struct ProgramReader {
  explicit ProgramReader(const JsonDocument& document) : json(document) {}

  JsonReader json;
  Program program;
  std::vector<std::string> symbol_names;
  std::map<std::string, const JsonValue*> tensor_values;  // declarations, for later complaints

  bool is_symbol(const std::string& name) const;
};

void read_symbols(const JsonValue& symbols, ProgramReader* reader);
void read_assumptions(const JsonValue& assume, ProgramReader* reader);
void read_numerics(const JsonValue& numerics, ProgramReader* reader);
void read_tensors(const JsonValue& tensors, ProgramReader* reader);
void read_tensor_data(const JsonValue& data, ProgramReader* reader, Tensor* tensor);
void read_tensor_sample(const JsonValue& sample, ProgramReader* reader, Tensor* tensor);
void read_inputs(const JsonValue& inputs, ProgramReader* reader);
void read_ops(const JsonValue& ops, ProgramReader* reader);
void read_outputs(const JsonValue& outputs, ProgramReader* reader);
void read_c_function(const JsonValue& function, ProgramReader* reader);

// A number of a tensor's dtype from JSON, to both of the two forms TensorData keeps; complains when it does not fit.
bool read_element(const JsonValue& v, DType dtype, const std::string& what, ProgramReader* reader, double* real,
                  std::int64_t* integer);

}  // namespace facet
