// Kernels as static functions, one per group, and the exported C functions around them.
//
// The order of the file: what it is, pragmas, vector types, helpers, constants, kernels, interface. Types and helpers are those
// that the kernels name; so the kernels are printed first and placed last.
#include "codegen/openmp/print.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "codegen/c_family.hpp"
#include "codegen/constant_text.hpp"
#include "codegen/openmp/across.hpp"
#include "codegen/openmp/exports.hpp"
#include "codegen/openmp/prelude.hpp"
#include "codegen/openmp/short_rows.hpp"
#include "codegen/openmp/tile_registers.hpp"
#include "codegen/openmp/uneven.hpp"
#include "codegen/passes/linear.hpp"
#include "codegen/passes/tree.hpp"

namespace facet {

namespace {

using passes::mentions;

bool is_streamed(const Store& s) { return s.stream && s.lanes > 1; }

bool streams(const LoopList& body) {
  bool found = false;
  passes::walk_nodes(body, [&](const LoopPtr& n) {
    const Store* s = std::get_if<Store>(&n->node);
    found = found || (s && is_streamed(*s));
  });
  return found;
}

std::string join(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

class OpenmpPrinter : public CPrinter {
 public:
  OpenmpPrinter() : CPrinter(openmp_reserved_words()) {}

 protected:
  void loop(const For& f) override {
    if (f.kind == LoopKind::kSerial && copies_across(f)) return;
    if (f.kind != LoopKind::kParallel || in_parallel_) {
      const std::size_t outside = scope_.size();
      scope_.push_back(index_name(f.iterator));
      CPrinter::loop(f);
      scope_.resize(outside);
      return;
    }
    const int collapse = rectangular_depth(f);
    out.comment(f.comment);
    const std::optional<Growth> uneven = collapse == 1 ? growth_of(f.body, f.iterator) : std::nullopt;
    const std::string schedule = (collapse > 1 ? " collapse(" + std::to_string(collapse) + ")" : "") +
                                 (uneven ? " schedule(dynamic)" : " schedule(static)");
    const bool streaming = streams(f.body);
    in_parallel_ = true;
    TextWriter body(out.indent() + (streaming ? 1 : 0));
    std::swap(out, body);
    out.open(uneven == Growth::kGrows && f.step == 1 ? for_header_down(f) : for_header(f));
    loop_body(f);
    out.close();
    std::swap(out, body);
    in_parallel_ = false;
    streaming ? streaming_region(f, schedule, body.text()) : plain_region(f, schedule, body.text());
  }

  void let(const Let& n) override {
    if (tile_.starts.count(n.name)) out.line(call("free_registers", n.type, n.lanes, {}) + ";");
    if (!in_parallel_ && !n.is_mutable && n.value) scope_.push_back(names.of("value", n.name));
    CPrinter::let(n);
  }

  std::string initial(const Let& n, const std::string& text) override {
    return tile_.loads.count(n.name) ? call("keep", n.type, n.lanes, {text}) : text;
  }

  void store(const Store& s) override {
    unfenced_ = unfenced_ || (is_streamed(s) && !in_parallel_);
    CPrinter::store(s);
  }

  void atomic_store(const Store& s) override {
    if (s.lanes > 1) return fail("an atomic vector store to " + s.buffer);
    const char* const op = atomic_operator(s);
    if (!op) {
      out.raw("#if defined(_OPENMP)\n");
      out.line("#pragma omp critical");
      out.raw("#endif\n");
      out.open("");
      store(s);
      out.close();
      return;
    }
    out.raw("#if defined(_OPENMP)\n");
    out.line("#pragma omp atomic");
    out.raw("#endif\n");
    out.line(element(buffer_of(s.buffer), s.subscripts) + op + value(s.value) + ";");
  }

 public:
  // Pointers, sizes and values that threads get copies of where a parallel loop names them.
  void in_scope(const std::string& name) { scope_.push_back(name); }

  void tile_of(TileRegisters registers) { tile_ = std::move(registers); }

  // What was stored past the caches is in memory before anything else happens: nothing else orders such stores.
  void fence() {
    out.raw("#if defined(__SSE__)\n");
    out.line("__builtin_ia32_sfence();  // orders what was stored past the caches");
    out.raw("#endif\n");
  }
  bool unfenced() const { return unfenced_; }

 private:
  // What OpenMP's atomic construct can do; null: minima and maxima, 16-bit floats, products of integers, which shall wrap.
  static const char* atomic_operator(const Store& s) {
    const DType type = s.value->type;
    const bool wide_float = type == DType::kF32 || type == DType::kF64;
    if (s.update == ReduceKind::kSum && (wide_float || (!is_float(type) && type != DType::kBool))) return " += ";
    if (s.update == ReduceKind::kProd && wide_float) return " *= ";
    if (s.update == ReduceKind::kAny) return " |= ";
    if (s.update == ReduceKind::kAll) return " &= ";
    return nullptr;
  }

  // Between rows and columns: squares are turned in registers, of the store's vectors or of 32-byte ones.
  bool copies_across(const For& f) {
    const std::optional<AcrossCopy> c =
        across_copy(f, [&](const std::string& name) -> const Buffer& { return buffer_of(name); });
    if (!c) return false;
    const Buffer &to = buffer_of(c->store->buffer), &from = buffer_of(c->store->value->name);
    out.comment(f.comment);
    const int lanes = c->store->lanes > 1 ? c->store->lanes : static_cast<int>(32 / size_bytes(to.dtype));
    out.line(call(c->store->stream ? "stream_across" : "copy_across", to.dtype, lanes,
                  {address(to, c->to), std::to_string(c->to_step), address(from, c->from), std::to_string(c->from_step),
                   index_text(c->rows), index_text(c->columns)}) +
             ";");
    return true;
  }

  void pragma(const std::string& text) {
    out.raw("#if defined(_OPENMP)\n");  // g++ warns of unknown pragmas whatever is said before them
    out.line("#pragma omp " + text);
    out.raw("#endif\n");
  }

  // Compilers pass what a region names by reference: behind each store it would be fetched again, and every address made anew.
  std::string copies(const For& f, const std::string& region) {
    std::set<std::string> done;
    passes::walk_nodes({make_loop(f)}, [&](const LoopPtr& n) {
      if (const For* l = std::get_if<For>(&n->node)) done.insert(index_name(l->iterator));
      if (const Let* l = std::get_if<Let>(&n->node)) done.insert(names.of("value", l->name));
    });
    std::vector<std::string> list;
    for (const std::string& name : scope_)
      if (names_word(region, name) && done.insert(name).second) list.push_back(name);
    return list.empty() ? "" : " firstprivate(" + join(list) + ")";
  }

  void plain_region(const For& f, const std::string& schedule, const std::string& region) {
    pragma("parallel for" + schedule + copies(f, region));
    out.raw(region);
  }

  // Each thread fences its own stores once, after its last iteration.
  void streaming_region(const For& f, const std::string& schedule, const std::string& region) {
    pragma("parallel" + copies(f, region));
    out.open("");
    pragma("for nowait" + schedule);
    out.raw(region);
    fence();
    out.close();
  }

  // The last iteration first.
  std::string for_header_down(const For& f) {
    const std::string i = index_name(f.iterator);
    return "for (int64_t " + i + " = " + index_text(f.upper, Level::kSum) + " - 1; " + i +
           " >= " + index_text(f.lower, Level::kShift) + "; --" + i + ")";
  }

  // How many of the `collapse` loops are perfectly nested, with bounds that do not depend on the outer ones.
  static int rectangular_depth(const For& f) {
    std::vector<std::string> outer = {f.iterator};
    const For* at = &f;
    int depth = 1;
    while (depth < f.collapse && at->body.size() == 1) {
      const For* inner = std::get_if<For>(&at->body[0]->node);
      if (!inner) break;
      for (const std::string& o : outer)
        if (mentions(inner->lower, o) || mentions(inner->upper, o)) return depth;
      outer.push_back(inner->iterator);
      at = inner;
      ++depth;
    }
    return depth;
  }

  bool in_parallel_ = false;
  TileRegisters tile_;
  std::vector<std::string> scope_;  // what is declared around the place that is printed, as spelled
  bool unfenced_ = false;           // something was streamed outside parallel loops
};

// "scores.init, scores": which statements a loop nest holds; "" for anything but a nest.
std::string statements_of(const LoopPtr& nest) {
  std::vector<std::string> names;
  const std::function<void(const LoopPtr&)> collect = [&](const LoopPtr& n) {
    if (const For* f = std::get_if<For>(&n->node)) {
      for (const LoopPtr& inner : f->body) collect(inner);
    } else if (const If* i = std::get_if<If>(&n->node)) {
      for (const LoopPtr& inner : i->then) collect(inner);
      for (const LoopPtr& inner : i->otherwise) collect(inner);
    } else if (const Sequence* q = std::get_if<Sequence>(&n->node)) {
      for (const LoopPtr& inner : q->body) collect(inner);
    } else if (const Store* s = std::get_if<Store>(&n->node)) {
      if (!s->statement.empty() && std::find(names.begin(), names.end(), s->statement) == names.end())
        names.push_back(s->statement);
    }
  };
  if (std::get_if<For>(&nest->node)) collect(nest);
  return join(names);
}

// head + items separated by commas, in lines of at most 120 columns.
std::string wrapped(const std::string& head, const std::vector<std::string>& items) {
  std::string text = head;
  std::size_t column = head.size();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::size_t width = items[i].size() + 2;
    if (i > 0 && column + width > 118) {
      text += ",\n    ";
      column = 4;
    } else if (i > 0) {
      text += ", ";
    }
    text += items[i];
    column += width;
  }
  return text;
}

PrintedKernel print_kernel(const LoopProgram& program, const Kernel& kernel, NameTable& functions, std::set<HelperUse>& helpers,
                           Diagnostics& errors) {
  PrintedKernel printed;
  printed.when = kernel.when;
  printed.uses = uses_of(program, kernel.body);
  printed.function = functions.of("function", kernel.name + (kernel.ops.empty() ? "" : "_" + kernel.ops.back()));
  OpenmpPrinter p;
  p.tile_of(tile_registers(kernel.body));
  p.names.reserve(printed.function);
  std::vector<std::string> parameters;
  for (const std::string& name : printed.uses.buffers) p.declare(*program.find_buffer(name));
  for (const std::string& name : printed.uses.buffers) {
    const Buffer& b = *program.find_buffer(name);
    parameters.push_back((printed.uses.written.count(name) ? "" : "const ") + storage_type(b.dtype) + "* __restrict " +
                         p.buffer_name(name));
    p.in_scope(p.buffer_name(name));
  }
  for (const Symbol& s : program.symbols) {
    if (s.min >= 0) p.assume_non_negative(s.name);
    p.in_scope(p.index_name(s.name));  // parameters take their names before anything inside does
  }
  TextWriter head;
  if (!kernel.ops.empty()) head.comment(kernel.name + ": " + join(kernel.ops));
  head.comment(kernel.comment);
  p.out.open("");
  for (const LoopPtr& n : kernel.body) {
    p.out.comment(statements_of(n));
    p.statements({n});
  }
  if (p.unfenced()) p.fence();
  p.out.close();
  printed.uses.symbols.clear();
  for (const Symbol& s : program.symbols) {
    if (!names_word(p.out.text(), p.index_name(s.name))) continue;
    printed.uses.symbols.insert(s.name);
    parameters.push_back("int64_t " + p.index_name(s.name));
  }
  head.raw(wrapped("void " + printed.function + "(", parameters) + ") " + p.out.text());
  printed.text = head.text();
  helpers.insert(p.helpers.begin(), p.helpers.end());
  errors.insert(errors.end(), p.errors.begin(), p.errors.end());
  return printed;
}

std::string head_text(const LoopProgram& program, const Interface& face, const PrintOptions& options) {
  TextWriter w;
  w.comment(program.name + ": OpenMP C++17 kernels, written by Facet " FACET_VERSION ".");
  if (!options.note.empty()) w.comment(options.note);
  w.comment("Build: " + openmp_build(program.numerics, options.march) + " -c " + face.source_name());
  w.line("#include \"" + face.name + ".h\"");
  w.line("");
  w.line("#include <stddef.h>");
  w.line("#include <stdint.h>");
  w.line("");
  if (!face.version.empty()) {
    w.raw(declarations_text(face));
    w.line("");
  }
  w.comment("Vectors are passed between functions of this file only, so their calling convention does not matter.");
  w.line("#pragma GCC diagnostic ignored \"-Wpsabi\"");
  w.comment("Some helpers serve one compiler or one instruction set only.");
  w.line("#pragma GCC diagnostic ignored \"-Wunused-function\"");
  const bool contract = program.numerics.contract;
  const bool rows = has_conditional_rows(program);
  if (rows) w.comment("GCC 12 and 13 take wrong lanes where they make vectors of short rows with a condition of each row.");
  w.raw(std::string("#if defined(__clang__)\n#pragma STDC FP_CONTRACT ") + (contract ? "ON" : "OFF") + "\n" +
        (contract && !rows ? "" : "#else\n") + (contract ? "" : "#pragma GCC optimize(\"fp-contract=off\")\n") +
        (rows ? "#pragma GCC optimize(\"no-tree-loop-if-convert\")\n" : "") + "#endif\n\n");
  return w.text();
}

}  // namespace

std::string openmp_flags(const Numerics& numerics) {
  return std::string("-O3 -fno-math-errno -fno-trapping-math -ffp-contract=") + (numerics.contract ? "fast" : "off");
}

std::string openmp_build(const Numerics& numerics, const std::string& march) {
  return "c++ -std=c++17 " + openmp_flags(numerics) + " -march=" + (march.empty() ? "native" : march) + " -fopenmp";
}

Result<Module> print_openmp(const LoopProgram& program, const PrintOptions& options) {
  Diagnostics errors;
  std::set<HelperUse> helpers;
  NameTable functions(openmp_reserved_words());
  std::vector<std::string> embedded;
  std::map<std::string, std::string> constants;
  std::string body;
  for (const std::string& w : program.weights) {
    const auto constant = options.constants.find(w);
    if (constant == options.constants.end()) continue;
    embedded.push_back(w);
    constants[w] = functions.of("constant", w + "_data");
    body += constant_text(constants[w], w, constant->second, "alignas(64) const") + "\n";
  }
  Interface face = interface_of(program, embedded);
  const Interface plain = face;
  face.version = options.version;
  std::vector<PrintedKernel> prepare, kernels;
  for (const Kernel& k : program.prepare) prepare.push_back(print_kernel(program, k, functions, helpers, errors));
  for (const Kernel& k : program.kernels) kernels.push_back(print_kernel(program, k, functions, helpers, errors));
  for (const std::vector<PrintedKernel>* list : {&prepare, &kernels})
    for (const PrintedKernel& k : *list) body += k.text + "\n";
  const Exports exports = print_exports(program, face, constants, prepare, kernels);
  helpers.insert(exports.helpers.begin(), exports.helpers.end());
  const std::string helper_text = emit_helpers(helpers, openmp_prelude(), &errors);
  const std::string typedefs = vector_typedefs(helper_text + body);
  if (!errors.empty()) return errors;

  Module module;
  module.name = face.name;
  module.target = "openmp";
  module.symbols = program.symbols;
  module.arguments = face.arguments;
  for (std::size_t i = 0; i < program.kernels.size(); ++i) {
    const Kernel& k = program.kernels[i];
    const auto& arrays = kernels[i].uses.buffers;
    module.kernels.push_back({k.name,
                              k.ops,
                              k.flops,
                              k.bytes,
                              k.when,
                              {arrays.begin(), arrays.end()},
                              kernels[i].function,
                              flop_bytes(program, k.body)});
  }
  InterfaceStyle style;
  style.versions = !options.version.empty();
  module.header = {face.name + ".h", header_text(plain, style)};
  module.source = {face.source_name(), head_text(program, face, options) + typedefs + (typedefs.empty() ? "" : "\n") +
                                           "namespace {\n\n" + helper_text + body + exports.text};
  return module;
}

}  // namespace facet
