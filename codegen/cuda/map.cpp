// The pieces of a kernel, and which mapping each gets.
#include "codegen/cuda/map.hpp"

#include <algorithm>

#include "codegen/cuda/launch.hpp"
#include "codegen/cuda/map_internal.hpp"

namespace facet {

namespace {

using passes::as;

class ProgramMapper {
 public:
  ProgramMapper(const LoopProgram& program, const GpuMachine& machine, PassLog* log) : original_(program), result_(program) {
    context_.program = &result_;
    context_.machine = machine;
    context_.strict = program.numerics.reassociate == Numerics::Reassociate::kStrict;
    for (const Symbol& s : program.symbols) context_.typical[s.name] = s.value;
    context_.passes = passes::make_context(result_, CpuMachine{}, log);
  }

  LoopProgram run() {
    for (std::vector<Kernel>* kernels : {&result_.prepare, &result_.kernels}) {
      std::vector<Kernel> mapped;
      for (const Kernel& k : *kernels) kernel(k, &mapped);
      *kernels = std::move(mapped);
    }
    for (Buffer& b : workspace_) result_.buffers.push_back(std::move(b));
    return std::move(result_);
  }

 private:
  void kernel(const Kernel& k, std::vector<Kernel>* out) {
    passes::enter_kernel(context_.passes, k);
    for (const Buffer& b : result_.buffers) context_.passes.names.take(b.name);
    if (has_gpu_axes(k)) {
      out->push_back(k);
      return;
    }
    const std::vector<LoopList> pieces = split(folded(passes::simplify(k.body, context_.passes)));
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      Kernel piece = k;
      if (pieces.size() > 1) {
        piece.name = k.name + "_" + std::to_string(p);
        piece.flops = piece.bytes = nullptr;
      }
      piece.body = finish(map_piece(pieces[p]));
      out->push_back(std::move(piece));
    }
  }

  // Intermediates of this kernel alone in the memory of outputs that end them.
  LoopList folded(const LoopList& body) {
    std::vector<const Buffer*> arrays, outputs;
    for (const Buffer& b : result_.buffers) {
      if (b.role == BufferRole::kOutput) outputs.push_back(&b);
      if (b.role == BufferRole::kWorkspace && used_by(b.name) == 1) arrays.push_back(&b);
    }
    return gpu::fold_into_outputs(body, arrays, outputs, context_);
  }

  int used_by(const std::string& buffer) const {
    int kernels = 0;
    for (const std::vector<Kernel>* list : {&original_.prepare, &original_.kernels})
      for (const Kernel& k : *list) {
        const std::vector<passes::Access> all = passes::accesses_of(k.body);
        kernels += std::any_of(all.begin(), all.end(), [&](const passes::Access& a) { return a.buffer == buffer; });
      }
    return kernels;
  }

  // One list for each nest of the kernel. Values are repeated where they are used; arrays that the kernel owns become
  // workspace.
  std::vector<LoopList> split(const LoopList& body) {
    std::vector<LoopList> pieces;
    LoopList values;
    for (const LoopPtr& n : body) {
      if (as<Comment>(n)) continue;
      if (const Allocate* a = as<Allocate>(n)) {
        to_workspace(a->buffer);
      } else if (as<Let>(n)) {
        values.push_back(n);
      } else {
        const auto add = [&](const LoopPtr& nest) {
          LoopList piece = values;
          piece.push_back(nest);
          pieces.push_back(std::move(piece));
        };
        const std::vector<LoopPtr> distributed = gpu::distribute(gpu::chain_of(n, result_), context_, &workspace_);
        if (!distributed.empty()) {
          for (const LoopPtr& nest : distributed) add(nest);
        } else if (std::optional<gpu::SplitReduction> split = gpu::split_reduction(n, context_)) {
          workspace_.push_back(split->partial);
          add(split->parts);
          add(split->rest);
        } else {
          add(n);
        }
      }
    }
    return pieces;
  }

  void to_workspace(const Buffer& local) {
    Buffer b = local;
    b.space = MemorySpace::kGlobal;
    b.role = BufferRole::kWorkspace;
    context_.passes.note("map", b.name, true, "workspace: it outlives one nest of its kernel");
    workspace_.push_back(std::move(b));
  }

  LoopList map_piece(const LoopList& piece) {
    LoopList values(piece.begin(), piece.end() - 1);
    const gpu::Chain chain = gpu::chain_of(piece.back(), result_);
    std::string loops;
    for (const For& f : chain.loops) loops += (loops.empty() ? "" : ", ") + f.iterator;
    const auto note = [&](bool done, const std::string& reason) {
      context_.passes.note("map", loops.empty() ? "the nest" : loops, done, reason);
    };
    if (std::optional<LoopList> tiles = gpu::map_tiles(chain, context_)) {
      note(true, "tiles of points a block, several points a thread");
      return joined(values, std::move(*tiles));
    }
    if (std::optional<LoopList> columns = gpu::map_columns(chain, context_)) {
      note(true, "columns: 32 threads share each point's reduction");
      return joined(values, std::move(*columns));
    }
    if (chain.loops.empty() || gpu::prefers_rows(chain, context_)) {
      if (std::optional<LoopList> rows = gpu::map_rows(chain, context_)) {
        note(true, chain.loops.empty() ? "no outer parallel loop: one block"
                                       : "one block an iteration: memory runs along an inner loop");
        return joined(values, std::move(*rows));
      }
      note(false, "a block an iteration: a local array does not fit shared memory");
    }
    if (chain.loops.empty()) {
      note(true, "one thread: nothing is parallel");
      return joined(values, {gpu::agent_loop(LoopKind::kThreadX, context_.passes.names.fresh("t"), idx(1), {piece.back()})});
    }
    note(true, "one point a thread");
    // Not before: contracted, a reduction is no fact any more that rows could use.
    gpu::Chain contracted = chain;
    contracted.body = passes::contract_locals(chain.body, context_.passes);
    return joined(values, gpu::map_points(contracted, context_));
  }

  static LoopList joined(LoopList a, LoopList b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  // The thread's own program as the processor passes leave it: no needless guards, accumulators in named values.
  LoopList finish(LoopList body) {
    body = passes::simplify(body, context_.passes);
    body = passes::hoist_values(body, context_.passes);
    body = passes::keep_in_registers(body, context_.passes);
    body = passes::forward_stores(body, context_.passes);
    body = passes::share_loads(body, context_.passes);
    return passes::simplify(body, context_.passes);
  }

  const LoopProgram& original_;
  LoopProgram result_;
  gpu::MapContext context_;
  std::vector<Buffer> workspace_;
};

}  // namespace

LoopProgram map_to_gpu(const LoopProgram& program, const GpuMachine& machine, PassLog* log) {
  return ProgramMapper(program, machine, log).run();
}

}  // namespace facet
