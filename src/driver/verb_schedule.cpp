// schedule and legal: what the scheduler chose, and whether a recipe is legal.
#include <algorithm>
#include <cstdio>

#include "src/driver/build.hpp"
#include "src/driver/machines.hpp"
#include "src/driver/notices.hpp"
#include "src/driver/obeyed.hpp"
#include "src/driver/recipe_text.hpp"
#include "src/driver/replay.hpp"
#include "src/driver/verbs.hpp"
#include "src/frontend/files.hpp"
#include "src/frontend/json.hpp"

namespace facet {

namespace {

JsonValue integers_json(const std::vector<std::int64_t>& list) {
  JsonValue out = JsonValue::array();
  for (const std::int64_t v : list) out.items.push_back(JsonValue::of(v));
  return out;
}

JsonValue instance_json(const LegalReport::Instance& i) {
  JsonValue out = JsonValue::object();
  out.add("statement", JsonValue::of(i.statement)).add("instance", integers_json(i.instance));
  out.add("loops", JsonValue::array_of(i.loops));
  if (i.place.line == 0) return out;
  out.add("file", JsonValue::of(i.place.file)).add("line", JsonValue::of(i.place.line));
  return out.add("column", JsonValue::of(i.place.column));
}

// "  S is written at stencil.c:12:7: S[i] = ...", for each statement of the witness.
std::string places_text(const LegalReport& r) {
  std::string text;
  for (const LegalReport::Instance* i : {&r.source, &r.sink}) {
    if (i->place.line == 0 || (i == &r.sink && r.sink.statement == r.source.statement)) continue;
    const std::size_t start = i->place.excerpt.find_first_not_of(' ');
    text += "  " + i->statement + " is written at " + i->place.file + ":" + std::to_string(i->place.line) + ":" +
            std::to_string(i->place.column) + ": " + (start == std::string::npos ? "" : i->place.excerpt.substr(start)) + "\n";
  }
  return text;
}

JsonValue violation_json(const LegalReport& r) {
  if (!r.has_violation) return JsonValue::null();
  JsonValue symbols = JsonValue::object();
  for (const auto& [name, value] : r.symbols) symbols.add(name, JsonValue::of(value));
  JsonValue out = JsonValue::object();
  out.add("kind", JsonValue::of(r.kind)).add("array", JsonValue::of(r.array)).add("element", integers_json(r.element));
  out.add("source", instance_json(r.source)).add("sink", instance_json(r.sink)).add("symbols", std::move(symbols));
  return out;
}

constexpr std::int64_t kReplaySteps = 50'000'000;  // of the interpreter: some seconds; more is replayed as two instances

struct Context {
  Loaded loaded;
  Machine machine;
};

Result<Context> context_of(const Options& options) {
  Result<Loaded> loaded = load_program(options);
  if (!loaded) return loaded.errors();
  Result<Machine> machine = planning_machine(options, false);
  if (!machine) return machine.errors();
  return Context{std::move(*loaded), std::move(*machine)};
}

// The steps of each group up to its first hole.
Recipe fixed_part(Recipe recipe) {
  for (Variant& v : recipe.variants)
    for (Group& g : v.groups) g.steps.erase(std::find_if(g.steps.begin(), g.steps.end(), leaves_hole), g.steps.end());
  return recipe;
}

// A refusal that is not of a step's legality: of its target, of what stands in its holes, of what the code makes of it.
LegalReport refused_by(const Diagnostic& d) {
  LegalReport report;
  report.legal = false;
  const std::size_t steps = d.place.pointer.find("/steps/");
  report.step = d.place.pointer.substr(0, steps == std::string::npos ? steps : d.place.pointer.find('/', steps + 7));
  report.reason = "precondition";
  report.message = to_text(d);
  report.refusal = d;
  return report;
}

// Is every step legal, and is there code that obeys it?
Result<LegalReport> judged_with_code(const Context& c, const Options& options, const Recipe& recipe, ScheduleOptions judged) {
  judged.memo = make_schedule_memo();
  Result<LegalReport> report = check_recipe(c.loaded.program, recipe, judged);
  if (!report || !report->legal) return report;
  const Result<Done> obeyed = check_code(c.loaded, options, c.machine, recipe, judged);
  if (obeyed) return report;
  if (failure_of(obeyed.errors()[0].code) != Failure::kAnswerIsNo) return obeyed.errors();
  return refused_by(obeyed.errors()[0]);
}

// Is every step legal?
Result<Done> obeyable(const Context& c, const Recipe& recipe, ScheduleOptions judged) {
  judged.repair = false;
  const Result<LegalReport> report = check_recipe(c.loaded.program, recipe, judged);
  const std::optional<Diagnostic> d = report ? report->refusal : std::optional(report.errors()[0]);
  if (!d || d->code == Code::kBudgetExhausted) return Done{};  // what was not judged in time is not refused
  return *d;
}

// The recipe as the scheduler completes it; where it cannot, for a fixed step is refused, the part that says so.
Result<Recipe> judged_recipe(const Context& c, const Options& options, const ScheduleOptions& judged) {
  const Loaded& loaded = c.loaded;
  Result<Recipe> wanted = wanted_recipe(loaded, options);
  if (!wanted || !has_argument_holes(*wanted)) return wanted;
  Result<Planned> planned = make_plan(loaded, options, judged);
  if (planned) return std::move(planned->recipe);
  Recipe fixed = fixed_part(*wanted);
  if (failure_of(planned.errors()[0].code) != Failure::kAnswerIsNo) return planned.errors();
  const Result<Done> fine = obeyable(c, fixed, judged);
  return fine ? Result<Recipe>(planned.errors()) : Result<Recipe>(std::move(fixed));
}

// Also of a recipe that is refused before its steps are applied: for its target, or where nothing can stand in its holes.
Result<LegalReport> judgement(const Context& c, const Options& options, const ScheduleOptions& judged) {
  const Result<Recipe> recipe = judged_recipe(c, options, judged);
  if (recipe) return judged_with_code(c, options, *recipe, judged);
  const Diagnostic& d = recipe.errors()[0];
  if (d.code != Code::kStepPrecondition && d.code != Code::kIllegalStep) return recipe.errors();
  return refused_by(d);
}

// The steps to paste, as text and in the document: `repair` and `instead` make the whole group legal; `step_repair` only the
// refused step, and says which later one is refused then.
Result<std::string> tell_repair(const LegalReport& report, JsonValue* json) {
  const Result<JsonValue> steps = steps_json(report.repair);
  if (!steps) return steps.errors();
  const Result<JsonValue> other = steps_json(report.instead ? std::vector<Step>{*report.instead} : std::vector<Step>{});
  if (!other) return other.errors();
  const JsonValue insert = report.repair.empty() ? JsonValue::null() : *steps;
  const JsonValue instead = report.instead ? other->items[0] : JsonValue::null();
  const bool whole = report.leaves.empty();
  json->add("repair", whole ? insert : JsonValue::null()).add("instead", whole ? instead : JsonValue::null());
  JsonValue partial = JsonValue::object();
  partial.add("insert", insert).add("instead", instead);
  JsonValue leaves = JsonValue::object();
  leaves.add("step", JsonValue::of(report.leaves)).add("message", JsonValue::of(report.leaves_why));
  partial.add("leaves", std::move(leaves));
  json->add("step_repair", whole ? JsonValue::null() : std::move(partial));
  const std::string label = whole ? "  repair" : "  repair of this step";
  std::string text;
  if (!report.repair.empty()) text += label + ": insert before it " + write_json_compact(*steps) + "\n";
  if (report.instead) text += label + ": take instead of it " + write_json_compact(instead) + "\n";
  if (!whole)
    text += "  it makes this step legal; a later one is still refused: " + report.leaves + ": " + report.leaves_why + "\n";
  return text;
}

}  // namespace

Result<Outcome> verb_schedule(const Options& options) {
  const Result<Context> c = context_of(options);
  if (!c) return c.errors();
  ScheduleOptions schedule = schedule_options(c->loaded, options, c->machine);
  schedule.memo = make_schedule_memo();
  Result<Planned> planned = make_plan(c->loaded, options, schedule);
  if (!planned) return planned.errors();
  // What is printed is what `legal` accepts and `run` obeys: nothing where a step is refused.
  const Result<Done> fine = options.schedule.empty() ? Done{} : obeyable(*c, planned->recipe, schedule);
  if (!fine) return fine.errors();
  const Result<Done> settled = settle_code(c->loaded, options, c->machine, schedule, &planned->recipe);
  if (!settled) return settled.errors();
  if (target_base(options) != "cuda") tell_ceilings(options, c->machine);
  warn_of_budget(planned->ledger, options);
  const std::string text = to_json(planned->recipe);
  // stdout is the recipe; what was chosen for its holes, and what the fixed part costs, goes beside it.
  for (const LedgerEntry& e : planned->ledger)
    if (e.kind == "hole" || e.kind == "fixed")
      std::fprintf(stderr, "%s%s%s %s\n", e.group.c_str(), e.group.empty() ? "" : ": ", e.subject.c_str(), e.reason.c_str());
  Outcome outcome;
  if (options.output.empty()) {
    outcome.text = text;
  } else {
    const Result<Done> written = write_file(options.output, text);
    if (!written) return written.errors();
    outcome.text = "wrote " + options.output + "\n";
  }
  const Result<JsonDocument> document = parse_json(text, "");
  if (document) outcome.json = document->root;
  return outcome;
}

Result<Outcome> verb_legal(const Options& options) {
  if (options.schedule.empty())
    return diagnose(Code::kBadCommandLine, {}, {"legal needs --schedule RECIPE"},
                    {"facet schedule PROGRAM -o R.json writes one to start from"});
  const Result<Context> c = context_of(options);
  if (!c) return c.errors();
  ScheduleOptions judged = schedule_options(c->loaded, options, c->machine);
  judged.replay = options.replay;
  const Result<LegalReport> report = judgement(*c, options, judged);
  if (!report) return report.errors();
  Outcome outcome;
  outcome.status = report->legal ? 0 : 1;
  outcome.json.add("legal", JsonValue::of(report->legal));
  const bool legal = report->legal;
  outcome.json.add("step", legal ? JsonValue::null() : JsonValue::of(report->step));
  outcome.json.add("reason", legal ? JsonValue::null() : JsonValue::of(report->reason));
  outcome.json.add("violation", violation_json(*report));
  const Result<std::string> repair = tell_repair(*report, &outcome.json);
  if (!repair) return repair.errors();
  if (!legal) outcome.json.add("message", JsonValue::of(report->message));
  outcome.text = legal ? "legal\n" : "illegal: " + report->message + "\n";
  if (!report->step.empty())
    outcome.text += "  step " + report->step + (report->verb.empty() ? "" : " (" + report->verb + ")") + "\n";
  if (!report->violation_text.empty()) outcome.text += "  violated: " + report->violation_text + "\n" + places_text(*report);
  outcome.text += *repair;
  if (options.replay) {
    const ReplayReport replay = run_replay(c->loaded.program, *report, options.seed, kReplaySteps);
    outcome.json.add("replay", to_json(replay));
    outcome.text += to_text(replay, *report);
  }
  return outcome;
}

}  // namespace facet
