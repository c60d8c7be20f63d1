// Kernels as __global__ functions. Everything that C++ spells alike is CPrinter's; here are the launch, shared memory,
// barriers, collectives and atomics.
#include "codegen/cuda/print.hpp"

#include <algorithm>
#include <set>

#include "codegen/arena.hpp"
#include "codegen/c_family.hpp"
#include "codegen/constant_text.hpp"
#include "codegen/cuda/exports.hpp"
#include "codegen/cuda/interval.hpp"
#include "codegen/cuda/launch.hpp"
#include "codegen/cuda/prelude.hpp"
#include "codegen/cuda/shared.hpp"
#include "codegen/kernel_uses.hpp"
#include "codegen/passes/tree.hpp"
#include "facet/expr_facts.hpp"

namespace facet {

namespace {

constexpr std::int64_t kStaticSharedBytes = 49152;  // what a block may have without opting in (CUDA C++ Programming Guide)
constexpr std::int64_t kUnrolledTrips = 64;         // loops over register arrays up to this length are unrolled

class CudaPrinter : public CPrinter {
 public:
  CudaPrinter(const Launch& launch, const std::vector<Symbol>& symbols, bool dynamic_shared)
      : CPrinter(cuda_reserved_words()), launch_(launch), ranges_(symbols), dynamic_shared_(dynamic_shared) {
    const char* const axes[] = {"x", "y", "z"};
    for (std::size_t a = 0; a < 3; ++a) {
      const std::string axis = axes[a];
      know(std::string("thread.") + axis, 0, launch.block[a] - 1);
      know(std::string("block.") + axis, 0, interval_of(launch.grid[a], symbols).high - 1);
      names.bind("index", std::string("block.") + axis, std::string("(int64_t)blockIdx.") + axis);
      names.bind("index", std::string("thread.") + axis, std::string("(int64_t)threadIdx.") + axis);
      assume_non_negative(std::string("block.") + axis);
      assume_non_negative(std::string("thread.") + axis);
    }
  }

 protected:
  bool is_narrow(const ExprPtr& e) const override {
    const Interval i = interval_of(e, ranges_);
    return i.low >= 0 && i.high <= UINT32_MAX;
  }

  void loop(const For& f) override {
    const Interval first = interval_of(f.lower, ranges_);
    const bool agent = f.kind >= LoopKind::kBlockX;
    know(f.iterator, first.low, agent ? first.high : interval_of(idx_sub(f.upper, idx(1)), ranges_).high);
    if (agent) return coordinate(f);
    if (f.kind == LoopKind::kUnroll)
      out.line(f.width > 0 ? "#pragma unroll " + std::to_string(f.width) : "#pragma unroll");
    else if (f.kind == LoopKind::kSerial && runs_over_registers(f))
      out.line("#pragma unroll");
    else if (f.kind != LoopKind::kSerial && f.kind != LoopKind::kParallel)
      fail("loop " + f.iterator + " reached the CUDA printer as a vector or grid loop");
    serial_loop(f);
  }

