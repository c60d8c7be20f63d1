// Loads and stores: bounds, padding, clamped gathers, masks, and what the shadow memory has to say.
#include "src/run/interpret/machine.hpp"

#include <algorithm>

namespace facet::agents {

namespace {

bool lane_on(const AccessInfo& info, const Slot* r, int lane) {
  return info.mask == kNoRegister || r[info.mask + (info.scalar_mask ? 0 : lane)].i != 0;
}

}  // namespace

std::string subscript_text(const std::int64_t* subscripts, std::size_t rank) {
  std::string text = "[";
  for (std::size_t d = 0; d < rank; ++d) text += (d ? ", " : "") + std::to_string(subscripts[d]);
  return text + "]";
}

std::vector<std::int64_t> subscripts_of(const Instance& m, std::int64_t offset) {
  std::vector<std::int64_t> subscripts(m.extents.size(), 0);
  std::vector<std::size_t> order(m.extents.size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return m.strides[a] > m.strides[b] || (m.strides[a] == m.strides[b] && a < b);
  });
  for (const std::size_t d : order) {
    if (m.strides[d] <= 0 || m.extents[d] <= 1) continue;
    subscripts[d] = std::min(offset / m.strides[d], m.extents[d] - 1);
    offset -= subscripts[d] * m.strides[d];
  }
  return subscripts;
}

Instance& Machine::instance(const AccessInfo& info, Agent* agent) {
  const BufferDecl& decl = code_->buffers[static_cast<std::size_t>(info.buffer)];
  switch (decl.home) {
    case BufferDecl::Home::kShared: return shared_[static_cast<std::size_t>(decl.index)];
    case BufferDecl::Home::kLocal: return agent->locals[static_cast<std::size_t>(decl.index)];
    default: return (*globals_)[static_cast<std::size_t>(decl.index)];
  }
}

// The element's offset for one lane; false when it is outside. `subscripts` holds what was asked for.
bool Machine::locate(const Instr& i, const AccessInfo& info, const Instance& m, const Slot* r, int lane, std::int64_t* offset,
                     std::int64_t* subscripts) const {
  (void)i;
  const int* registers = code_->operands.data() + info.arguments;
  std::int64_t at = 0;
  bool inside = true;
  for (int d = 0; d < info.rank; ++d) {
    const std::size_t k = static_cast<std::size_t>(d);
    const bool is_vector = info.vector_subscripts >> d & 1u;
    std::int64_t s = r[registers[d] + (is_vector ? lane : 0)].i;
    if (lane > 0 && d == info.rank - 1 && info.vector_subscripts == 0) s += lane * info.lane_stride;
    if (info.gather >> d & 1u) {
      if (info.wrap && s < 0) s += m.extents[k];
      if (m.extents[k] > 0) s = std::clamp<std::int64_t>(s, 0, m.extents[k] - 1);
    }
    subscripts[d] = s;
    at += s * m.strides[k];
  }
  std::int64_t over = 0;  // rows that a joint position has left behind
  for (int d = info.rank - 1; d >= 0; --d) {
    const std::size_t k = static_cast<std::size_t>(d);
    std::int64_t s = subscripts[d] + over;
    const bool runs_on = info.runs_on >> d & 1u && m.extents[k] > 0 && m.strides[k - 1] == m.extents[k] * m.strides[k];
    over = runs_on && s >= m.extents[k] ? s / m.extents[k] : 0;
    s -= over * m.extents[k];
    inside = inside && s >= 0 && s < m.extents[k];
  }
  *offset = at;
  return inside;
}

void Machine::load(const Instr& i, Agent* agent) {
  const AccessInfo& info = code_->accesses[static_cast<std::size_t>(i.extra)];
  Instance& m = instance(info, agent);
  Slot* const r = agent->regs;
  ++report_->loads;
  if (!agent->undefined.empty()) check_address(i, info, agent);
  std::int64_t subscripts[kMaxRank];
  for (int l = 0; l < i.lanes; ++l) {
    Slot& dst = r[i.dst + l];
    std::int64_t offset = 0;
    std::int32_t undefined = 0;
    if (!lane_on(info, r, l)) {
      dst = literal_slot(i.type, 0.0, 0);
    } else if (!locate(i, info, m, r, l, &offset, subscripts)) {
      undefined = undefined_of(*agent, info.pad);
      dst = info.pad != kNoRegister ? r[info.pad] : literal_slot(i.type, 0.0, 0);
      if (info.pad == kNoRegister) out_of_bounds(i, info, m, subscripts, false);
    } else {
      undefined = check_read(i, info, &m, offset);
      dst = load_slot(i.type, m.data + offset * m.element_bytes);
    }
    set_undefined(agent, i.dst + l, undefined);
  }
}

// What is read there, as Undefined has it.
std::int32_t Machine::check_read(const Instr& i, const AccessInfo& info, Instance* m, std::int64_t offset) {
  Stamp earlier;
  if (info.tracked && clock_.active && note_read(m, offset, clock_, &earlier)) race(i, *m, offset, earlier, false);
  return m->check_init && !m->initialised(offset) ? undefined_read(i, *m, offset) : 0;
}

