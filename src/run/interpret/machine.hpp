// The bytecode machine: executes one kernel's code, on the CPU with one program counter, on the GPU with one per thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/run/interpret/bytecode.hpp"
#include "src/run/interpret/interpret.hpp"
#include "src/run/interpret/memory.hpp"

namespace facet::agents {

// A small generator (splitmix64): the order of agents depends on nothing but the seed.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n)); }

 private:
  std::uint64_t state_;
};

struct Dim3 {
  std::int64_t x = 1, y = 1, z = 1;
  std::int64_t count() const { return x * y * z; }
};

// For findings. An element's subscripts are recovered from its offset (strides may not nest, then the offset alone is given).
std::string subscript_text(const std::int64_t* subscripts, std::size_t rank);
std::vector<std::int64_t> subscripts_of(const Instance& m, std::int64_t offset);

// Walks 0..n-1 in the order start, start + stride, ... (mod n), the stride prime to n: a shuffle without memory.
struct Shuffle {
  std::int64_t n = 0, done = 0, at = 0, stride = 1, lower = 0;
  void start(std::int64_t count, Random* random);
  void advance();
};

// For each register the place in Machine::origins_, plus one, of the read that gave it a value that nothing has written; 0 for
// values that are defined.
using Undefined = std::vector<std::int32_t>;

struct Agent {
  enum class State { kReady, kWaiting, kHalted };
  State state = State::kReady;
  int pc = 0;
  Slot* regs = nullptr;  // constants lie below it
  std::vector<Instance> locals;
  std::vector<Shuffle> frames;
  std::int32_t warp_epoch = 0;
  std::int64_t number = 0;  // thread of the block
  Undefined undefined;      // of its registers; empty as long as no agent has read what nothing wrote
};

class Machine {
 public:
  Machine(const InterpretOptions& options, InterpretReport* report)
      : options_(options), report_(report), random_(options.seed) {}

  // One kernel. `globals` are indexed like Bytecode::buffers' first entries. False: the step limit was passed.
  bool run_cpu(const Bytecode& code, std::vector<Instance>* globals);
  bool run_gpu(const Bytecode& code, std::vector<Instance>* globals, Dim3 grid, Dim3 block);

 private:
  // machine.cpp: execution of one agent until it halts or waits.
  bool execute(Agent* agent);
  void vector_step(const Instr& i, Slot* r);
  void lane_reduce(const Instr& i, Slot* r);
  void parallel_begin(const Instr& i, Agent* agent, int* pc);
  void parallel_next(const Instr& i, Agent* agent, int* pc);
  void allocate(const Instr& i, Agent* agent);

  // access.cpp
  void load(const Instr& i, Agent* agent);
  void store(const Instr& i, Agent* agent);
  Instance& instance(const AccessInfo& info, Agent* agent);
  bool locate(const Instr& i, const AccessInfo& info, const Instance& m, const Slot* r, int lane, std::int64_t* offset,
              std::int64_t* subscripts) const;
  void out_of_bounds(const Instr& i, const AccessInfo& info, const Instance& m, const std::int64_t* subscripts, bool write);
  void race(const Instr& i, const Instance& m, std::int64_t offset, const Stamp& earlier, bool write);
  std::int32_t check_read(const Instr& i, const AccessInfo& info, Instance* m, std::int64_t offset);
  void check_address(const Instr& i, const AccessInfo& info, Agent* agent);
  void settle(const Instr& i, Instance* m, std::int64_t offset, std::int32_t undefined);

  // undefined.cpp: values that nothing has written, on their way.
  std::int32_t undefined_read(const Instr& i, const Instance& m, std::int64_t offset);
  void pass_on(const Instr& i, Agent* agent);
  void pass_on_lanes(const Instr& i, Agent* agent);
  void used(const Instr& i, std::int32_t undefined, const std::string& how);
  void used_register(const Instr& i, const Agent& agent, int reg, const std::string& how);
  static std::int32_t undefined_of(const Agent& agent, int reg) {
    return reg < 0 || agent.undefined.empty() ? 0 : agent.undefined[static_cast<std::size_t>(reg)];
  }
  void forget_origins();
  void set_undefined(Agent* agent, int reg, std::int32_t undefined);

  // block.cpp: the threads of a block.
  bool run_block(std::vector<Agent>* agents);
  bool release(std::vector<Agent>* agents);
  bool release_warp(std::vector<Agent>* agents, std::size_t first, std::size_t last);
  void combine(std::vector<Agent>* agents, std::size_t first, std::size_t last);
  void share_undefined(std::vector<Agent>* agents, std::size_t first, std::size_t last, const Instr& i);
  void combine_warps(std::vector<Agent>* agents, std::size_t first, std::size_t last);
  void diverged(std::vector<Agent>* agents, std::size_t first, std::size_t last);
  const Instr& waiting_at(const Agent& a) const { return code_->instrs[static_cast<std::size_t>(a.pc) - 1]; }
  bool waits_for_block(const Agent& a) const;

  bool fresh(const Instr& i, Finding::Kind kind);
  void find(Finding finding, const Instr& i);
  std::string agent_name(std::int32_t agent) const;
  void prepare_agent(Agent* agent, std::vector<Slot>* storage, std::size_t position);

  const InterpretOptions& options_;
  InterpretReport* report_;
  Random random_;
  const Bytecode* code_ = nullptr;
  std::vector<Instance>* globals_ = nullptr;
  std::vector<Instance> shared_;
  Clock clock_;
  bool gpu_ = false;
  Dim3 grid_, block_;
  std::int32_t epoch_ = 0;
  std::int32_t iteration_ = 0;  // CPU: agents of the present region so far
  std::set<std::pair<const Instr*, int>> reported_;
  struct Origin {
    const Instr* read = nullptr;
    std::string buffer;
    std::vector<std::int64_t> subscripts;
  };
  std::vector<Origin> origins_;  // reads of what nothing has written: the first of each instruction
  std::map<const Instr*, std::int32_t> origin_of_;
};

}  // namespace facet::agents
