// Block and thread loops become launch sizes; what is left is one thread's program.
#include "codegen/cuda/launch.hpp"

#include <algorithm>
#include <string>

#include "codegen/cuda/interval.hpp"
#include "codegen/passes/tree.hpp"

namespace facet {

namespace {

// CUDA C++ Programming Guide, "Compute Capabilities": the same for every device since compute capability 3.0.
constexpr std::int64_t kMaxGrid[3] = {2147483647, 65535, 65535};
constexpr std::int64_t kMaxBlock[3] = {1024, 1024, 64};
constexpr std::int64_t kMaxThreads = 1024;
constexpr std::int64_t kWarpSize = 32;

const char* const kBlockName[3] = {"block.x", "block.y", "block.z"};
const char* const kThreadName[3] = {"thread.x", "thread.y", "thread.z"};

bool is_block(LoopKind k) { return k == LoopKind::kBlockX || k == LoopKind::kBlockY || k == LoopKind::kBlockZ; }
bool is_thread(LoopKind k) {
  return k == LoopKind::kWarp || k == LoopKind::kThreadX || k == LoopKind::kThreadY || k == LoopKind::kThreadZ;
}

int axis_of(LoopKind k) {
  switch (k) {
    case LoopKind::kBlockY:
    case LoopKind::kThreadY:
    case LoopKind::kWarp: return 1;
    case LoopKind::kBlockZ:
    case LoopKind::kThreadZ: return 2;
    default: return 0;
  }
}

bool meets_others(const LoopList& body) {
  bool found = false;
  passes::walk_nodes(body, [&](const LoopPtr& n) { found = found || passes::as<Barrier>(n) || passes::as<Collective>(n); });
  return found;
}

ExprPtr trip_count(const For& f) {
  const ExprPtr length = idx_sub(f.upper, f.lower);
  return f.step == 1 ? length : idx_floordiv(idx_add(length, idx(f.step - 1)), f.step);
}

class LaunchBuilder {
 public:
  LaunchBuilder(const Kernel& kernel, const std::vector<Symbol>& symbols) : kernel_(kernel), symbols_(symbols) {}

  Result<Launch> build() {
    launch_.grid = {idx(1), idx(1), idx(1)};
    measure_threads();
    launch_.body = list(kernel_.body, false);
    if (launch_.threads() > kMaxThreads)
      problem("its blocks have " + std::to_string(launch_.threads()) + " threads, more than " + std::to_string(kMaxThreads));
    if (!problem_.empty()) return diagnose(Code::kGpuLaunch, Place{}, {kernel_.name, problem_});
    return launch_;
  }

 private:
  void problem(const std::string& text) {
    if (problem_.empty()) problem_ = text;
  }

  // The widest thread loop of each axis makes the block; unbounded ones are strided over what there is.
  void measure_threads() {
    passes::walk_nodes(kernel_.body, [&](const LoopPtr& n) {
      const For* f = passes::as<For>(n);
      if (f == nullptr || !is_thread(f->kind)) return;
      const std::size_t axis = static_cast<std::size_t>(axis_of(f->kind));
      const Interval trips = interval_of(trip_count(*f), symbols_);
      if (f->kind == LoopKind::kWarp) launch_.block[0] = std::max(launch_.block[0], kWarpSize);
      if (trips.high > 0) launch_.block[axis] = std::max(launch_.block[axis], std::min(trips.high, kMaxBlock[axis]));
    });
  }

  LoopList list(const LoopList& body, bool in_thread_loop) {
    LoopList result;
    for (const LoopPtr& n : body) append(n, in_thread_loop, &result);
    return result;
  }

  void append(const LoopPtr& n, bool in_thread_loop, LoopList* out) {
    if (const For* f = std::get_if<For>(&n->node)) {
      if (is_block(f->kind)) return block_loop(*f, in_thread_loop, out);
      if (is_thread(f->kind)) return thread_loop(*f, out);
      For copy = *f;
      copy.body = list(f->body, in_thread_loop);
      out->push_back(make_loop(std::move(copy)));
    } else if (const Sequence* s = std::get_if<Sequence>(&n->node)) {
      out->push_back(make_loop(Sequence{list(s->body, in_thread_loop)}));
    } else if (const If* i = std::get_if<If>(&n->node)) {
      If copy = *i;
      copy.then = list(i->then, in_thread_loop);
      copy.otherwise = list(i->otherwise, in_thread_loop);
      out->push_back(make_loop(std::move(copy)));
    } else {
      out->push_back(n);
    }
  }

  // The loop as the one iteration that an agent executes.
  static LoopPtr coordinate(const For& f, const char* name, LoopList inner) {
    For one = f;
    one.lower = idx_add(f.lower, idx_mul(idx(f.step), index(name)));
    one.upper = idx_add(one.lower, idx(1));
    one.step = 1;
    one.body = std::move(inner);
    return make_loop(std::move(one));
  }

