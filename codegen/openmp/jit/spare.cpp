// spare: time that the optimiser would spend on loops that Facet has vectorised and unrolled already.
//
// In a kernel of register tiles, the search for vectors among scalars (SLP) and among stores forwarded from one iteration to
// the next finds nothing, and takes half of the compilation (0.7 of 1.2 s for the digit CNN on an EPYC 7003); unrolling by a
// factor at run time copies bodies that fill the registers as they are. Functions whose innermost loops all hold vectors go
// without the first, loops that hold vectors without the second. Full unrolling of short loops (taps of a convolution) and all
// that concerns scalar code stay: there a compiler finds what the recipe did not ask for.
#include "codegen/openmp/jit/spare.hpp"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace facet::jit {
namespace {

bool holds_vectors(const llvm::Loop& loop) {
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& i : *block)
      if (i.getType()->isVectorTy()) return true;
  return false;
}

bool is_vector_code(llvm::Function& function) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  bool any = false;
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost()) continue;
    if (!holds_vectors(*loop)) return false;
    any = true;
  }
  return any;
}

bool should_run(llvm::StringRef pass, llvm::Any unit) {
  if (pass != "SLPVectorizerPass" && pass != "LoopVectorizePass" && pass != "LoopLoadEliminationPass") return true;
  const llvm::Function** function = llvm::any_cast<const llvm::Function*>(&unit);
  return !function || !is_vector_code(const_cast<llvm::Function&>(**function));
}

struct NoFactorAtRunTime : llvm::PassInfoMixin<NoFactorAtRunTime> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
      if (holds_vectors(*loop)) llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.runtime.disable");
    return llvm::PreservedAnalyses::all();
  }
};

}  // namespace

void spare_vector_code(clang::CodeGenOptions& options) {
  options.PassBuilderCallbacks.push_back([](llvm::PassBuilder& builder) {
    if (llvm::PassInstrumentationCallbacks* callbacks = builder.getPassInstrumentationCallbacks())
      callbacks->registerShouldRunOptionalPassCallback(should_run);
    builder.registerVectorizerStartEPCallback(
        [](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) { passes.addPass(NoFactorAtRunTime()); });
  });
}

}  // namespace facet::jit