  void allocate(const Allocate& a) override {
    const Buffer& b = a.buffer;
    declare(b);
    const ExprPtr size = span_elements(b);
    if (size->op != Op::kLiteral) return fail("local buffer " + b.name + " has a run-time size " + to_text(size));
    const std::int64_t count = std::max<std::int64_t>(size->int_value, 1);
    out.comment(b.comment);
    const std::string name = buffer_name(b.name), type = storage_type(b.dtype);
    if (b.space != MemorySpace::kShared) {
      if (b.space == MemorySpace::kRegister) registers_.insert(b.name);
      out.line((b.alignment_bytes == kSharedAlignment ? "alignas(" + std::to_string(kSharedAlignment) + ") " : "") + type +
               " " + name + "[" + std::to_string(count) + "];");
    } else if (!dynamic_shared_) {
      out.line("alignas(" + std::to_string(kSharedAlignment) + ") __shared__ " + type + " " + name + "[" +
               std::to_string(count) + "];");
    } else {
      out.line(type + "* const " + name + " = (" + type + "*)(shared_memory + " + std::to_string(shared_offset_) + ");");
      shared_offset_ += (count * size_bytes(b.dtype) + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
    }
  }

  // The vectors that there are: words, copied as they are from place to place.
  void store(const Store& s) override {
    if (s.lanes == 1) return CPrinter::store(s);
    copy_word(s.value->type, s.lanes, address(buffer_of(s.buffer), s.subscripts), s.value);
  }

  void let(const Let& n) override {
    if (n.lanes == 1) return CPrinter::let(n);
    const std::string name = names.of("value", n.name);
    out.line("alignas(" + std::to_string(kSharedAlignment) + ") " + value_type(n.type, 1) + " " + name + "[" +
             std::to_string(n.lanes) + "];");
    if (n.value) copy_word(n.type, n.lanes, name, n.value);
  }

  void special(const LoopNode& node) override {
    if (const Barrier* b = std::get_if<Barrier>(&node.node)) return barrier(*b);
    if (const Collective* c = std::get_if<Collective>(&node.node)) return collective(*c);
    CPrinter::special(node);
  }

  void atomic_store(const Store& s) override {
    if (s.lanes > 1 || !s.update) return fail("an atomic vector store to " + s.buffer);
    const char* helper = *s.update == ReduceKind::kSum   ? "atomic_add"
                         : *s.update == ReduceKind::kMin ? "atomic_min"
                         : *s.update == ReduceKind::kMax ? "atomic_max"
                                                         : nullptr;
    if (!helper) return fail("an atomic " + to_text(*s.update) + " of " + s.buffer);
    out.line(call(helper, s.value->type, 1, {address(buffer_of(s.buffer), s.subscripts), value(s.value)}) + ";");
  }

 private:
  void copy_word(DType type, int lanes, const std::string& to, const ExprPtr& from) {
    const std::size_t bytes = static_cast<std::size_t>(lanes) * size_bytes(type);
    const bool place = from->op == Op::kRead && !from->mask && !from->pad;
    if ((bytes != 8 && bytes != 16) || (!place && from->op != Op::kValue)) return fail("a vector that is no copy of a word");
    const std::string source = place ? address(buffer_of(from->name), from->args) : names.of("value", from->name);
    out.line(call(bytes == 8 ? "copy_word8" : "copy_word16", type, 1, {to, source}) + ";");
  }

  void know(const std::string& name, std::int64_t low, std::int64_t high) {
    std::erase_if(ranges_, [&](const Symbol& s) { return s.name == name; });
    Symbol range;
    range.name = name;
    range.min = low;
    range.max = high;
    ranges_.push_back(std::move(range));
  }

  // A grid or thread loop: this agent's iteration. Braces only where another loop may use the name again.
  void coordinate(const For& f) {
    out.comment(f.comment);
    const std::string name = index_name(f.iterator);
    const bool used = passes::mentions(f.body, f.iterator);
    const bool again = used && !coordinates_.insert(name).second;
    if (again) out.open("");
    if (used) out.line("const int64_t " + name + " = " + index_text(f.lower) + ";");
    loop_body(f);
    if (again) out.close();
  }

  void barrier(const Barrier& b) {
    const std::string reason = b.reason.empty() ? "" : "  // " + b.reason;
    if (b.scope == Scope::kGrid) return fail("a grid barrier inside a kernel");
    // __syncwarp in the form that every compiler has.
    out.line((b.scope == Scope::kBlock ? "__syncthreads();" : "asm volatile(\"bar.warp.sync 0xffffffff;\" : : : \"memory\");") +
             reason);
  }

  void collective(const Collective& c) {
    const bool flag = c.value->type == DType::kBool;
    const DType type = flag ? DType::kI32 : c.value->type;
    const std::int64_t threads = launch_.threads();
    if (threads > 32 && threads % 32 != 0)
      return fail("a collective in a block of " + std::to_string(threads) + " threads, no multiple of 32");
    std::string argument = value(c.value);
    if (flag) argument = "(int32_t)(" + argument + ")";
    std::string text;
    if (c.scope == Scope::kWarp || threads < 32) {
      const std::int64_t width = c.scope == Scope::kWarp ? c.width : threads;
      if ((width & (width - 1)) != 0 || threads % width != 0)
        return fail("a collective of " + std::to_string(width) + " lanes in a block of " + std::to_string(threads));
      const std::string lanes = threads % 32 == 0 ? "0xffffffffu" : std::to_string((std::uint32_t{1} << threads) - 1) + "u";
      text = call("warp_" + to_text(c.kind), type, 1, {argument, std::to_string(width), lanes});
    } else {
      text = call("block_" + to_text(c.kind), type, 1, {argument, "(int)(" + thread_number() + ")", std::to_string(threads)});
    }
    out.line(names.of("value", c.target) + " = " + text + (flag ? " != 0;" : ";"));
  }

  std::string thread_number() const {
    std::string text = "threadIdx.x";
    if (launch_.block[1] > 1) text += " + threadIdx.y * " + std::to_string(launch_.block[0]);
    if (launch_.block[2] > 1) text += " + threadIdx.z * " + std::to_string(launch_.block[0] * launch_.block[1]);
    return text;
  }

  // Arrays stay in registers only when every subscript is known at compile time.
  bool runs_over_registers(const For& f) const {
    if (f.lower->op != Op::kLiteral || f.upper->op != Op::kLiteral ||
        f.upper->int_value - f.lower->int_value > kUnrolledTrips * f.step)
      return false;
    bool found = false;
    const auto look = [&](const std::string& buffer, const std::vector<ExprPtr>& subscripts) {
      if (!registers_.count(buffer)) return;
      for (const ExprPtr& e : subscripts) found = found || mentions_index(e, f.iterator);
    };
    const auto reads = [&](const ExprPtr& e) {
      walk(e, [&](const Expr& x) {
        if (x.op == Op::kRead) look(x.name, x.args);
      });
    };
    passes::walk_nodes(f.body, [&](const LoopPtr& n) {
      if (const Store* s = passes::as<Store>(n)) {
        look(s->buffer, s->subscripts);
        reads(s->value);
      }
      if (const Let* l = passes::as<Let>(n)) reads(l->value);
      if (const Set* s = passes::as<Set>(n)) reads(s->value);
    });
    return found;
  }

  const Launch& launch_;
  std::vector<Symbol> ranges_;  // of symbols, coordinates and the iterators around
  const bool dynamic_shared_;
  std::int64_t shared_offset_ = 0;
  std::set<std::string> registers_, coordinates_;
};

std::string join(const std::vector<std::string>& items, const std::string& between = ", ") {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : between) + item;
  return text;
}

struct Printed {
  std::string text;
  CudaLaunch launch;
};

class ProgramPrinter {
 public:
  ProgramPrinter(const LoopProgram& program, const CudaPrintOptions& options)
      : program_(program), options_(options), functions_(cuda_reserved_words()) {}

