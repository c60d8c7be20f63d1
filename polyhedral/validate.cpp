// validate: bounds and definedness, for all allowed symbol values, with a concrete element when something is wrong.
//
// Bounds: the whole access relation minus the elements inside the array must be empty. Definedness of SSA tensors: the reads'
// range minus the writes' range must be empty; two plain definitions of one element are an error; an output's box minus the
// writes must be empty. A loop nest's `out` arrays additionally need every read to have a source (isl's flow analysis finds
// those without).
#include <algorithm>
#include <map>
#include <set>

#include "polyhedral/affine.hpp"
#include "polyhedral/dependences.hpp"
#include "polyhedral/facet_polyhedral.hpp"
#include "polyhedral/lower.hpp"

namespace facet {

namespace {

std::string list_text(const std::vector<std::int64_t>& values) {
  std::string text;
  for (const std::int64_t v : values) text += (text.empty() ? "" : ", ") + std::to_string(v);
  return "[" + text + "]";
}

std::string where_text(const Point& p) {
  std::string text;
  for (const auto& [id, value] : p.parameters)
    text += (text.empty() ? " with " : ", ") + id.substr(2) + " = " + std::to_string(value);
  return text;
}

std::string shape_text(const Array& a) {
  std::string text;
  for (const ExprPtr& e : a.extents) text += (text.empty() ? "" : ", ") + to_text(e);
  return "[" + text + "]";
}

// A union that grows by one set at a time. Neighbours become one set where isl sees it (the 5,000 parts of a concat are a
// single box in the end), and sets are joined in pairs of equal age, so that n of them cost n log n and not n^2.
class GrowingSet {
 public:
  void add(const isl::set& s) {
    parts_.push_back({1, s});
    for (std::size_t n = parts_.size(); n >= 2 && parts_[n - 2].age == parts_[n - 1].age; --n) {
      isl::set both = parts_[n - 2].set.unite(parts_[n - 1].set);
      if (both.n_basic_set() <= kMostToCoalesce) both = both.coalesce();
      parts_[n - 2] = {parts_[n - 2].age * 2, both};
      parts_.pop_back();
    }
  }
  bool meets(const isl::set& s) const {
    return std::any_of(parts_.begin(), parts_.end(), [&](const Part& p) { return !p.set.is_disjoint(s); });
  }
  isl::set all(isl::set start) const {
    for (const Part& p : parts_) start = start.unite(p.set);
    return start.n_basic_set() <= kMostToCoalesce ? start.coalesce() : start;
  }

 private:
  static constexpr unsigned kMostToCoalesce = 64;  // coalescing looks at pairs
  struct Part {
    std::size_t age;  // how many sets it is made of
    isl::set set;
  };
  std::vector<Part> parts_;
};

class Validator {
 public:
  Validator(const Program& program, const ReaderIndex& readers, const Node& node, const Scop& scop)
      : program_(program), readers_(readers), node_(node), scop_(scop) {
    for (const Statement& s : scop.statements) {
      writers_of_[s.target].push_back(&s);
      for (const Access& a : s.reads) reads_of_[a.array].push_back({&s, &a});
    }
  }

  Diagnostics run() {
    for (const Statement& s : scop_.statements) bounds(s);
    for (const auto& [name, array] : scop_.arrays)
      if (!array.scalar && !(array.external && !array.in_place && writers_of_[name].empty())) definedness(array);
    return std::move(problems_);
  }

 private:
  isl::set box(const Array& a) const { return array_set(scop_, a.name).intersect_params(scop_.context); }

  void bounds(const Statement& s) {
    check(s, s.write, Code::kWriteOutOfBounds);
    for (const Access& a : s.reads) check(s, a, Code::kReadOutOfBounds);
  }

