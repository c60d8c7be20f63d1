// The pieces of a kernel, and how each is done.
#include "codegen/cuda/map.hpp"

#include <algorithm>

#include "codegen/cuda/launch.hpp"
#include "codegen/cuda/map_internal.hpp"
#include "codegen/passes/atomics.hpp"

namespace facet {

namespace {

using passes::as;

// A nest with the loops that the processor runs around it.
struct Piece {
  std::vector<For> host;
  LoopList values;  // repeated where they are used
  LoopPtr nest;
};

bool is_staged(const For& f) { return f.kind == LoopKind::kMapped && f.gpu.stage > 0; }

// What has no place is a plain loop of a thread; lanes and processor threads are not asked for here.
LoopList plain_loops(const LoopList& body, bool mapped_too, passes::Context& context) {
  LoopList out;
  for (const LoopPtr& n : body) {
    LoopPtr inner = passes::rebuild(
        n, [](const ExprPtr& e) { return e; }, [&](const LoopList& b) { return plain_loops(b, mapped_too, context); });
    const For* f = as<For>(inner);
    if (f && (f->kind == LoopKind::kVector || f->kind == LoopKind::kParallel || (f->kind == LoopKind::kMapped && mapped_too))) {
      if (f->kind != LoopKind::kMapped)
        context.note("map", *f, false, "a GPU has no vector lanes or processor threads: serial; map_gpu gives it threads");
      if (f->kind == LoopKind::kMapped && !context.is_obeyed(*f))
        context.note("map", *f, false, "its nest has no place for it on the GPU: serial");
      For plain = *f;
      plain.kind = LoopKind::kSerial;
      plain.width = 0;
      plain.collapse = 1;
      plain.gpu = GpuPlace{};
      inner = make_loop(std::move(plain));
    }
    out.push_back(inner);
  }
  return out;
}

class ProgramMapper {
 public:
  ProgramMapper(const LoopProgram& program, const GpuMachine& machine, PassLog* log) : result_(program) {
    context_.program = &result_;
    context_.machine = machine;
    context_.symbols = program.symbols;
    context_.passes = passes::make_context(result_, CpuMachine{}, log);
  }

  LoopProgram run() {
    for (std::vector<Kernel>* kernels : {&result_.prepare, &result_.kernels}) {
      std::vector<Kernel> mapped;
      for (const Kernel& k : *kernels) kernel(k, &mapped);
      *kernels = std::move(mapped);
    }
    for (Buffer& b : workspace_) result_.buffers.push_back(std::move(b));
    std::erase_if(result_.buffers, [&](const Buffer& b) { return b.role == BufferRole::kWorkspace && !is_used(b.name); });
    return std::move(result_);
  }

 private:
  void kernel(const Kernel& k, std::vector<Kernel>* out) {
    passes::enter_kernel(context_.passes, k);
    for (const Buffer& b : result_.buffers) context_.passes.names.take(b.name);
    for (const Symbol& s : result_.symbols) context_.passes.names.take(s.name);
    for (const std::string& name : host_names_) context_.passes.names.take(name);
    if (has_gpu_axes(k)) {
      out->push_back(k);
      return;
    }
    pieces_.clear();
    const LoopList body = passes::atomic_within(
        k.body, [](const For& f) { return f.kind == LoopKind::kMapped && f.gpu.grid >= 0 && f.gpu.reduces; });
    collect(folded(k, passes::simplify(plain_loops(body, false, context_.passes), context_.passes)), Piece{}, {});
    join_neighbours();
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      Kernel piece = k;
      if (pieces_.size() > 1 || !pieces_[p].host.empty()) {
        piece.name = pieces_.size() > 1 ? k.name + "_" + std::to_string(p) : k.name;
        piece.flops = piece.bytes = nullptr;
      }
      piece.host = pieces_[p].host;
      context_.symbols = launch_symbols(piece, result_.symbols);
      piece.body = finish(map_piece(pieces_[p]));
      out->push_back(std::move(piece));
    }
    context_.symbols = result_.symbols;
  }

  // Intermediates that the recipe wants computed again, or in the memory of outputs that end them.
  LoopList folded(const Kernel& k, const LoopList& body) {
    return gpu::fold_into_outputs(gpu::recompute_rows(body, k.recomputed, context_), k.reused, context_);
  }

  bool is_used(const std::string& buffer) const {
    for (const std::vector<Kernel>* list : {&result_.prepare, &result_.kernels})
      for (const Kernel& k : *list)
        for (const passes::Access& a : passes::accesses_of(k.body))
          if (a.buffer == buffer) return true;
    return false;
  }

