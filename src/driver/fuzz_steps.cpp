// Each maker looks for a place where its step applies, in random order; steps on storage are in fuzz_storage_steps.cpp.
#include "src/driver/fuzz_steps.hpp"

#include <iterator>
#include <set>

#include "src/driver/fuzz_arguments.hpp"
#include "src/driver/fuzz_storage_steps.hpp"

namespace facet {

namespace {

using Made = std::optional<Step>;

class StepMaker {
 public:
  StepMaker(const Trial& trial, FuzzRandom& random) : trial_(trial), view_(trial.view()), random_(random) {}

  struct Kind {
    const char* verb;
    Made (StepMaker::*make)();
  };
  static const std::vector<Kind>& kinds();

  Made make(const std::string& verb) {
    for (const Kind& k : kinds())  // a view is empty when the time is over
      if (verb == k.verb && !view_.statements.empty()) return (this->*k.make)();
    return std::nullopt;
  }

 private:
  struct Place {
    const TrialStatement* statement;
    const TrialLoop* loop;
  };

  // A loop that `fits`, by one of its statements.
  template <class Fits>
  std::optional<Place> place(const Fits& fits) {
    std::vector<Place> all;
    for (const TrialStatement& s : view_.statements)
      for (const int l : s.loops)
        if (fits(s, view_.loop(l))) all.push_back({&s, &view_.loop(l)});
    if (all.empty()) return std::nullopt;
    return random_.pick(all);
  }

  template <class Fits>
  Made on_loop(const std::string& verb, const Fits& fits) {
    const std::optional<Place> at = place(fits);
    if (!at) return std::nullopt;
    Step step = step_for(verb, *at->statement);
    step.arguments["loop"] = text(name_for(*at->statement, at->loop->id));
    chosen_ = *at;
    return step;
  }

  static bool any(const TrialStatement&, const TrialLoop&) { return true; }
  static bool plain(const TrialStatement&, const TrialLoop& l) { return l.kind == LoopKind::kSerial && !l.shares_threads; }

  // The names of loops that stand directly inside each other around a statement, as long as possible from a random start.
  std::vector<std::string> chain(const TrialStatement& s) {
    if (s.loops.empty()) return {};
    std::size_t from = static_cast<std::size_t>(random_.below(static_cast<int>(s.loops.size())));
    while (from > 0 && view_.loop(s.loops[from]).outer == s.loops[from - 1]) --from;
    std::size_t to = from + 1;
    while (to < s.loops.size() && view_.loop(s.loops[to]).outer == s.loops[to - 1]) ++to;
    return {s.names.begin() + static_cast<std::ptrdiff_t>(from), s.names.begin() + static_cast<std::ptrdiff_t>(to)};
  }

  std::string fresh(const TrialStatement& s, const std::string& base) {
    std::string name;
    do name = base + std::to_string(random_.below(1000));
    while (holds(s.names, name));
    return name;
  }

  Made tile() {
    const TrialStatement& s = random_.pick(view_.statements);
    std::vector<std::string> loops = chain(s);
    if (loops.empty()) return std::nullopt;
    const int count = 1 + random_.below(static_cast<int>(loops.size()));
    const int first = random_.below(static_cast<int>(loops.size()) - count + 1);
    loops = {loops.begin() + first, loops.begin() + first + count};
    if (random_.chance(20)) loops = shuffled(loops, random_);
    std::vector<std::int64_t> sizes;
    std::vector<std::string> names;
    for (const std::string& l : loops) {
      sizes.push_back(1 + random_.below(9));
      names.push_back(fresh(s, l + "_"));
    }
    Step step = step_for("tile", s);
    step.arguments["loops"] = texts(loops);
    step.arguments["sizes"] = numbers(sizes);
    step.arguments["names"] = texts(names);
    return step;
  }

  Made interchange() {
    for (const TrialStatement& s : shuffled(view_.statements, random_)) {
      const std::vector<std::string> loops = chain(s);
      if (loops.size() < 2) continue;
      Step step = step_for("interchange", s);
      const auto at = static_cast<std::size_t>(random_.below(static_cast<int>(loops.size()) - 1));
      step.arguments["order"] =
          texts(random_.chance(30) ? shuffled(loops, random_) : std::vector<std::string>{loops[at + 1], loops[at]});
      return step;
    }
    return std::nullopt;
  }

