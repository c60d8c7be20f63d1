// compile: the folder a user takes away: sources, header, manifest, CMake file, self-checking main, weight files.
#include "codegen/cuda/print.hpp"
#include "codegen/export.hpp"
#include "codegen/openmp/c_function.hpp"
#include "codegen/openmp/print.hpp"
#include "src/driver/build.hpp"
#include "src/driver/emit.hpp"
#include "src/driver/machines.hpp"
#include "src/driver/notices.hpp"
#include "src/driver/verbs.hpp"
#include "src/frontend/files.hpp"
#include "src/frontend/json.hpp"
#include "src/frontend/npy.hpp"
#include "src/run/inputs.hpp"
#include "src/run/naive.hpp"

namespace facet {

namespace {

struct Folder {
  std::string path;
  std::vector<std::string> files;  // written, relative

  Result<Done> write(const std::string& name, const std::string& text) {
    files.push_back(name);
    return write_file(path + "/" + name, text);
  }
};

JsonValue expression_json(const ExprPtr& e) {
  if (!e) return JsonValue::null();
  return e->op == Op::kLiteral ? JsonValue::of(e->int_value) : JsonValue::of(to_text(e));
}

JsonValue shape_json(const std::vector<ExprPtr>& shape) {
  JsonValue out = JsonValue::array();
  for (const ExprPtr& e : shape) out.items.push_back(expression_json(e));
  return out;
}

JsonValue arguments_json(const Module& module, const Program& program) {
  static const char* const kinds[] = {"input", "output", "weight"};
  JsonValue list = JsonValue::array();
  for (const ArgumentInfo& a : module.arguments) {
    JsonValue one = JsonValue::object();
    one.add("field", JsonValue::of(a.field))
        .add("tensor", JsonValue::of(a.tensor))
        .add("kind", JsonValue::of(kinds[static_cast<int>(a.kind)]));
    one.add("dtype", JsonValue::of(to_text(a.dtype)))
        .add("shape", shape_json(a.shape))
        .add("updated_in_place", JsonValue::of(a.in_out));
    const auto tensor = program.tensors.find(a.tensor);
    if (tensor != program.tensors.end() && tensor->second.data && tensor->second.data->kind == TensorData::Kind::kFile)
      one.add("file", JsonValue::of("weights/" + a.tensor + ".npy"));
    list.items.push_back(std::move(one));
  }
  return list;
}

JsonValue kernels_json(const Module& module, const std::vector<CudaLaunch>* launches) {
  JsonValue list = JsonValue::array();
  for (std::size_t i = 0; i < module.kernels.size(); ++i) {
    const KernelInfo& k = module.kernels[i];
    JsonValue one = JsonValue::object();
    one.add("name", JsonValue::of(k.name)).add("ops", JsonValue::array_of(k.ops));
    one.add("flops", expression_json(k.flops)).add("bytes", expression_json(k.bytes));
    if (k.when) one.add("when", JsonValue::of(to_text(k.when)));
    if (launches && i < launches->size()) {
      const CudaLaunch& l = (*launches)[i];
      JsonValue grid = JsonValue::array(), block = JsonValue::array(), host = JsonValue::array();
      for (const For& f : l.host) {
        JsonValue loop = JsonValue::object();
        loop.add("iterator", JsonValue::of(f.iterator)).add("lower", expression_json(f.lower));
        loop.add("upper", expression_json(f.upper)).add("step", JsonValue::of(f.step));
        host.items.push_back(std::move(loop));
      }
      if (!host.items.empty()) one.add("for_each", std::move(host));
      for (int d = 0; d < 3; ++d) {
        grid.items.push_back(expression_json(l.grid[static_cast<std::size_t>(d)]));
        block.items.push_back(JsonValue::of(l.block[static_cast<std::size_t>(d)]));
      }
      one.add("entry", JsonValue::of(l.entry)).add("grid", std::move(grid)).add("block", std::move(block));
      one.add("shared_bytes", JsonValue::of(l.shared_bytes));
    }
    list.items.push_back(std::move(one));
  }
  return list;
}

JsonValue memory_json(const LoopProgram& loops) {
  JsonValue list = JsonValue::array();
  for (const Buffer& b : loops.buffers) {
    if (b.role != BufferRole::kWorkspace) continue;
    JsonValue one = JsonValue::object();
    one.add("name", JsonValue::of(b.name)).add("dtype", JsonValue::of(to_text(b.dtype))).add("extents", shape_json(b.extents));
    list.items.push_back(one.add("alignment_bytes", JsonValue::of(b.alignment_bytes)));
  }
  return list;
}

Result<JsonValue> manifest_of(const Loaded& loaded, const Options& options, const Built& built, const Module& module,
                              const std::vector<CudaLaunch>* launches) {
  const Result<JsonDocument> recipe = parse_json(to_json(built.plan.recipe), "");
  if (!recipe) return recipe.errors();
  JsonValue symbols = JsonValue::array();
  for (const Symbol& s : module.symbols) {
    JsonValue one = JsonValue::object();
    one.add("name", JsonValue::of(s.name)).add("min", JsonValue::of(s.min)).add("max", JsonValue::of(s.max));
    symbols.items.push_back(one.add("default", JsonValue::of(s.value)));
  }
  JsonValue root = JsonValue::object();
  root.add("facet", JsonValue::of(FACET_VERSION))
      .add("program", JsonValue::of(loaded.program.name))
      .add("hash", JsonValue::of(loaded.hash));
  root.add("target", JsonValue::of(options.target)).add("symbols", std::move(symbols));
  root.add("arguments", arguments_json(module, loaded.program)).add("kernels", kernels_json(module, launches));
  root.add("memory", memory_json(built.loops)).add("recipe", recipe->root);
  return root;
}

// Constants from files travel with the folder; the self-checking main reads them.
Result<std::map<std::string, std::string>> write_weights(const Loaded& loaded, Folder* folder) {
  std::map<std::string, std::string> files;
  for (const auto& [name, tensor] : loaded.program.tensors) {
    if (!tensor.data || tensor.data->kind != TensorData::Kind::kFile) continue;
    const Result<HostTensor> values = constant_tensor(tensor, loaded.sizes, loaded.program.folder);
    if (!values) return values.errors();
    const Result<Done> made = make_folder(folder->path + "/weights");
    if (!made) return made.errors();
    const std::string file = "weights/" + name + ".npy";
    const Result<Done> written = write_npy(folder->path + "/" + file, *values);
    if (!written) return written.errors();
    folder->files.push_back(file);
    files[name] = file;
  }
  return files;
}

Result<Emitted> with_rest(const std::string& manifest, Emitted emitted, Folder* folder) {
  std::vector<std::pair<std::string, std::string>> files = {{"manifest.json", manifest}};
  files.insert(files.end(), emitted.files.begin(), emitted.files.end());
  for (const auto& [name, text] : files) {
    const Result<Done> written = folder->write(name, text);
    if (!written) return written.errors();
  }
  return emitted;
}

// What follows when everything is printed: the folder's files, the manifest last. `request` holds the module and the flags.
Result<Emitted> write_files(const Loaded& loaded, ExportRequest request, JsonValue manifest, Emitted emitted, Folder* folder) {
  const Result<Done> made = make_folder(folder->path);
  if (!made) return made.errors();
  const Result<std::map<std::string, std::string>> weights = write_weights(loaded, folder);
  if (!weights) return weights.errors();
  request.program = &loaded.program;
  request.naive_text = print_naive(loaded.program);
  request.weight_files = *weights;
  for (const SourceFile& file : export_files(request)) {
    const Result<Done> written = folder->write(file.name, file.text);
    if (!written) return written.errors();
  }
  return with_rest(write_json(manifest), std::move(emitted), folder);
}

Result<PrintOptions> host_options(const Loaded& loaded) {
  PrintOptions print;
  Result<HostTensors> constants = embedded_constants(loaded);
  if (!constants) return constants.errors();
  print.constants = std::move(*constants);
  return print;
}

// --c-function: the function that the program came from, beside the other files.
Result<Done> add_c_function(const Loaded& loaded, const Options& options, const Module& module, const std::string& march,
                            Emitted* emitted) {
  if (!options.c_function) return Done{};
  const Result<std::string> text = c_function_text(loaded.program, module, openmp_build(loaded.program.numerics, march));
  if (!text) return text.errors();
  emitted->files.emplace_back("c_function.cpp", *text);
  return Done{};
}

// Each writes the folder and gives what --emit reports. What may fail for want of a compiler comes first: no half a folder.
Result<Emitted> write_openmp(const Loaded& loaded, const Options& options, const Machine& machine, const Built& built,
                             Folder* folder) {
  const Result<PrintOptions> print = host_options(loaded);
  if (!print) return print.errors();
  const Result<Module> module = print_openmp(built.loops, *print);
  if (!module) return module.errors();
  Result<Emitted> emitted = emit_openmp(loaded, options, machine, *module);
  if (!emitted) return emitted;
  const Result<Done> added = add_c_function(loaded, options, *module, print->march, &*emitted);
  if (!added) return added.errors();
  Result<JsonValue> manifest = manifest_of(loaded, options, built, *module, nullptr);
  if (!manifest) return manifest.errors();
  ExportRequest request;
  request.module = &*module;
  request.compile_flags = openmp_flags(loaded.program.numerics);
  return write_files(loaded, std::move(request), std::move(*manifest), std::move(*emitted), folder);
}

// One source for each instruction set, each with a recipe of its own, and one that calls the best the processor can run.
Result<Emitted> write_versions(const Loaded& loaded, const Options& options, const std::vector<std::string>& sets,
                               Folder* folder) {
  Result<PrintOptions> print = host_options(loaded);
  if (!print) return print.errors();
  ExportRequest request;
  JsonValue versions = JsonValue::array();
  std::optional<Built> first;
  for (const std::string& set : sets) {
    Options one = options;
    one.target = "openmp:" + set;
    one.time_budget_s = options.time_budget_s / static_cast<double>(sets.size());
    const Result<Machine> machine = planning_machine(one, false);
    if (!machine) return machine.errors();
    Result<Built> built = build_loops(loaded, one, *machine);
    if (!built) return built.errors();
    warn_of_budget(built->plan.ledger, one);
    print->version = set;
    print->march = machine->cpu.march;
    Result<Module> module = print_openmp(built->loops, *print);
    if (!module) return module.errors();
    const Result<JsonDocument> recipe = parse_json(to_json(built->plan.recipe), "");
    if (!recipe) return recipe.errors();
    JsonValue entry = JsonValue::object();
    entry.add("isa", JsonValue::of(set)).add("march", JsonValue::of(print->march));
    entry.add("source", JsonValue::of(module->source.name)).add("kernels", kernels_json(*module, nullptr));
    versions.items.push_back(entry.add("recipe", recipe->root));
    request.versions.push_back({set, print->march, std::move(*module)});
    if (!first) first = std::move(*built);
  }
  const Module module = request.versions.front().module;
  Emitted emitted;
  const Result<Done> added = add_c_function(loaded, options, module, request.versions.front().march, &emitted);
  if (!added) return added.errors();
  Result<JsonValue> manifest = manifest_of(loaded, options, *first, module, nullptr);
  if (!manifest) return manifest.errors();
  manifest->add("versions", std::move(versions));
  request.module = &module;
  request.compile_flags = openmp_flags(loaded.program.numerics);
  return write_files(loaded, std::move(request), std::move(*manifest), std::move(emitted), folder);
}

Result<Emitted> write_cuda(const Loaded& loaded, const Options& options, const Machine& machine, const Built& built,
                           Folder* folder) {
  CudaPrintOptions print;
  print.machine = machine.gpu;
  Result<HostTensors> constants = embedded_constants(loaded);
  if (!constants) return constants.errors();
  print.constants = std::move(*constants);
  const Result<CudaModule> module = print_cuda(built.loops, print);
  if (!module) return module.errors();
  Result<Emitted> emitted = emit_cuda(loaded, options, *module);
  if (!emitted) return emitted;
  Result<JsonValue> manifest = manifest_of(loaded, options, built, module->module, &module->kernels);
  if (!manifest) return manifest.errors();
  ExportRequest request;
  request.module = &module->module;
  return write_files(loaded, std::move(request), std::move(*manifest), std::move(*emitted), folder);
}

Result<Emitted> write_folder(const Loaded& loaded, const Options& options, const std::vector<std::string>& sets,
                             Folder* folder) {
  if (!sets.empty()) return write_versions(loaded, options, sets, folder);
  const Result<Machine> machine = planning_machine(options, false);
  if (!machine) return machine.errors();
  const Result<Built> built = build_loops(loaded, options, *machine);
  if (!built) return built.errors();
  warn_of_budget(built->plan.ledger, options);
  const Result<Done> made = make_folder(options.output);
  if (!made) return made.errors();
  return target_base(options) == "cuda" ? write_cuda(loaded, options, *machine, *built, folder)
                                        : write_openmp(loaded, options, *machine, *built, folder);
}

}  // namespace

Result<Outcome> verb_compile(const Options& options) {
  if (target_base(options) == "reference")
    return diagnose(Code::kBadCommandLine, {}, {"the target reference has no sources to write"},
                    {"use --target openmp or --target cuda"});
  if (options.c_function && target_base(options) == "cuda")
    return diagnose(Code::kNoCFunctionRecord, {}, {"the kernels of the target cuda work on device pointers"},
                    {"--target openmp makes a C function; without --c-function the folder has the plain interface"});
  const Result<std::vector<std::string>> kinds = emit_kinds(options);
  if (!kinds) return kinds.errors();
  const Result<Loaded> loaded = load_program(options);
  if (!loaded) return loaded.errors();
  const Result<std::vector<std::string>> sets = instruction_sets(options);
  if (!sets) return sets.errors();
  if (!sets->empty() && !kinds->empty())
    return diagnose(Code::kBadCommandLine, {}, {"--emit of several instruction sets"},
                    {"compile for one of them, as --target openmp:avx2 --emit asm"});
  Folder folder{options.output, {}};
  const Result<Emitted> written = write_folder(*loaded, options, *sets, &folder);
  if (!written) return written.errors();
  Outcome outcome;
  for (const std::string& file : folder.files) outcome.text += "wrote " + options.output + "/" + file + "\n";
  outcome.text += written->report;
  outcome.json.add("program", JsonValue::of(loaded->program.name)).add("target", JsonValue::of(options.target));
  outcome.json.add("folder", JsonValue::of(options.output)).add("files", JsonValue::array_of(folder.files));
  if (!options.emit.empty()) outcome.json.add("emitted", written->json);
  return outcome;
}

}  // namespace facet
