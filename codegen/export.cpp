// CMake text and the program-specific part of main.cpp.
#include "codegen/export.hpp"

#include <algorithm>
#include <cmath>

#include "codegen/c_family.hpp"

namespace facet {

namespace {

std::string dtype_name(DType type) {
  switch (type) {
    case DType::kBool: return "kBool";
    case DType::kI8: return "kI8";
    case DType::kU8: return "kU8";
    case DType::kI16: return "kI16";
    case DType::kU16: return "kU16";
    case DType::kI32: return "kI32";
    case DType::kU32: return "kU32";
    case DType::kI64: return "kI64";
    case DType::kU64: return "kU64";
    case DType::kF16: return "kF16";
    case DType::kBF16: return "kBF16";
    case DType::kF32: return "kF32";
    case DType::kF64: return "kF64";
  }
  return "kF32";
}

std::string double_text(double v) {
  if (std::isnan(v)) return "NAN";
  if (std::isinf(v)) return v < 0 ? "-HUGE_VAL" : "HUGE_VAL";
  return float_literal(DType::kF64, v);
}

std::string integer_text(std::int64_t v) { return v == INT64_MIN ? "INT64_MIN" : "INT64_C(" + std::to_string(v) + ")"; }

// Writes main() of one program.
class MainWriter : public CPrinter {
 public:
  explicit MainWriter(const ExportRequest& r) : CPrinter(words()), request_(r), program_(*r.program), module_(*r.module) {
    for (const Symbol& s : program_.symbols)
      if (s.min >= 0) assume_non_negative(s.name);
  }

  std::string text() {
    out.open("int main(int argc, char** argv)");
    symbols();
    tensors();
    reference();
    call();
    checks();
    out.close();
    return helper_text() + out.text();
  }

 private:
  static std::set<std::string> words() {
    std::set<std::string> all = c_family_words();
    for (const char* w : {"argc",           "argv",          "symbols",
                          "seed",           "repeat",        "values",
                          "results",        "bounds",        "args",
                          "workspace",      "status",        "right",
                          "times",          "naive_impl",    "Tensor",
                          "Random",         "Expected",      "nearest",
                          "rounded",        "check",         "is_right",
                          "is_float",       "now_ms",        "read_npy",
                          "set_number",     "get_number",    "get_integer",
                          "read_arguments", "fill_uniform",  "fill_integers",
                          "fill_normal",    "fill_spd",      "fill_permutation",
                          "fill_value",     "fill_iota",     "fill_list",
                          "half_bits",      "half_value_of", "Dtype",
                          "DeviceArray",    "cuda_check"})
      all.insert(w);
    return all;
  }

  std::string variable(const std::string& tensor) { return names.of("tensor", tensor); }

  // Shapes may need floor division, minimum and maximum.
  std::string helper_text() const {
    std::string text;
    for (const HelperUse& h : helpers) {
      const std::string head = "static std::int64_t " + h.name + "_i64(std::int64_t a, std::int64_t b) { return ";
      if (h.name == "min" || h.name == "max") text += head + "std::" + h.name + "(a, b); }\n";
      if (h.name == "floor_div") text += head + "b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0)); }\n";
      if (h.name == "floor_mod") text += head + "b == 0 ? 0 : (a % b + b) % b; }\n";
    }
    return text.empty() ? "" : text + "\n";
  }

  void symbols() {
    std::string list, values;
    for (const Symbol& s : program_.symbols) {
      list += (list.empty() ? "" : ", ") + ("\"" + s.name + "\"");
      values += (values.empty() ? "" : ", ") + integer_text(s.value);
    }
    out.line("std::int64_t symbols[] = {" + (values.empty() ? "0" : values) + "};");
    out.line("std::uint64_t seed = 0;");
    out.line("int repeat = 10;");
    out.line("read_arguments(argc, argv, {" + list + "}, symbols, &seed, &repeat);");
    for (std::size_t i = 0; i < program_.symbols.size(); ++i) {
      const std::string name = index_name(program_.symbols[i].name);
      out.line("const std::int64_t " + name + " = symbols[" + std::to_string(i) + "];");
      out.line("(void)" + name + ";");
    }
  }

