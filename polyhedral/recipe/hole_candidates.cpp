// What may stand in a hole, by the kind of the argument and, for numbers, by its name.
//
// Structure (statements, loops, orders, arrays) is listed from the tree as it is at that step; numbers are the powers of two
// between one and what the loop or the machine has, since caches, registers and lanes come in them.
#include <algorithm>

#include "polyhedral/model.hpp"
#include "polyhedral/recipe/holes.hpp"

namespace facet {

namespace {

using Names = std::vector<std::string>;

constexpr std::size_t kMostPermuted = 5;  // 120 orders; of deeper chains only exchanges of neighbours are tried

const Parameter* parameter_of(const Step& step, const std::string& name) {
  const Transform* t = find_transform(step.verb);
  if (!t) return nullptr;
  for (const Parameter& p : t->parameters)
    if (name == p.name) return &p;
  return nullptr;
}

std::string text_of(const Step& step, const std::string& name) {
  const auto it = step.arguments.find(name);
  if (it == step.arguments.end()) return "";
  const auto* s = std::get_if<std::string>(&it->second.value);
  return s ? *s : "";
}

Names list_of(const Step& step, const std::string& name) {
  Names names;
  const auto it = step.arguments.find(name);
  if (it == step.arguments.end()) return names;
  if (const auto* list = std::get_if<ArgumentList>(&it->second.value))
    for (const Argument& a : *list)
      if (const auto* s = std::get_if<std::string>(&a.value)) names.push_back(*s);
  return names;
}

class Candidates {
 public:
  Candidates(const Schedule& schedule, const ScheduleOptions& options, const Step& step, const HoleSlot& slot)
      : schedule_(schedule), options_(options), step_(step), slot_(slot) {
    const Names several = list_of(step, "statements");
    statement_ = schedule.find(several.empty() ? text_of(step, "statement") : several[0]);
  }

  std::vector<Argument> list() const {
    const Parameter* p = parameter_of(step_, slot_.argument);
    // Inside an object (a layout) nothing is chosen, and what is fixed there must stay.
    if (!p || std::holds_alternative<ArgumentMap>(step_.arguments.at(slot_.argument).value)) return {};
    const std::string kind = p->kind, name = p->name;
    if (kind == "statement") return texts(statements());
    if (kind == "statements") return slot_.position < 0 ? statement_lists() : texts(unused(statements()));
    if (kind == "loop") return texts(unused_loops());
    if (kind == "loops") return slot_.position < 0 ? loop_lists() : texts(unused(loops()));
    if (kind == "array") return arrays();
    if (kind == "bool") return {Argument{false}, Argument{true}};
    if (kind == "int" || kind == "ints") return numbers(name);
    if (kind == "text" && name == "memory") return texts(memories());
    if (kind == "text" && name == "reduction")
      return texts(step_.verb == "map_gpu" ? Names{"atomic"} : Names{"clause", "atomic"});
    if (kind == "text" && name == "fusion") return texts({"balanced", "maximal", "minimal"});
    if (kind == "names" && slot_.position >= 0) return {arg(new_name())};
    if (slot_.position >= 0) return {};
    if (!p->required) return {Argument{Hole{}}};  // names, layouts: as the step itself would choose
    return {};
  }

 private:
  static std::vector<Argument> texts(const Names& names) {
    std::vector<Argument> out;
    for (const std::string& n : names) out.push_back(arg(n));
    return out;
  }

  // After the loop at the same place of the list.
  std::string new_name() const {
    const Names used = list_of(step_, slot_.argument), of = list_of(step_, "loops");
    const auto taken = [&](const std::string& n) {
      const std::vector<Symbol>& symbols = schedule_.scop->symbols;
      return std::count(used.begin(), used.end(), n) > 0 ||
             std::any_of(symbols.begin(), symbols.end(), [&](const Symbol& s) { return s.name == n; }) ||
             (statement_ >= 0 && find_loop(schedule_.tree, statement_, n));
    };
    const std::size_t at = static_cast<std::size_t>(slot_.position);
    const std::string base = (at < of.size() ? of[at] : "c") + "t";
    std::string name = base;
    for (int i = 2; taken(name); ++i) name = base + std::to_string(i);
    return name;
  }

  Names statements() const {
    Names names;
    for (const int s : statements_of(schedule_.tree))
      if (schedule_.statement(s).kind != StatementKind::kCopy) names.push_back(schedule_.statement(s).name);
    return names;
  }

  Names loops() const {
    Names names;
    if (statement_ < 0) return names;
    for (const TreePtr& l : loops_around(schedule_.tree, statement_)) names.push_back(l->names.at(statement_));
    return names;
  }

  Names unused(Names names) const {
    const Names used = list_of(step_, slot_.argument);
    std::erase_if(names, [&](const std::string& n) { return std::count(used.begin(), used.end(), n) > 0; });
    return names;
  }

  // A loop is not skewed by itself.
  Names unused_loops() const {
    Names names = loops();
    const std::string other = text_of(step_, slot_.argument == "by" ? "loop" : slot_.argument == "loop" ? "by" : "");
    std::erase(names, other);
    return names;
  }

  // Neighbouring nests of one sequence, two at a time and all together.
  std::vector<Argument> statement_lists() const {
    std::vector<Argument> out;
    add_neighbours(schedule_.tree, &out);
    return out;
  }

  void add_neighbours(const TreePtr& tree, std::vector<Argument>* out) const {
    if (tree->kind == Tree::Kind::kSequence) {
      Names heads;
      for (const TreePtr& c : tree->children) heads.push_back(schedule_.statement(statements_of(c).front()).name);
      out->push_back(arg(heads));
      for (std::size_t i = 0; i + 1 < heads.size() && heads.size() > 2; ++i) out->push_back(arg(Names{heads[i], heads[i + 1]}));
    }
    for (const TreePtr& c : tree->children) add_neighbours(c, out);
  }

