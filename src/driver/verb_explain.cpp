// explain: the ledger of decisions, kernel by kernel: what the recipe says, what the scheduler chose and what it gave up, what
// the passes made of it. What belongs to no kernel comes last.
#include <algorithm>
#include <cstdio>
#include <functional>

#include "codegen/arena.hpp"
#include "codegen/kernel_uses.hpp"
#include "src/driver/build.hpp"
#include "src/driver/machines.hpp"
#include "src/driver/notices.hpp"
#include "src/driver/recipe_text.hpp"
#include "src/driver/verbs.hpp"
#include "src/frontend/json.hpp"
#include "src/run/measure.hpp"

namespace facet {

namespace {

// A line of the ledger, whoever wrote it.
struct Line {
  LedgerEntry entry;
  bool told = false;
};

JsonValue entry_json(const LedgerEntry& e, bool with_bytes) {
  JsonValue out = JsonValue::object();
  out.add("kind", JsonValue::of(e.kind)).add("subject", JsonValue::of(e.subject)).add("done", JsonValue::of(e.done));
  out.add("reason", JsonValue::of(e.reason)).add("group", JsonValue::of(e.group));
  if (with_bytes) out.add("bytes", JsonValue::of(e.bytes));
  return out;
}

std::string entry_text(const LedgerEntry& e) {
  return std::string(e.done ? "  + " : "  - ") + e.kind + ": " + e.subject + (e.reason.empty() ? "" : ": " + e.reason);
}

// Arguments and constants, and the workspace with its sharing.
std::int64_t peak_bytes(const LoopProgram& loops, const SymbolValues& sizes) {
  std::int64_t sum = arena_bytes(loops, sizes);
  for (const Buffer& b : loops.buffers) {
    if (b.role == BufferRole::kWorkspace) continue;
    std::int64_t bytes = size_bytes(b.dtype);
    for (const ExprPtr& e : b.extents) bytes *= evaluate_index(e, sizes);
    sum += bytes;
  }
  return sum;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& n : names) text += (text.empty() ? "" : ", ") + n;
  return text;
}

class Explanation {
 public:
  // `by`: which ceilings the plan was made by.
  Explanation(const Loaded& loaded, const Options& options, const Machine& measured, const std::string& by,
              const Recipe& wanted, const Built& built)
      : loaded_(loaded), wanted_(wanted), built_(built), gpu_(target_base(options) == "cuda"), by_(by) {
    const int threads = options.threads > 0 ? options.threads : measured.cpu.cores;
    ceilings_ = gpu_ ? ceilings_of(measured.gpu) : ceilings_of(measured.cpu, threads);
    outcome_.json.add("program", JsonValue::of(loaded.program.name)).add("target", JsonValue::of(options.target));
  }

  Outcome run() {
    collect();
    const std::vector<Variant>& variants = built_.plan.recipe.variants;
    for (std::size_t v = 0; v < variants.size(); ++v)
      for (const Group& g : variants[v].groups) group(v, g);
    const auto untold = [](const Line& l) { return !l.told; };
    if (std::any_of(lines_.begin(), lines_.end(), untold)) outcome_.text += "the program\n";
    tell(untold);
    const std::int64_t peak = peak_bytes(built_.loops, loaded_.sizes);
    if (!gpu_) outcome_.text += "planned with " + by_ + "\n";
    if (!gpu_) outcome_.json.add("planned_with", JsonValue::of(by_));
    outcome_.text += "peak memory: " + std::to_string(peak) + " bytes\n";
    outcome_.json.add("kernels", std::move(kernels_)).add("edges", std::move(edges_));
    outcome_.json.add("promotions", std::move(promotions_)).add("loops", std::move(loops_));
    outcome_.json.add("given_up", std::move(given_up_)).add("peak_bytes", JsonValue::of(peak));
    return std::move(outcome_);
  }

 private:
  bool several() const { return built_.plan.recipe.variants.size() > 1; }

  // What the recipe's file fixes stands first: it is what the rest works on.
  void collect() {
    for (std::size_t v = 0; v < wanted_.variants.size(); ++v)
      for (const Group& given : wanted_.variants[v].groups) {
        const std::string in_force = name_of(v, given);
        for (const Step& s : given.rewrites) fixed("rewrite", s, v, in_force);
        for (const Step& s : given.steps) fixed("step", s, v, in_force);
      }
    for (const LedgerEntry& e : built_.plan.ledger) {
      const bool edge = e.kind == "fusion" || e.kind == "contraction" || e.kind == "partition";
      (edge ? edges_ : e.kind == "promotion" ? promotions_ : loops_).items.push_back(entry_json(e, true));
      if (!e.done || e.kind == "budget") given_up_.items.push_back(entry_json(e, true));
      lines_.push_back({e});
    }
    for (const PassNote& n : built_.passes.notes) {
      const LedgerEntry e = {n.pass, n.loop, n.done, n.reason, n.kernel, 0};
      loops_.items.push_back(entry_json(e, false));
      if (!n.done) given_up_.items.push_back(entry_json(e, false));
      lines_.push_back({e});
    }
  }

  void fixed(const std::string& kind, const Step& step, std::size_t v, const std::string& group) {
    if (step.verb == "?") return;  // what it became, the ledger tells
    const LedgerEntry e = {kind, step_text(step), true, "", heading(v, group), 0};
    loops_.items.push_back(entry_json(e, false));
    lines_.push_back({e});
  }

