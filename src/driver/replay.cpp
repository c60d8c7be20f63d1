// The interpreter runs the two programs of a Replay; buffers that exist before are drawn at random, probes start at zero.
//
// Values may happen to be the same in both orders (a product with zero, a maximum that something else attains): then other
// inputs are drawn. What makes a witness real is not that, but that both instances ran, access the element and change places.
#include "src/driver/replay.hpp"

#include <cstdio>
#include <set>

#include "src/run/inputs.hpp"
#include "src/run/interpret/interpret.hpp"

namespace facet {

namespace {

constexpr int kDraws = 4;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;  // of all buffers: a replay is for small sizes

bool is_probe(const std::string& buffer) { return buffer.rfind("replay.", 0) == 0; }

std::int64_t bytes_of(const LoopProgram& program, const SymbolValues& sizes) {
  std::int64_t sum = 0;
  for (const Buffer& b : program.buffers) {
    std::int64_t bytes = size_bytes(b.dtype);
    for (const ExprPtr& e : b.extents)
      if (__builtin_mul_overflow(bytes, evaluate_index(e, sizes), &bytes)) return kMostBytes + 1;
    if (__builtin_add_overflow(sum, bytes, &sum)) return kMostBytes + 1;
  }
  return sum;
}

HostTensors start_values(const LoopProgram& loops, const Program& program, const SymbolValues& sizes, std::uint64_t seed) {
  HostTensors values;
  for (const Buffer& b : loops.buffers) {
    if (b.role != BufferRole::kInOut) continue;
    std::vector<std::int64_t> shape;
    for (const ExprPtr& e : b.extents) shape.push_back(evaluate_index(e, sizes));
    if (is_probe(b.name)) {
      values[b.name] = make_host_tensor(b.dtype, shape);
      continue;
    }
    Tensor drawn;
    if (const auto it = program.tensors.find(b.name); it != program.tensors.end()) drawn = it->second;
    if (drawn.data) {
      if (Result<HostTensor> constant = constant_tensor(drawn, sizes, program.folder)) {
        values[b.name] = std::move(*constant);
        continue;
      }
    }
    drawn.name = b.name;
    drawn.dtype = b.dtype;
    drawn.shape = b.extents;
    values[b.name] = sample_tensor(drawn, sizes, seed);
  }
  return values;
}

std::string number_text(const HostTensor& t, std::int64_t i) {
  if (!is_float(t.dtype)) return std::to_string(t.get_int(i));
  char text[40];
  std::snprintf(text, sizeof text, t.dtype == DType::kF64 ? "%.17g" : "%.9g", t.get(i));
  return text;
}

// "" or what stopped the interpreter.
std::string run_order(const LoopProgram& loops, const Program& program, const Replay& replay, std::uint64_t seed,
                      std::int64_t max_steps, ReplayedOrder* order) {
  HostTensors values = start_values(loops, program, replay.sizes, seed);
  InterpretOptions options;
  options.max_steps = max_steps;
  options.detect_races = false;
  const Result<InterpretReport> ran = interpret(loops, replay.sizes, values, options);
  if (!ran && ran.errors()[0].code == Code::kLoopTreeMeaningless)
    return "in the refused order a buffer is used outside the loop that it belongs to, so there is nothing to run: " +
           ran.errors()[0].message;
  if (!ran) return ran.errors()[0].message;
  std::set<std::string> unwritten;  // probes that met memory without a value, or none at all
  for (const Finding& f : ran->findings)
    if (f.kind == Finding::Kind::kUninitialised || f.kind == Finding::Kind::kOutOfBounds) unwritten.insert(f.statement);
  const auto value = [&](std::int64_t i, const char* probe) {
    return unwritten.count(probe) ? "nothing (never written)" : number_text(values.at("replay.value"), i);
  };
  order->both_ran = values.at("replay.ran").get_int(0) == 1 && values.at("replay.ran").get_int(1) == 1;
  order->source_first = values.at("replay.first").get_int(0) == 1;
  order->source_left = value(1, "replay.source.after");
  order->sink_found = value(2, "replay.sink.before");
  switch (replay.seen) {
    case Replay::Seen::kSink: order->value = order->sink_found; break;
    case Replay::Seen::kSource: order->value = value(0, "replay.source.before"); break;
    case Replay::Seen::kLast:
      order->value = order->source_first ? value(3, "replay.sink.after") : value(1, "replay.source.after");
      break;
  }
  return "";
}

// Whole group or pair, one draw of inputs.
std::string run_draw(const Program& program, const Replay& replay, bool pair, std::uint64_t seed, std::int64_t max_steps,
                     ReplayReport* report) {
  const LoopProgram& original = pair ? replay.original_pair : replay.original;
  const LoopProgram& refused = pair ? replay.refused_pair : replay.refused;
  if (original.kernels.empty()) return "the two instances alone show nothing: others fill the place that changes";
  if (bytes_of(original, replay.sizes) + bytes_of(refused, replay.sizes) > kMostBytes)
    return "the arrays take more than a GiB at these sizes";
  std::string stopped = run_order(original, program, replay, seed, max_steps, &report->original);
  if (stopped.empty()) stopped = run_order(refused, program, replay, seed, max_steps, &report->refused);
  return stopped;
}

}  // namespace

ReplayReport run_replay(const Program& program, const LegalReport& legal, std::uint64_t seed, std::int64_t max_steps) {
  ReplayReport report;
  if (legal.legal || !legal.replay || !legal.replay->why_not.empty()) {
    report.why_not = legal.legal    ? "the recipe is legal: no pair of instances changes places"
                     : legal.replay ? legal.replay->why_not
                                    : "the step was refused by its precondition, not by a pair of instances";
    return report;
  }
  const Replay& replay = *legal.replay;
  report.sizes = replay.sizes;
  for (const bool pair : {false, true}) {
    report.scope = pair ? "the two instances alone" : "the whole group";
    for (int draw = 0; draw < kDraws && !report.differs; ++draw) {
      report.seed = seed + static_cast<std::uint64_t>(draw);
      const std::string stopped = run_draw(program, replay, pair, report.seed, max_steps, &report);
      if (!pair || report.why_not.empty()) report.why_not = stopped;
      if (!stopped.empty()) break;
      report.why_not.clear();
      report.ran = true;
      report.differs = report.original.value != report.refused.value;
    }
    if (report.ran) break;
  }
  // A copy into a buffer is no statement of the original order (so there is no pair of it): the other one runs alone.
  const bool alone = replay.original_pair.kernels.empty() && !report.original.both_ran;
  const bool order_right = report.original.source_first || alone || !replay.order_changes;
  const bool changes = replay.lost_update     ? report.original.both_ran && report.refused.both_ran
                       : replay.order_changes ? report.refused.both_ran && !report.refused.source_first
                                              : report.differs;
  report.real = report.ran && replay.both_touch && order_right && changes;
  return report;
}

std::string to_text(const ReplayReport& r, const LegalReport& legal) {
  if (!r.ran) return "  replay: nothing to run: " + r.why_not + "\n";
  const auto instance = [](const std::string& name, const std::vector<std::int64_t>& at) {
    std::string text;
    for (const std::int64_t x : at) text += (text.empty() ? "" : ", ") + std::to_string(x);
    return name + "[" + text + "]";
  };
  const Replay& replay = *legal.replay;
  const std::string source = instance(legal.source.statement, legal.source.instance);
  const std::string sink = instance(legal.sink.statement, legal.sink.instance);
  const std::string element = instance(legal.array, legal.element);
  std::string sizes;
  for (const auto& [name, value] : r.sizes) sizes += ", " + name + " = " + std::to_string(value);
  const auto line = [&](const ReplayedOrder& o, bool together) {
    const std::string order = !o.both_ran ? "without the copy"
                              : together  ? source + " and " + sink + " at the same time"
                                          : (o.source_first ? source + ", then " + sink : sink + ", then " + source);
    const std::string what = replay.seen == Replay::Seen::kSink     ? sink + " finds " + element + " = "
                             : replay.seen == Replay::Seen::kSource ? source + " finds " + element + " = "
                                                                    : element + " is left as ";
    return order + ": " + what + o.value + "\n";
  };
  std::string text = "  replay of " + r.scope + sizes + ", inputs of seed " + std::to_string(r.seed) + "\n";
  text += "    original order: " + line(r.original, false);
  text += "    refused:        " + line(r.refused, replay.lost_update);
  return text + (r.differs ? "    the values differ\n" : "    the values happen to be the same with these inputs\n");
}

JsonValue to_json(const ReplayReport& r) {
  JsonValue out = JsonValue::object();
  out.add("ran", JsonValue::of(r.ran)).add("why_not", r.ran ? JsonValue::null() : JsonValue::of(r.why_not));
  if (!r.ran) return out;
  const auto order = [](const ReplayedOrder& o) {
    JsonValue one = JsonValue::object();
    one.add("source_first", JsonValue::of(o.source_first)).add("value", JsonValue::of(o.value));
    return one.add("source_left", JsonValue::of(o.source_left)).add("sink_found", JsonValue::of(o.sink_found));
  };
  JsonValue sizes = JsonValue::object();
  for (const auto& [name, value] : r.sizes) sizes.add(name, JsonValue::of(value));
  out.add("scope", JsonValue::of(r.scope)).add("seed", JsonValue::of(static_cast<std::int64_t>(r.seed)));
  out.add("symbols", std::move(sizes)).add("original", order(r.original)).add("refused", order(r.refused));
  return out.add("differs", JsonValue::of(r.differs)).add("real", JsonValue::of(r.real));
}

}  // namespace facet