  Made skew() {
    const std::optional<Place> at = place([&](const TrialStatement& s, const TrialLoop& l) { return !bys(s, l).empty(); });
    if (!at) return std::nullopt;
    Step step = step_for("skew", *at->statement);
    step.arguments["loop"] = text(name_for(*at->statement, at->loop->id));
    step.arguments["by"] = text(random_.pick(bys(*at->statement, *at->loop)));
    static const std::vector<std::int64_t> kFactors = {-2, -1, 1, 1, 1, 2, 3};
    step.arguments["factor"] = number(random_.pick(kFactors));
    return step;
  }

  // The loops whose values all statements of `l` have.
  std::vector<std::string> bys(const TrialStatement& s, const TrialLoop& l) const {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < s.loops.size(); ++k) {
      const TrialLoop& by = view_.loop(s.loops[k]);
      const bool all = std::all_of(l.statements.begin(), l.statements.end(), [&](int x) { return holds(by.statements, x); });
      if (by.id != l.id && all) names.push_back(s.names[k]);
    }
    return names;
  }

  Made reverse() { return on_loop("reverse", any); }

  Made shift() {
    Made step = on_loop("shift", any);
    static const std::vector<std::int64_t> kOffsets = {-3, -2, -1, 1, 2, 3};
    if (step) step->arguments["offset"] = number(random_.pick(kOffsets));
    return step;
  }

  Made parallelize() {
    Made step = on_loop("parallelize", plain);
    if (!step || share_updates(trial_, random_, &*step) || !random_.chance(30)) return step;
    int inside = 1;  // plain loops directly inside each other
    const TrialStatement& s = *chosen_.statement;
    for (auto l = std::find(s.loops.begin(), s.loops.end(), chosen_.loop->id); l + 1 != s.loops.end(); ++l, ++inside)
      if (view_.loop(*(l + 1)).outer != *l || !plain(s, view_.loop(*(l + 1)))) break;
    if (inside > 1) step->arguments["collapse"] = number(2 + random_.below(inside - 1));
    return step;
  }

  Made vectorize() {
    Made step = on_loop("vectorize", plain);
    if (step) step->arguments["width"] = number(2 << random_.below(4));
    return step;
  }

  Made unroll() {
    Made step = on_loop("unroll", plain);
    if (step && random_.chance(70)) step->arguments["factor"] = number(random_.below(5));
    return step;
  }

  Made unroll_and_jam() {
    Made step = on_loop("unroll_and_jam", [](const TrialStatement& s, const TrialLoop& l) { return plain(s, l) && !l.leaf; });
    if (step) step->arguments["factor"] = number(2 + random_.below(3));
    return step;
  }

  Made strip_mine() {
    Made step = on_loop("strip_mine", any);
    if (!step) return step;
    step->arguments["size"] = number(1 + random_.below(9));
    if (random_.chance(50)) step->arguments["name"] = text(fresh(*chosen_.statement, "piece"));
    return step;
  }

  // A loop with more iterations than `count`, without buffers inside.
  Made on_long_loop(const std::string& verb, std::int64_t count) {
    return on_loop(verb, [&](const TrialStatement& s, const TrialLoop& l) {
      if (l.boxes) return false;
      const auto [low, high] = trial_.range(l.id, s.number);
      return high - low + 1 > count;
    });
  }

  Made index_set_split() {
    Made step = on_long_loop("index_set_split", 1);
    if (!step) return step;
    const auto [low, high] = trial_.range(chosen_.loop->id, chosen_.statement->number);
    if (random_.chance(25)) {
      step->arguments["expression"] = text("N - " + std::to_string(1 + random_.below(3)));
    } else {
      step->arguments["at"] = number(low + 1 + random_.below(static_cast<int>(high - low)));
    }
    return step;
  }

  Made peel() {
    const std::int64_t count = 1 + random_.below(2);
    Made step = on_long_loop("peel", count);
    if (step) step->arguments[random_.chance(50) ? "first" : "last"] = number(count);
    return step;
  }

