// The order of the loop-tree passes for processors, and what holds after each.
#include "codegen/passes/context.hpp"
#include "codegen/passes/passes.hpp"

namespace facet {

namespace {

LoopList lower_kernel(const LoopList& scanned, passes::Context& context) {
  using namespace passes;
  // Index arithmetic is linear forms; guards and bounds that cannot matter are
  // gone. Later tests rely on it.
  LoopList body = simplify(scanned, context);
  // Local arrays of one live element are named values, so that the next passes
  // turn them into vectors.
  body = contract_locals(body, context);
  // Requested loops have constant extents, or sit in the partial branch of an
  // if.
  body = simplify(peel(body, context), context);
  // No loop is kVector or kUnroll.
  body = simplify(form_tiles(body, context), context);
  // Masks and offsets are computed outside the loops that do not change them.
  body = hoist_values(body, context);
  // What loops update in place is in named values; stores pass to reads
  // directly; repeated reads have names.
  body = keep_in_registers(body, context);
  body = forward_stores(body, context);
  body = share_loads(body, context);
  return simplify(body, context);
}

}  // namespace

LoopProgram lower_for_cpu(const LoopProgram& program, const CpuMachine& machine, PassLog* log) {
  LoopProgram lowered = program;
  passes::Context context = passes::make_context(program, machine, log);
  for (std::vector<Kernel>* kernels : {&lowered.prepare, &lowered.kernels}) {
    for (Kernel& k : *kernels) {
      passes::enter_kernel(context, k);
      k.body = lower_kernel(k.body, context);
    }
  }
  return lowered;
}

}  // namespace facet
