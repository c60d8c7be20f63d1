// The threads of a block: each runs until it halts or waits; then whoever waits complete is released.
//
// A block barrier wants every thread of the block at the same instruction, a warp barrier or collective every thread of the
// warp. When nothing is complete and somebody waits, control has diverged: that is reported, and the waiting threads go on.
// A collective combines by butterfly exchange (partner = lane xor distance, distances width/2 ... 1), so every lane gets the
// same value, in an order fixed by the width alone; a block-wide one does so over warps' results, in a tree of 32.
#include <algorithm>
#include <map>

#include "src/run/interpret/machine.hpp"

namespace facet::agents {

bool Machine::run_gpu(const Bytecode& code, std::vector<Instance>* globals, Dim3 grid, Dim3 block) {
  code_ = &code;
  globals_ = globals;
  gpu_ = true;
  grid_ = grid;
  block_ = block;
  reported_.clear();
  forget_origins();
  clock_ = Clock{};
  clock_.launch_epoch = ++epoch_;
  clock_.agents_per_block = static_cast<std::int32_t>(block.count());
  clock_.active = options_.detect_races;
  const std::size_t threads = static_cast<std::size_t>(block.count());
  std::vector<Slot> storage(threads * (code.constants.size() + static_cast<std::size_t>(code.registers)));
  std::vector<Agent> agents(threads);
  shared_.assign(static_cast<std::size_t>(code.shared_count), Instance{});
  for (std::int64_t b = 0; b < grid.count(); ++b) {
    clock_.now.epoch = ++epoch_;
    for (Instance& m : shared_)
      if (m.buffer != nullptr) m.renew();
    for (std::size_t t = 0; t < threads; ++t) {
      Agent& a = agents[t];
      prepare_agent(&a, &storage, t);
      const std::int64_t n = static_cast<std::int64_t>(t);
      a.number = b * block.count() + n;
      const std::int64_t coordinates[kAgentRegisters] = {b % grid.x,  b / grid.x % grid.y,   b / grid.x / grid.y,
                                                         n % block.x, n / block.x % block.y, n / block.x / block.y};
      for (int k = 0; k < kAgentRegisters; ++k) a.regs[k] = slot_of(coordinates[k]);
    }
    if (!run_block(&agents)) return false;
    std::int64_t bytes = 0;
    for (const Instance& m : shared_) bytes += m.size * m.element_bytes;
    report_->shared_bytes = std::max(report_->shared_bytes, bytes);
  }
  clock_.active = false;
  return true;
}

bool Machine::run_block(std::vector<Agent>* agents) {
  std::vector<std::size_t> order(agents->size());
  for (std::size_t t = 0; t < order.size(); ++t) order[t] = t;
  for (;;) {
    for (std::size_t t = order.size(); t > 1; --t)
      std::swap(order[t - 1], order[static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(t)))]);
    for (const std::size_t t : order) {
      Agent& a = (*agents)[t];
      if (a.state != Agent::State::kReady) continue;
      clock_.now.agent = static_cast<std::int32_t>(a.number);
      clock_.now.warp_epoch = a.warp_epoch;
      if (!execute(&a)) return false;
    }
    const bool done =
        std::all_of(agents->begin(), agents->end(), [](const Agent& a) { return a.state == Agent::State::kHalted; });
    if (done) return true;
    if (!release(agents)) diverged(agents, 0, agents->size());
  }
}

bool Machine::waits_for_block(const Agent& a) const {
  const Instr& i = waiting_at(a);
  if (i.code == Bc::kBarrier) return static_cast<Scope>(i.extra) != Scope::kWarp;
  return code_->collectives[static_cast<std::size_t>(i.extra)].scope != Scope::kWarp;
}

// Releases complete warps and the complete block; false when nothing was complete.
bool Machine::release(std::vector<Agent>* agents) {
  bool any = false;
  for (std::size_t first = 0; first < agents->size(); first += 32)
    any = release_warp(agents, first, std::min(agents->size(), first + 32)) || any;
  if (any) return true;
  const Agent& leader = agents->front();
  for (const Agent& a : *agents)
    if (a.state != Agent::State::kWaiting || a.pc != leader.pc || !waits_for_block(a)) return false;
  const Instr& i = waiting_at(leader);
  if (i.code == Bc::kCollective) {
    combine_warps(agents, 0, agents->size());
    ++report_->collectives;
  } else {
    ++report_->barriers;
  }
  clock_.now.epoch = ++epoch_;
  for (Agent& a : *agents) a.state = Agent::State::kReady;
  return true;
}

bool Machine::release_warp(std::vector<Agent>* agents, std::size_t first, std::size_t last) {
  const Agent& leader = (*agents)[first];
  for (std::size_t t = first; t < last; ++t) {
    const Agent& a = (*agents)[t];
    if (a.state != Agent::State::kWaiting || a.pc != leader.pc || waits_for_block(a)) return false;
  }
  const Instr& i = waiting_at(leader);
  if (i.code == Bc::kCollective) {
    combine(agents, first, last);
    ++report_->collectives;
  }
  for (std::size_t t = first; t < last; ++t) {
    Agent& a = (*agents)[t];
    // Exchanging values orders nothing in memory; only a warp barrier does.
    if (i.code == Bc::kBarrier) ++a.warp_epoch;
    a.state = Agent::State::kReady;
  }
  return true;
}

