// A drop-in C function is the kernels' source and a function around it.
//
// The kernels know dense arrays that do not overlap and sizes within ranges; a C caller promises neither. So the function looks
// first: sizes in range, arrays apart, workspace there; where that fails it runs the loops as the C file has them. Kernels that
// copy a caller's array before it is updated (A.copy) are left out: the C function updates the caller's array itself.
//
// The plain loops are the text of op `loops`, which is also C++ once A[i][j] is an operator of a pointer with row lengths.
//
// A C program shall link it with `cc`, so nothing here needs a C++ library: memory is C's, and what a thread keeps between
// calls hangs on a key of POSIX threads, which gives it back when the thread ends, instead of on a destructor
// (__cxa_thread_atexit).
#include "codegen/openmp/c_function.hpp"

#include <algorithm>

#include "codegen/c_family.hpp"
#include "codegen/text_writer.hpp"

namespace facet {

namespace {

using Role = CArgument::Role;

const char* const kSupport = R"(
// An array as the text writes it, A[i][j]: a pointer and the number of elements in a step of each subscript but the last.
template <class T, int Rank>
struct FacetArray {
  T* data;
  const std::int64_t* steps;
  FacetArray<T, Rank - 1> operator[](std::int64_t i) const { return {data + i * steps[0], steps + 1}; }
};
template <class T>
struct FacetArray<T, 1> {
  T* data;
  const std::int64_t* steps;
  T& operator[](std::int64_t i) const { return data[i]; }
};

template <class A, class B>
[[maybe_unused]] std::common_type_t<A, B> min(A a, B b) { return b < a ? b : a; }
template <class A, class B>
[[maybe_unused]] std::common_type_t<A, B> max(A a, B b) { return a < b ? b : a; }

// Memory of one thread, kept between calls and freed when the thread ends: `Slot` tells several apart. Null: there is none.
template <int Slot>
struct FacetMemory {
  static constexpr std::size_t kHead = 64;  // holds the size, and keeps the rest on a cache line of its own
  static pthread_key_t key;
  static pthread_once_t once;
  static int missing;
  static void make() { missing = pthread_key_create(&key, free); }
  static void* of(std::size_t wanted) {
    pthread_once(&once, make);
    if (missing) return nullptr;
    char* block = static_cast<char*>(pthread_getspecific(key));
    if (!block || *reinterpret_cast<std::size_t*>(block) < wanted) {
      free(block);
      block = static_cast<char*>(wanted <= SIZE_MAX - kHead ? malloc(wanted + kHead) : nullptr);
      pthread_setspecific(key, block);
      if (!block) return nullptr;
      *reinterpret_cast<std::size_t*>(block) = wanted;
    }
    return block + kHead;
  }
};
template <int Slot>
pthread_key_t FacetMemory<Slot>::key;
template <int Slot>
pthread_once_t FacetMemory<Slot>::once = PTHREAD_ONCE_INIT;
template <int Slot>
int FacetMemory<Slot>::missing = 1;

// Elements of an array of the plain loops, zero at the start.
template <class T>
struct FacetScratch {
  T* data;
  explicit FacetScratch(std::size_t count) : data(static_cast<T*>(calloc(count ? count : 1, sizeof(T)))) {
    if (!data) abort();  // C has no answer either
  }
  FacetScratch(const FacetScratch&) = delete;
  FacetScratch& operator=(const FacetScratch&) = delete;
  ~FacetScratch() { free(data); }
};

[[maybe_unused]] bool facet_apart(const void* a, std::int64_t a_bytes, const void* b, std::int64_t b_bytes) {
  const std::uintptr_t x = reinterpret_cast<std::uintptr_t>(a), y = reinterpret_cast<std::uintptr_t>(b);
  return x + static_cast<std::uintptr_t>(a_bytes) <= y || y + static_cast<std::uintptr_t>(b_bytes) <= x;
}
)";

std::string base_type(const std::string& type) { return type.substr(0, type.find('*')); }
std::string plain_type(const std::string& type) {
  const std::string base = base_type(type);
  return base.compare(0, 6, "const ") == 0 ? base.substr(6) : base;
}

class CFunctionWriter {
 public:
  CFunctionWriter(const Program& program, const Module& module)
      : program_(program), module_(module), function_(*program.c_function), node_(program.nodes[0]) {}