  void declare_tensor(const Tensor& t) { declare_tensor(t, variable(t.name)); }
  void declare_tensor(const Tensor& t, const std::string& name) {
    std::string shape;
    for (const ExprPtr& e : t.shape) shape += (shape.empty() ? "" : ", ") + index_text(e);
    out.line("Tensor " + name + "(\"" + t.name + "\", " + dtype_name(t.dtype) + ", {" + shape + "});");
  }

  bool declared(const std::string& name) const { return names.has("tensor", name); }

  void tensors() {
    out.line("");
    for (const std::string& name : program_.inputs) {
      if (declared(name)) continue;
      declare_tensor(program_.tensor(name));
      fill_sample(program_.tensor(name));
    }
    for (const std::string& name : program_.tensor_order) {
      const Tensor& t = program_.tensor(name);
      if (!t.data || declared(name)) continue;
      declare_tensor(t);
      fill_constant(t);
    }
    for (const std::string& name : program_.outputs) {
      if (!declared(name))
        declare_tensor(program_.tensor(name));
      else if (is_separate_output(name))
        declare_tensor(program_.tensor(name), result_variable(name));
    }
  }

  // An input that is updated and given back: the kernels may take the two arrays as two arguments, "A.given" and "A".
  bool is_separate_output(const std::string& name) const {
    if (std::find(program_.inputs.begin(), program_.inputs.end(), name) == program_.inputs.end()) return false;
    for (const ArgumentInfo& a : module_.arguments)
      if (a.tensor == name && a.kind == ArgumentInfo::Kind::kOutput) return true;
    return false;
  }

  std::string result_variable(const std::string& name) {
    return is_separate_output(name) ? names.of("result", name + "_result") : variable(name);
  }

  std::string argument_variable(const ArgumentInfo& a) {
    if (a.kind == ArgumentInfo::Kind::kOutput) return result_variable(a.tensor);
    const std::size_t dot = a.tensor.rfind(".given");
    return variable(dot != std::string::npos && !program_.tensors.count(a.tensor) ? a.tensor.substr(0, dot) : a.tensor);
  }

  void fill_sample(const Tensor& t) {
    const std::string v = variable(t.name);
    const Sample& s = t.sample;
    switch (s.kind) {
      case Sample::Kind::kDefault:
        if (is_float(t.dtype))
          out.line("fill_uniform(" + v + ", seed, -1, 1);");
        else if (t.dtype == DType::kBool)
          out.line("fill_integers(" + v + ", seed, 0, 1);");
        else
          out.line("fill_integers(" + v + ", seed, " + (is_signed(t.dtype) ? "-8" : "0") + ", 8);");
        break;
      case Sample::Kind::kUniform:
        out.line("fill_uniform(" + v + ", seed, " + double_text(s.a) + ", " + double_text(s.b) + ");");
        break;
      case Sample::Kind::kNormal:
        out.line("fill_normal(" + v + ", seed, " + double_text(s.a) + ", " + double_text(s.b) + ");");
        break;
      case Sample::Kind::kIntegers:
        out.line("fill_integers(" + v + ", seed, " + integer_text(static_cast<std::int64_t>(s.a)) + ", " +
                 integer_text(static_cast<std::int64_t>(s.b)) + ");");
        break;
      case Sample::Kind::kSpd: out.line("fill_spd(" + v + ", seed);"); break;
      case Sample::Kind::kPermutation: out.line("fill_permutation(" + v + ", seed);"); break;
    }
  }

  void fill_constant(const Tensor& t) {
    const std::string v = variable(t.name);
    const TensorData& d = *t.data;
    switch (d.kind) {
      case TensorData::Kind::kFile: {
        const auto file = request_.weight_files.find(t.name);
        out.line("read_npy(" + v + ", \"" + (file == request_.weight_files.end() ? d.path : file->second) + "\");");
        break;
      }
      case TensorData::Kind::kFill:
        if (is_float(t.dtype))
          out.line("fill_value(" + v + ", " + double_text(d.fill) + ");");
        else
          out.line("fill_list(" + v + ", std::vector<std::int64_t>(static_cast<std::size_t>(" + v + ".count()), " +
                   integer_text(d.int_fill) + "));");
        break;
      case TensorData::Kind::kIota: out.line("fill_iota(" + v + ", " + std::to_string(d.axis) + ");"); break;
      case TensorData::Kind::kValues: fill_values(t, v); break;
    }
  }