  void check(const Statement& s, const Access& a, Code code) {
    const Array& array = scop_.arrays.at(a.array);
    if (array.scalar) return;
    const std::optional<Point> p = smallest_point(a.whole.subtract(a.relation));
    if (!p) return;
    const auto split = p->coordinates.begin() + static_cast<std::ptrdiff_t>(s.iterators.size());
    std::string instance;
    for (std::size_t i = 0; i < s.iterators.size(); ++i)
      instance += (i ? ", " : " at ") + s.iterators[i] + " = " + std::to_string(p->coordinates[i]);
    problems_.push_back(diagnose(code, s.place,
                                 {"'" + s.name + "'", "'" + a.array + "'", shape_text(array),
                                  list_text({split, p->coordinates.end()}), instance + where_text(*p)},
                                 {way_in(code)}));
  }

  // How the access gets inside its array, in the words of the op's own language.
  std::string way_in(Code code) const {
    if (!node_.loops.empty()) return "change the bounds of the loop, or guard the statement: if (i < N - 1) ...";
    if (code == Code::kReadOutOfBounds) return "shrink the range with `for` or `where`, or give a padding value: x[... ? 0.0]";
    return "shrink the range with `for` or `where`";
  }

  void definedness(const Array& array) {
    const std::vector<const Statement*>& writers = writers_of_[array.name];
    GrowingSet growing;
    for (std::size_t n = 0; n < writers.size(); ++n) {
      const isl::set range = writers[n]->write.relation.range();
      if (plain(array, *writers[n]) && growing.meets(range)) overlaps(array, writers, n);
      growing.add(range);
    }
    if (array.external) return;
    const isl::set written = growing.all(empty_like(box(array)));
    if (!array.in_place)
      for (const auto& [statement, access] : reads_of_[array.name]) undefined_read(*statement, *access, written);
    const bool output = readers_.outputs.count(array.name) > 0;
    const bool out_of_node = std::count(node_.out.begin(), node_.out.end(), array.name) > 0;
    if (!output && !out_of_node) return;
    const std::string way = output ? "write it too, or start from a given array: name '" + array.name + "' in \"inout\""
                                   : "of an array that only its op uses, declare no more elements than the op sets";
    if (const std::optional<Point> p = smallest_point(box(array).subtract(written)))
      problems_.push_back(diagnose(Code::kNotDefinedEverywhere, place_of(array.name),
                                   {"'" + array.name + "'", list_text(p->coordinates), where_text(*p)}, {way}));
  }

  static bool plain(const Array& array, const Statement& s) { return !s.update && !array.in_place; }

  // Which of the earlier definitions the n-th meets: looked for only when there is one.
  void overlaps(const Array& array, const std::vector<const Statement*>& writers, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k)
      if (plain(array, *writers[k])) overlap(array, *writers[k], *writers[n]);
  }

  void overlap(const Array& array, const Statement& a, const Statement& b) {
    const std::optional<Point> p = smallest_point(a.write.relation.range().intersect(b.write.relation.range()));
    if (!p) return;
    problems_.push_back(
        diagnose(Code::kDefinedTwice, b.place,
                 {"'" + array.name + "'", "'" + a.name + "'", "'" + b.name + "'", list_text(p->coordinates), where_text(*p)}));
  }

  void undefined_read(const Statement& s, const Access& a, const isl::set& written) {
    const std::optional<Point> p = smallest_point(a.relation.range().subtract(written));
    if (!p) return;
    problems_.push_back(diagnose(Code::kReadUndefined, s.place,
                                 {"'" + s.name + "'", "'" + a.array + "'", list_text(p->coordinates), where_text(*p)}));
  }

  Place place_of(const std::string& array) const {
    for (const Statement& s : scop_.statements)
      if (s.target == array) return s.place;
    return {};
  }

