// The text of loop trees: indented pseudo-code that shows every loop kind, vector width, mask and annotation.
#include "facet/loop_ast.hpp"

#include <cstddef>

namespace facet {

namespace {

const char* text_of(LoopKind kind) {
  static const char* const names[] = {"",        "parallel", "vector", "unroll",   "mapped",   "block.x",
                                      "block.y", "block.z",  "warp",   "thread.x", "thread.y", "thread.z"};
  return names[static_cast<int>(kind)];
}

const char* text_of(Scope scope) {
  static const char* const names[] = {"warp", "block", "grid"};
  return names[static_cast<int>(scope)];
}

const char* text_of(MemorySpace space) {
  static const char* const names[] = {"global", "stack", "shared", "register"};
  return names[static_cast<int>(space)];
}

const char* text_of(BufferRole role) {
  static const char* const names[] = {"input", "output", "inout", "weight", "workspace", "local"};
  return names[static_cast<int>(role)];
}

std::string joined(const std::vector<std::string>& items, const char* separator = ", ") {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : separator) + item;
  return text;
}

std::string joined(const std::vector<ExprPtr>& items) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) text += (i ? ", " : "") + to_text(items[i]);
  return text;
}

std::string note(const std::string& comment) { return comment.empty() ? "" : "  # " + comment; }

std::string type_text(DType type, int lanes) { return to_text(type) + (lanes > 1 ? "x" + std::to_string(lanes) : ""); }

std::string buffer_text(const Buffer& b) {
  std::string text = b.name + ": " + to_text(b.dtype) + "[" + joined(b.extents) + "]";
  if (!b.strides.empty()) text += " strides [" + joined(b.strides) + "]";
  text += std::string(" ") + text_of(b.space);
  if (b.role != BufferRole::kLocal) text += std::string(" ") + text_of(b.role);
  if (b.alignment_bytes != 64) text += " align " + std::to_string(b.alignment_bytes);
  return text + note(b.comment);
}

std::string store_text(const Store& s) {
  std::string text = s.buffer + "[" + joined(s.subscripts) + "]";
  if (s.lanes > 1) text += ":" + std::to_string(s.lanes);
  if (s.lanes > 1 && s.lane_stride != 1) text += " by " + std::to_string(s.lane_stride);
  if (s.mask) text += "{" + to_text(s.mask) + "}";
  text += s.update ? " " + to_text(*s.update) + "= " : " = ";
  text += to_text(s.value);
  if (s.atomic) text = "atomic " + text;
  if (s.stream) text = "stream " + text;
  return text + note(s.statement);
}

std::string for_header(const For& f) {
  std::string text = "for " + f.iterator + " in " + to_text(f.lower) + ".." + to_text(f.upper);
  if (f.step != 1) text += " step " + std::to_string(f.step);
  if (f.kind != LoopKind::kSerial) text += std::string(" ") + text_of(f.kind);
  if (f.kind == LoopKind::kMapped) text += " " + to_text(f.gpu);
  if (f.width != 0) text += "(" + std::to_string(f.width) + ")";
  if (f.collapse > 1) text += " collapse(" + std::to_string(f.collapse) + ")";
  return text + note(joined(
                    [&] {
                      std::vector<std::string> notes;
                      if (!f.comment.empty()) notes.push_back(f.comment);
                      if (!f.statement_loops.empty()) notes.push_back(f.statement_loops);
                      return notes;
                    }(),
                    "; "));
}

// Prints one node as lines at depth `indent`.
struct NodePrinter {
  int indent;
  std::string line(const std::string& text) const {
    return std::string(static_cast<std::size_t>(indent) * 2, ' ') + text + "\n";
  }
  std::string block(const LoopList& body) const { return to_text(body, indent + 1); }

