// GCC 13.3 at -O3 compiles
//
//     for (j = 0; j < 8; ++j)  for (k = 0; k < 5; ++k)  t[5 * j + k] = j > 0 ? x[5 * j + k] : 0;
//
// to wrong code (so does GCC 12 with -fno-thread-jumps): the short loop is unrolled, the condition of each row becomes a mask,
// and that mask's lanes are not spread over the row's elements when the outer loop is made vectors of. Rows of 2 and 3 go wrong
// with a condition read from memory, rows of 5, 6 and 7 with one of the indices. Without if-conversion GCC leaves such loops
// scalar; but masked stores of helpers want it (8 % of an up-sampling block), so it is turned off only where such rows are.
#include "codegen/openmp/short_rows.hpp"

#include "codegen/passes/linear.hpp"
#include "codegen/passes/tree.hpp"

namespace facet {

namespace {

// GCC unrolls loops of up to 16 iterations whole (max-completely-peel-times).
constexpr std::int64_t kShort = 16;

bool chooses(const ExprPtr& value) {
  bool found = false;
  walk(value, [&](const Expr& e) { found = found || (e.lanes == 1 && (e.op == Op::kSelect || e.pad != nullptr)); });
  return found;
}

bool is_short(const For& f) {
  std::int64_t lower = 0, upper = 0;
  return passes::constant_value(f.lower, &lower) && passes::constant_value(f.upper, &upper) && upper - lower <= kShort * f.step;
}

// How many conditional stores of one iteration stand side by side once short loops are unrolled; `found`: several, in a loop.
int side_by_side(const LoopList& body, bool under_if, bool* found) {
  int count = 0;
  for (const LoopPtr& n : body) {
    if (const Store* s = passes::as<Store>(n)) count += s->lanes == 1 && (under_if || chooses(s->value));
    if (const Sequence* s = passes::as<Sequence>(n)) count += side_by_side(s->body, under_if, found);
    if (const If* i = passes::as<If>(n)) count += side_by_side(i->then, true, found) + side_by_side(i->otherwise, true, found);
    const For* f = passes::as<For>(n);
    if (!f) continue;
    const int inside = side_by_side(f->body, under_if, found);
    *found = *found || inside > 1;
    if (is_short(*f)) count += 2 * inside;
  }
  return count;
}

}  // namespace

bool has_conditional_rows(const LoopProgram& program) {
  bool found = false;
  for (const std::vector<Kernel>* kernels : {&program.prepare, &program.kernels})
    for (const Kernel& k : *kernels) side_by_side(k.body, false, &found);
  return found;
}

}  // namespace facet
