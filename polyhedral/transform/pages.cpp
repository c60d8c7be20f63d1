// What the reference shows of each step beside its arguments: the loops before and after, what the step is called elsewhere,
// what it refuses. The essays at the heads of the transforms say why.
#include "polyhedral/transform/pages.hpp"

#include <algorithm>
#include <iterator>

namespace facet {

namespace {

struct Page {
  const char* step;
  const char* before;
  const char* after;
  const char* elsewhere;
  const char* refuses;
};

constexpr Page kPages[] = {
    {"fuse", "for i  S(i)\nfor i  T(i)", "for i { S(i); T(i) }", "compute_with (Halide), loop fusion",
     "fewer than two nests, nests in different sequences; where a sink would overtake its source, `shift` one nest first"},
    {"distribute", "for i { S(i); T(i) }", "for i  S(i)\nfor i  T(i)", "loop fission",
     "a loop that the statement shares with no other; illegal where a later part feeds an earlier one in a later iteration"},
    {"tile", "for i in 0..N\n  S(i)", "for it in 0..ceil(N/32)\n  for i in 32*it..min(N, 32*it + 32)\n    S(i)",
     "split and reorder (Halide, TVM), blocking",
     "loops that do not stand directly inside each other, sizes below 1, used names"},
    {"interchange", "for i  for j  S(i, j)", "for j  for i  S(i, j)", "reorder, permute", "loops with others between them"},
    {"skew", "for i  for j  S(i, j)", "for i  for j in i..i + M  S(i, j - i)", "wavefront, loop skewing",
     "a loop by itself, a statement that is not inside both loops"},
    {"shift", "for i in 0..N  T(i)", "for i in 1..N + 1  T(i - 1)", "retiming, loop alignment",
     "nothing; judged by dependences"},
    {"reverse", "for i in 0..N  S(i)", "for i in -N + 1..1  S(-i)", "loop reversal",
     "nothing; illegal where an iteration needs an earlier one, sums excepted unless numerics are strict"},
    {"embed", "for j  S(j)", "for i in 0..1  for j  S(j)", "adding a unit loop",
     "names of loops that exist, statements without a loop"},
    {"reschedule", "for t  for i  S(t, i)", "for t  for i in t..t + N  S(t, i - t)", "Pluto's and isl's scheduler",
     "mapped loops, nests with buffers; the scheduler's time is limited"},
    {"parallelize", "for i  S(i)", "#pragma omp parallel for\nfor i  S(i)", "parallel (Halide, TVM)",
     "marked loops, fewer nested loops than `collapse`; illegal where the loop, or one collapsed into it, carries a dependence"},
    {"vectorize", "for j in 0..N  S(j)", "for j in 0..N step 8  S(j .. j + 7)", "SIMD",
     "widths that are no power of two, marked loops; sums may be carried: lanes keep partial results"},
    {"unroll", "for i in 0..4  S(i)", "S(0); S(1); S(2); S(3)", "unroll", "marked loops"},
    {"unroll_and_jam", "for i in 0..N\n  for k  S(i, k)", "for it in 0..ceil(N/2)\n  for k { S(2*it, k); S(2*it + 1, k) }",
     "register blocking",
     "marked loops, loops with no loop inside; illegal where iterations of a piece may not change places with the loops inside"},
    {"strip_mine", "for i in 0..N  S(i)", "for it in 0..ceil(N/4)\n  for i in 4*it..min(N, 4*it + 4)  S(i)", "split",
     "used names; it is `tile` of one loop"},
    {"index_set_split", "for i in 0..N  S(i)", "for i in 0..M  S(i)\nfor i in M..N  S.from(i)", "loop partition (TVM)",
     "a point with all iterations on one side; arrays in buffers inside the loop: split first"},
    {"peel", "for i in 0..N  S(i)", "S.first(0)\nfor i in 1..N  S(i)", "loop peeling",
     "as many iterations as there are; arrays in buffers inside the loop: peel first"},
    {"contract", "for i { t[i] = a[i]; b[i] = t[i] }", "for i { double t; t = a[i]; b[i] = t }",
     "storage folding, array contraction, privatisation",
     "arrays that exist outside the group; values that leave the iteration"},
    {"expand", "for i { double t; t = a[i]; b[i] = t }", "double t[N]\nfor i { t[i] = a[i]; b[i] = t[i] }",
     "scalar expansion; the inverse of contract", "arrays that are not contracted, parts promoted from them"},
    {"promote", "for it { .. for k  S reads A[it, k] }", "for it { copy A[it, ..] to A.tile;  .. for k  S reads A.tile[k] }",
     "cache_read and cache_write (TVM), store_in (Halide), packing",
     "parts without a constant size, arrays that are written and read in the loop"},
    {"map_gpu", "for i  for j  S(i, j)", "block i { thread j  S(i, j) }", "bind (TVM), gpu_blocks and gpu_threads (Halide)",
     "loops that carry a dependence, more threads than a block has"},
    {"recompute", "for j  p[j] = f(x[j]);  for j  y[j] = p[j] / s", "for j  y[j] = f(x[j]) / s", "compute_inline (Halide)",
     "more than a row of a block's threads"},
    {"reuse", "for j  p[j] = f(x[j]);  for j  y[j] = p[j] / s", "for j  y[j] = f(x[j]);  for j  y[j] = y[j] / s",
     "in-place buffers", "arrays of another shape or type, readers of other elements"},
    {"stream", "for i  y[i] = f(x[i])", "for i  y[i] = f(x[i])    # stores past the caches", "non-temporal stores",
     "arrays that the group reads, results that no vector loop writes"},
    {"rfactor", "C[i] = 0\nfor k  C[i] += a[i, k]",
     "C[i] = 0\nfor r in 0..8  C.part[r, i] = 0\nfor k  C.part[k % 8, i] += a[i, k]\nfor r in 0..8  C[i] += C.part[r, i]",
     "rfactor (Halide, TVM), split-K",
     "no reduction, results that are not indexed by plain indices, values that read the result, strict numerics"}};

std::string indented(const std::string& text) {
  std::string out = "    ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out + "\n";
}

}  // namespace

std::string page_of(const std::string& step) {
  const auto page = std::find_if(std::begin(kPages), std::end(kPages), [&](const Page& p) { return step == p.step; });
  if (page == std::end(kPages)) return "";
  return "\n" + indented(page->before) + "\nbecomes\n\n" + indented(page->after) + "\nElsewhere: " + page->elsewhere +
         ". Refuses: " + page->refuses + ".\n";
}

}  // namespace facet
