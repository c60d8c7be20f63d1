// The model: a thread's iterations one after the other, as many threads at once as the device holds, launches and barriers.
//
//   grid      launch + steps of a thread x crowd x ceil(threads / resident)
//   block     launch + its steps; an inner loop that the threads share counts 1/threads of its trips, x crowd, and a barrier
//   host      trips x the kernels inside
//
// What it leaves out, the orders that are compared have in common: bytes, caches, the hulls of triangles.
#include "polyhedral/recipe/gpu_time.hpp"

#include <algorithm>
#include <cmath>

namespace facet {

namespace {

constexpr double kStepUs = 0.1;  // an instance whose operands come from L2: some 200 cycles at 1.8 GHz
constexpr double kBarrierUs = 0.1;
constexpr double kBlock = 1024;
constexpr double kMultiprocessors = 132;
constexpr double kAtOnce = 256;  // threads that one multiprocessor serves without slowing each down: two a lane of its 128

// How much slower each of `threads` threads of a multiprocessor is than one alone.
double crowd(double threads) { return 1 + std::min(threads, kResident) / kAtOnce; }

class Timer {
 public:
  explicit Timer(const GpuNest& facts) : facts_(facts) {}

  double of(const TreePtr& tree) const {
    if (tree->kind == Tree::Kind::kLeaf) return kLaunchUs + kStepUs;
    if (tree->kind == Tree::Kind::kSequence) {
      double sum = 0;
      for (const TreePtr& c : tree->children) sum += of(c);
      return sum;
    }
    const GpuNest nest(facts_, tree);
    if (nest.chain().empty()) return std::min(block(tree), host(tree));
    const double rows = nest.prefers_rows(kFewPoints) && !nest.spreads().empty() ? 256 : 1;
    const double threads = nest.points() * rows / kMultiprocessors;
    return kLaunchUs + steps(nest.body(), rows, false) * crowd(threads) * std::max(1.0, threads / kResident);
  }

  double block(const TreePtr& loop) const { return kLaunchUs + steps(loop, kBlock, true); }
  double host(const TreePtr& loop) const { return trips(*loop) * of(loop->children[0]); }

 private:
  static constexpr double kFewPoints = 2048;  // as the policy's

  double trips(const Tree& loop) const { return std::max(1.0, facts_.trips(loop, loop.names.begin()->first)); }

  // Of one thread; `threads` share the loops below that can be shared. In a block `alone` on the device, how many of them work
  // and slow each other depends on the loop.
  double steps(const TreePtr& tree, double threads, bool alone) const {
    if (tree->kind == Tree::Kind::kLeaf) return kStepUs + (threads > 1 ? kBarrierUs : 0);
    if (tree->kind == Tree::Kind::kSequence) {
      double sum = 0;
      for (const TreePtr& c : tree->children) sum += steps(c, threads, alone);
      return sum;
    }
    const double n = trips(*tree);
    if (threads > 1 && (facts_.parallel(*tree) || facts_.is_reduction_nest(tree)))
      return std::ceil(n / threads) * steps(tree->children[0], 1, false) * (alone ? crowd(std::min(n, threads)) : 1) +
             kBarrierUs;
    return n * steps(tree->children[0], threads, alone);
  }

  const GpuNest& facts_;
};

}  // namespace

double gpu_time_us(const GpuNest& nest, const TreePtr& tree) { return Timer(nest).of(tree); }

bool launches_pay(const GpuNest& nest, const TreePtr& tree) { return Timer(nest).host(tree) < Timer(nest).block(tree); }

}  // namespace facet