  void block_loop(const For& f, bool in_thread_loop, LoopList* out) {
    const std::size_t axis = static_cast<std::size_t>(axis_of(f.kind));
    if (in_thread_loop) return problem("grid loop '" + f.iterator + "' lies inside a thread loop");
    if (used_grid_[axis]) return problem("two grid loops share one axis ('" + f.iterator + "' is the second)");
    if (!of_symbols(f.lower) || !of_symbols(f.upper))
      return problem("the bounds of grid loop '" + f.iterator + "' depend on other loops");
    used_grid_[axis] = true;
    const ExprPtr trips = trip_count(f);
    const Interval range = interval_of(trips, symbols_);
    ExprPtr size = range.low >= 0 ? trips : idx_max(trips, idx(0));
    LoopList inner = list(f.body, false);
    if (range.high <= kMaxGrid[axis]) {
      launch_.grid[axis] = size;
      out->push_back(coordinate(f, kBlockName[axis], std::move(inner)));
      return;
    }
    launch_.grid[axis] = idx_min(size, idx(kMaxGrid[axis]));
    out->push_back(
        make_loop(strided(f, kBlockName[axis], kMaxGrid[axis], std::move(inner),
                          "over the grid, which has at most " + std::to_string(kMaxGrid[axis]) + " blocks on this axis")));
  }

  static For strided(const For& f, const char* name, std::int64_t width, LoopList inner, const std::string& why) {
    For loop = f;
    loop.kind = LoopKind::kSerial;
    loop.lower = idx_add(f.lower, idx_mul(idx(f.step), index(name)));
    loop.step = f.step * width;
    loop.body = std::move(inner);
    loop.comment = (f.comment.empty() ? "" : f.comment + "; ") + "strided " + why;
    return loop;
  }

  void thread_loop(const For& f, LoopList* out) {
    const std::size_t axis = static_cast<std::size_t>(axis_of(f.kind));
    if (in_axis_[axis]) return problem("thread loop '" + f.iterator + "' lies inside another one of its axis");
    const Interval trips = interval_of(trip_count(f), symbols_);
    const std::int64_t width = launch_.block[axis];
    in_axis_[axis] = true;
    LoopList inner = list(f.body, true);
    in_axis_[axis] = false;
    const bool exact = trips.constant() && trips.low == width;
    if (!exact && meets_others(f.body))
      problem("thread loop '" + f.iterator + "' holds a barrier, and not all threads of the block execute it");
    if (trips.high > width) {
      out->push_back(make_loop(strided(f, kThreadName[axis], width, std::move(inner), "over the threads")));
      return;
    }
    if (!exact) {
      If guard;
      guard.condition = binary(Op::kLt, index(f.iterator), f.upper);
      guard.then = std::move(inner);
      guard.is_tail_guard = true;
      inner = {make_loop(std::move(guard))};
    }
    out->push_back(coordinate(f, kThreadName[axis], std::move(inner)));
  }

  bool of_symbols(const ExprPtr& e) const {
    bool yes = true;
    walk(e, [&](const Expr& x) {
      if (x.op != Op::kIndex) {
        yes = yes && x.op != Op::kValue && x.op != Op::kRead;
        return;
      }
      yes = yes && std::any_of(symbols_.begin(), symbols_.end(), [&](const Symbol& s) { return s.name == x.name; });
    });
    return yes;
  }

  const Kernel& kernel_;
  const std::vector<Symbol>& symbols_;
  Launch launch_;
  std::array<bool, 3> used_grid_ = {false, false, false};
  std::array<bool, 3> in_axis_ = {false, false, false};
  std::string problem_;
};

}  // namespace

bool has_gpu_axes(const Kernel& kernel) {
  bool found = false;
  passes::walk_nodes(kernel.body, [&](const LoopPtr& n) {
    const For* f = passes::as<For>(n);
    found = found || (f != nullptr && (is_block(f->kind) || is_thread(f->kind)));
  });
  return found;
}

std::vector<Symbol> launch_symbols(const Kernel& kernel, const std::vector<Symbol>& symbols) {
  std::vector<Symbol> all = symbols;
  for (const For& f : kernel.host) {
    Symbol s;
    s.name = f.iterator;
    s.min = interval_of(f.lower, all).low;
    s.max = interval_of(idx_sub(f.upper, idx(1)), all).high;
    s.value = s.min;
    all.push_back(std::move(s));
  }
  return all;
}

Result<Launch> launch_of(const Kernel& kernel, const std::vector<Symbol>& symbols) {
  const std::vector<Symbol> all = launch_symbols(kernel, symbols);
  return LaunchBuilder(kernel, all).build();
}

}  // namespace facet
