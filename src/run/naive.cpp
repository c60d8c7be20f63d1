// Puts a naive program together: helpers, the struct of tensors and node functions, and its C entry points.
#include "src/run/naive.hpp"

#include "src/run/naive/printer.hpp"
#include "src/run/reference/spread.hpp"
#include "src/run/uses.hpp"

namespace facet {

namespace {

using naive::Piece;
using naive::Printer;
using reference::can_be_vague;

bool is_scalar(const Tensor& t) { return t.local && t.shape.empty(); }

// Tensors that are declared inside loop nests live there and not in the struct.
void declared_in(const LoopBody& body, std::set<std::string>* names) {
  for (const LoopStatement& s : body) {
    if (s.kind == LoopStatement::Kind::kDeclare) names->insert(s.name);
    declared_in(s.body, names);
    declared_in(s.otherwise, names);
  }
}

// Reads one input or constant from its dtype's elements.
void print_load(Printer& p, TextWriter& out, const Tensor& t, std::size_t position) {
  const std::string name = p.tensor_name(t.name);
  const std::string pointer =
      "static_cast<const " + std::string(naive::c_type(t.dtype)) + "*>(inputs[" + std::to_string(position) + "])[k]";
  std::string element = pointer;
  if (t.dtype == DType::kF16) p.use(Piece::kHalf), element = "half_value(" + pointer + ")";
  if (t.dtype == DType::kBF16) p.use(Piece::kBrain), element = "brain_value(" + pointer + ")";
  if (!is_float(t.dtype)) element = "static_cast<std::int64_t>(" + pointer + ")";
  out.line(name + ".shape(" + p.shape_text(t) + ");");
  out.line("for (std::size_t k = 0; k < " + name + ".value.size(); ++k) " + name + ".value[k] = " + element + ";");
}

void print_result(Printer& p, TextWriter& out, const Tensor& t, std::size_t position) {
  const std::string name = p.tensor_name(t.name);
  const std::string at = "[" + std::to_string(position) + "]";
  out.open("for (std::size_t k = 0; k < " + name + ".value.size(); ++k)");
  out.line(std::string("static_cast<") + (is_float(t.dtype) ? "double" : "std::int64_t") + "*>(outputs" + at +
           ")[k] = " + name + ".value[k];");
  out.line("bounds" + at + "[k] = " + name + ".bound.empty() ? 0.0F : " + name + ".bound[k];");
  out.close();
}

// compute(): loads, then the nodes in order with tensors freed after their last use; give(): the results.
std::string run_text(Printer& p) {
  const Program& program = p.program();
  TextWriter out(1);
  out.open("void compute(const std::int64_t* symbols, const void* const* inputs)");
  if (program.symbols.empty()) out.line("(void)symbols;");
  for (std::size_t s = 0; s < program.symbols.size(); ++s)
    out.line(p.symbol_name(program.symbols[s].name) + " = symbols[" + std::to_string(s) + "];");
  std::size_t position = 0;
  for (const std::string& name : program.inputs) print_load(p, out, program.tensor(name), position++);
  for (const std::string& name : program.tensor_order)
    if (program.tensor(name).data) print_load(p, out, program.tensor(name), position++);
  if (position == 0) out.line("(void)inputs;");
  const std::map<std::string, std::size_t> last = last_uses(program);
  for (std::size_t n = 0; n < program.nodes.size(); ++n) {
    out.line(p.method_name(n) + "();");
    for (const std::string& name : names_of(program.nodes[n]))
      if (last.at(name) == n && !is_output(program, name) && !is_scalar(program.tensor(name)))
        out.line(p.tensor_name(name) + ".release();");
  }
  out.close();
  out.open("void give(void* const* outputs, float* const* bounds) const");
  for (std::size_t o = 0; o < program.outputs.size(); ++o) print_result(p, out, program.tensor(program.outputs[o]), o);
  out.close();
  return out.text();
}

// Bounds of floating outputs from the spread of further runs (loop nests only: nothing else recurs).
void print_spread(Printer& p, TextWriter& out) {
  std::vector<std::string> fields;
  for (const std::string& name : p.program().outputs)
    if (is_float(p.program().tensor(name).dtype)) fields.push_back(p.tensor_name(name));
  if (fields.empty()) return;
  p.use(Piece::kSpread);
  std::string vague;
  for (std::size_t k = 0; k < fields.size(); ++k) {
    const std::string name = "spread_" + std::to_string(k);
    out.line("naive_impl::Spread " + name + "(program." + fields[k] + ");");
    vague += (vague.empty() ? "" : " || ") + name + ".vague";
  }
  out.open("for (naive_impl::g_seed = 1; (" + vague +
           ") && naive_impl::g_seed <= naive_impl::kSpreadRuns; ++naive_impl::g_seed)");
  out.line("naive_impl::Naive other;");
  out.line("other.compute(symbols, inputs);");
  for (std::size_t k = 0; k < fields.size(); ++k) out.line("spread_" + std::to_string(k) + ".add(other." + fields[k] + ");");
  out.close();
  out.line("naive_impl::g_seed = 0;");
  for (std::size_t k = 0; k < fields.size(); ++k)
    out.line("spread_" + std::to_string(k) + ".tighten(program." + fields[k] + ");");
}

std::string entry_text(Printer& p) {
  const std::string name = "naive_" + p.program().name;
  const bool gathers = p.pieces().count(Piece::kGather) != 0;
  TextWriter out(0);
  out.open("extern \"C\" std::int64_t " + name +
           "(const std::int64_t* symbols, const void* const* inputs, void* const* outputs, float* const* bounds)");
  if (gathers) out.line("naive_impl::g_gathers = 0;");
  out.line("naive_impl::Naive program;");
  out.line("program.compute(symbols, inputs);");
  if (can_be_vague(p.program())) print_spread(p, out);
  out.line("program.give(outputs, bounds);");
  out.line(std::string("return ") + (gathers ? "naive_impl::g_gathers" : "0") + ";");
  out.close();
  return out.text() + "extern \"C\" const char* " + name + "_gather() { return " +
         (gathers ? "naive_impl::g_first_gather.c_str()" : "\"\"") + "; }\n";
}

}  // namespace

std::string print_naive(const Program& program) {
  Printer p(program);
  std::set<std::string> scalars;
  for (const Node& node : program.nodes) declared_in(node.loops, &scalars);
  std::string fields;
  for (const Symbol& s : program.symbols) fields += "  std::int64_t " + p.symbol_name(s.name) + " = 0;\n";
  for (const std::string& name : program.tensor_order)
    if (!scalars.count(name))
      fields += "  Array<" + Printer::number_type(program.tensor(name).dtype) + "> " + p.tensor_name(name) + ";\n";
  for (std::size_t n = 0; n < program.nodes.size(); ++n) p.print_node(n);
  const std::string run = run_text(p);
  std::string text =
      "// " + program.name +
      " as plain loops: what every element should be, and how far a correct kernel may be from it.\n"
      "#include <cmath>\n#include <cstdint>\n#include <cstring>\n#include <limits>\n#include <string>\n#include <vector>\n\n"
      "namespace naive_impl {\n\n";
  const std::string entry = entry_text(p);
  text += naive::prelude_text(p.pieces()) + naive::function_wrappers(p.functions());
  text += "struct Naive {\n" + fields + "\n" + p.out.text() + run + "};\n\n}  // namespace naive_impl\n\n";
  return text + entry;
}

}  // namespace facet