  std::string operator()(const For& f) const { return line(for_header(f)) + block(f.body); }
  std::string operator()(const If& n) const {
    std::string text = line("if " + to_text(n.condition) + (n.is_tail_guard ? "  # tail" : "")) + block(n.then);
    if (!n.otherwise.empty()) text += line("else") + block(n.otherwise);
    return text;
  }
  std::string operator()(const Store& s) const { return line(store_text(s)); }
  std::string operator()(const Let& n) const {
    return line((n.is_mutable ? "var " : "let ") + n.name + ": " + type_text(n.type, n.lanes) +
                (n.value ? " = " + to_text(n.value) : ""));
  }
  std::string operator()(const Set& n) const { return line(n.name + " = " + to_text(n.value)); }
  std::string operator()(const Allocate& n) const { return line("allocate " + buffer_text(n.buffer)); }
  std::string operator()(const Barrier& n) const { return line(std::string("barrier ") + text_of(n.scope) + note(n.reason)); }
  std::string operator()(const Comment& n) const { return line("# " + n.text); }
  std::string operator()(const AsyncCopy& n) const { return line("async(" + n.group + ") " + store_text(n.copy)); }
  std::string operator()(const AsyncWait& n) const {
    return line("wait " + n.group + (n.pending ? " pending " + std::to_string(n.pending) : ""));
  }
  std::string operator()(const Collective& n) const {
    return line(n.target + " = " + text_of(n.scope) + "_" + to_text(n.kind) + "(" + to_text(n.value) + ") width " +
                std::to_string(n.width));
  }
  std::string operator()(const Role& n) const { return line("role " + to_text(n.condition)) + block(n.body); }
  std::string operator()(const TileOp& n) const { return line(n.op + "(" + joined(n.operands) + ")"); }
  std::string operator()(const Prefetch& n) const { return line("prefetch " + n.buffer + "[" + joined(n.subscripts) + "]"); }
  std::string operator()(const Sequence& n) const { return line("scope") + block(n.body); }
};

}  // namespace

const Buffer* LoopProgram::find_buffer(const std::string& wanted) const {
  for (const Buffer& b : buffers)
    if (b.name == wanted) return &b;
  return nullptr;
}

std::string to_text(const GpuPlace& place) {
  const char* const axes[] = {"x", "y", "z"};
  const auto axis = [&](int a) { return std::string(axes[a > 2 ? 2 : a]); };
  std::vector<std::string> parts;
  if (place.grid >= 0) parts.push_back("grid " + axis(place.grid));
  if (place.parts > 0) parts.push_back("split in " + std::to_string(place.parts));
  if (place.block >= 0) parts.push_back("block " + axis(place.block) + " " + std::to_string(place.threads));
  if (place.warp) parts.push_back("warps");
  if (place.lanes > 0) parts.push_back(std::to_string(place.lanes) + " lanes");
  if (place.points > 1) parts.push_back(std::to_string(place.points) + " a thread");
  if (place.adjacent > 1) parts.push_back(std::to_string(place.adjacent) + " adjacent");
  if (place.stage > 0) parts.push_back("staged by " + std::to_string(place.stage));
  if (place.reduces) parts.push_back("reduces");
  return joined(parts);
}

std::string to_text(const LoopList& body, int indent) {
  std::string text;
  for (const LoopPtr& n : body) text += std::visit(NodePrinter{indent}, n->node);
  return text;
}

std::string to_text(const Kernel& kernel) {
  std::string text = "kernel " + kernel.name + "(" + joined(kernel.buffers) + ")" +
                     (kernel.ops.empty() ? "" : " defines " + joined(kernel.ops)) +
                     (kernel.when ? " when " + to_text(kernel.when) : "") + note(kernel.comment) + "\n";
  for (const For& f : kernel.host) text += "  host " + for_header(f) + "\n";
  return text + to_text(kernel.body, 1);
}

std::string to_text(const LoopProgram& p) {
  std::string text = "loops of " + p.name + "\n";
  for (const Symbol& s : p.symbols)
    text += "symbol " + s.name + " in " + std::to_string(s.min) + ".." + std::to_string(s.max) + " default " +
            std::to_string(s.value) + "\n";
  for (const ExprPtr& a : p.assumptions) text += "assume " + to_text(a) + "\n";
  for (const Buffer& b : p.buffers) text += "buffer " + buffer_text(b) + "\n";
  for (const Kernel& k : p.prepare) text += "prepare " + to_text(k);
  for (const Kernel& k : p.kernels) text += to_text(k);
  return text;
}

}  // namespace facet
