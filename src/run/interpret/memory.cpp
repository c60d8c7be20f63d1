// Buffer instances and their shadow: a conflict is two accesses of one element by different agents, at least one a write,
// with no barrier, launch or region border between them.
#include "src/run/interpret/memory.hpp"

namespace facet::agents {

namespace {

bool unordered(const Stamp& earlier, const Clock& clock) {
  if (earlier.epoch < clock.launch_epoch || earlier.agent == clock.now.agent) return false;
  if (earlier.agent / clock.agents_per_block != clock.now.agent / clock.agents_per_block) return true;
  if (earlier.epoch != clock.now.epoch) return false;
  const std::int32_t first = clock.now.agent - clock.now.agent % clock.agents_per_block;
  if ((earlier.agent - first) / clock.warp != (clock.now.agent - first) / clock.warp) return true;
  return earlier.warp_epoch == clock.now.warp_epoch;
}

bool same_warp(const Stamp& a, const Stamp& b, const Clock& clock) {
  return a.agent / clock.agents_per_block == b.agent / clock.agents_per_block &&
         (a.agent % clock.agents_per_block) / clock.warp == (b.agent % clock.agents_per_block) / clock.warp;
}

}  // namespace

void Instance::renew() {
  if (++generation == 0) {
    generation = 1;
    init.assign(init.size(), 0);
  }
  if (check_race) shadow.assign(shadow.size(), Shadow{});
}

std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& extents) {
  std::vector<std::int64_t> strides(extents.size(), 1);
  for (std::size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  return strides;
}

std::int64_t span_of(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides) {
  std::int64_t last = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] <= 0) return 0;
    last += (extents[d] - 1) * strides[d];
  }
  return last + 1;
}

void shape_instance(Instance* instance, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides, bool check_init,
                    bool check_race) {
  Instance& m = *instance;
  if (strides.empty() && !extents.empty()) strides = row_major(extents);
  m.extents = std::move(extents);
  m.strides = std::move(strides);
  m.size = span_of(m.extents, m.strides);
  m.element_bytes = size_bytes(m.buffer->dtype);
  m.check_init = check_init;
  m.check_race = check_race;
  const std::size_t count = static_cast<std::size_t>(m.size);
  if (check_init && m.init.size() < count) m.init.resize(count, 0);
  if (check_race && m.shadow.size() < count) m.shadow.resize(count);
  if (m.data == nullptr || !m.own.empty()) {
    if (m.own.size() < count * static_cast<std::size_t>(m.element_bytes))
      m.own.resize(count * static_cast<std::size_t>(m.element_bytes));
    m.data = m.own.data();
  }
}

bool note_read(Instance* instance, std::int64_t offset, const Clock& clock, Stamp* earlier) {
  Shadow& s = instance->shadow[static_cast<std::size_t>(offset)];
  if (s.readers[0].agent != clock.now.agent && s.readers[0].agent >= 0) {
    // Keep the other place for a reader of another warp, which this warp's barriers do not order.
    const bool keep_second = s.readers[1].agent >= 0 && same_warp(s.readers[0], clock.now, clock) &&
                             !same_warp(s.readers[1], clock.now, clock) && s.readers[1].epoch >= s.readers[0].epoch;
    if (!keep_second) s.readers[1] = s.readers[0];
  }
  s.readers[0] = clock.now;
  *earlier = s.writer;
  return unordered(s.writer, clock);
}

bool note_write(Instance* instance, std::int64_t offset, const Clock& clock, bool atomic, Stamp* earlier) {
  Shadow& s = instance->shadow[static_cast<std::size_t>(offset)];
  bool found = false;
  const auto look = [&](const Stamp& stamp) {
    if (found || !unordered(stamp, clock)) return;
    found = true;
    *earlier = stamp;
  };
  for (const Stamp& reader : s.readers) look(reader);
  if (!(atomic && s.atomic_writer)) look(s.writer);
  s.writer = clock.now;
  s.atomic_writer = atomic;
  return found;
}

}  // namespace facet::agents