  Made embed() {
    const std::optional<Place> at = place(any);
    if (!at) return std::nullopt;
    Step step = step_for("embed", *at->statement);
    step.arguments["loop"] = text(fresh(*at->statement, "one"));
    if (random_.chance(60)) step.arguments["around"] = text(name_for(*at->statement, at->loop->id));
    if (random_.chance(50)) step.arguments["at"] = number(random_.below(5) - 2);
    return step;
  }

  // How many outer loops of the nests could become one each: vectors and copies rarely agree in their numbers.
  std::size_t depth_alike(const std::vector<TrialNest>& nests) const {
    for (std::size_t d = 0;; ++d)
      for (const TrialNest& n : nests) {
        if (d == n.loops.size()) return d;
        const LoopKind kind = view_.loop(n.loops[d]).kind;
        const bool plain = kind == LoopKind::kSerial || kind == LoopKind::kParallel;
        if (!plain || kind != view_.loop(nests[0].loops[d]).kind) return d;
      }
  }

  // Neighbours mostly: what stands between two nests stays before both.
  Made fuse() {
    for (std::vector<TrialNest> nests : shuffled(view_.sequences, random_)) {
      std::erase_if(nests, [](const TrialNest& n) { return n.loops.empty(); });
      if (nests.size() < 2) continue;
      const std::size_t first = static_cast<std::size_t>(random_.below(static_cast<int>(nests.size()) - 1));
      std::vector<TrialNest> chosen = {nests[first], nests[first + 1]};
      if (random_.chance(15)) chosen = nests;
      std::size_t depth = depth_alike(chosen);
      if (depth == 0) continue;
      depth = 1 + static_cast<std::size_t>(random_.below(static_cast<int>(depth)));
      Step step{"fuse", {}, {}};
      std::vector<std::string> names;
      ArgumentMap loops;
      for (const TrialNest& n : chosen) {
        const TrialStatement& s = view_.statement(random_.pick(n.statements));
        std::vector<std::string> outer;
        for (std::size_t d = 0; d < depth; ++d) outer.push_back(name_for(s, n.loops[d]));
        names.push_back(s.name);
        loops[s.name] = texts(outer);
      }
      step.arguments["statements"] = texts(shuffled(names, random_));
      step.arguments["loops"] = Argument{std::move(loops)};
      return step;
    }
    return std::nullopt;
  }

  Made distribute() {
    Made step = on_loop("distribute", [](const TrialStatement&, const TrialLoop& l) { return l.statements.size() > 1; });
    if (!step || !random_.chance(40)) return step;
    std::vector<std::string> with;
    for (const int x : chosen_.loop->statements)
      if (x != chosen_.statement->number && random_.chance(40)) with.push_back(view_.statement(x).name);
    if (!with.empty() && with.size() + 1 < chosen_.loop->statements.size()) step->arguments["with"] = texts(with);
    return step;
  }

  // isl's scheduler takes nests without marks and parts.
  Made reschedule() {
    std::vector<std::string> names;
    for (const TrialStatement& s : view_.statements) {
      const bool untouched = std::all_of(s.loops.begin(), s.loops.end(), [&](int l) {
        return view_.loop(l).kind == LoopKind::kSerial && !view_.loop(l).boxes;
      });
      if (untouched && !s.loops.empty() && (names.empty() || random_.chance(60))) names.push_back(s.name);
    }
    if (names.empty()) return std::nullopt;
    Step step{"reschedule", {}, {}};
    step.arguments["statements"] = texts(names);
    if (random_.chance(60)) step.arguments["fusion"] = text(random_.chance(50) ? "maximal" : "minimal");
    if (random_.chance(30)) step.arguments["outer_coincidence"] = Argument{true};
    return step;
  }