  // The name that the completed recipe gives a group.
  std::string name_of(std::size_t v, const Group& given) const {
    for (const Group& g : built_.plan.recipe.variants[v].groups)
      if (g.ops == given.ops) return g.name;
    return given.name;
  }

  // As `plan` names a group in its ledger.
  std::string heading(std::size_t v, const std::string& group) const {
    const std::string& when = built_.plan.recipe.variants[v].when;
    return (several() ? "variant " + std::to_string(v) + (when.empty() ? "" : " (" + when + ")") + ", " : "") + group;
  }

  void group(std::size_t v, const Group& g) {
    const Kernel* kernel = nullptr;  // none: no sizes take the variant
    for (const Kernel& k : built_.scheduled.loops.kernels)
      if (k.variant == static_cast<int>(v) && k.group == g.name) kernel = &k;
    const std::string head = heading(v, g.name);
    const auto mine = [&](const Line& l) {
      return !l.told && (l.entry.group == head || (kernel && l.entry.group == kernel->name));
    };
    const bool runs = kernel && (!kernel->when || evaluate_index(kernel->when, loaded_.sizes) != 0);
    if (runs)
      describe(*kernel, several() ? head : "kernel " + g.name);
    else if (std::any_of(lines_.begin(), lines_.end(), mine))
      outcome_.text += head + " (" + listed(g.ops) + "): " + (kernel ? "for other sizes than these\n" : "for no sizes\n");
    tell(mine);
  }

  // Lines that read alike, of parts of a nest that were cut, are told once.
  void tell(const std::function<bool(const Line&)>& chosen) {
    std::vector<std::pair<std::string, int>> told;
    for (Line& l : lines_) {
      if (!chosen(l)) continue;
      l.told = true;
      const std::string text = entry_text(l.entry);
      const auto same = std::find_if(told.begin(), told.end(), [&](const auto& t) { return t.first == text; });
      if (same == told.end())
        told.emplace_back(text, 1);
      else
        ++same->second;
    }
    for (const auto& [text, times] : told)
      outcome_.text += text + (times == 1 ? "" : " (" + std::to_string(times) + " times)") + "\n";
  }

  void describe(const Kernel& k, const std::string& name) {
    const double flops = k.flops ? static_cast<double>(evaluate_index(k.flops, loaded_.sizes)) : 0;
    const double bytes = k.bytes ? static_cast<double>(evaluate_index(k.bytes, loaded_.sizes)) : 0;
    const RooflineBound bound = roofline_bound(flops, bytes, flop_bytes(built_.scheduled.loops, k.body), ceilings_);
    const std::string by = bound.by.empty() ? "memory" : bound.by;
    JsonValue one = JsonValue::object();
    one.add("name", JsonValue::of(k.name)).add("ops", JsonValue::array_of(k.ops)).add("flops", JsonValue::of(flops));
    one.add("bytes", JsonValue::of(bytes)).add("bound_ms", JsonValue::of(bound.time_ms)).add("bound_by", JsonValue::of(by));
    char line[160];
    std::snprintf(line, sizeof line, "): %.4g MFLOP, %.4g MB, at least %.4g ms by %s\n", flops / 1e6, bytes / 1e6,
                  bound.time_ms, by.c_str());
    outcome_.text += name + " (" + listed(k.ops) + line;
    if (gpu_) {
      const std::vector<std::string> launched = launches(k.name);
      one.add("launches", JsonValue::array_of(launched));
      if (launched.size() > 1) outcome_.text += "  = launches: " + listed(launched) + "\n";
    }
    kernels_.items.push_back(std::move(one));
  }

  // The kernels of the GPU that a group became: NAME, or NAME_0, NAME_1, ..
  std::vector<std::string> launches(const std::string& name) const {
    std::vector<std::string> list;
    for (const Kernel& k : built_.loops.kernels) {
      const bool numbered =
          k.name.rfind(name + "_", 0) == 0 && k.name.find_first_not_of("0123456789", name.size() + 1) == std::string::npos;
      if (k.name == name || numbered) list.push_back(k.name);
    }
    return list;
  }

  const Loaded& loaded_;
  const Recipe& wanted_;
  const Built& built_;
  bool gpu_;
  std::string by_;
  Ceilings ceilings_;
  Outcome outcome_;
  std::vector<Line> lines_;
  JsonValue kernels_ = JsonValue::array(), edges_ = JsonValue::array(), promotions_ = JsonValue::array(),
            loops_ = JsonValue::array(), given_up_ = JsonValue::array();
};

}  // namespace

Result<Outcome> verb_explain(const Options& options) {
  if (!options.html.empty()) return diagnose(Code::kNotInThisVersion, {}, {"explain --html"});
  const Result<Loaded> loaded = load_program(options);
  if (!loaded) return loaded.errors();
  const Result<Machine> measured = machine_in_force(options, true);
  if (!measured) return measured.errors();
  const Result<Machine> machine = planning_machine(options, false);
  if (!machine) return machine.errors();
  const Result<Recipe> wanted = wanted_recipe(*loaded, options);
  if (!wanted) return wanted.errors();
  const Result<Built> built = build_loops(*loaded, options, *machine);
  if (!built) return built.errors();
  warn_of_budget(built->plan.ledger, options);
  return Explanation(*loaded, options, *measured, ceilings_text(options, *machine), *wanted, *built).run();
}

}  // namespace facet
