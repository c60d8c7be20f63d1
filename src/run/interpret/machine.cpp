// Execution of one agent's bytecode. The dispatch loop is one long switch on purpose: it is the machine's inner loop.
#include "src/run/interpret/machine.hpp"

#include <algorithm>
#include <numeric>

namespace facet::agents {

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15ull;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

void Shuffle::start(std::int64_t count, Random* random) {
  n = count;
  done = 0;
  at = random->below(n);
  stride = n > 2 ? 1 + random->below(n - 1) : 1;
  while (std::gcd(stride, n) != 1) stride = stride % (n - 1) + 1;
}

void Shuffle::advance() {
  ++done;
  at += stride;
  if (at >= n) at -= n;
}

void Machine::prepare_agent(Agent* agent, std::vector<Slot>* storage, std::size_t position) {
  const std::size_t constants = code_->constants.size();
  const std::size_t frame = constants + static_cast<std::size_t>(code_->registers);
  Slot* base = storage->data() + position * frame;
  for (std::size_t k = 0; k < constants; ++k) base[constants - 1 - k] = code_->constants[k];
  agent->regs = base + constants;
  agent->pc = 0;
  agent->state = Agent::State::kReady;
  agent->warp_epoch = 0;
  agent->undefined.clear();
  agent->locals.resize(static_cast<std::size_t>(code_->local_count));
  agent->frames.resize(static_cast<std::size_t>(code_->frames));
}

bool Machine::run_cpu(const Bytecode& code, std::vector<Instance>* globals) {
  code_ = &code;
  globals_ = globals;
  gpu_ = false;
  clock_ = Clock{};
  clock_.warp = 1;
  reported_.clear();
  forget_origins();
  for (const std::string& name : code.parallel_sets) {
    if (!fresh(code.instrs.back(), Finding::Kind::kRace)) break;
    Finding f;
    f.kind = Finding::Kind::kRace;
    f.statement = "set " + name;
    f.text = "value '" + name + "' is shared by the iterations of a parallel loop and set by each of them";
    find(std::move(f), code.instrs.back());
  }
  std::vector<Slot> storage(code.constants.size() + static_cast<std::size_t>(code.registers));
  Agent agent;
  prepare_agent(&agent, &storage, 0);
  return execute(&agent);
}

bool Machine::execute(Agent* agent) {
  const Instr* const instrs = code_->instrs.data();
  Slot* const r = agent->regs;
  int pc = agent->pc;
  const std::int64_t limit = options_.max_steps > 0 ? options_.max_steps : std::numeric_limits<std::int64_t>::max();
  std::int64_t steps = report_->steps;
  for (;;) {
    const Instr& i = instrs[pc++];
    if (++steps > limit) {
      report_->steps = steps;
      return false;
    }
    if (!agent->undefined.empty()) pass_on(i, agent);
    switch (i.code) {
      case Bc::kAddI64:
        r[i.dst].i = static_cast<std::int64_t>(static_cast<std::uint64_t>(r[i.a].i) + static_cast<std::uint64_t>(r[i.b].i));
        break;
      case Bc::kSubI64:
        r[i.dst].i = static_cast<std::int64_t>(static_cast<std::uint64_t>(r[i.a].i) - static_cast<std::uint64_t>(r[i.b].i));
        break;
      case Bc::kMulI64:
        r[i.dst].i = static_cast<std::int64_t>(static_cast<std::uint64_t>(r[i.a].i) * static_cast<std::uint64_t>(r[i.b].i));
        break;
      case Bc::kLtI64: r[i.dst].i = r[i.a].i < r[i.b].i; break;
      case Bc::kAddF32: r[i.dst].f = r[i.a].f + r[i.b].f; break;
      case Bc::kSubF32: r[i.dst].f = r[i.a].f - r[i.b].f; break;
      case Bc::kMulF32: r[i.dst].f = r[i.a].f * r[i.b].f; break;
      case Bc::kJump: pc = static_cast<int>(i.imm); break;
      case Bc::kJumpIfZero:
        if (r[i.a].i == 0) pc = static_cast<int>(i.imm);
        break;
      case Bc::kChosen: break;
      case Bc::kLoopTest:
        if (r[i.a].i >= r[i.b].i) pc = static_cast<int>(i.imm);
        break;
      case Bc::kLoopNext:
        r[i.a].i += r[i.c].i;
        if (r[i.a].i < r[i.b].i) pc = static_cast<int>(i.imm);
        break;
      case Bc::kLoad: load(i, agent); break;
      case Bc::kStore: store(i, agent); break;
      case Bc::kParallelBegin: parallel_begin(i, agent, &pc); break;
      case Bc::kParallelNext: parallel_next(i, agent, &pc); break;
      case Bc::kAllocate: allocate(i, agent); break;
      case Bc::kBarrier:
      case Bc::kCollective:
      case Bc::kHalt:
        agent->state = i.code == Bc::kHalt ? Agent::State::kHalted : Agent::State::kWaiting;
        agent->pc = pc;
        report_->steps = steps;
        return true;
      default: vector_step(i, r); break;
    }
  }
}

// Everything that works lane by lane.
void Machine::vector_step(const Instr& i, Slot* r) {
  const int sa = i.scalar & 1 ? 0 : 1, sb = i.scalar & 2 ? 0 : 1, sc = i.scalar & 4 ? 0 : 1;
  Slot* const dst = r + i.dst;
  const Slot* const a = r + i.a;
  switch (i.code) {
    case Bc::kMove:
      for (int l = 0; l < i.lanes; ++l) dst[l] = a[l * sa];
      return;
    case Bc::kUnary:
      for (int l = 0; l < i.lanes; ++l) dst[l] = unary_slot(i.op, i.type, a[l * sa]);
      return;
    case Bc::kBinary:
      for (int l = 0; l < i.lanes; ++l) dst[l] = binary_slot(i.op, i.type, a[l * sa], r[i.b + l * sb]);
      return;
    case Bc::kCast:
      for (int l = 0; l < i.lanes; ++l) dst[l] = cast_slot(i.type, i.to, a[l * sa]);
      return;
    case Bc::kSelect:
      for (int l = 0; l < i.lanes; ++l) dst[l] = a[l * sa].i ? r[i.b + l * sb] : r[i.c + l * sc];
      return;
    case Bc::kFma:
      for (int l = 0; l < i.lanes; ++l) dst[l] = fma_slot(i.type, a[l * sa], r[i.b + l * sb], r[i.c + l * sc]);
      return;
    case Bc::kIota: {
      const Slot base = a[0];
      for (int l = 0; l < i.lanes; ++l) dst[l] = binary_slot(Op::kAdd, i.to, base, literal_slot(i.to, l, l));
      return;
    }
    case Bc::kLaneReduce: return lane_reduce(i, r);
    default: return;
  }
}

// Halves are folded onto each other; an odd count leaves its last lane for the end.
void Machine::lane_reduce(const Instr& i, Slot* r) {
  std::vector<Slot> lanes(r + i.a, r + i.a + i.lanes);
  int count = i.lanes;
  bool has_rest = false;
  Slot rest = slot_of(0);
  while (count > 1) {
    if (count % 2) {
      --count;
      rest = has_rest ? combine_slot(i.reduce, i.type, lanes[static_cast<std::size_t>(count)], rest)
                      : lanes[static_cast<std::size_t>(count)];
      has_rest = true;
    }
    count /= 2;
    for (int l = 0; l < count; ++l) {
      const std::size_t k = static_cast<std::size_t>(l);
      lanes[k] = combine_slot(i.reduce, i.type, lanes[k], lanes[k + static_cast<std::size_t>(count)]);
    }
  }
  r[i.dst] = has_rest ? combine_slot(i.reduce, i.type, lanes[0], rest) : lanes[0];
}

void Machine::parallel_begin(const Instr& i, Agent* agent, int* pc) {
  const ParallelLoop& loop = code_->parallel_loops[static_cast<std::size_t>(i.extra)];
  const std::int64_t lower = agent->regs[i.a].i, upper = agent->regs[i.b].i;
  if (lower >= upper) {
    *pc = static_cast<int>(i.imm);
    return;
  }
  Shuffle& frame = agent->frames[static_cast<std::size_t>(loop.frame)];
  frame.start((upper - lower + loop.step - 1) / loop.step, &random_);
  frame.lower = lower;
  agent->regs[i.dst].i = lower + loop.step * frame.at;
  if (loop.kind == ParallelLoop::Kind::kOutermost) {
    clock_.launch_epoch = ++epoch_;
    clock_.now.epoch = epoch_;
    clock_.active = options_.detect_races;
    iteration_ = 0;
  }
  if (loop.kind != ParallelLoop::Kind::kNested) clock_.now.agent = iteration_++;
}

void Machine::parallel_next(const Instr& i, Agent* agent, int* pc) {
  const ParallelLoop& loop = code_->parallel_loops[static_cast<std::size_t>(i.extra)];
  Shuffle& frame = agent->frames[static_cast<std::size_t>(loop.frame)];
  frame.advance();
  if (frame.done < frame.n) {
    agent->regs[i.dst].i = frame.lower + loop.step * frame.at;
    if (loop.kind != ParallelLoop::Kind::kNested) clock_.now.agent = iteration_++;
    *pc = static_cast<int>(i.imm);
  } else if (loop.kind == ParallelLoop::Kind::kOutermost) {
    clock_.active = false;
  }
}

void Machine::allocate(const Instr& i, Agent* agent) {
  const BufferDecl& decl = code_->buffers[static_cast<std::size_t>(i.extra)];
  const bool shared = decl.home == BufferDecl::Home::kShared;
  Instance& m = (shared ? shared_ : agent->locals)[static_cast<std::size_t>(decl.index)];
  std::vector<std::int64_t> extents, strides;
  for (const int reg : decl.extents) extents.push_back(agent->regs[reg].i);
  for (const int reg : decl.strides) strides.push_back(agent->regs[reg].i);
  // The first thread of a block makes its shared buffer; run_block renews it for the next block.
  if (shared && m.buffer != nullptr && m.extents == extents) return;
  m.buffer = decl.buffer;
  shape_instance(&m, std::move(extents), std::move(strides), options_.detect_uninitialised,
                 options_.detect_races && (shared || !gpu_));
  m.renew();
}

}  // namespace facet::agents
