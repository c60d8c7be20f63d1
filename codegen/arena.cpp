// Lifetimes, then slots.
#include "codegen/arena.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "codegen/kernel_uses.hpp"

namespace facet {

namespace {

constexpr int kForever = std::numeric_limits<int>::max();

struct Lifetime {
  int first = kForever, last = -1;  // positions of kernels; nobody uses it: first > last
};

// The kernels that share the outermost host loop with kernel k: its arrays live from one iteration to the next.
Lifetime loop_around(const std::vector<Kernel>& kernels, std::size_t k) {
  Lifetime life{static_cast<int>(k), static_cast<int>(k)};
  if (kernels[k].host.empty()) return life;
  const auto shares = [&](int other) {
    const Kernel& o = kernels[static_cast<std::size_t>(other)];
    return !o.host.empty() && o.host[0].iterator == kernels[k].host[0].iterator;
  };
  while (life.first > 0 && shares(life.first - 1)) --life.first;
  while (life.last + 1 < static_cast<int>(kernels.size()) && shares(life.last + 1)) ++life.last;
  return life;
}

std::map<std::string, Lifetime> lifetimes(const LoopProgram& program) {
  std::map<std::string, Lifetime> list;
  for (const Kernel& k : program.prepare)
    for (const std::string& b : uses_of(program, k.body).buffers) list[b] = {-1, kForever};  // before all that symbols move
  for (std::size_t k = 0; k < program.kernels.size(); ++k)
    for (const std::string& b : uses_of(program, program.kernels[k].body).buffers) {
      const Lifetime here = loop_around(program.kernels, k);
      Lifetime& life = list[b];
      life.first = std::min(life.first, here.first);
      life.last = std::max(life.last, here.last);
    }
  return list;
}

std::int64_t bytes_of(const Buffer& buffer, const SymbolValues& sizes) {
  return evaluate_index(span_elements(buffer), sizes) * size_bytes(buffer.dtype);
}

}  // namespace

ExprPtr span_elements(const Buffer& buffer) {
  ExprPtr last = idx(1);
  if (buffer.strides.empty()) {
    for (const ExprPtr& e : buffer.extents) last = idx_mul(last, e);
    return last;
  }
  for (std::size_t d = 0; d < buffer.extents.size(); ++d)
    last = idx_add(last, idx_mul(idx_sub(buffer.extents[d], idx(1)), buffer.strides[d]));
  return idx_max(last, idx(0));
}

ArenaSlots plan_arena(const LoopProgram& program, const std::vector<const Buffer*>& workspace) {
  SymbolValues typical;
  for (const Symbol& s : program.symbols) typical[s.name] = s.value;
  std::map<std::string, Lifetime> lives = lifetimes(program);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < workspace.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return lives[workspace[a]->name].first < lives[workspace[b]->name].first;
  });
  struct Slot {
    int busy_until;
    std::int64_t bytes;
  };
  std::vector<Slot> slots;
  ArenaSlots members;
  for (const std::size_t i : order) {
    const Lifetime life = lives[workspace[i]->name];
    const std::int64_t bytes = bytes_of(*workspace[i], typical);
    std::size_t best = slots.size();
    for (std::size_t s = 0; s < slots.size(); ++s) {
      if (slots[s].busy_until >= life.first) continue;
      const auto misfit = [&](std::size_t t) { return std::abs(slots[t].bytes - bytes); };
      if (best == slots.size() || misfit(s) < misfit(best)) best = s;
    }
    if (best == slots.size()) {
      slots.push_back({life.last, bytes});
      members.emplace_back();
    }
    slots[best] = {life.last, std::max(slots[best].bytes, bytes)};
    members[best].push_back(i);
  }
  return members;
}

std::int64_t arena_bytes(const LoopProgram& program, const SymbolValues& sizes) {
  std::vector<const Buffer*> workspace;
  for (const Buffer& b : program.buffers)
    if (b.role == BufferRole::kWorkspace) workspace.push_back(&b);
  std::int64_t sum = 0;
  for (const std::vector<std::size_t>& slot : plan_arena(program, workspace)) {
    std::int64_t largest = 0;
    for (const std::size_t i : slot) largest = std::max(largest, bytes_of(*workspace[i], sizes));
    sum += largest;
  }
  return sum;
}

}  // namespace facet
