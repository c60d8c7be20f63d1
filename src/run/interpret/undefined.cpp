// Values that nothing has written, on their way through registers and memory.
//
// A copy of a whole box reads elements that nobody needs, and perhaps nobody has written yet; lanes that do not run read along.
// So a read of such an element is no fault by itself. Its value makes whatever is computed from it undefined as well, an
// element that it is stored to counts as unwritten, and the fault is where the value comes to matter: in a result, a subscript,
// a condition, a bound or a mask. It is then reported as the read that it came from. (The rule of Valgrind's memcheck, Seward
// and Nethercote, USENIX 2005; here by element, not by bit.)
//
// An agent keeps the book from its first such read on; before it there is nothing to keep, and no time is lost.
#include <algorithm>

#include "src/run/interpret/machine.hpp"

namespace facet::agents {

namespace {

// Is `false and ..`, `true or ..` known from this operand?
bool decides(Op op, std::int32_t undefined, Slot value) {
  return undefined == 0 && ((op == Op::kAnd && value.i == 0) || (op == Op::kOr && value.i != 0));
}

}  // namespace

void Machine::forget_origins() {
  origins_.clear();
  origin_of_.clear();
}

void Machine::set_undefined(Agent* agent, int reg, std::int32_t undefined) {
  if (agent->undefined.empty()) {
    if (undefined == 0) return;
    agent->undefined.assign(static_cast<std::size_t>(code_->registers), 0);
  }
  agent->undefined[static_cast<std::size_t>(reg)] = undefined;
}

std::int32_t Machine::undefined_read(const Instr& i, const Instance& m, std::int64_t offset) {
  const auto [it, fresh] = origin_of_.emplace(&i, static_cast<std::int32_t>(origins_.size()) + 1);
  if (fresh) origins_.push_back({&i, m.buffer->name, subscripts_of(m, offset)});
  return it->second;
}

void Machine::used(const Instr& i, std::int32_t undefined, const std::string& how) {
  const Origin& origin = origins_[static_cast<std::size_t>(undefined) - 1];
  if (!fresh(*origin.read, Finding::Kind::kUninitialised)) return;
  Finding f;
  f.kind = Finding::Kind::kUninitialised;
  f.buffer = origin.buffer;
  f.subscripts = origin.subscripts;
  f.text = "read of " + f.buffer + subscript_text(f.subscripts.data(), f.subscripts.size()) +
           ", which nothing has written; it " + how;
  if (i.site != origin.read->site) f.text += " in " + code_->sites[static_cast<std::size_t>(i.site)];
  find(std::move(f), *origin.read);
}

void Machine::used_register(const Instr& i, const Agent& agent, int reg, const std::string& how) {
  if (const std::int32_t undefined = undefined_of(agent, reg); undefined != 0) used(i, undefined, how);
}

// Before the instruction is executed. Loads, stores and collectives see to their operands themselves.
void Machine::pass_on(const Instr& i, Agent* agent) {
  switch (i.code) {
    case Bc::kLoad:
    case Bc::kStore:
    case Bc::kCollective:
    case Bc::kJump:
    case Bc::kAllocate:
    case Bc::kBarrier:
    case Bc::kHalt: return;
    case Bc::kJumpIfZero:
      if (!i.scalar) used_register(i, *agent, i.a, "decides what runs");
      return;
    case Bc::kChosen:
      if (undefined_of(*agent, i.a) != 0 && !decides(i.op, undefined_of(*agent, i.dst), agent->regs[i.dst]))
        set_undefined(agent, i.dst, undefined_of(*agent, i.a));
      return;
    case Bc::kLoopTest:
    case Bc::kLoopNext:
    case Bc::kParallelBegin:
      used_register(i, *agent, i.a, "bounds a loop");
      used_register(i, *agent, i.b, "bounds a loop");
      if (i.code == Bc::kParallelBegin) set_undefined(agent, i.dst, 0);
      return;
    case Bc::kParallelNext: return set_undefined(agent, i.dst, 0);
    default: return pass_on_lanes(i, agent);
  }
}

// A result is undefined where one of its operands is, unless another one decides; of a choice, the chosen one.
void Machine::pass_on_lanes(const Instr& i, Agent* agent) {
  const auto of = [&](int reg, int bit, int lane) {
    return reg < 0 ? 0 : undefined_of(*agent, reg + (i.scalar >> bit & 1 ? 0 : lane));
  };
  if (i.code == Bc::kLaneReduce) {
    std::int32_t any = 0;
    for (int l = 0; l < i.lanes; ++l) any = std::max(any, of(i.a, 0, l));
    return set_undefined(agent, i.dst, any);
  }
  std::vector<std::int32_t> lanes(static_cast<std::size_t>(i.lanes), 0);
  for (int l = 0; l < i.lanes; ++l) {
    std::int32_t& lane = lanes[static_cast<std::size_t>(l)];
    lane = of(i.a, 0, i.code == Bc::kIota ? 0 : l);
    if (i.code == Bc::kBinary && (i.op == Op::kAnd || i.op == Op::kOr)) {
      const std::int32_t other = of(i.b, 1, l);
      const bool decided = decides(i.op, lane, agent->regs[i.a + (i.scalar & 1 ? 0 : l)]) ||
                           decides(i.op, other, agent->regs[i.b + (i.scalar & 2 ? 0 : l)]);
      lane = decided ? 0 : std::max(lane, other);
    } else if (i.code != Bc::kSelect) {
      lane = std::max({lane, of(i.b, 1, l), of(i.c, 2, l)});
    } else if (lane == 0) {
      const bool first = agent->regs[i.a + (i.scalar & 1 ? 0 : l)].i != 0;
      lane = first ? of(i.b, 1, l) : of(i.c, 2, l);
    }
  }
  for (int l = 0; l < i.lanes; ++l) set_undefined(agent, i.dst + l, lanes[static_cast<std::size_t>(l)]);
}

}  // namespace facet::agents
