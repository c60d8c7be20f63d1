// The schedule value: statements by number, the original schedule, outer schedules.
#include "polyhedral/schedule.hpp"

#include <algorithm>

#include "polyhedral/affine.hpp"

namespace facet {

void StorageMap::fold_to(const std::vector<std::int64_t>& places) {
  fold = places;
  for (std::size_t d = 0; d < places.size(); ++d)
    if (places[d] > 0) sizes[d] = idx(places[d]);
}

const Statement& Schedule::statement(int s) const {
  const int n = static_cast<int>(scop->statements.size());
  return s < n ? scop->statements[static_cast<std::size_t>(s)] : copies[static_cast<std::size_t>(s - n)];
}

int Schedule::statement_count() const { return static_cast<int>(scop->statements.size() + copies.size()); }

int Schedule::find(const std::string& name) const {
  for (int s = 0; s < statement_count(); ++s)
    if (statement(s).name == name) return s;
  return -1;
}

bool Schedule::has_flow(int source, int sink, const std::string& array) const {
  return std::any_of(dependences->begin(), dependences->end(), [&](const Dependence& d) {
    return d.source == source && d.sink == sink && d.array == array && d.kind == DependenceKind::kFlow;
  });
}

bool Schedule::serves(const StorageMap& part, int s) const {
  if (part.reader >= 0) return s == part.reader;
  if (part.copy_in >= 0) return has_flow(part.copy_in, s, part.buffer);
  if (part.copy_out < 0) return true;
  if (has_flow(s, part.copy_out, part.buffer)) return true;
  if (has_flow(part.copy_out, s, part.array)) return false;  // its value comes through the array
  return std::any_of(dependences->begin(), dependences->end(), [&](const Dependence& d) {
    return d.sink == s && d.array == part.array && d.kind == DependenceKind::kFlow &&
           has_flow(d.source, part.copy_out, part.buffer);
  });
}

const StorageMap* Schedule::storage_of(int s, const std::string& array) const {
  const StorageMap* nearest = nullptr;
  int depth = -2;
  for (const StorageMap& m : storage) {
    if (m.array != array || s == m.copy_in || s == m.copy_out || (m.reader >= 0 && s != m.reader)) continue;
    const std::vector<TreePtr> around = loops_around(tree, s);
    const auto at = std::find_if(around.begin(), around.end(), [&](const TreePtr& l) { return l->id == m.at; });
    const bool below = m.at < 0 || at != around.end();
    if (m.kind == StorageMap::Kind::kPromote && (!below || !serves(m, s))) continue;
    const int inside = m.at < 0 || !below ? -1 : static_cast<int>(at - around.begin());
    if (inside < depth) continue;
    nearest = &m;
    depth = inside;
  }
  for (auto m = storage.begin(); m != storage.end() && !nearest; ++m)  // a copying statement's own side of a promoted buffer
    if (m->buffer == array) nearest = &*m;
  return nearest;
}

std::map<int, isl::set> Schedule::domains() const {
  std::map<int, isl::set> all;
  for (const int s : statements_of(tree)) all[s] = statement(s).domain;
  return all;
}

int common_loop(const Schedule& schedule, const std::string& array) {
  std::vector<int> common;
  bool first = true;
  for (const int s : statements_of(schedule.tree)) {
    if (!schedule.statement(s).touches(array)) continue;
    std::vector<int> ids;
    for (const TreePtr& loop : loops_around(schedule.tree, s)) ids.push_back(loop->id);
    if (first) common = ids;
    first = false;
    std::size_t n = 0;
    while (n < common.size() && n < ids.size() && common[n] == ids[n]) ++n;
    common.resize(n);
  }
  return common.empty() ? -1 : common.back();
}

Schedule original_schedule(std::shared_ptr<const Scop> scop, std::shared_ptr<const Dependences> dependences) {
  Schedule s;
  s.scop = std::move(scop);
  s.dependences = std::move(dependences);
  s.tree = s.scop->original;
  for_each_loop(s.tree, [&](const Tree& t) { s.next_loop = std::max(s.next_loop, t.id + 1); });
  for (const auto& [name, array] : s.scop->arrays) {
    if (!array.scalar) continue;
    StorageMap m;
    m.array = name;
    m.buffer = name;
    m.at = common_loop(s, name);
    m.space = MemorySpace::kRegister;
    s.storage.push_back(m);  // no sizes: one element per iteration of `at`
  }
  return s;
}

isl::map outer_schedule(const Schedule& schedule, int statement, int at) {
  std::vector<isl::pw_aff> values;
  for (const TreePtr& loop : loops_around(schedule.tree, statement)) {
    if (at < 0) break;
    values.push_back(loop->member.at(statement));
    if (loop->id == at) break;
  }
  const isl::set& domain = schedule.statement(statement).domain;
  return map_to_values(domain, values);
}

std::string walked_iterator(const Schedule& schedule, const Tree& loop, int statement) {
  const Statement& s = schedule.statement(statement);
  for (std::size_t i = 0; i < s.iterators.size(); ++i)
    if (loop.member.at(statement).plain_is_equal(output_dimension(s.domain, static_cast<unsigned>(i)))) return s.iterators[i];
  return "";
}

bool padded_reads(const Schedule& schedule, const std::string& array, int at) {
  bool found = false;
  for (const int s : statements_of(at < 0 ? schedule.tree : find_loop(schedule.tree, at)))
    walk(schedule.statement(s).value, [&](const Expr& e) { found = found || (e.op == Op::kRead && e.name == array && e.pad); });
  return found;
}

std::string to_text(const Schedule& schedule) {
  std::string text = "schedule of " + schedule.scop->name + "\n";
  text += to_text(schedule.tree, [&](int s) { return schedule.statement(s).name; });
  for (const StorageMap& m : schedule.storage) {
    text += std::string(m.kind == StorageMap::Kind::kContract ? "contract " : "promote ") + m.array + " -> " + m.buffer;
    std::string sizes;
    for (const ExprPtr& e : m.sizes) sizes += (sizes.empty() ? "" : ", ") + to_text(e);
    text += "[" + sizes + "] at loop " + std::to_string(m.at) + "\n";
  }
  for (const std::string& a : schedule.recomputed) text += "recompute " + a + "\n";
  for (const auto& [array, of] : schedule.reused) text += "reuse " + of + " for " + array + "\n";
  for (const std::string& a : schedule.streamed) text += "stream " + a + "\n";
  return text;
}

}  // namespace facet
