// Values are names. An assignment's value is named by its statement, its instance and the values it reads; a reduction's by
// the value it started from and the set of its updates, whose order is free unless numerics are strict and it rounds. Executed
// in the two orders, every instance must read the same names and every array must end with the same ones. This says nothing of
// loops that run their iterations together: there, two accesses of one place by different iterations must both read, or both be
// updates by one operation where the loop keeps partial results.
#include "src/driver/fuzz_oracle.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace facet {

namespace {

using Name = std::uint64_t;

constexpr Name kPadding = 0x5bd1e9955bd1e995u;

Name mixed(Name a, Name b) {  // splitmix64's finaliser over both
  Name z = a * 0x9E3779B97F4A7C15u + b + 0x7F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

Name name_of(const std::string& text) {
  Name n = 1469598103934665603u;
  for (const char c : text) n = mixed(n, static_cast<unsigned char>(c));
  return n;
}

Name name_of(Name from, const std::vector<std::int64_t>& numbers) {
  for (const std::int64_t x : numbers) from = mixed(from, static_cast<Name>(x));
  return mixed(from, numbers.size());
}

std::string text_of(const std::string& name, const std::vector<std::int64_t>& at) {
  std::string text;
  for (const std::int64_t x : at) text += (text.empty() ? "" : ", ") + std::to_string(x);
  return name + "[" + text + "]";
}

// What a cell holds: a value and the updates since, by one operation.
struct Held {
  Name value = 0;
  std::optional<ReduceKind> by;
  Name updates = 0;

  Name name() const { return by ? mixed(mixed(value, static_cast<Name>(*by) + 11), updates) : value; }
};

// One order, executed.
class Execution {
 public:
  explicit Execution(const Enumeration& e) : e_(e), memory_(e.cells.size()) {
    for (std::size_t c = 0; c < e.cells.size(); ++c) {
      const EnumeratedCell& cell = e.cells[c];
      const Name start = name_of(name_of(name_of(cell.buffer), cell.box), cell.element);
      memory_[c].value = cell.own ? start : mixed(start, 77);  // nothing: not the array's own first value
    }
    for (const EnumeratedStatement& s : e.statements) {
      roots_.push_back(name_of(s.root));
      if (s.repeats > 0) repeated.insert(s.root);
    }
    for (const EnumeratedInstance& i : e.instances) run(i);
  }

  // By statement of the original and instance: what it read. Twice the same instance: `again`.
  std::map<std::pair<std::string, std::vector<std::int64_t>>, Name> inputs;
  std::string again;
  std::set<std::string> repeated;  // these run as often as somebody needs them: not at all, or several times alike

  std::map<EnumeratedCell, Name> left() const {
    std::map<EnumeratedCell, Name> all;
    for (std::size_t c = 0; c < memory_.size(); ++c)
      if (e_.cells[c].own) all.emplace(e_.cells[c], memory_[c].name());
    return all;
  }

 private:
  void run(const EnumeratedInstance& i) {
    const EnumeratedStatement& s = e_.statements[static_cast<std::size_t>(i.statement)];
    Name read = 3;
    for (const int c : i.reads) read = s.copy ? value_at(c) : mixed(read, value_at(c));
    if (s.ordered) read = mixed(read, value_at(i.write));
    const std::vector<std::int64_t> at(i.at.begin() + s.repeats, i.at.end());
    const auto [known, first] = s.copy ? std::pair(inputs.end(), true) : inputs.emplace(std::pair(s.root, at), read);
    if (!first && again.empty() && (repeated.count(s.root) == 0 || known->second != read))
      again = text_of(s.root, at) + (repeated.count(s.root) ? " reads other values when it runs again" : " runs twice");
    if (i.write < 0) return;
    Held& held = memory_[static_cast<std::size_t>(i.write)];
    if (s.copy && i.reads.size() == 1 && i.reads[0] >= 0) {  // updates may go on where the copy is
      held = memory_[static_cast<std::size_t>(i.reads[0])];
      return;
    }
    const Name made = s.copy ? read : mixed(name_of(roots_[static_cast<std::size_t>(i.statement)], at), read);
    if (!s.update || s.ordered) {
      held = {made, std::nullopt, 0};
      return;
    }
    if (held.by != s.update) held = {held.name(), s.update, 0};
    held.updates += made;  // in any order
  }

  Name value_at(int cell) const { return cell < 0 ? kPadding : memory_[static_cast<std::size_t>(cell)].name(); }

  const Enumeration& e_;
  std::vector<Held> memory_;
  std::vector<Name> roots_;
};

// A copy into a buffer of which nobody reads any place has been torn from its readers, if these run at all.
std::string idle_copy(const Enumeration& e) {
  std::set<int> read, running, written, useful;
  for (const EnumeratedInstance& i : e.instances) {
    read.insert(i.reads.begin(), i.reads.end());
    running.insert(i.statement);
  }
  for (const EnumeratedInstance& i : e.instances) {
    const EnumeratedStatement& s = e.statements[static_cast<std::size_t>(i.statement)];
    if (!s.copy || s.stores || i.write < 0 || e.cells[static_cast<std::size_t>(i.write)].own) continue;
    written.insert(i.statement);
    if (read.count(i.write)) useful.insert(i.statement);
  }
  const auto has_readers = [&](int s) {
    const std::vector<int>& serves = e.statements[static_cast<std::size_t>(s)].serves;
    return std::any_of(serves.begin(), serves.end(), [&](int r) { return running.count(r) > 0; });
  };
  for (const int s : written)
    if (!useful.count(s) && has_readers(s)) return e.statements[static_cast<std::size_t>(s)].name + " serves nobody";
  return "";
}

std::string differing(const Enumeration& original, const Enumeration& schedule) {
  const Execution a(original), b(schedule);
  if (!b.again.empty()) return b.again;
  for (const auto& [instance, read] : a.inputs) {
    const auto it = b.inputs.find(instance);
    if (it == b.inputs.end() && b.repeated.count(instance.first)) continue;
    if (it == b.inputs.end()) return text_of(instance.first, instance.second) + " does not run";
    if (it->second != read) return text_of(instance.first, instance.second) + " reads other values";
  }
  for (const auto& [instance, read] : b.inputs)
    if (a.inputs.count(instance) == 0) return text_of(instance.first, instance.second) + " is no instance of the original";
  const std::map<EnumeratedCell, Name> left = b.left();
  for (const auto& [cell, name] : a.left()) {
    const auto it = left.find(cell);
    if (it != left.end() && it->second != name) return text_of(cell.buffer, cell.element) + " is left with another value";
  }
  return "";
}

// The accesses of one place by the iterations of one loop, those around it at one value each.
struct Meeting {
  std::set<std::int64_t> iterations;
  bool reads = false, writes = false;
  std::set<ReduceKind> updates;

  bool collides(Together how) const {
    if (iterations.size() < 2) return false;
    if (writes || updates.size() > 1) return true;
    return !updates.empty() && (reads || how != Together::kPartial);
  }
};

std::string collision(const Enumeration& e) {
  std::map<std::pair<int, std::vector<std::int64_t>>, Meeting> meetings;  // by cell, and the loop's outer values
  std::string found;
  for (const EnumeratedInstance& i : e.instances) {
    const EnumeratedStatement& s = e.statements[static_cast<std::size_t>(i.statement)];
    for (std::size_t k = 0; k < s.path.size() && found.empty(); ++k) {
      const Together how = s.path[k].second;
      if (how == Together::kNo) continue;
      std::vector<std::int64_t> outer(i.when.begin(), i.when.begin() + static_cast<std::ptrdiff_t>(k));
      outer.push_back(s.path[k].first);
      const auto touch = [&](int cell, bool write) {
        if (cell < 0) return;
        Meeting& m = meetings[{cell, outer}];
        m.iterations.insert(i.when[k]);
        if (write && s.update && !s.ordered) m.updates.insert(*s.update);
        m.writes = m.writes || (write && (!s.update || s.ordered));
        m.reads = m.reads || !write;
        if (found.empty() && m.collides(how))
          found = text_of(s.name, i.at) + " meets another iteration of its loop at " +
                  text_of(e.cells[static_cast<std::size_t>(cell)].buffer, e.cells[static_cast<std::size_t>(cell)].element);
      };
      for (const int c : i.reads) touch(c, false);
      touch(i.write, true);
    }
  }
  return found;
}

}  // namespace

std::string counted_violation(const Enumeration& original, const Enumeration& schedule) {
  for (const EnumeratedCell& c : schedule.cells)
    if (c.outside) return text_of(c.buffer, c.element) + " is outside its box";
  std::string what = differing(original, schedule);
  if (what.empty()) what = collision(schedule);
  return what.empty() ? idle_copy(schedule) : what;
}

}  // namespace facet
