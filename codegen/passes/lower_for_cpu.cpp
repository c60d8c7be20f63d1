// The order of the loop-tree passes for processors, and what holds after each.
#include "codegen/passes/atomics.hpp"
#include "codegen/passes/context.hpp"
#include "codegen/passes/passes.hpp"
#include "codegen/passes/zeros.hpp"

namespace facet {

namespace {

// A GPU's places mean nothing here.
LoopList without_gpu_places(const LoopList& body, passes::Context& context) {
  LoopList out;
  for (const LoopPtr& n : body) {
    LoopPtr inner = passes::rebuild(
        n, [](const ExprPtr& e) { return e; }, [&](const LoopList& b) { return without_gpu_places(b, context); });
    if (const For* f = passes::as<For>(inner); f && f->kind == LoopKind::kMapped) {
      context.note("map", *f, false, "map_gpu is for the target cuda: serial");
      For plain = *f;
      plain.kind = LoopKind::kSerial;
      plain.gpu = GpuPlace{};
      inner = make_loop(std::move(plain));
    }
    out.push_back(inner);
  }
  return out;
}

// Threads share the iterations of the outermost loop that asks for them; scanning has made a plain loop of one whose iterations
// were to update copies inside another marked loop.
LoopList with_threads_once(const LoopList& body, const For* around, passes::Context& context) {
  LoopList out;
  for (const LoopPtr& n : body) {
    const For* f = passes::as<For>(n);
    const bool parallel = f && f->kind == LoopKind::kParallel;
    LoopPtr inner = passes::rebuild(
        n, [](const ExprPtr& e) { return e; },
        [&](const LoopList& b) { return with_threads_once(b, parallel && !around ? f : around, context); });
    if (parallel && around) {
      context.note("threads", *f, false,
                   "its iterations are those of one thread: loop '" + around->iterator + "' around it runs on them");
      For plain = *passes::as<For>(inner);
      plain.kind = LoopKind::kSerial;
      plain.collapse = 1;
      inner = make_loop(std::move(plain));
    }
    if (f && f->kind == LoopKind::kSerial && f->asked_by >= 0)
      context.note("threads", *f, false, "a loop around it is marked already, so no threads would share its updates");
    out.push_back(inner);
  }
  return out;
}

// Which dimensions go on through those before them.
std::map<std::string, std::uint64_t> joined_dimensions(const passes::JoinedRows& rows) {
  std::map<std::string, std::uint64_t> joined;
  for (const auto& [buffer, counts] : rows) {
    std::size_t from = 0;
    for (const std::size_t count : counts) {
      for (std::size_t k = 1; k < count; ++k) joined[buffer] |= std::uint64_t{1} << (from + k);
      from += count;
    }
  }
  return joined;
}

void lower_kernel(Kernel* kernel, passes::Context& context) {
  using namespace passes;
  // Quotient and remainder of one position are one subscript.
  JoinedRows rows;
  const LoopList places = atomic_within(kernel->body, [](const For& f) { return f.kind == LoopKind::kParallel; });
  LoopList body = join_rows(with_threads_once(without_gpu_places(places, context), nullptr, context), context, &rows);
  // Index arithmetic is linear forms; guards and bounds that cannot matter are
  // gone. Later tests rely on it.
  body = simplify(body, context);
  // What copies have zeros around them is asked while they are loops of single elements.
  const std::vector<ZeroBorder> borders = zero_borders(body, context);
  // A vector loop directly inside another is one with it.
  body = simplify(join_lanes(body, context, &rows), context);
  // Padded copies have their zeros apart.
  body = simplify(split_padding(body, context), context);
  // Local arrays of one live element are named values, so that the next passes
  // turn them into vectors.
  body = contract_locals(body, context);
  // Tiles whose results stay local run to their full extent; peel has no partial ones of them to tell apart.
  body = widen(body, context);
  // Requested loops have constant extents, or sit in the partial branch of an
  // if.
  body = simplify(peel(body, context), context);
  // No loop is kVector or kUnroll.
  body = simplify(form_tiles(body, context), context);
  // Masks and offsets are computed outside the loops that do not change them.
  body = hoist_costly(hoist_values(body, context), context);
  // What loops update in place is in named values; stores pass to reads
  // directly; repeated reads have names.
  body = keep_in_registers(body, context);
  body = forward_stores(body, context);
  // Of local arrays, only the branches that need the memory fill it.
  body = share_loads(sink_stores(body), context);
  body = drop_unread(simplify(body, context));
  // What is stored in parts that follow each other is stored in vectors.
  body = whole_lines(body, context);
  // The loops that compute in named values only are known.
  body = prefetch_copies(prefetch_rows(prefetch_results(prefetch_tiles(body, context), context), context), context);
  // Those loops have constant bounds no longer.
  body = skip_zeros(body, borders, context);
  // Last: subscripts are those of the program's buffers again.
  kernel->body = split_rows(body, context, rows);
  kernel->joined = joined_dimensions(rows);
}

}  // namespace

LoopProgram lower_for_cpu(const LoopProgram& program, const CpuMachine& machine, PassLog* log) {
  LoopProgram lowered = program;
  passes::Context context = passes::make_context(program, machine, log);
  for (std::vector<Kernel>* kernels : {&lowered.prepare, &lowered.kernels}) {
    for (Kernel& k : *kernels) {
      passes::enter_kernel(context, k);
      lower_kernel(&k, context);
    }
  }
  return lowered;
}

}  // namespace facet