  // One piece for each nest. Arrays that several own become workspace. `guards`: conditions around.
  void collect(const LoopList& body, Piece around, const std::vector<ExprPtr>& guards) {
    for (const LoopPtr& n : body) {
      if (as<Comment>(n)) continue;
      const For* f = as<For>(n);
      const If* i = as<If>(n);
      if (const Allocate* a = as<Allocate>(n)) {
        to_workspace(a->buffer, around.host);
      } else if (as<Let>(n)) {
        around.values.push_back(n);
      } else if (f && !gpu::on_grid(*f) && gpu::holds(f->body, gpu::on_grid) && arrays_have_sizes(*f, around.host)) {
        host_loop(*f, around, guards);
      } else if (i && gpu::holds({n}, gpu::on_grid)) {
        std::vector<ExprPtr> inner = guards;
        inner.push_back(i->condition);
        collect(i->then, around, inner);
        inner.back() = unary(Op::kNot, i->condition);
        collect(i->otherwise, around, inner);
      } else {
        Piece piece = around;
        piece.nest = guarded(n, guards);
        add(std::move(piece));
      }
    }
  }

  void host_loop(const For& f, Piece around, const std::vector<ExprPtr>& guards) {
    For loop = f;
    loop.body.clear();
    loop.kind = LoopKind::kSerial;
    loop.iterator = context_.passes.names.fresh(f.iterator);
    host_names_.insert(loop.iterator);  // equal names would mean one loop
    around.host.push_back(loop);
    collect(passes::substitute(f.body, f.iterator, index(loop.iterator)), around, guards);
    context_.passes.note("map", f.iterator, true, "a loop of the processor: its kernels are launched once an iteration");
  }

  // Where the grid's loops are not to see a condition, it stands in the innermost of them.
  static LoopPtr guarded(const LoopPtr& nest, const std::vector<ExprPtr>& guards) {
    LoopPtr result = nest;
    for (std::size_t k = guards.size(); k-- > 0;) {
      If guard;
      guard.condition = guards[k];
      guard.then = {result};
      result = make_loop(std::move(guard));
    }
    return result;
  }

  void add(Piece piece) {
    Kernel named;
    named.host = piece.host;
    context_.symbols = launch_symbols(named, result_.symbols);
    const gpu::Chain chain = gpu::chain_of(piece.nest, context_);
    std::optional<gpu::SplitReduction> split = gpu::split_reduction(chain, context_);
    if (split && sized_over(piece.host, &split->partial)) {
      workspace_.push_back(split->partial);
      Piece rest = piece;
      piece.nest = split->parts;
      rest.nest = split->rest;
      pieces_.push_back(std::move(piece));
      pieces_.push_back(std::move(rest));
      return;
    }
    pieces_.push_back(std::move(piece));
  }

  // One array serves all iterations of the processor's loops: it is as large as the largest of them needs.
  static bool sized_over(const std::vector<For>& host, Buffer* array) {
    for (std::vector<ExprPtr>* list : {&array->extents, &array->strides})
      for (ExprPtr& e : *list) {
        e = gpu::extreme(e, host, true);
        if (!e) return false;
      }
    return true;
  }

  static bool arrays_have_sizes(const For& f, std::vector<For> host) {
    host.push_back(f);
    bool all = true;
    passes::walk_nodes(f.body, [&](const LoopPtr& n) {
      const Allocate* a = as<Allocate>(n);
      Buffer b = a ? a->buffer : Buffer{};
      all = all && sized_over(host, &b);
    });
    return all;
  }

  // Single instances share a launch with each other and with a nest of one block beside them: kernels of a stream run one after
  // the other anyway. Nests of more blocks, or with other threads, stay apart.
  void join_neighbours() {
    std::vector<Piece> joined;
    std::int64_t threads = 0;  // of the last one's block; 0: single instances so far
    for (Piece& piece : pieces_) {
      const std::int64_t own = joinable_threads(piece);
      const bool joins = !joined.empty() && own >= 0 && threads >= 0 && (own == 0 || threads == 0) &&
                         same_loops(joined.back().host, piece.host) && joined.back().values == piece.values;
      if (!joins) {
        joined.push_back(std::move(piece));
        threads = own;
        continue;
      }
      LoopList both;
      for (const LoopPtr& nest : {joined.back().nest, piece.nest}) {
        if (const Sequence* s = as<Sequence>(nest))
          both.insert(both.end(), s->body.begin(), s->body.end());
        else
          both.push_back(nest);
      }
      joined.back().nest = make_loop(Sequence{std::move(both)});
      threads = std::max(threads, own);
    }
    pieces_ = std::move(joined);
  }

  // The threads of a nest of one block, 0 of a single instance, -1 of what needs a kernel of its own.
  static std::int64_t joinable_threads(const Piece& piece) {
    const LoopList nest{piece.nest};
    if (!gpu::holds(nest, [](const For&) { return true; })) return 0;
    if (gpu::holds(nest, gpu::on_grid) || !gpu::holds(nest, gpu::in_block)) return -1;
    std::int64_t threads = -1;
    passes::walk_nodes(nest, [&](const LoopPtr& n) {
      if (const For* f = as<For>(n); f && gpu::in_block(*f)) threads = f->gpu.threads;
    });
    return threads;
  }