  std::string text(const std::string& build) {
    head(build);
    w_.line("namespace facet_" + module_.name + "_c {");
    w_.line("namespace {");
    w_.raw(kSupport);
    w_.line("");
    plain();
    w_.line("");
    fast();
    w_.line("");
    w_.line("}  // namespace");
    w_.line("}  // namespace facet_" + module_.name + "_c");
    w_.line("");
    entry();
    return w_.text();
  }

 private:
  void head(const std::string& build) {
    w_.comment(function_.name + " of " + function_.file + ", scheduled: link it in place of the original. " +
               "The original's prototype:");
    w_.comment("  " + function_.prototype);
    w_.comment("Sizes outside the ranges below, arrays that overlap, and a lack of memory run the loops as they were written.");
    w_.line("// Build: " + build + " -fno-exceptions -Wno-psabi -c c_function.cpp");
    w_.line("// Link:  cc ... c_function.o -fopenmp -lm (no C++ library is needed)");
    w_.raw(whole_source());
    for (const char* h : {"math.h", "pthread.h", "stdint.h", "stdlib.h", "string.h", "cstddef", "cstdint", "type_traits"})
      w_.line(std::string("#include <") + h + ">");
    w_.line("");
    globals();
  }

  // The kernels' source with its header put in. What stands before that says how to build another file.
  std::string whole_source() const {
    const std::string include = "#include \"" + module_.header.name + "\"";
    const std::string& source = module_.source.text;
    const std::size_t at = source.find(include);
    return at == std::string::npos ? source + "\n" : module_.header.text + source.substr(at + include.size()) + "\n";
  }

  void globals() {
    bool any = false;
    for (const CArgument& a : function_.arguments) {
      if (!a.global) continue;
      if (!any) w_.open("extern \"C\"");
      any = true;
      std::string extents;
      for (const std::int64_t e : a.extents) extents += "[" + std::to_string(e) + "]";
      w_.line("extern " + (a.extents.empty() ? a.type : base_type(a.type)) + " " + a.name + extents + ";");
    }
    if (any) w_.close();
    if (any) w_.line("");
  }

  std::string shape(const ExprPtr& e) const { return "(" + to_text(e) + ")"; }

  std::string count(const Tensor& t) const {
    std::string product = "std::int64_t{1}";
    for (const ExprPtr& e : t.shape) product += " * " + shape(e);
    return product;
  }

  std::string name(const CArgument& a) const { return a.of.empty() ? a.name : a.of; }

  // What plain and fast take: symbols and numbers by value, arrays as pointers; all by the names of the program.
  std::string internal_parameters(bool data_suffix) const {
    std::string list;
    for (const CArgument& a : function_.arguments) {
      if (a.role == Role::kUnused) continue;
      const std::string by = a.role == Role::kTensor ? plain_type(a.type) + "* "
                                                     : plain_type(a.type) + (a.global && a.role == Role::kScalar ? "& " : " ");
      list += (list.empty() ? "" : ", ") + by + a.of + (data_suffix && a.role == Role::kTensor ? "_facet_data" : "");
    }
    return list;
  }

  void view(const Tensor& t, const std::string& type, const std::string& data) {
    std::vector<std::string> steps;
    for (std::size_t d = 1; d < t.shape.size(); ++d) {
      std::string product;
      for (std::size_t e = d; e < t.shape.size(); ++e) product += (product.empty() ? "" : " * ") + shape(t.shape[e]);
      steps.push_back("static_cast<std::int64_t>(" + product + ")");
    }
    std::string list;
    for (const std::string& s : steps) list += (list.empty() ? "" : ", ") + s;
    const std::string steps_name = t.name + "_facet_steps";
    if (!steps.empty()) w_.line("const std::int64_t " + steps_name + "[] = {" + list + "};");
    w_.line("const FacetArray<" + type + ", " + std::to_string(t.shape.size()) + "> " + t.name + "{" + data + ", " +
            (steps.empty() ? "nullptr" : steps_name) + "};");
  }