  Result<CudaModule> print() {
    embed_constants();
    std::vector<std::string> embedded;
    for (const auto& [tensor, identifier] : constants_) embedded.push_back(tensor);
    const Interface face = interface_of(program_, embedded);
    prefix_ = "facet_" + face.name + "_";
    CudaModule result;
    for (const Kernel& k : program_.prepare) kernel(k, &result.prepare);
    for (const Kernel& k : program_.kernels) kernel(k, &result.kernels);
    const std::string exports = print_cuda_exports(program_, face, constants_, result.prepare, result.kernels, &errors_);
    const std::string helper_text = emit_helpers(helpers_, cuda_prelude(), &errors_);
    if (!errors_.empty()) return errors_;
    for (const Buffer& b : program_.buffers)
      if (!constants_.count(b.name)) result.buffers.push_back(b);
    Module& m = result.module;
    m.name = face.name;
    m.target = "cuda";
    m.symbols = program_.symbols;
    m.arguments = face.arguments;
    for (const Kernel& k : program_.kernels) m.kernels.push_back({k.name, k.ops, k.flops, k.bytes, k.when});
    InterfaceStyle style;
    style.pointer_kind = "device";
    style.stream_parameter = ", cudaStream_t stream";
    style.includes =
        "\n/* The stream type of cuda_runtime_api.h, which need not be included. */\ntypedef struct CUstream_st* cudaStream_t;\n";
    m.header = {face.name + ".h", header_text(face, style)};
    m.source = {face.name + ".cu", head(face) + helper_text + body_ + exports};
    return result;
  }

 private:
  std::string head(const Interface& face) const {
    TextWriter w;
    w.comment(program_.name + ": CUDA C++17 kernels, written by Facet " FACET_VERSION ".");
    w.comment(options_.note);
    w.comment(std::string("Build: nvcc -std=c++17 -arch=sm_90 --fmad=") + (program_.numerics.contract ? "true" : "false") +
              " -c " + face.name + ".cu");
    w.line("#if defined(__NVCC__) && !defined(FACET_KERNELS_ONLY)");
    w.line("#include \"" + face.name + ".h\"");
    w.line("#endif");
    w.raw(cuda_environment() + "\n");
    return w.text();
  }

  // "alignas(64) __device__ const float w_data[12] = {...};"
  void embed_constants() {
    for (const std::string& w : program_.weights) {
      const auto constant = options_.constants.find(w);
      if (constant == options_.constants.end()) continue;
      constants_[w] = functions_.of("constant", w + "_data");
      body_ += constant_text(constants_[w], w, constant->second, "alignas(64) static __device__ const") + "\n";
    }
  }