// Groups of `width` neighbours each get the butterfly's value. A group that the block cuts off has no partner lanes:
// divergence.
void Machine::combine(std::vector<Agent>* agents, std::size_t first, std::size_t last) {
  const Instr& i = waiting_at((*agents)[first]);
  const std::size_t width = static_cast<std::size_t>(std::max(1, code_->collectives[static_cast<std::size_t>(i.extra)].width));
  std::vector<Slot> values(last - first);
  for (std::size_t t = first; t < last; ++t) values[t - first] = (*agents)[t].regs[i.a];
  if (width > 32 || (width & (width - 1)) != 0 || values.size() % width != 0) {
    if (!fresh(i, Finding::Kind::kDivergence)) return;
    Finding f;
    f.kind = Finding::Kind::kDivergence;
    f.text = "a warp of " + std::to_string(values.size()) + " threads cannot exchange in groups of " + std::to_string(width);
    find(std::move(f), i);
    return;
  }
  for (std::size_t distance = width / 2; distance > 0; distance /= 2) {
    const std::vector<Slot> before = values;
    for (std::size_t l = 0; l < values.size(); ++l) values[l] = combine_slot(i.reduce, i.type, before[l], before[l ^ distance]);
  }
  for (std::size_t t = first; t < last; ++t) (*agents)[t].regs[i.dst] = values[t - first];
  for (std::size_t t = first; t < last; t += width) share_undefined(agents, t, t + width, i);
}

// Whoever takes part gets what all of them bring.
void Machine::share_undefined(std::vector<Agent>* agents, std::size_t first, std::size_t last, const Instr& i) {
  std::int32_t undefined = 0;
  for (std::size_t t = first; t < last && undefined == 0; ++t) undefined = undefined_of((*agents)[t], i.a);
  for (std::size_t t = first; t < last; ++t) set_undefined(&(*agents)[t], i.dst, undefined);
}

// Block-wide: butterfly in each warp (missing lanes hold the identity), then over the warps' results.
void Machine::combine_warps(std::vector<Agent>* agents, std::size_t first, std::size_t last) {
  const Instr& i = waiting_at((*agents)[first]);
  const auto butterfly = [&](std::vector<Slot> lanes) {
    lanes.resize(32, identity_slot(i.reduce, i.type));
    for (std::size_t distance = 16; distance > 0; distance /= 2)
      for (std::size_t l = 0; l < distance; ++l) lanes[l] = combine_slot(i.reduce, i.type, lanes[l], lanes[l + distance]);
    return lanes[0];
  };
  std::vector<Slot> warps;
  for (std::size_t t = first; t < last; t += 32) {
    std::vector<Slot> lanes;
    for (std::size_t l = t; l < std::min(last, t + 32); ++l) lanes.push_back((*agents)[l].regs[i.a]);
    warps.push_back(butterfly(std::move(lanes)));
  }
  const Slot value = butterfly(std::move(warps));
  for (std::size_t t = first; t < last; ++t) (*agents)[t].regs[i.dst] = value;
  share_undefined(agents, first, last, i);
}

// Reports who waits where, and lets everybody go on so that the rest is still seen.
void Machine::diverged(std::vector<Agent>* agents, std::size_t first, std::size_t last) {
  std::map<int, std::pair<std::int64_t, std::int32_t>> waiting;  // pc -> how many, the first agent
  std::int64_t halted = 0;
  for (std::size_t t = first; t < last; ++t) {
    const Agent& a = (*agents)[t];
    if (a.state == Agent::State::kHalted) ++halted;
    if (a.state != Agent::State::kWaiting) continue;
    auto& [count, agent] = waiting.emplace(a.pc, std::make_pair(0, static_cast<std::int32_t>(a.number))).first->second;
    ++count;
  }
  Finding f;
  f.kind = Finding::Kind::kDivergence;
  for (const auto& [pc, who] : waiting) {
    const Instr& i = code_->instrs[static_cast<std::size_t>(pc) - 1];
    f.text += std::to_string(who.first) + " threads (" + agent_name(who.second) + " first) wait at " +
              code_->sites[static_cast<std::size_t>(i.site)] + "; ";
  }
  f.text += std::to_string(halted) + " have ended";
  const Instr& at = code_->instrs[static_cast<std::size_t>(waiting.begin()->first) - 1];
  clock_.now.agent = waiting.begin()->second.second;
  if (fresh(at, Finding::Kind::kDivergence)) find(std::move(f), at);
  clock_.now.epoch = ++epoch_;
  for (std::size_t t = first; t < last; ++t)
    if ((*agents)[t].state == Agent::State::kWaiting) (*agents)[t].state = Agent::State::kReady;
}

}  // namespace facet::agents