  bool is_argument(const std::string& tensor) const {
    return std::any_of(function_.arguments.begin(), function_.arguments.end(),
                       [&](const CArgument& a) { return a.of == tensor; });
  }

  void plain() {
    w_.comment("The loops as they were written.");
    w_.open("void plain(" + internal_parameters(true) + ")");
    for (const CArgument& a : function_.arguments)
      if (a.role == Role::kTensor) view(program_.tensor(a.of), plain_type(a.type), a.of + "_facet_data");
    for (const std::string& t : program_.tensor_order) {
      const Tensor& tensor = program_.tensor(t);
      if (!tensor.declared || is_argument(t)) continue;
      w_.line("FacetScratch<" + std::string(storage_type(tensor.dtype)) + "> " + t + "_facet_data(static_cast<std::size_t>(" +
              count(tensor) + "));");
      view(tensor, storage_type(tensor.dtype), t + "_facet_data.data");
    }
    for (const CArgument& a : function_.arguments)
      if (a.role == Role::kSymbol) w_.line("(void)" + a.of + ";");  // perhaps only a size
    for (const std::string& line : node_.text) w_.line(line);
    w_.close();
  }

  void fast() {
    w_.comment("The kernels. False, and nothing has been done: not for these sizes or arrays.");
    w_.open("bool fast(" + internal_parameters(false) + ")");
    for (const Symbol& s : module_.symbols)
      w_.line("if (" + s.name + " < " + std::to_string(s.min) + " || " + s.name + " > " + std::to_string(s.max) +
              ") return false;");
    check_overlap();
    const std::string prefix = "facet_" + module_.name + "_";
    w_.line(prefix + "args facet_args = {};");
    NameTable fields(c_family_words());
    for (const Symbol& s : module_.symbols) w_.line("facet_args." + fields.of("field", s.name) + " = " + s.name + ";");
    for (const ArgumentInfo& a : module_.arguments) pass(a);
    w_.line("void* const facet_memory = FacetMemory<0>::of(" + prefix + "workspace_bytes(&facet_args));");
    w_.line("if (!facet_memory) return false;");
    w_.line("if (" + prefix + "prepare(&facet_args, facet_memory) != " + prefix + "ok) return false;");
    for (std::size_t k = 0; k < module_.kernels.size(); ++k)
      if (!is_copy(module_.kernels[k])) w_.line(prefix + "run_kernel(&facet_args, facet_memory, " + std::to_string(k) + ");");
    w_.line("return true;");
    w_.close();
  }

  static bool ends_with(const std::string& text, const std::string& end) {
    return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
  }
  static bool is_copy(const KernelInfo& k) { return k.ops.size() == 1 && ends_with(k.ops[0], ".copy"); }
  // Does a kernel that does more than copy it read the array as it was given?
  bool given_elsewhere(const std::string& given) const {
    return std::any_of(module_.kernels.begin(), module_.kernels.end(), [&](const KernelInfo& k) {
      return !is_copy(k) && std::count(k.arrays.begin(), k.arrays.end(), given) > 0;
    });
  }

  void pass(const ArgumentInfo& a) {
    const bool given = ends_with(a.tensor, ".given");
    const std::string tensor = given ? a.tensor.substr(0, a.tensor.size() - 6) : a.tensor;
    const bool read_only = a.kind != ArgumentInfo::Kind::kOutput && !a.in_out;
    const Tensor& t = program_.tensor(tensor);
    const bool scalar = t.shape.empty();
    std::string pointer = (scalar ? "&" : "") + tensor;
    if (given && given_elsewhere(a.tensor)) {
      const std::string bytes = "static_cast<std::size_t>(" + count(t) + ") * sizeof(*" + pointer + ")";
      const std::string slot = "FacetMemory<" + std::to_string(++slots_) + ">";
      w_.line("void* const " + a.field + "_facet_given = " + slot + "::of(" + bytes + ");");
      w_.line("if (!" + a.field + "_facet_given) return false;");
      w_.line("memcpy(" + a.field + "_facet_given, " + pointer + ", " + bytes + ");");
      pointer = a.field + "_facet_given";
    }
    const std::string constant = read_only ? "const " : "";
    w_.line("facet_args." + a.field + " = static_cast<" + constant + storage_type(a.dtype) + "*>(static_cast<" + constant +
            "void*>(" + pointer + "));");
  }