  void kernel(const Kernel& k, std::vector<CudaLaunch>* launches) {
    const Result<Launch> launch = launch_of(k, program_.symbols);
    if (!launch) {
      errors_.insert(errors_.end(), launch.errors().begin(), launch.errors().end());
      return;
    }
    const std::int64_t shared = shared_bytes_of(launch->body);
    if (shared < 0 || shared > options_.machine.shared_bytes_opt_in) {
      errors_.push_back(
          diagnose(Code::kGpuLaunch, Place{},
                   {k.name, shared < 0 ? "a shared array has a run-time size"
                                       : "a block wants " + std::to_string(shared) + " bytes of shared memory, at most " +
                                             std::to_string(options_.machine.shared_bytes_opt_in) + " can be had"}));
      return;
    }
    CudaLaunch l;
    l.host = k.host;
    l.grid = launch->grid;
    if (k.when) l.grid[0] = select(k.when, l.grid[0], idx(0));  // a variant's kernel has nothing to do for other sizes
    l.block = launch->block;
    l.shared_bytes = shared > kStaticSharedBytes ? shared : 0;
    l.entry = prefix_ + functions_.of("function", k.name + (k.ops.empty() ? "" : "_" + k.ops.back()));
    CudaPrinter p(*launch, launch_symbols(k, program_.symbols), l.shared_bytes > 0);
    function(p, k, *launch, &l);
    body_ += p.out.text() + "\n";
    helpers_.insert(p.helpers.begin(), p.helpers.end());
    errors_.insert(errors_.end(), p.errors.begin(), p.errors.end());
    launches->push_back(std::move(l));
  }

  void function(CudaPrinter& p, const Kernel& k, const Launch& launch, CudaLaunch* l) {
    LoopProgram scope = program_;
    scope.symbols = launch_symbols(k, program_.symbols);
    const KernelUses uses = uses_of(scope, launch.body);
    for (const Buffer& b : program_.buffers) p.declare(b);
    std::vector<std::string> parameters, embedded;
    for (const std::string& name : uses.buffers) {
      const Buffer& b = *program_.find_buffer(name);
      const std::string type = (uses.written.count(name) ? "" : "const ") + storage_type(b.dtype);
      if (constants_.count(name)) {
        embedded.push_back("const " + storage_type(b.dtype) + "* const " + p.buffer_name(name) + " = " + constants_.at(name) +
                           ";");
        continue;
      }
      parameters.push_back(type + "* __restrict__ " + p.buffer_name(name));
      l->buffers.push_back(name);
    }
    for (const Symbol& s : scope.symbols) {
      if (s.min >= 0) p.assume_non_negative(s.name);
      if (s.min >= 1) p.assume_positive(s.name);
      if (!uses.symbols.count(s.name)) continue;
      parameters.push_back("const int64_t " + p.index_name(s.name));
      l->symbols.push_back(s.name);
    }
    if (!k.ops.empty()) p.out.comment(k.name + ": " + join(k.ops));
    p.out.comment(k.comment);
    for (const For& f : k.host)
      p.out.comment("For each " + f.iterator + " in " + to_text(f.lower) + ".." + to_text(f.upper) + ", on the processor:");
    p.out.comment("Launch: grid (" + to_text(launch.grid[0]) + ", " + to_text(launch.grid[1]) + ", " + to_text(launch.grid[2]) +
                  "), block (" + std::to_string(launch.block[0]) + ", " + std::to_string(launch.block[1]) + ", " +
                  std::to_string(launch.block[2]) + ")" +
                  (l->shared_bytes > 0 ? ", " + std::to_string(l->shared_bytes) + " bytes of dynamic shared memory" : "") +
                  ".");
    p.out.open("extern \"C\" __global__ void __launch_bounds__(" + std::to_string(launch.threads()) + ") " + l->entry + "(" +
               join(parameters) + ")");
    if (l->shared_bytes > 0) p.out.line("extern __shared__ __attribute__((aligned(128))) unsigned char shared_memory[];");
    for (const std::string& line : embedded) p.out.line(line);
    p.statements(launch.body);
    p.out.close();
  }

  const LoopProgram& program_;
  const CudaPrintOptions& options_;
  NameTable functions_;
  std::string prefix_, body_;
  std::map<std::string, std::string> constants_;
  std::set<HelperUse> helpers_;
  Diagnostics errors_;
};

}  // namespace

Result<CudaModule> print_cuda(const LoopProgram& program, const CudaPrintOptions& options) {
  return ProgramPrinter(program, options).print();
}

}  // namespace facet
