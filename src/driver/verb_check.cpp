// check and show: what a program says, without running it.
#include <algorithm>

#include "src/driver/pipeline.hpp"
#include "src/driver/verbs.hpp"

namespace facet {

namespace {

int count_statements(const LoopBody& body) {
  int count = 0;
  for (const LoopStatement& s : body) {
    count += s.kind == LoopStatement::Kind::kAssign || (s.kind == LoopStatement::Kind::kDeclare && s.value);
    count += count_statements(s.body) + count_statements(s.otherwise);
  }
  return count;
}

std::string shape_text(const Tensor& t) {
  std::string text;
  for (const ExprPtr& e : t.shape) text += (text.empty() ? "" : ", ") + to_text(e);
  return to_text(t.dtype) + "[" + text + "]";
}

}  // namespace

Result<Outcome> verb_check(const Options& options) {
  const Result<Loaded> loaded = load_program(options);
  if (!loaded) return loaded.errors();
  const Program& p = loaded->program;
  Outcome outcome;
  int tensors = 0, statements = 0;
  std::string list;
  for (const std::string& name : p.tensor_order) {
    const Tensor& t = p.tensor(name);
    if (name.find('.') != std::string::npos) continue;  // made by the tool, not by the user
    ++tensors;
    const bool input = std::find(p.inputs.begin(), p.inputs.end(), name) != p.inputs.end();
    const bool output = std::find(p.outputs.begin(), p.outputs.end(), name) != p.outputs.end();
    list += "  " +
            std::string(t.data   ? "constant "
                        : input  ? "input    "
                        : output ? "output   "
                                 : "         ") +
            name + ": " + shape_text(t) + "\n";
  }
  for (const Node& n : p.nodes) statements += static_cast<int>(n.equations.size()) + count_statements(n.loops);
  outcome.text = p.name + ": ok\n";
  for (const Symbol& s : p.symbols)
    outcome.text += "  symbol   " + s.name + " in " + std::to_string(s.min) + ".." + std::to_string(s.max) + ", default " +
                    std::to_string(s.value) + "\n";
  outcome.text += list + std::to_string(tensors) + " tensors, " + std::to_string(p.nodes.size()) + " ops, " +
                  std::to_string(statements) + " statements, " + std::to_string(p.symbols.size()) + " parameters\n";
  outcome.json.add("ok", JsonValue::of(true)).add("program", JsonValue::of(p.name)).add("hash", JsonValue::of(loaded->hash));
  outcome.json.add("tensors", JsonValue::of(tensors)).add("ops", JsonValue::of(static_cast<std::int64_t>(p.nodes.size())));
  outcome.json.add("statements", JsonValue::of(statements));
  outcome.json.add("parameters", JsonValue::of(static_cast<std::int64_t>(p.symbols.size())));
  return outcome;
}

}  // namespace facet