  static bool same_loops(const std::vector<For>& a, const std::vector<For>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const For& x, const For& y) { return x.iterator == y.iterator; });
  }

  void to_workspace(const Buffer& local, const std::vector<For>& host) {
    Buffer b = local;
    sized_over(host, &b);
    b.space = MemorySpace::kGlobal;
    b.role = BufferRole::kWorkspace;
    context_.passes.note("map", b.name, true, "workspace: it outlives one nest of its kernel");
    workspace_.push_back(std::move(b));
  }

  // What a nest is called by: the arrays that it writes.
  static std::string results_of(const LoopPtr& nest) {
    std::vector<std::string> names;
    for (const passes::Access& a : passes::accesses_of({nest}))
      if (a.writes && !std::count(names.begin(), names.end(), a.buffer)) names.push_back(a.buffer);
    std::string text;
    for (const std::string& n : names) text += (text.empty() ? "" : ", ") + n;
    return text.empty() ? "nothing" : text;
  }

  LoopList map_piece(const Piece& piece) {
    const gpu::Chain chain = gpu::chain_of(piece.nest, context_);
    std::string loops;
    for (const For& f : chain.loops) loops += (loops.empty() ? "" : ", ") + f.iterator;
    const std::string subject = (loops.empty() ? "the nest" : loops) + " of " + results_of(piece.nest);
    const auto note = [&](bool done, const std::string& reason) { context_.passes.note("map", subject, done, reason); };
    const auto obey = [&](const LoopList& nest) {
      for (const For& f : chain.loops) context_.passes.obey(f);
      passes::walk_nodes(nest, [&](const LoopPtr& n) {
        if (const For* f = as<For>(n); f && f->kind == LoopKind::kMapped) context_.passes.obey(*f);
      });
    };
    const auto with_values = [&](LoopList body) {
      body.insert(body.begin(), piece.values.begin(), piece.values.end());
      return body;
    };
    if (gpu::holds(chain.body, is_staged)) {
      std::optional<LoopList> tiles = gpu::map_tiles(chain, context_);
      note(tiles.has_value(),
           tiles ? "tiles of points a block, several points a thread" : "no staged tiles: it is no product any more");
      if (tiles) obey(chain.body);
      if (tiles) return with_values(std::move(*tiles));
    }
    if (gpu::holds(chain.body, gpu::in_block)) {
      const bool shared = !chain.loops.empty() && gpu::in_block(chain.loops.back());
      gpu::Chain own = chain;
      own.body = gpu::own_arrays(chain.body);
      std::optional<LoopList> body = shared ? gpu::map_columns(own, context_) : gpu::map_block(chain, context_);
      note(body.has_value(), !body           ? "the block's threads cannot share it: a local array does not fit shared memory"
                             : shared        ? "columns: the threads of a block share each point's reduction"
                             : loops.empty() ? "no loop on the grid: one block"
                                             : "one block an iteration");
      if (body) obey(chain.body);
      if (body) return with_values(std::move(*body));
      passes::walk_nodes(chain.body, [&](const LoopPtr& n) {
        if (const For* f = as<For>(n); f && gpu::in_block(*f) && f->asked_by >= 0)
          context_.passes.note("map", *f, false, "a local array of the nest does not fit shared memory");
      });
    }
    if (chain.loops.empty()) {
      note(true, "one thread: no loop of it is mapped");
      return with_values({gpu::agent_loop(LoopKind::kThreadX, context_.passes.names.fresh("t"), idx(1), {piece.nest})});
    }
    obey({});
    note(true, gpu::in_block(chain.loops.back()) ? "one or several points a thread" : "one thread a block");
    // Not before: contracted, a reduction is no fact any more that rows could use.
    gpu::Chain contracted = chain;
    contracted.body = passes::contract_locals(gpu::own_arrays(chain.body), context_.passes);
    return with_values(gpu::map_points(contracted, context_));
  }

  // The thread's own program as the processor passes leave it: no needless guards, accumulators in named values.
  LoopList finish(LoopList body) {
    body = passes::simplify(plain_loops(body, true, context_.passes), context_.passes);
    body = passes::hoist_costly(passes::hoist_values(body, context_.passes), context_.passes);
    body = passes::keep_in_registers(body, context_.passes);
    body = passes::forward_stores(body, context_.passes);
    body = passes::share_loads(body, context_.passes);
    return passes::drop_unread(passes::simplify(body, context_.passes));
  }

  LoopProgram result_;
  gpu::MapContext context_;
  std::vector<Piece> pieces_;  // of the kernel at hand
  std::vector<Buffer> workspace_;
  std::set<std::string> host_names_;
};

}  // namespace

LoopProgram map_to_gpu(const LoopProgram& program, const GpuMachine& machine, PassLog* log) {
  return ProgramMapper(program, machine, log).run();
}

}  // namespace facet
