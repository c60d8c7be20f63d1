// Figures that are not known are null; what `unknown` names is told in a line of text.
#include "src/driver/run_report.hpp"

#include <cmath>
#include <cstdio>

namespace facet {

JsonValue object_code_json(const std::optional<ObjectCode>& code) {
  if (!code) return JsonValue::null();
  JsonValue out = JsonValue::object();
  out.add("loops", JsonValue::of(static_cast<std::int64_t>(code->loops)));
  out.add("vector_loops", JsonValue::of(static_cast<std::int64_t>(code->vector_loops)));
  out.add("vector_bytes", JsonValue::of(static_cast<std::int64_t>(code->vector_bytes)));
  out.add("spill_store_bytes", JsonValue::of(code->spill_store_bytes));
  return out.add("spill_load_bytes", JsonValue::of(code->spill_load_bytes));
}

namespace {

JsonValue number_or_null(double v, bool known) { return known && std::isfinite(v) ? JsonValue::of(v) : JsonValue::null(); }

JsonValue predicted_json(const KernelReport& k) {
  if (!k.predicted) return JsonValue::null();
  const PredictedCost& p = *k.predicted;
  JsonValue bytes = JsonValue::object();
  for (const auto& [level, moved] : p.bytes) bytes.add(level, JsonValue::of(moved));
  JsonValue out = JsonValue::object();
  out.add("time_ms", JsonValue::of(p.time_ms)).add("cycles", JsonValue::of(p.cycles)).add("flops", JsonValue::of(p.flops));
  out.add("bytes", std::move(bytes)).add("bound_by", JsonValue::of(p.bound_by)).add("threads", JsonValue::of(p.threads));
  out.add("lanes", JsonValue::of(p.lanes));
  return out.add("measured_over_predicted", number_or_null(p.time_ms > 0 ? k.time_ms / p.time_ms : 0, p.time_ms > 0));
}

JsonValue counters_json(const std::optional<MeasuredCounts>& counted) {
  if (!counted) return JsonValue::null();
  JsonValue out = JsonValue::object();
  return out.add("cycles", JsonValue::of(counted->cycles)).add("miss_bytes", JsonValue::of(counted->miss_bytes));
}

void add_facts(const KernelReport& k, JsonValue* one) {
  one->add("predicted", predicted_json(k)).add("object_code", object_code_json(k.object_code));
  one->add("counters", counters_json(k.counted));
}

// Facts beyond times are asked for with them.
JsonValue kernels_json(const Execution& e, bool told) {
  JsonValue list = JsonValue::array();
  for (const KernelReport& k : e.kernels) {
    const bool timed = k.time_ms > 0;
    JsonValue one = JsonValue::object();
    one.add("name", JsonValue::of(k.name))
        .add("ops", JsonValue::array_of(k.ops))
        .add("time_ms", number_or_null(k.time_ms, timed));
    one.add("flops", JsonValue::of(k.flops)).add("bytes", JsonValue::of(k.bytes));
    one.add("gflops", number_or_null(k.gflops, timed)).add("gbps", number_or_null(k.gbps, timed));
    if (k.registers >= 0)
      one.add("registers", JsonValue::of(static_cast<std::int64_t>(k.registers)))
          .add("local_bytes", JsonValue::of(static_cast<std::int64_t>(k.local_bytes)))
          .add("shared_bytes", JsonValue::of(static_cast<std::int64_t>(k.shared_bytes)));
    one.add("bound_ms", number_or_null(k.bound_ms, k.bound_ms > 0));
    one.add("bound_by", k.bound_by.empty() ? JsonValue::null() : JsonValue::of(k.bound_by));
    if (told) add_facts(k, &one);
    list.items.push_back(one.add("fraction_of_bound", number_or_null(k.fraction_of_bound, timed && k.fraction_of_bound > 0)));
  }
  return list;
}

std::string format(const char* pattern, double v) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, pattern, v);
  return buffer;
}

// One line for each kind of figure that is missing.
std::string unknown_text(const Execution& e) {
  std::string text;
  for (const auto& [what, reason] : e.unknown) {
    const std::string name = what == "counters"    ? "measured cycles and cache misses"
                             : what == "predicted" ? "prediction"
                                                   : "object code";
    text += "  no " + name + ": " + reason + "\n";
  }
  return text;
}

