// Sets up the buffers, runs every kernel on the machine, and looks for outputs left unwritten.
#include "src/run/interpret/interpret.hpp"

#include <algorithm>

#include "codegen/cuda/host_loops.hpp"
#include "codegen/cuda/launch.hpp"
#include "src/run/interpret/compile.hpp"
#include "src/run/interpret/machine.hpp"

namespace facet {

namespace {

using agents::Instance;

bool initialised_by_caller(const Buffer& b) {
  return b.role == BufferRole::kInput || b.role == BufferRole::kInOut || b.role == BufferRole::kWeight;
}

std::string extents_text(const std::vector<std::int64_t>& extents) {
  std::string text;
  for (const std::int64_t e : extents) text += (text.empty() ? "" : ", ") + std::to_string(e);
  return "[" + text + "]";
}

Result<Instance> global_instance(const Buffer& buffer, const SymbolValues& symbols, HostTensors& tensors,
                                 const InterpretOptions& options) {
  Instance m;
  m.buffer = &buffer;
  std::string unknown;
  for (const std::vector<ExprPtr>* list : {&buffer.extents, &buffer.strides})
    for (const ExprPtr& e : *list)
      walk(e, [&](const Expr& x) {
        if (x.op == Op::kIndex && !symbols.count(x.name)) unknown = x.name;
      });
  if (!unknown.empty())
    return diagnose(Code::kInterpretBuffer, Place{},
                    {buffer.name, "has a size that mentions '" + unknown + "', which is no symbol"});
  std::vector<std::int64_t> extents, strides;
  for (const ExprPtr& e : buffer.extents) extents.push_back(evaluate_index(e, symbols));
  for (const ExprPtr& e : buffer.strides) strides.push_back(evaluate_index(e, symbols));
  // A workspace is the sum of its arrays: one that is less than nothing takes room from others.
  if (std::any_of(extents.begin(), extents.end(), [](std::int64_t e) { return e < 0; }))
    return diagnose(Code::kInterpretBuffer, Place{}, {buffer.name, "has negative extents: " + extents_text(extents)});
  const bool given = initialised_by_caller(buffer);
  if (buffer.role == BufferRole::kOutput) {
    HostTensor& fresh = tensors[buffer.name] = make_host_tensor(buffer.dtype, extents);
    std::fill(fresh.bytes.begin(), fresh.bytes.end(), std::byte{0xFF});  // NaN or -1: never a plausible result
  }
  if (given || buffer.role == BufferRole::kOutput) {
    const auto it = tensors.find(buffer.name);
    if (it == tensors.end()) return diagnose(Code::kInterpretBuffer, Place{}, {buffer.name, "was not given"});
    HostTensor& t = it->second;
    if (t.dtype != buffer.dtype || t.shape != extents)
      return diagnose(Code::kInterpretBuffer, Place{},
                      {buffer.name, "is " + to_text(t.dtype) + extents_text(t.shape) + ", the program wants " +
                                        to_text(buffer.dtype) + extents_text(extents)});
    m.data = t.bytes.empty() ? nullptr : t.bytes.data();
  }
  agents::shape_instance(&m, std::move(extents), std::move(strides), options.detect_uninitialised && !given, false);
  if (m.own.empty() && m.size * m.element_bytes > static_cast<std::int64_t>(tensors[buffer.name].bytes.size()))
    return diagnose(Code::kInterpretBuffer, Place{}, {buffer.name, "has strides that reach past its elements"});
  m.check_race = options.detect_races;
  return m;
}

struct Run {
  const LoopProgram& program;
  const SymbolValues& symbols;
  const InterpretOptions& options;
  std::vector<Instance> globals;
  InterpretReport report;
};

// `values`: symbols and host iterators.
Result<Done> run_kernel(Run& run, agents::Machine& machine, const Kernel& kernel, const SymbolValues& values) {
  const bool gpu = has_gpu_axes(kernel);
  LoopList body = kernel.body;
  agents::Dim3 grid, block;
  if (gpu) {
    const Result<Launch> launch = launch_of(kernel, run.program.symbols);
    if (!launch) return launch.errors();
    body = launch->body;
    const auto size = [&](const ExprPtr& e) { return evaluate_index(e, values); };
    grid = {size(launch->grid[0]), size(launch->grid[1]), size(launch->grid[2])};
    block = {launch->block[0], launch->block[1], launch->block[2]};
  }
  const Result<agents::Bytecode> code = agents::compile_kernel(run.program, kernel, body, gpu, values);
  if (!code) return code.errors();
  // Only buffers that this kernel writes can be in conflict; their shadow is made when first needed.
  for (const agents::BufferDecl& decl : code->buffers) {
    if (decl.home != agents::BufferDecl::Home::kGlobal || !decl.written || !run.options.detect_races) continue;
    Instance& m = run.globals[static_cast<std::size_t>(decl.index)];
    m.shadow.resize(static_cast<std::size_t>(m.size));
  }
  const bool ended = gpu ? machine.run_gpu(*code, &run.globals, grid, block) : machine.run_cpu(*code, &run.globals);
  if (!ended) return diagnose(Code::kInterpretSteps, Place{}, {kernel.name, std::to_string(run.options.max_steps)});
  return Done{};
}

// An output element that no kernel wrote.
void look_for_unwritten(Run& run) {
  for (const Instance& m : run.globals) {
    if (m.buffer->role != BufferRole::kOutput || !m.check_init) continue;
    std::int64_t count = 0, first = -1;
    for (std::int64_t k = 0; k < m.size; ++k) {
      if (m.initialised(k)) continue;
      if (first < 0) first = k;
      ++count;
    }
    if (count == 0) continue;
    Finding f;
    f.kind = Finding::Kind::kUnwritten;
    f.buffer = m.buffer->name;
    f.text = "unwritten: " + std::to_string(count) + " of " + std::to_string(m.size) + " elements of output " + f.buffer +
             ", the first at offset " + std::to_string(first);
    run.report.finding_count += count;
    if (static_cast<int>(run.report.findings.size()) < run.options.max_findings) run.report.findings.push_back(std::move(f));
  }
}

}  // namespace

std::string to_text(Finding::Kind kind) {
  static const char* const names[] = {"race", "uninitialised", "out of bounds", "divergence", "unwritten", "launch limit"};
  return names[static_cast<int>(kind)];
}

std::string to_text(const InterpretReport& report) {
  std::string text = std::to_string(report.finding_count) + " findings, " + std::to_string(report.steps) + " steps, " +
                     std::to_string(report.barriers) + " barriers, " + std::to_string(report.collectives) + " collectives\n";
  for (const Finding& f : report.findings) text += "  " + f.text + "\n";
  return text;
}

Result<InterpretReport> interpret(const LoopProgram& program, const SymbolValues& symbols, HostTensors& buffers,
                                  const InterpretOptions& options) {
  Run run{program, symbols, options, {}, {}};
  for (const Buffer& b : program.buffers) {
    Result<Instance> m = global_instance(b, symbols, buffers, options);
    if (!m) return m.errors();
    run.globals.push_back(std::move(*m));
  }
  // Vectors move with the instances; own storage must be looked up where it now lies.
  for (Instance& m : run.globals)
    if (!m.own.empty()) m.data = m.own.data();
  agents::Machine machine(options, &run.report);
  for (const std::vector<Kernel>* kernels : {&program.prepare, &program.kernels}) {
    const Result<Done> done = for_each_launch(
        *kernels, [](const Kernel& k) -> const std::vector<For>& { return k.host; }, symbols,
        [&](const Kernel& k, const SymbolValues& values) -> Result<Done> {
          if (k.when && evaluate_index(k.when, values) == 0) return Done{};
          return run_kernel(run, machine, k, values);
        });
    if (!done) return done.errors();
  }
  look_for_unwritten(run);
  return run.report;
}

}  // namespace facet
