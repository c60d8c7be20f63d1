// One way to carve and check for all targets.
#include "codegen/export_interface.hpp"

#include <limits>

namespace facet {

namespace {

ExprPtr elements(const std::vector<ExprPtr>& extents) {
  ExprPtr n = idx(1);
  for (const ExprPtr& e : extents) n = idx_mul(n, e);
  return n;
}

}  // namespace

std::string comma_list(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

ExportInterface::ExportInterface(const LoopProgram& program, const Interface& face,
                                 const std::map<std::string, std::string>& embedded, const std::set<std::string>& reserved,
                                 ExportStyle style)
    : program_(program),
      face_(face),
      embedded_(embedded),
      style_(std::move(style)),
      prefix_("facet_" + face.name + "_"),
      sizes_(reserved),
      fields_(reserved) {
  for (const Buffer& b : program.buffers)
    if (face.field_of(b.name).empty() && !embedded.count(b.name)) workspace_.push_back(&b);
  for (const auto& [symbol, field] : face.symbols)
    if (symbol.min >= 0) sizes_.assume_non_negative(symbol.name);
}

std::set<std::string> ExportInterface::names_in(const std::vector<ExprPtr>& list) {
  std::set<std::string> found;
  for (const ExprPtr& e : list)
    walk(e, [&](const Expr& node) {
      if (node.op == Op::kIndex) found.insert(node.name);
    });
  return found;
}

void ExportInterface::symbol_lines(const std::set<std::string>& wanted, const std::string& args) {
  for (const auto& [symbol, field] : face_.symbols)
    if (wanted.count(symbol.name)) w_.line("const int64_t " + sizes_.index_name(symbol.name) + " = " + args + field + ";");
}

void ExportInterface::print_carve() {
  if (workspace_.empty()) return;
  w_.comment(style_.workspace_note);
  w_.open("struct Workspace");
  std::vector<ExprPtr> sizes;
  for (const Buffer* b : workspace_) {
    w_.line(storage_type(b->dtype) + "* " + fields_.of("buffer", b->name) + ";  // " + shape_text(b->dtype, b->extents));
    sizes.push_back(span_elements(*b));
  }
  w_.line("size_t bytes;");
  w_.close("};");
  w_.line("");
  const std::set<std::string> wanted = names_in(sizes);
  w_.open(style_.qualifier + "Workspace carve(const " + face_.args_type() + "&" + (wanted.empty() ? "" : " args") +
          ", void* memory)");
  symbol_lines(wanted);
  const std::string border = std::to_string(style_.alignment - 1);
  w_.line("const uintptr_t base = ((uintptr_t)memory + " + border + ") & ~(uintptr_t)" + border + ";");
  w_.line("uintptr_t offset = 0;");
  w_.line("Workspace arrays;");
  // Products of literals alone are int in C, which is too small for some.
  const auto bytes_text = [&](const ExprPtr& elements, std::int64_t each) {
    const bool large = elements->op == Op::kLiteral && elements->int_value > std::numeric_limits<std::int32_t>::max() / each;
    if (large) return "(uintptr_t)(" + size(idx_mul(elements, idx(each)), Level::kTerm) + ")";
    return "(uintptr_t)(" + size(elements, Level::kTerm) + (each == 1 ? "" : " * " + std::to_string(each)) + ")";
  };
  const ArenaSlots slots = plan_arena(program_, workspace_);
  if (slots.size() < workspace_.size()) w_.line("uintptr_t largest;");
  for (const std::vector<std::size_t>& slot : slots) {
    for (const std::size_t i : slot) {
      const Buffer& b = *workspace_[i];
      w_.line(array(b.name) + " = (" + storage_type(b.dtype) + "*)(base + offset);");
      const std::string bytes = bytes_text(sizes[i], size_bytes(b.dtype));
      if (slot.size() == 1)
        w_.line("offset += (" + bytes + " + " + border + ") & ~(uintptr_t)" + border + ";");
      else if (i == slot.front())
        w_.line("largest = " + bytes + ";");
      else
        w_.line("if (largest < " + bytes + ") largest = " + bytes + ";");
    }
    if (slot.size() > 1) w_.line("offset += (largest + " + border + ") & ~(uintptr_t)" + border + ";");
  }
  w_.line("arrays.bytes = offset + " + std::to_string(style_.alignment) + ";");
  w_.line("return arrays;");
  w_.close();
  w_.line("");
}

void ExportInterface::print_check() {
  w_.open(style_.qualifier + "int check(const " + face_.args_type() + "* pointer, const void* workspace)");
  w_.line("if (pointer == nullptr) return " + prefix_ + "null_pointer;");
  std::vector<ExprPtr> shapes;
  for (const ArgumentInfo& a : face_.arguments) shapes.push_back(elements(a.shape));
  w_.line("const " + face_.args_type() + "& args = *pointer;");
  w_.line("(void)args;");
  for (const auto& [symbol, field] : face_.symbols)
    w_.line("if (args." + field + " < " + size(idx(symbol.min)) + " || args." + field + " > " + size(idx(symbol.max)) +
            ") return " + prefix_ + "bad_symbol;");
  shapes.insert(shapes.end(), program_.assumptions.begin(), program_.assumptions.end());
  symbol_lines(names_in(shapes));
  for (const ExprPtr& a : program_.assumptions) w_.line("if (!(" + size(a) + ")) return " + prefix_ + "bad_symbol;");
  for (const ArgumentInfo& a : face_.arguments) {
    const ExprPtr n = elements(a.shape);
    const bool known = n->op == Op::kLiteral;
    if (known && n->int_value == 0) continue;
    w_.line("if (args." + a.field + " == nullptr" + (known ? "" : " && " + size(n, Level::kShift) + " > 0") + ") return " +
            prefix_ + "null_pointer;");
  }
  w_.line(workspace_.empty() ? "(void)workspace;" : "if (workspace == nullptr) return " + prefix_ + "no_workspace;");
  w_.line("return " + prefix_ + "ok;");
  w_.close();
  w_.line("");
}

void ExportInterface::print_workspace_size() {
  w_.open("size_t " + face_.function("workspace_bytes") + "(" + args() + ")");
  if (workspace_.empty()) w_.line("(void)args;");
  w_.line(workspace_.empty() ? "return 0;" : "return args != nullptr ? " + style_.scope + "carve(*args, nullptr).bytes : 0;");
  w_.close();
  w_.line("");
}

void ExportInterface::print_ends(std::size_t kernels) {
  w_.open("int " + face_.function("destroy") + "(" + args() + ", void*)");
  w_.line("return args != nullptr ? " + prefix_ + "ok : " + prefix_ + "null_pointer;");
  w_.close();
  w_.line("");
  w_.open("int " + face_.function("kernel_count") + "(void)");
  w_.line("return " + std::to_string(kernels) + ";");
  w_.close();
  w_.line("");
}

}  // namespace facet