  // The longest run of loops that stand directly inside each other.
  Names chain() const {
    Names best, run;
    const std::vector<TreePtr> around = loops_around(schedule_.tree, statement_);
    for (std::size_t i = 0; i < around.size(); ++i) {
      if (i > 0 && around[i - 1]->children[0] != around[i]) run.clear();
      run.push_back(around[i]->names.at(statement_));
      if (run.size() > best.size()) best = run;
    }
    return best;
  }

  std::vector<Argument> loop_lists() const {
    if (step_.verb == "fuse") return fused_loops();
    if (statement_ < 0) return {};
    const Names all = chain();
    std::vector<Argument> out;
    if (step_.verb == "interchange") {
      Names order = all;
      if (all.size() < 2) return {};
      out.push_back(arg(all));
      if (all.size() <= kMostPermuted) {
        std::vector<std::size_t> at(all.size());
        for (std::size_t i = 0; i < at.size(); ++i) at[i] = i;
        while (std::next_permutation(at.begin(), at.end())) {
          for (std::size_t i = 0; i < at.size(); ++i) order[i] = all[at[i]];
          out.push_back(arg(order));
        }
        return out;
      }
      for (std::size_t i = 0; i + 1 < all.size(); ++i) {
        order = all;
        std::swap(order[i], order[i + 1]);
        out.push_back(arg(order));
      }
      return out;
    }
    for (std::size_t n = all.size(); n > 0; --n)
      for (std::size_t first = 0; first + n <= all.size(); ++first)
        out.push_back(arg(Names(all.begin() + static_cast<long>(first), all.begin() + static_cast<long>(first + n))));
    return out;
  }

  std::vector<Argument> fused_loops() const {
    std::vector<Argument> out;
    const Names named = list_of(step_, "statements");
    const int first = named.empty() ? -1 : schedule_.find(named[0]);
    if (first < 0) return out;
    Names all;  // without those that the nests share already
    for (const TreePtr& l : loops_around(schedule_.tree, first)) {
      const auto inside = [&](const std::string& name) {
        const int s = schedule_.find(name);
        return s >= 0 && contains(l, s);
      };
      if (!std::all_of(named.begin(), named.end(), inside)) all.push_back(l->names.at(first));
    }
    for (std::size_t n = all.size(); n > 0; --n) out.push_back(arg(Names(all.begin(), all.begin() + static_cast<long>(n))));
    return out;
  }

  std::vector<Argument> arrays() const {
    std::vector<Argument> out;
    for (const auto& [name, a] : schedule_.scop->arrays)
      if (!a.scalar) out.push_back(arg(name));
    return out;
  }

  Names memories() const {
    if (options_.for_gpu()) return {"shared", "registers"};
    return {"l2", "l1", "stack", "registers", "l3"};
  }

  // The trips of the loop that the number is for; 0 unknown.
  double trips() const {
    if (statement_ < 0) return 0;
    std::string name = text_of(step_, "loop");
    Names list = list_of(step_, step_.arguments.count("block") ? "block" : "loops");
    if (step_.arguments.count("time")) list.insert(list.begin(), text_of(step_, "time"));
    if (slot_.position >= 0 && static_cast<std::size_t>(slot_.position) < list.size())
      name = list[static_cast<std::size_t>(slot_.position)];
    const TreePtr loop = find_loop(schedule_.tree, statement_, name);
    return loop ? Model(schedule_, options_.sizes).trips(*loop, statement_) : 0;
  }

  static std::vector<Argument> powers(std::int64_t from, std::int64_t to) {
    std::vector<Argument> out;
    for (std::int64_t n = from; n <= to; n *= 2) out.push_back(arg(n));
    return out;
  }

  std::vector<Argument> numbers(const std::string& name) const {
    const double n = trips();
    const std::int64_t most = n > 0 ? static_cast<std::int64_t>(n) : 512;
    if (name == "sizes" || name == "size") {
      std::vector<Argument> out = powers(4, std::max<std::int64_t>(4, std::min<std::int64_t>(most, 1024)));
      std::rotate(out.begin(), out.begin() + std::min<long>(3, static_cast<long>(out.size()) - 1), out.end());  // from 32 on
      return out;
    }
    if (name == "width") return powers(2, std::max(2, options_.machine.cpu.vector_bytes));
    if (name == "factor" && step_.verb == "skew") return {arg(std::int64_t{1}), arg(std::int64_t{-1}), arg(std::int64_t{2})};
    if (name == "factor") return powers(2, std::max<std::int64_t>(2, std::min<std::int64_t>(most, 16)));
    if (name == "offset") {
      std::vector<Argument> out;
      for (const std::int64_t v : {0, 1, -1, 2, -2, 3, -3, 4, -4}) out.push_back(arg(v));
      return out;
    }
    if (name == "collapse") return {arg(std::int64_t{1}), arg(std::int64_t{2}), arg(std::int64_t{3})};
    if (name == "threads") return powers(1, 256);
    if (name == "depth") return powers(8, 32);
    if (name == "lanes") return powers(1, 32);
    return powers(1, 16);
  }

  const Schedule& schedule_;
  const ScheduleOptions& options_;
  const Step& step_;
  const HoleSlot& slot_;
  int statement_ = -1;
};

}  // namespace

bool is_listed_text(const std::string& argument) {
  return argument == "memory" || argument == "reduction" || argument == "fusion";
}

std::vector<Argument> hole_candidates(const Schedule& schedule, const ScheduleOptions& options, const Step& step,
                                      const HoleSlot& slot) {
  return Candidates(schedule, options, step, slot).list();
}

}  // namespace facet