  // A loop all of whose statements have plain loops inside: time, as far as the step knows.
  Made hexagons() {
    const auto below = [&](const TrialLoop& time, int number) {
      const TrialStatement& s = view_.statement(number);
      const auto at = std::find(s.loops.begin(), s.loops.end(), time.id);
      return std::vector<int>(at + 1, s.loops.end());
    };
    const std::optional<Place> at = place([&](const TrialStatement& s, const TrialLoop& time) {
      return plain(s, time) && std::all_of(time.statements.begin(), time.statements.end(), [&](int x) {
               const std::vector<int> inside = below(time, x);
               return !inside.empty() &&
                      std::all_of(inside.begin(), inside.end(), [&](int l) { return view_.loop(l).kind == LoopKind::kSerial; });
             });
    });
    if (!at) return std::nullopt;
    Step step{"hexagons", {}, {}};
    std::vector<std::string> names;
    std::set<int> nests;
    ArgumentMap loops;
    std::size_t depth = random_.chance(30) ? 2 : 1;
    for (const int x : at->loop->statements) depth = std::min(depth, below(*at->loop, x).size());
    for (const int x : at->loop->statements) {
      const std::vector<int> inside = below(*at->loop, x);
      if (!nests.insert(inside[0]).second) continue;
      const TrialStatement& s = view_.statement(x);
      std::vector<std::string> own;
      for (std::size_t k = 0; k < depth; ++k) own.push_back(name_for(s, inside[k]));
      names.push_back(s.name);
      loops[s.name] = texts(own);
    }
    step.arguments["time"] = text(name_for(view_.statement(at->loop->statements[0]), at->loop->id));
    step.arguments["statements"] = texts(names);
    step.arguments["loops"] = Argument{std::move(loops)};
    std::vector<std::int64_t> sizes{1 + random_.below(3), 6 + random_.below(12)};
    if (depth > 1) sizes.push_back(1 + random_.below(5));
    step.arguments["sizes"] = numbers(sizes);
    const TrialStatement& first = view_.statement(at->loop->statements[0]);
    std::vector<std::string> made{fresh(first, "front"), fresh(first, "hexagon"), fresh(first, "past")};
    if (depth > 1) made.insert(made.begin() + 2, fresh(first, "tile"));
    step.arguments["names"] = texts(made);
    return trial_.applies(step) || random_.chance(10) ? Made(step) : std::nullopt;  // its slopes tell by dependences only
  }

  Made contract() { return random_contract(trial_, view_, random_); }
  Made expand() { return random_expand(view_, random_); }
  Made compute_at() { return random_compute_at(view_, random_); }
  Made promote() {
    Made step = random_promote(trial_, view_, random_);
    return step ? step : tile();  // parts of constant size lie below tiles
  }
  Made stream() { return random_stream(view_, random_); }

  const Trial& trial_;
  const TrialView view_;
  FuzzRandom& random_;
  Place chosen_{nullptr, nullptr};  // by the last on_loop
};

const std::vector<StepMaker::Kind>& StepMaker::kinds() {
  static const std::vector<Kind> list = {
      {"tile", &StepMaker::tile},
      {"interchange", &StepMaker::interchange},
      {"parallelize", &StepMaker::parallelize},
      {"vectorize", &StepMaker::vectorize},
      {"unroll", &StepMaker::unroll},
      {"skew", &StepMaker::skew},
      {"reverse", &StepMaker::reverse},
      {"shift", &StepMaker::shift},
      {"promote", &StepMaker::promote},
      {"fuse", &StepMaker::fuse},
      {"distribute", &StepMaker::distribute},
      {"contract", &StepMaker::contract},
      {"expand", &StepMaker::expand},
      {"compute_at", &StepMaker::compute_at},
      {"reschedule", &StepMaker::reschedule},
      {"hexagons", &StepMaker::hexagons},
      {"strip_mine", &StepMaker::strip_mine},
      {"unroll_and_jam", &StepMaker::unroll_and_jam},
      {"index_set_split", &StepMaker::index_set_split},
      {"peel", &StepMaker::peel},
      {"embed", &StepMaker::embed},
      {"stream", &StepMaker::stream},
  };
  return list;
}

constexpr int kTries = 30;  // kinds asked before the group counts as one without loops

}  // namespace

std::vector<std::string> fuzz_verbs() {
  std::vector<std::string> verbs;
  for (const StepMaker::Kind& k : StepMaker::kinds()) verbs.push_back(k.verb);
  return verbs;
}

std::optional<Step> random_step(const std::string& verb, const Trial& trial, FuzzRandom& random) {
  return StepMaker(trial, random).make(verb);
}

std::optional<Step> random_step(const Trial& trial, FuzzRandom& random) {
  StepMaker maker(trial, random);
  for (int i = 0; i < kTries; ++i)
    if (Made step = maker.make(random.pick(fuzz_verbs()))) return step;
  return std::nullopt;
}

}  // namespace facet