  const Program& program_;
  const ReaderIndex& readers_;
  const Node& node_;
  const Scop& scop_;
  std::map<std::string, std::vector<const Statement*>> writers_of_;
  std::map<std::string, std::vector<std::pair<const Statement*, const Access*>>> reads_of_;
  Diagnostics problems_;
};

// Of the time that is left, for one nest: planning comes after it.
constexpr double kSearchShare = 0.25;

std::string node_name(const Node& node) {
  for (const std::vector<std::string>* list : {&node.out, &node.inout})
    if (!list->empty()) return list->front();
  return node.op;
}

// Reads of a loop nest's own `out` arrays before any write of the element: one question for each array, of all its readers.
void uninitialised_reads(const Scop& scop, Diagnostics& problems) {
  if (!scop.original) return;
  for (const auto& [name, array] : scop.arrays) {
    if (array.external || !(array.in_place || array.scalar)) continue;
    isl::union_map writes = empty_union_map(), reads = empty_union_map();
    std::map<std::string, const Statement*> readers;
    for (const Statement& s : scop.statements) {
      if (s.target == name && !s.update) writes = writes.unite(isl::union_map(s.write.relation));
      if (s.target == name && s.update) reads = reads.unite(isl::union_map(s.write.relation));
      for (const Access& a : s.reads)
        if (a.array == name) reads = reads.unite(isl::union_map(a.relation));
      readers[statement_id(s.name)] = &s;
    }
    if (reads.is_empty()) continue;
    const isl::union_map none = isl::union_access_info(reads)
                                    .set_must_source(writes)
                                    .set_schedule(order_of_array(scop, name))
                                    .compute_flow()
                                    .must_no_source();
    std::map<const Statement*, isl::map> found;
    none.foreach_map([&](isl::map m) { found.emplace(readers.at(tuple_name(m.domain())), m); });
    for (const Statement& s : scop.statements) {
      const auto it = found.find(&s);
      if (it == found.end()) continue;
      if (const std::optional<Point> p = smallest_point(it->second.range()))
        problems.push_back(diagnose(Code::kReadUndefined, s.place,
                                    {"'" + s.name + "'", "'" + name + "'", list_text(p->coordinates), where_text(*p)}));
    }
  }
}

}  // namespace

Result<Done> validate(const Program& program, double time_budget_s, Ledger* ledger) {
  Diagnostics problems;
  Budget budget;
  budget.deadline = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                           std::chrono::duration<double>(time_budget_s));
  const ReaderIndex readers = readers_of(program);
  // Node by node keeps every isl question small; what crosses nodes is the tensors' definedness, which each defining node
  // proves.
  for (std::size_t n = 0; n < program.nodes.size(); ++n) {
    const Node& node = program.nodes[n];
    std::optional<Scop> scop;
    const Result<Done> ran = guarded("validation of '" + node.op + "'", Budget{}, [&] {
      scop = lower(program, readers, {static_cast<int>(n)}, "validation");
      const Diagnostics found = Validator(program, readers, node, *scop).run();
      problems.insert(problems.end(), found.begin(), found.end());
    });
    if (!ran) return ran.errors();
    if (!problems.empty() || node.loops.empty()) continue;
    const Result<Done> searched = guarded("search for uninitialised reads of '" + node.op + "'", budget.part(kSearchShare),
                                          [&] { uninitialised_reads(*scop, problems); });
    if (!searched && searched.errors()[0].code != Code::kBudgetExhausted) return searched.errors();
    if (!searched && ledger)
      ledger->push_back({"budget", "reads of '" + node_name(node) + "'", false, searched.errors()[0].message, "", 0});
  }
  if (!problems.empty()) return problems;
  return Done{};
}

Result<int> count_statements(const Program& program) {
  int count = 0;
  const ReaderIndex readers = readers_of(program);
  const Result<Done> ran = guarded("lowering", Budget{}, [&] {
    for (std::size_t n = 0; n < program.nodes.size(); ++n)
      count += static_cast<int>(lower(program, readers, {static_cast<int>(n)}, "count").statements.size());
  });
  if (!ran) return ran.errors();
  return count;
}

}  // namespace facet