  void fill_values(const Tensor& t, const std::string& v) {
    const bool floats = is_float(t.dtype);
    out.line("fill_list(" + v + ", std::vector<" + (floats ? "double" : "std::int64_t") + ">{");
    std::string line;
    const std::size_t count = floats ? d_size(t.data->values) : d_size(t.data->int_values);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string item = floats ? double_text(t.data->values[i]) : integer_text(t.data->int_values[i]);
      if (line.size() + item.size() > 100) {
        out.line("    " + line);
        line.clear();
      }
      line += item + ", ";
    }
    out.line("    " + line + "});");
  }
  template <class T>
  static std::size_t d_size(const std::vector<T>& list) {
    return list.size();
  }

  void reference() {
    out.line("");
    out.comment("What plain loops compute, before the kernels run: they may update arrays in place.");
    std::string inputs, results, bounds;
    const auto add = [](std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; };
    for (const std::string& name : program_.inputs) add(inputs, variable(name) + ".data()");
    for (const std::string& name : program_.tensor_order)
      if (program_.tensor(name).data) add(inputs, variable(name) + ".data()");
    for (const std::string& name : program_.outputs) {
      const std::string e = names.of("expected", "expected_" + name);
      out.line("Expected " + e + "(" + result_variable(name) + ");");
      add(results, e + ".data()");
      add(bounds, e + ".bounds.data()");
    }
    out.line("const void* const values[] = {" + (inputs.empty() ? "nullptr" : inputs) + "};");
    out.line("void* const results[] = {" + results + "};");
    out.line("float* const bounds[] = {" + bounds + "};");
    out.line("naive_" + program_.name + "(symbols, values, results, bounds);");
    if (program_.numerics.reassociate == Numerics::Reassociate::kFree)
      for (const std::string& name : program_.outputs)
        if (is_float(program_.tensor(name).dtype)) out.line(names.of("expected", "expected_" + name) + ".share_largest();");
  }

  bool on_device() const { return module_.target == "cuda"; }

  // Arguments are device copies; what the kernels write is fetched after the run.
  void call_on_device() {
    const std::string prefix = "facet_" + module_.name + "_";
    out.line("");
    out.line(prefix + "args args = {};");
    NameTable fields(c_family_words());
    for (const Symbol& s : program_.symbols) out.line("args." + fields.of("field", s.name) + " = " + index_name(s.name) + ";");
    std::vector<std::string> written;
    for (const ArgumentInfo& a : module_.arguments) {
      const bool read_only = a.kind != ArgumentInfo::Kind::kOutput && !a.in_out;
      const std::string device = names.of("device", a.field + "_device");
      out.line("DeviceArray " + device + "(" + argument_variable(a) + ".data(), " + argument_variable(a) + ".bytes.size());");
      out.line("args." + a.field + " = static_cast<" + std::string(read_only ? "const " : "") + storage_type(a.dtype) + "*>(" +
               device + ".data);");
      if (!read_only) written.push_back(device);
    }
    out.line("DeviceArray workspace(nullptr, " + prefix + "workspace_bytes(&args));");
    out.line("int status = " + prefix + "prepare(&args, workspace.data, nullptr);");
    out.line("if (status == 0) status = " + prefix + "run(&args, workspace.data, nullptr);");
    out.open("if (status != 0)");
    out.line("std::fprintf(stderr, \"" + prefix + "run answered status %d\\n\", status);");
    out.line("return 1;");
    out.close();
    out.line("cuda_check(cudaDeviceSynchronize(), \"the kernels\");");
    for (const std::string& device : written) out.line(device + ".fetch();");
  }

  void call() {
    if (on_device()) return call_on_device();
    const std::string prefix = "facet_" + module_.name + "_";
    out.line("");
    out.line(prefix + "args args = {};");
    NameTable fields(c_family_words());
    for (const Symbol& s : program_.symbols) out.line("args." + fields.of("field", s.name) + " = " + index_name(s.name) + ";");
    for (const ArgumentInfo& a : module_.arguments) {
      const bool read_only = a.kind != ArgumentInfo::Kind::kOutput && !a.in_out;
      out.line("args." + a.field + " = static_cast<" + std::string(read_only ? "const " : "") + storage_type(a.dtype) + "*>(" +
               argument_variable(a) + ".data());");
    }
    out.line("std::vector<unsigned char> workspace(" + prefix + "workspace_bytes(&args) + 1);");
    out.line("int status = " + prefix + "prepare(&args, workspace.data());");
    out.line("if (status == 0) status = " + prefix + "run(&args, workspace.data());");
    out.open("if (status != 0)");
    out.line("std::fprintf(stderr, \"" + prefix + "run answered status %d\\n\", status);");
    out.line("return 1;");
    out.close();
  }