// What the interpreter saw; findings are a no, whatever the values.
void report_watched(const InterpretReport& r, Outcome* out) {
  JsonValue findings = JsonValue::array();
  for (const Finding& f : r.findings) {
    JsonValue one = JsonValue::object(), at = JsonValue::array();
    for (const std::int64_t i : f.subscripts) at.items.push_back(JsonValue::of(i));
    one.add("kind", JsonValue::of(to_text(f.kind))).add("kernel", JsonValue::of(f.kernel));
    one.add("statement", JsonValue::of(f.statement)).add("buffer", JsonValue::of(f.buffer)).add("element", std::move(at));
    findings.items.push_back(one.add("message", JsonValue::of(f.text)));
  }
  JsonValue seen = JsonValue::object();
  seen.add("findings", std::move(findings)).add("finding_count", JsonValue::of(r.finding_count));
  seen.add("steps", JsonValue::of(r.steps)).add("loads", JsonValue::of(r.loads)).add("stores", JsonValue::of(r.stores));
  seen.add("barriers", JsonValue::of(r.barriers)).add("collectives", JsonValue::of(r.collectives));
  out->json.add("interpreter", seen.add("shared_bytes", JsonValue::of(r.shared_bytes)));
  const std::string counts = std::to_string(r.loads) + " loads, " + std::to_string(r.stores) + " stores, " +
                             std::to_string(r.barriers) + " barriers, " + std::to_string(r.collectives) + " collectives";
  out->text += r.clean() ? "interpreted: no race, no access outside, nothing read that was not written; " + counts + "\n"
                         : "NOT CLEAN: " + std::to_string(r.finding_count) + " findings; " + counts + "\n";
  for (const Finding& f : r.findings) out->text += "  " + f.text + "\n";
  if (!r.clean()) out->status = 1;
}

void report_verdict(const Verdict& v, Outcome* out) {
  out->text += v.verified ? "verified: " + std::to_string(v.verified_elements) + " elements" +
                                format(", largest error %.3g", v.max_abs_error) + format(" (relative %.3g)", v.max_rel_error) +
                                format(", allowed %.3g", v.tolerance) +
                                (v.ambiguous ? ", " + std::to_string(v.ambiguous) + " ambiguous" : "") + "\n"
                          : "NOT VERIFIED: " + v.reason + "\n";
  if (!v.verified) out->status = 1;
}

}  // namespace

void report_run(const Loaded& loaded, const Options& options, const Execution& e, const Verdict* verdict, Outcome* out) {
  JsonValue sizes = JsonValue::object();
  std::string sizes_text;
  for (const Symbol& s : loaded.program.symbols) {
    sizes.add(s.name, JsonValue::of(loaded.sizes.at(s.name)));
    sizes_text += (sizes_text.empty() ? " with " : ", ") + s.name + " = " + std::to_string(loaded.sizes.at(s.name));
  }
  JsonValue& j = out->json;
  j.add("program", JsonValue::of(loaded.program.name)).add("target", JsonValue::of(e.target)).add("symbols", std::move(sizes));
  j.add("verified", verdict ? JsonValue::of(verdict->verified) : JsonValue::null());
  const bool known = verdict != nullptr;
  j.add("max_abs_error", number_or_null(known ? verdict->max_abs_error : 0, known));
  j.add("max_rel_error", number_or_null(known ? verdict->max_rel_error : 0, known));
  j.add("tolerance", number_or_null(known ? verdict->tolerance : 0, known));
  j.add("verified_elements", known ? JsonValue::of(verdict->verified_elements) : JsonValue::null());
  j.add("sampled", known ? JsonValue::of(verdict->sampled) : JsonValue::null());
  j.add("ambiguous", known ? JsonValue::of(verdict->ambiguous) : JsonValue::null());
  if (known && !verdict->verified) j.add("reason", JsonValue::of(verdict->reason));
  j.add("kernels", kernels_json(e, options.time))
      .add("compile_ms", JsonValue::of(e.compile_ms))
      .add("time_ms", JsonValue::of(e.time_ms));
  j.add("threads", JsonValue::of(e.threads)).add("compiler", JsonValue::of(e.compiler));
  if (!e.device.empty()) j.add("device", JsonValue::of(e.device));
  out->text = loaded.program.name + sizes_text + " on " + e.target + (e.device.empty() ? "" : " (" + e.device + ")") +
              format(": %.4g ms", e.time_ms) + (std::string(options.time ? " (median)" : "")) +
              format(e.watched ? ", made in %.4g ms\n" : ", compiled in %.4g ms\n", e.compile_ms);
  if (options.time) {
    JsonValue unknown = JsonValue::object();
    for (const auto& [what, reason] : e.unknown) unknown.add(what, JsonValue::of(reason));
    j.add("unknown", std::move(unknown));
    out->text += to_text(e.kernels) + unknown_text(e);
  }
  if (e.watched) report_watched(*e.watched, out);
  if (verdict) report_verdict(*verdict, out);
}

}  // namespace facet
