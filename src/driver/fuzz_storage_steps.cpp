// Arrays that may be contracted live in the group alone; parts that may be promoted have a constant size; only arrays that the
// group does not read are streamed. Whether values are kept is for legality to say.
#include "src/driver/fuzz_storage_steps.hpp"

#include "src/driver/fuzz_arguments.hpp"

namespace facet {

namespace {

using Made = std::optional<Step>;

bool writes_below(const TrialView& view, const std::string& array, const std::vector<int>& statements) {
  return std::any_of(statements.begin(), statements.end(), [&](int x) { return view.statement(x).target == array; });
}

std::vector<const TrialStatement*> users_of(const TrialView& view, const std::string& array) {
  std::vector<const TrialStatement*> users;
  for (const TrialStatement& s : view.statements)
    if (s.target == array || holds(s.reads, array)) users.push_back(&s);
  return users;
}

// The loops that hold all users, by the first one's names.
std::vector<std::string> loops_around(const std::vector<const TrialStatement*>& users) {
  std::vector<std::string> around;
  for (std::size_t k = 0; k < users[0]->loops.size(); ++k)
    if (std::all_of(users.begin(), users.end(), [&](const TrialStatement* s) { return holds(s->loops, users[0]->loops[k]); }))
      around.push_back(users[0]->names[k]);
  return around;
}

class PromoteMaker {
 public:
  PromoteMaker(const Trial& trial, const TrialView& view, FuzzRandom& random) : trial_(trial), view_(view), random_(random) {}

  Made make() {
    std::vector<std::pair<const TrialStatement*, std::string>> uses;
    for (const TrialStatement& s : view_.statements) {
      if (s.copy) continue;
      for (const std::string& array : s.reads) uses.emplace_back(&s, array);
      if (!holds(s.reads, s.target)) uses.emplace_back(&s, s.target);
    }
    for (const auto& [s, array] : shuffled(uses, random_)) {
      const TrialArray* a = view_.array(array);
      if (!a || a->scalar) continue;
      if (random_.chance(20) && is_whole_before(*s, *a)) return whole(*s, *a);
      for (const int at : shuffled(s->loops, random_))
        if (fits(*s, *a, at)) return part(*s, *a, at);
    }
    return std::nullopt;
  }

 private:
  // Read by the statement, and written by earlier nests only.
  bool is_whole_before(const TrialStatement& s, const TrialArray& a) const {
    if (!holds(s.reads, a.name) || a.contracted || !a.parts.empty()) return false;
    for (const TrialStatement& other : view_.statements) {
      if (other.target != a.name) continue;
      if (other.number == s.number) return false;
      if (!other.loops.empty() && !s.loops.empty() && other.loops[0] == s.loops[0]) return false;
      if (&other > &s) return false;
    }
    return true;
  }

  bool fits(const TrialStatement& s, const TrialArray& a, int at) const {
    const auto depth = [&](int loop) { return std::find(s.loops.begin(), s.loops.end(), loop) - s.loops.begin(); };
    for (const int other : a.parts)
      if (other == at || (other < 0 && !a.contracted) || (a.contracted && other >= 0 && depth(other) >= depth(at)))
        return false;
    const bool written = writes_below(view_, a.name, view_.loop(at).statements);
    if (written && (a.padded || !trial_.writes_its_part(a.name, at))) return false;
    return trial_.has_constant_part(a.name, at);
  }

  Step whole(const TrialStatement& s, const TrialArray& a) {
    Step step = step_for("promote", s);
    step.arguments["array"] = text(a.name);
    if (random_.chance(40)) step.arguments["layout"] = layout(s, a, false);
    return step;
  }

  Step part(const TrialStatement& s, const TrialArray& a, int at) {
    Step step = step_for("promote", s);
    step.arguments["array"] = text(a.name);
    step.arguments["at"] = text(name_for(s, at));
    static const std::vector<std::string> kMemories = {"stack", "l1", "l2", "registers"};
    const bool named = random_.chance(60);
    const std::string memory = named ? random_.pick(kMemories) : "l2";
    if (named) step.arguments["memory"] = text(memory);
    const bool written = writes_below(view_, a.name, view_.loop(at).statements);
    if (!written && (a.padded || random_.chance(15))) step.arguments["fill"] = Argument{true};
    if (random_.chance(40)) step.arguments["layout"] = layout(s, a, named && memory[0] != 'l');
    if (!written && random_.chance(25)) step.arguments["buffers"] = number(2 + random_.below(2));
    return step;
  }