  void check_overlap() {
    std::vector<const CArgument*> arrays;
    for (const CArgument& a : function_.arguments)
      if (a.role == Role::kTensor) arrays.push_back(&a);
    const auto written = [&](const std::string& t) {
      return std::count(node_.inout.begin(), node_.inout.end(), t) + std::count(node_.out.begin(), node_.out.end(), t) > 0;
    };
    const auto bytes = [&](const std::string& t) {
      const Tensor& tensor = program_.tensor(t);
      return "(" + count(tensor) + ") * " + std::to_string(size_bytes(tensor.dtype));
    };
    for (std::size_t i = 0; i < arrays.size(); ++i)
      for (std::size_t j = i + 1; j < arrays.size(); ++j) {
        const std::string& a = arrays[i]->of;
        const std::string& b = arrays[j]->of;
        if (written(a) || written(b))
          w_.line("if (!facet_apart(" + a + ", " + bytes(a) + ", " + b + ", " + bytes(b) + ")) return false;");
      }
  }

  void entry() {
    std::string parameters, arguments;
    int unnamed = 0;
    for (const CArgument& a : function_.arguments) {
      const std::string own = a.name.empty() ? "unnamed_" + std::to_string(++unnamed) : name(a);
      if (!a.global)
        parameters += (parameters.empty() ? "" : ", ") + a.type + (a.type.back() == '*' ? " " : " ") +
                      (a.role == Role::kUnused ? "" : own);
      if (a.role == Role::kUnused) continue;
      std::string value = a.global ? "::" + a.name : own;
      if (a.global && a.role == Role::kTensor && a.extents.size() > 1)
        value = "&" + value + std::string("[0]") + deeper(a.extents.size() - 1);
      if (a.role == Role::kTensor && base_type(a.type).compare(0, 6, "const ") == 0)
        value = "const_cast<" + plain_type(a.type) + "*>(" + value + ")";
      arguments += (arguments.empty() ? "" : ", ") + value;
    }
    const std::string scope = "facet_" + module_.name + "_c::";
    w_.open("extern \"C\" void " + function_.name + "(" + parameters + ")");
    w_.line("if (!" + scope + "fast(" + arguments + ")) " + scope + "plain(" + arguments + ");");
    w_.close();
  }
  static std::string deeper(std::size_t levels) {
    std::string text;
    for (std::size_t i = 0; i < levels; ++i) text += "[0]";
    return text;
  }

  const Program& program_;
  const Module& module_;
  const CFunction& function_;
  const Node& node_;
  int slots_ = 0;  // of FacetMemory, beside the workspace's
  TextWriter w_;
};

Diagnostic none(const std::string& why, std::vector<std::string> notes) {
  return diagnose(Code::kNoCFunctionRecord, {}, {why}, std::move(notes));
}

}  // namespace

Result<std::string> c_function_text(const Program& program, const Module& module, const std::string& build) {
  if (!program.c_function)
    return none("the program was not imported from C",
                {"facet import c FILE -o PROGRAM reads one; compile without --c-function writes the plain interface"});
  if (!program.c_function->impossible.empty())
    return none(program.c_function->name + " cannot be replaced: " + program.c_function->impossible,
                {"move the region into a function of its own that returns void"});
  if (program.nodes.size() != 1 || program.nodes[0].op != "loops")
    return none("the program has more than the loops of " + program.c_function->name,
                {"compile without --c-function writes the plain interface"});
  return CFunctionWriter(program, module).text(build);
}

}  // namespace facet