  void checks() {
    const std::string prefix = "facet_" + module_.name + "_";
    out.line("");
    out.line("bool right = true;");
    for (const std::string& name : program_.outputs)
      out.line("right = check(" + result_variable(name) + ", " + names.of("expected", "expected_" + name) + ") && right;");
    out.line("");
    out.line("std::vector<double> times;");
    out.open("for (int i = 0; i < repeat; ++i)");
    out.line("const double begin = now_ms();");
    out.line(prefix + (on_device() ? "run(&args, workspace.data, nullptr);" : "run(&args, workspace.data());"));
    if (on_device()) out.line("cuda_check(cudaDeviceSynchronize(), \"the kernels\");");
    out.line("times.push_back(now_ms() - begin);");
    out.close();
    out.line("std::sort(times.begin(), times.end());");
    out.line(
        "if (!times.empty()) std::printf(\"time: %.3f ms (median of %d runs, least %.3f ms)\\n\", times[times.size() / 2], repeat, times[0]);");
    out.line(prefix + (on_device() ? "destroy(&args, workspace.data);" : "destroy(&args, workspace.data());"));
    out.line("return right ? 0 : 1;");
  }

  const ExportRequest& request_;
  const Program& program_;
  const Module& module_;
};

// What a main for device code has besides: checked calls and arrays on the device.
const char* const kDeviceSupport = R"(
namespace {

void cuda_check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

// Device memory, with the host array that it is a copy of, if any.
struct DeviceArray {
  DeviceArray(void* host_data, std::size_t byte_count) : host(host_data), bytes(byte_count) {
    cuda_check(cudaMalloc(&data, bytes > 0 ? bytes : 1), "cudaMalloc");
    if (host != nullptr && bytes > 0) cuda_check(cudaMemcpy(data, host, bytes, cudaMemcpyHostToDevice), "cudaMemcpy to the device");
  }
  ~DeviceArray() { cudaFree(data); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  void fetch() {
    if (bytes > 0) cuda_check(cudaMemcpy(host, data, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy to the host");
  }

  void* data = nullptr;
  void* host;
  std::size_t bytes;
};

}  // namespace

)";

}  // namespace

std::string export_main_text(const ExportRequest& request) {
  MainWriter writer(request);
  TextWriter head;
  head.comment("Checks the kernels of " + request.program->name + " against plain loops, and times them.");
  head.comment("Usage: check [SYMBOL=value ...] [--seed N] [--repeat N]. Exit status 0: every output is right.");
  head.line("#include \"" + request.module->header.name + "\"");
  head.line("");
  for (const char* h :
       {"algorithm", "chrono", "cmath", "cstdint", "cstdio", "cstdlib", "cstring", "string", "utility", "vector"})
    head.line(std::string("#include <") + h + ">");
  head.line("");
  const bool on_device = request.module->target == "cuda";
  if (on_device) head.line("#include <cuda_runtime.h>\n");
  head.raw("#ifndef FACET_FOLDER\n#define FACET_FOLDER \".\"\n#endif\n\n");
  return head.text() + request.naive_text + "\n" + kExportSupport + (on_device ? kDeviceSupport : "") + writer.text();
}

std::vector<SourceFile> export_sources(const ExportRequest& request) {
  if (request.versions.empty()) return {request.module->source};
  std::vector<SourceFile> sources = {dispatcher(request.module->name, request.versions)};
  for (const ModuleVersion& v : request.versions) sources.push_back(v.module.source);
  return sources;
}

std::vector<SourceFile> export_files(const ExportRequest& request) {
  std::vector<SourceFile> files = export_sources(request);
  files.push_back(request.module->header);
  files.push_back({"CMakeLists.txt", export_cmake_text(request)});
  files.push_back({"main.cpp", export_main_text(request)});
  return files;
}

}  // namespace facet