  // An order of the dimensions; some split, or kept apart by free elements.
  Argument layout(const TrialStatement& s, const TrialArray& a, bool may_pad) {
    const std::vector<std::string> dims = trial_.dimensions(a.name, s.number);
    ArgumentMap layout;
    const std::vector<std::string> order = shuffled(dims, random_);
    layout["order"] = texts(order);
    if (dims.empty()) return Argument{std::move(layout)};
    const std::string dimension = random_.pick(dims);
    const Argument elements = number(1 + random_.below(4));
    if (random_.chance(40)) {
      layout["inner"] = Argument{ArgumentMap{{dimension, elements}}};
    } else if (may_pad && order.size() > 1) {  // behind the slowest nothing lies that a pad would move
      layout["pad"] = Argument{ArgumentMap{{dimension == order[0] ? order[1] : dimension, elements}}};
    }
    return Argument{std::move(layout)};
  }

  const Trial& trial_;
  const TrialView& view_;
  FuzzRandom& random_;
};

}  // namespace

// A loop around a reader and around no writer.
std::optional<Step> random_compute_at(const TrialView& view, FuzzRandom& random) {
  for (const TrialStatement& s : shuffled(view.statements, random))
    for (const std::string& array : shuffled(s.reads, random)) {
      const TrialArray* a = view.array(array);
      if (!a || a->scalar || a->padded || a->stored_otherwise || s.target == array) continue;
      bool fits = false;
      for (const TrialStatement& w : view.statements) {
        if (w.target != array) continue;
        fits = !holds(w.reads, array);
        if (!fits) break;
        for (const int l : w.loops) fits = fits && view.loop(l).kind != LoopKind::kParallel && !view.loop(l).shares_threads;
      }
      for (std::size_t k = 0; fits && k < s.loops.size(); ++k) {
        const std::size_t at = s.loops.size() - 1 - k;
        if (writes_below(view, array, view.loop(s.loops[at]).statements) || random.chance(30)) continue;
        Step step = step_for("compute_at", s);
        step.arguments["array"] = text(array);
        step.arguments["at"] = text(s.names[at]);
        return step;
      }
    }
  return std::nullopt;
}

std::optional<Step> random_expand(const TrialView& view, FuzzRandom& random) {
  for (const TrialArray& a : shuffled(view.arrays, random)) {
    const std::vector<const TrialStatement*> users = users_of(view, a.name);
    if (a.outside || a.padded || users.empty() || (a.stored_otherwise && !a.scalar)) continue;
    const std::vector<std::string> around = loops_around(users);
    if (around.empty()) continue;
    Step step = step_for("expand", *users[0]);
    step.arguments["array"] = text(a.name);
    step.arguments["at"] = text(random.pick(around));
    return step;
  }
  return std::nullopt;
}

std::optional<Step> random_contract(const Trial& trial, const TrialView& view, FuzzRandom& random) {
  for (const TrialArray& a : shuffled(view.arrays, random)) {
    const std::vector<const TrialStatement*> users = users_of(view, a.name);
    const bool read = std::any_of(users.begin(), users.end(), [&](const TrialStatement* s) { return holds(s->reads, a.name); });
    if (a.outside || a.padded || a.scalar || a.stored_otherwise || !read) continue;
    Step step{"contract", {}, {}};
    step.arguments["array"] = text(a.name);
    const std::vector<std::string> around = loops_around(users);
    if (around.empty() && random.chance(70)) continue;
    if (!around.empty() && random.chance(30)) {
      step.arguments["statement"] = text(users[0]->name);
      step.arguments["at"] = text(random.pick(around));
    }
    const std::vector<std::string> dims = trial.dimensions(a.name, users[0]->number);
    if (!dims.empty() && random.chance(40)) {
      ArgumentMap places;
      places[random.pick(dims)] = number(1 + random.below(5));
      step.arguments["statement"] = text(users[0]->name);
      step.arguments["fold"] = Argument{std::move(places)};
    }
    return step;
  }
  return std::nullopt;
}

std::optional<Step> random_promote(const Trial& trial, const TrialView& view, FuzzRandom& random) {
  return PromoteMaker(trial, view, random).make();
}

// Before any is streamed, a vector loop must store it: the step that makes one is as good.
std::optional<Step> random_stream(const TrialView& view, FuzzRandom& random) {
  for (const TrialStatement& s : shuffled(view.statements, random)) {
    const TrialArray* a = view.array(s.target);
    if (!a || !s.stores_rows || s.update || s.loops.empty() || a->stored_otherwise || a->streamed) continue;
    const std::vector<const TrialStatement*> users = users_of(view, a->name);
    if (std::any_of(users.begin(), users.end(), [&](const TrialStatement* u) { return u->update || holds(u->reads, a->name); }))
      continue;
    const TrialLoop& loop = view.loop(s.loops.back());
    if (loop.kind == LoopKind::kVector) {
      Step step{"stream", {}, {}};
      step.arguments["array"] = text(a->name);
      return step;
    }
    if (loop.kind != LoopKind::kSerial || loop.shares_threads) continue;
    Step step = step_for("vectorize", s);
    step.arguments["loop"] = text(s.names.back());
    step.arguments["width"] = number(4);
    return step;
  }
  return std::nullopt;
}

}  // namespace facet
