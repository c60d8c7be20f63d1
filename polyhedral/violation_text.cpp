// The sentence that says which two instances a schedule wrongs.
#include "polyhedral/legality.hpp"

namespace facet {

namespace {

std::string instance_text(const std::string& name, const std::vector<std::int64_t>& at) {
  std::string text;
  for (const std::int64_t x : at) text += (text.empty() ? "" : ", ") + std::to_string(x);
  return name + "[" + text + "]";
}

}  // namespace

std::string to_text(const Violation& v) {
  std::string symbols;
  for (const auto& [name, value] : v.symbols) symbols += ", " + name + " = " + std::to_string(value);
  const std::string taken = v.taker.empty() ? "" : ", whose place " + instance_text(v.array, v.taker) + " takes";
  const std::string through = " (" + to_text(v.kind) + " through " + instance_text(v.array, v.element) + taken + symbols + ")";
  const std::string a = instance_text(v.source, v.source_instance);
  const std::string b = instance_text(v.sink, v.sink_instance);
  if (v.question == "order") return a + " must run before " + b + through;
  if (v.question == "storage" && !v.loop.empty())
    return b + (v.kind == DependenceKind::kOutput ? " would not overwrite" : " would not find") + " the value that " + a +
           " leaves in a copy until the loop '" + v.loop + "' has ended" + through;
  if (v.question == "storage" && v.kind == DependenceKind::kOutput)
    return a + " and " + b + " would fill one element at the same time" + through;
  if (v.question == "storage") return b + " would not find the value that " + a + " leaves for it" + through;
  return a + " and " + b + " are in different iterations of the " + v.question + " loop '" + v.loop +
         "' and may not run together" + through;
}

}  // namespace facet
