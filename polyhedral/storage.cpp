// The storage question.
//
// A promoted part is judged in the same way: its buffer is an array with one box per iteration of `at`, written by the copying
// statement, and `promote` gives it flow dependences from the copy to every reader.
//
// A contracted array has one box per iteration of its loop `at`. A read finds its value exactly when
//   (1) the write it depends on runs in the same iteration of every loop down to `at` (no flow is carried outside the box), and
//   (2) no other element shares its cell: below `at` the map from element to cell is injective. With cell = element - offset
//   and
//       the box as large as the footprint that holds by construction; without sizes (a scalar) the footprint of one iteration
//       must be a single element.
#include "polyhedral/storage.hpp"

#include <algorithm>
#include <cmath>

namespace facet {

namespace {

// The loops around a statement down to `at`; empty when `at` is not around it.
std::vector<TreePtr> loops_to(const Schedule& schedule, int statement, int at) {
  std::vector<TreePtr> loops;
  for (const TreePtr& l : loops_around(schedule.tree, statement)) {
    loops.push_back(l);
    if (l->id == at) return loops;
  }
  return {};
}

// Pairs of `d` whose instances lie in different iterations of the loops down to `at`; nullopt when there are none.
std::optional<isl::map> crossing(const Schedule& schedule, const Dependence& d, int at) {
  if (at < 0) return std::nullopt;
  const std::vector<TreePtr> loops = loops_to(schedule, d.source, at);
  if (loops.empty() || !loops.back()->member.count(d.sink)) return d.relation;
  isl::map pairs = d.relation;
  std::optional<isl::map> lost;
  for (const TreePtr& l : loops) {
    const isl::pw_aff& f = l->member.at(d.source);
    const isl::pw_aff& g = l->member.at(d.sink);
    if (zero_distance(d, f, g)) continue;
    const isl::map equal = pairs.intersect(compare_map(f, Compare::kEqual, g));
    const isl::map apart = pairs.subtract(equal);
    lost = lost ? lost->unite(apart) : apart;
    pairs = equal;
  }
  if (!lost || lost->is_empty()) return std::nullopt;
  return lost;
}

Violation violation_of(const Schedule& schedule, const Dependence& d, const isl::map& pairs) {
  const Statement& source = schedule.statement(d.source);
  const Statement& sink = schedule.statement(d.sink);
  Violation v;
  v.question = "storage";
  v.kind = d.kind;
  v.array = d.array;
  v.source = source.name;
  v.sink = sink.name;
  v.source_iterators = source.iterators;
  v.sink_iterators = sink.iterators;
  if (const std::optional<Point> point = smallest_point(pairs)) {
    for (const auto& [id, value] : point->parameters) v.symbols.emplace_back(id.substr(2), value);
    const auto split = point->coordinates.begin() + static_cast<std::ptrdiff_t>(source.iterators.size());
    v.source_instance.assign(point->coordinates.begin(), split);
    v.sink_instance.assign(split, point->coordinates.end());
    v.element = element_of(schedule, d, v);
  }
  return v;
}

// A part is filled once for all iterations below `at`. Where a loop with concurrent iterations has come between, each fills it
// anew while others read: the first two instances of the copy that write one element at once.
std::optional<Violation> filling_violation(const Schedule& schedule, const StorageMap& m) {
  const TreePtr at = find_loop(schedule.tree, m.at);
  if (!at || m.copy_in < 0) return std::nullopt;
  const Statement& copy = schedule.statement(m.copy_in);
  const isl::map once = outer_schedule(schedule, m.copy_in, m.at).range_product(copy.write.relation);
  if (once.is_injective()) return std::nullopt;
  const isl::map again = once.apply_range(once.reverse());
  const std::set<int> concurrent = concurrent_loops(at);
  bool below = false;
  for (const TreePtr& l : loops_around(schedule.tree, m.copy_in)) {
    if (below && concurrent.count(l->id)) {
      const isl::pw_aff& member = l->member.at(m.copy_in);
      const isl::map at_once = again.intersect(compare_map(member, Compare::kLess, member));
      if (!at_once.is_empty())
        return violation_of(schedule, make_dependence(DependenceKind::kOutput, m.copy_in, m.copy_in, m.buffer, at_once),
                            at_once);
    }
    below = below || l->id == m.at;
  }
  return std::nullopt;
}

// A result tile lives in one iteration: its values reach the readers for which it was made there, and others through the store,
// which has a flow to them. What was not made for it works on the array.
std::optional<Violation> result_violation(const Schedule& schedule, const StorageMap& m) {
  const TreePtr loop = find_loop(schedule.tree, m.at);
  if (m.copy_out < 0) return std::nullopt;
  for (const Dependence& d : *schedule.dependences) {
    if (d.array != m.array || d.source == m.copy_out || d.sink == m.copy_out) continue;
    if (d.kind != DependenceKind::kFlow && d.kind != DependenceKind::kReduction) continue;
    const bool from = (!loop || contains(loop, d.source)) && schedule.serves(m, d.source);
    const bool to = loop && contains(loop, d.sink) && schedule.serves(m, d.sink);
    if (from && to) {
      if (const std::optional<isl::map> lost = crossing(schedule, d, m.at)) return violation_of(schedule, d, *lost);
    } else if (to || (from && !schedule.has_flow(m.copy_out, d.sink, m.array))) {
      return violation_of(schedule, d, d.relation);
    }
  }
  return std::nullopt;
}

// What the box holds: a contracted array, or the buffer that the copying statement fills.
const std::string& boxed(const StorageMap& m) { return m.kind == StorageMap::Kind::kPromote ? m.buffer : m.array; }

std::optional<Violation> box_violation(const Schedule& schedule, const StorageMap& m) {
  for (const Dependence& d : *schedule.dependences) {
    if (d.array != boxed(m) || (d.kind != DependenceKind::kFlow && d.kind != DependenceKind::kReduction)) continue;
    if (const std::optional<isl::map> lost = crossing(schedule, d, m.at)) return violation_of(schedule, d, *lost);
  }
  if (m.kind == StorageMap::Kind::kPromote) {
    if (std::optional<Violation> v = filling_violation(schedule, m)) return v;
    return result_violation(schedule, m);
  }
  if (!m.sizes.empty() || !schedule.scop->arrays.at(m.array).scalar) return std::nullopt;
  const isl::map elements = footprint(schedule, m.array, m.at);
  if (elements.is_null()) return std::nullopt;  // nobody uses it any more
  if (elements.is_single_valued()) return std::nullopt;
  // Iterations that hold several elements at once; a value is lost there.
  const isl::set crowded = elements.subtract(elements.lexmin()).domain();
  for (const Dependence& d : *schedule.dependences) {
    if (d.array != m.array || d.kind != DependenceKind::kFlow) continue;
    const isl::map pairs =
        d.relation.intersect_domain(outer_schedule(schedule, d.source, m.at).reverse().intersect_domain(crowded).range());
    if (!pairs.is_empty()) return violation_of(schedule, d, pairs);
  }
  for (const Dependence& d : *schedule.dependences)
    if (d.array == m.array) return violation_of(schedule, d, d.relation);
  return std::nullopt;
}

// The loops down to `at` and their members, as seen by one statement below: what a box's offsets are functions of.
std::vector<std::pair<int, const void*>> loops_down_to(const Schedule& schedule, int at) {
  std::vector<std::pair<int, const void*>> path;
  const TreePtr loop = at < 0 ? nullptr : find_loop(schedule.tree, at);
  if (!loop) return path;
  const int s = loop->member.begin()->first;
  for (const TreePtr& l : loops_around(schedule.tree, s)) {
    path.emplace_back(l->id, l->member.at(s).get());
    if (l->id == at) break;
  }
  return path;
}

}  // namespace

isl::map footprint(const Schedule& schedule, const std::string& array, int at) {
  std::optional<isl::map> all;
  const auto add = [&](int s, const isl::map& relation) {
    const isl::map part = outer_schedule(schedule, s, at).reverse().apply_range(relation);
    all = all ? all->unite(part) : part;
  };
  const TreePtr loop = at < 0 ? nullptr : find_loop(schedule.tree, at);
  for (const int s : statements_of(loop ? loop : schedule.tree)) {
    const Statement& st = schedule.statement(s);
    if (st.target == array) add(s, st.write.relation);
    for (const Access& a : st.reads)
      if (a.array == array) add(s, a.relation);
  }
  return all ? *all : isl::map();
}

void follow_scalars(Schedule& next) {
  for (StorageMap& m : next.storage)
    if (m.kind == StorageMap::Kind::kContract && m.sizes.empty() && next.scop->arrays.at(m.array).scalar)
      m.at = common_loop(next, m.array);
}

namespace {

bool has_strays(const Schedule& schedule, const StorageMap& m) {
  const TreePtr at = find_loop(schedule.tree, m.at);
  const auto outside = [&](int s) { return !at || !contains(at, s); };
  const std::vector<int> all = statements_of(schedule.tree);
  if (std::none_of(all.begin(), all.end(), [&](int s) { return outside(s) && schedule.statement(s).touches(m.array); }))
    return false;
  return std::none_of(schedule.dependences->begin(), schedule.dependences->end(), [&](const Dependence& d) {
    return d.kind == DependenceKind::kFlow && d.array == m.array && outside(d.source) != outside(d.sink);
  });
}

}  // namespace

void follow_strays(Schedule& next) {
  for (StorageMap& m : next.storage) {
    if (m.kind != StorageMap::Kind::kContract || m.sizes.empty() || m.at < 0 || !has_strays(next, m)) continue;
    StorageMap moved = contracted(next, m.array, common_loop(next, m.array));
    moved.buffer = m.buffer;
    moved.space = m.space;
    moved.order = m.order;
    moved.inner = m.inner;
    moved.pad = m.pad;
    moved.fold_to(m.fold);
    m = std::move(moved);
  }
}

std::optional<std::string> fit_boxes(const Schedule& before, Schedule& next) {
  for (std::size_t i = 0; i < next.storage.size(); ++i) {
    StorageMap& m = next.storage[i];
    const bool known = i < before.storage.size() && before.storage[i].buffer == m.buffer;
    if (!known || m.sizes.empty() || m.at < 0 || loops_down_to(before, before.storage[i].at) == loops_down_to(next, m.at))
      continue;
    const isl::map part = footprint(next, boxed(m), m.at);
    if (part.is_null()) continue;  // torn from its users: the judgement says so
    const std::vector<BoxDimension> box = box_hull(part);
    for (std::size_t d = 0; d < box.size(); ++d) {
      if (m.folded(d) > 0) continue;
      if (!box[d].size && m.kind == StorageMap::Kind::kPromote) return m.array;
      m.sizes[d] = box[d].size ? idx(*box[d].size) : next.scop->arrays.at(m.array).extents[d];
      m.offsets[d] = box[d].size ? *box[d].offset : zero_aff(part);
    }
  }
  return std::nullopt;
}

namespace {

// With whole panels and free elements at the rows' ends.
double bytes_of_part(const Scop& scop, const StorageMap& m, const SymbolValues& sizes) {
  double bytes = static_cast<double>(size_bytes(scop.arrays.at(m.array).dtype));
  for (std::size_t d = 0; d < m.sizes.size(); ++d) {
    double size = static_cast<double>(m.folded(d) > 0 ? m.folded(d) : evaluate_index(m.sizes[d], sizes));
    const std::int64_t inner = d < m.inner.size() ? m.inner[d] : 0, pad = d < m.pad.size() ? m.pad[d] : 0;
    if (inner > 0) size = std::ceil(size / static_cast<double>(inner)) * static_cast<double>(inner);
    bytes *= size + static_cast<double>(pad);
  }
  return bytes;
}

}  // namespace

std::optional<std::pair<std::string, double>> too_large_for_stack(const Schedule& before, const Schedule& next) {
  constexpr double kMostStack = 4 << 20;  // bytes: half of a thread's by default
  SymbolValues largest;
  for (const Symbol& s : next.scop->symbols) largest[s.name] = s.max;
  std::optional<std::string> added;
  double all = 0;
  for (const StorageMap& m : next.storage) {
    if (m.space != MemorySpace::kStack && m.space != MemorySpace::kRegister) continue;
    const bool known = std::any_of(before.storage.begin(), before.storage.end(),
                                   [&](const StorageMap& b) { return b.buffer == m.buffer && b.space == m.space; });
    if (!known) added = m.array;
    all += bytes_of_part(*next.scop, m, largest);
  }
  return added && all > kMostStack ? std::optional(std::pair(*added, all)) : std::nullopt;
}

bool keeps_flows(const Schedule& schedule, const std::string& array, int at) {
  return std::none_of(schedule.dependences->begin(), schedule.dependences->end(), [&](const Dependence& d) {
    return d.array == array && (d.kind == DependenceKind::kFlow || d.kind == DependenceKind::kReduction) &&
           crossing(schedule, d, at);
  });
}

StorageMap contracted(const Schedule& schedule, const std::string& array, int at) {
  StorageMap m;
  m.array = array;
  m.buffer = array;
  m.at = at;
  const isl::map part = footprint(schedule, array, at);
  const std::vector<BoxDimension> box = box_hull(part);
  for (std::size_t d = 0; d < box.size(); ++d) {
    m.order.push_back(static_cast<int>(d));
    m.inner.push_back(0);
    m.sizes.push_back(box[d].size ? idx(*box[d].size) : schedule.scop->arrays.at(array).extents[d]);
    m.offsets.push_back(box[d].size ? *box[d].offset : zero_aff(part));
  }
  return m;
}

std::optional<Violation> find_storage_violation(const Schedule& schedule, const Schedule* legal_before,
                                                const std::set<int>& changed) {
  const auto touched = [&](const StorageMap& m) {
    return std::any_of(changed.begin(), changed.end(), [&](int s) {
      const Statement& st = schedule.statement(s);
      return st.target == m.buffer || st.touches(m.array);
    });
  };
  for (const Dependence& d : schedule.lost) {
    Violation v = violation_of(schedule, d, d.relation);
    v.element.erase(v.element.begin());  // of the array that the step started from
    return v;
  }
  for (std::size_t i = 0; i < schedule.storage.size(); ++i) {
    const StorageMap& m = schedule.storage[i];
    const bool known = legal_before && i < legal_before->storage.size() && legal_before->storage[i].array == m.array &&
                       legal_before->storage[i].at == m.at;
    if (known && !touched(m)) continue;
    if (std::optional<Violation> v = box_violation(schedule, m)) return v;
  }
  return std::nullopt;
}

}  // namespace facet