void Machine::check_address(const Instr& i, const AccessInfo& info, Agent* agent) {
  for (int d = 0; d < info.rank; ++d) {
    const int lanes = info.vector_subscripts >> d & 1u ? i.lanes : 1;
    const int reg = code_->operands[static_cast<std::size_t>(info.arguments + d)];
    for (int l = 0; l < lanes; ++l) used_register(i, *agent, reg + l, "is a subscript");
  }
  for (int l = 0; info.mask != kNoRegister && l < (info.scalar_mask ? 1 : i.lanes); ++l)
    used_register(i, *agent, info.mask + l, "says which lanes take part");
}

void Machine::store(const Instr& i, Agent* agent) {
  const AccessInfo& info = code_->accesses[static_cast<std::size_t>(i.extra)];
  Instance& m = instance(info, agent);
  Slot* const r = agent->regs;
  ++report_->stores;
  if (!agent->undefined.empty()) check_address(i, info, agent);
  std::int64_t subscripts[kMaxRank];
  for (int l = 0; l < i.lanes; ++l) {
    std::int64_t offset = 0;
    if (!lane_on(info, r, l)) continue;
    if (!locate(i, info, m, r, l, &offset, subscripts)) {
      out_of_bounds(i, info, m, subscripts, true);
      continue;
    }
    const int from = i.a + (i.scalar ? 0 : l);
    Slot value = r[from];
    std::int32_t undefined = undefined_of(*agent, from);
    std::byte* const address = m.data + offset * m.element_bytes;
    if (info.update) {
      if (!info.atomic) {
        undefined = std::max(undefined, check_read(i, info, &m, offset));
      } else if (m.check_init && !m.initialised(offset)) {
        undefined = undefined_read(i, m, offset);
      }
      value = combine_slot(i.reduce, i.type, load_slot(i.type, address), value);
    }
    Stamp earlier;
    if (info.tracked && clock_.active && note_write(&m, offset, clock_, info.atomic, &earlier))
      race(i, m, offset, earlier, true);
    store_slot(i.type, address, value);
    settle(i, &m, offset, undefined);
  }
}

// The element has a value now, unless it is one that nothing has written; in a result that is a fault.
void Machine::settle(const Instr& i, Instance* m, std::int64_t offset, std::int32_t undefined) {
  const BufferRole role = m->buffer->role;
  const bool result = role == BufferRole::kOutput || role == BufferRole::kInOut;
  if (undefined != 0 && result) used(i, undefined, "becomes a result in " + m->buffer->name);
  if (!m->check_init) return;
  if (undefined == 0 || result) {
    m->mark_initialised(offset);
  } else {
    m->init[static_cast<std::size_t>(offset)] = 0;
  }
}

void Machine::out_of_bounds(const Instr& i, const AccessInfo& info, const Instance& m, const std::int64_t* subscripts,
                            bool write) {
  if (!fresh(i, Finding::Kind::kOutOfBounds)) return;
  Finding f;
  f.kind = Finding::Kind::kOutOfBounds;
  f.buffer = m.buffer ? m.buffer->name : "?";
  f.subscripts.assign(subscripts, subscripts + info.rank);
  f.text = std::string(write ? "write to " : "read of ") + f.buffer + subscript_text(subscripts, f.subscripts.size()) +
           " outside its extents " + subscript_text(m.extents.data(), m.extents.size());
  find(std::move(f), i);
}

void Machine::race(const Instr& i, const Instance& m, std::int64_t offset, const Stamp& earlier, bool write) {
  if (!fresh(i, Finding::Kind::kRace)) return;
  Finding f;
  f.kind = Finding::Kind::kRace;
  f.buffer = m.buffer->name;
  f.subscripts = subscripts_of(m, offset);
  f.text = std::string(write ? "write to " : "read of ") + f.buffer + subscript_text(f.subscripts.data(), f.subscripts.size()) +
           " conflicts with an access by " + agent_name(earlier.agent) + " that nothing orders";
  find(std::move(f), i);
}

std::string Machine::agent_name(std::int32_t agent) const {
  if (!gpu_) return "iteration number " + std::to_string(agent);
  const std::int64_t threads = block_.count(), b = agent / threads, t = agent % threads;
  const auto point = [](std::int64_t n, const Dim3& d) {
    return "(" + std::to_string(n % d.x) + "," + std::to_string(n / d.x % d.y) + "," + std::to_string(n / d.x / d.y) + ")";
  };
  return "block " + point(b, grid_) + " thread " + point(t, block_);
}

// Counts a finding; true for the first of each instruction and kind, which is to be described.
bool Machine::fresh(const Instr& i, Finding::Kind kind) {
  ++report_->finding_count;
  return reported_.insert({&i, static_cast<int>(kind)}).second &&
         static_cast<int>(report_->findings.size()) < options_.max_findings;
}

void Machine::find(Finding f, const Instr& i) {
  f.kernel = code_->kernel;
  if (f.statement.empty()) f.statement = code_->sites[static_cast<std::size_t>(i.site)];
  f.text = to_text(f.kind) + " in " + f.kernel + ", " + f.statement + ": " + f.text;
  if (clock_.active || gpu_) f.text += " (by " + agent_name(clock_.now.agent) + ")";
  report_->findings.push_back(std::move(f));
}

}  // namespace facet::agents
