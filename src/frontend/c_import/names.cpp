// What each variable of a region is: symbol, tensor, scalar, loop variable, or an integer that stands for an affine value.
//
// Parameters and globals keep their names (they become tensors and symbols, which a program shares); locals give way to them
// and to locals around them, so that no name is hidden when a text is put in another place. C++ words get an underscore: the
// drop-in function is C++.
#include <algorithm>

#include "clang/AST/RecursiveASTVisitor.h"
#include "src/frontend/c_import/reader.hpp"

namespace facet::c_import {

namespace {

constexpr const char* kCppWords[] = {"alignas",     "alignof",       "and",         "and_eq",    "asm",      "bitand",
                                     "bitor",       "bool",          "catch",       "char16_t",  "char32_t", "class",
                                     "compl",       "const_cast",    "constexpr",   "decltype",  "delete",   "dynamic_cast",
                                     "explicit",    "export",        "false",       "friend",    "mutable",  "namespace",
                                     "new",         "noexcept",      "not",         "not_eq",    "nullptr",  "operator",
                                     "or",          "or_eq",         "private",     "protected", "public",   "reinterpret_cast",
                                     "this",        "throw",         "true",        "try",       "typeid",   "typename",
                                     "using",       "virtual",       "wchar_t",     "xor",       "xor_eq",   "template",
                                     "static_cast", "static_assert", "thread_local"};

bool is_cpp_word(const std::string& name) {
  return std::any_of(std::begin(kCppWords), std::end(kCppWords), [&](const char* w) { return name == w; });
}

class MentionVisitor : public clang::RecursiveASTVisitor<MentionVisitor> {
 public:
  explicit MentionVisitor(const clang::ValueDecl* decl) : decl_(decl) {}
  bool VisitDeclRefExpr(clang::DeclRefExpr* e) {
    found |= e->getDecl() == decl_;
    return !found;
  }
  bool found = false;

 private:
  const clang::ValueDecl* decl_;
};

bool mentions(const clang::Stmt* s, const clang::ValueDecl* decl) {
  MentionVisitor visitor(decl);
  visitor.TraverseStmt(const_cast<clang::Stmt*>(s));
  return visitor.found;
}

bool is_integer(const std::string& dtype) { return !dtype.empty() && (dtype[0] == 'i' || dtype[0] == 'u'); }

}  // namespace

std::string dtype_of(const clang::ASTContext& context, clang::QualType type) {
  const auto* builtin = type.getCanonicalType()->getAs<clang::BuiltinType>();
  if (type->isEnumeralType()) return "i32";
  if (!builtin) return "";
  if (builtin->getKind() == clang::BuiltinType::Float) return "f32";
  if (builtin->getKind() == clang::BuiltinType::Double) return "f64";
  if (builtin->getKind() == clang::BuiltinType::Float16 || builtin->getKind() == clang::BuiltinType::Half) return "f16";
  if (builtin->getKind() == clang::BuiltinType::BFloat16) return "bf16";
  if (builtin->getKind() == clang::BuiltinType::Bool) return "bool";
  if (!builtin->isInteger()) return "";
  const std::uint64_t bits = context.getTypeSize(type);
  return bits > 64 ? "" : (builtin->isSignedInteger() ? "i" : "u") + std::to_string(bits);
}

std::string c_word(const std::string& dtype) {
  if (dtype == "f32") return "float";
  if (dtype == "f64") return "double";
  if (dtype == "i32") return "int";
  if (dtype == "bool") return "bool";
  if (!is_integer(dtype)) return "";
  return (dtype[0] == 'u' ? "uint" : "int") + dtype.substr(1) + "_t";
}

void RegionReader::reserve_outer_names() {
  for (const clang::ParmVarDecl* p : region_.function->parameters()) name_for(p, false);
  for (const auto& [decl, paths] : usage_.paths)
    if (const auto* v = llvm::dyn_cast<clang::VarDecl>(decl); v && v->hasGlobalStorage() && !v->isLocalVarDecl())
      name_for(v, false);
}

std::string RegionReader::name_for(const clang::ValueDecl* decl, bool local) {
  const std::string written = decl->getNameAsString();
  const std::string base = is_cpp_word(written) ? written + "_" : written;
  std::string name = base;
  const auto taken = [&](const std::string& n) {
    const auto it = outer_names_.find(n);
    return (it != outer_names_.end() && it->second != decl) || std::count(active_.begin(), active_.end(), n) > 0;
  };
  for (int k = 2; taken(name); ++k) name = base + "_" + std::to_string(k);
  if (local) active_.push_back(name);
  if (!local) outer_names_[name] = decl;
  return name;
}

const Binding& RegionReader::binding(const clang::ValueDecl* decl, clang::SourceRange use) {
  const auto known = bindings_.find(decl);
  if (known != bindings_.end()) return known->second;
  Binding b;
  if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl)) {
    b = bind(variable, use);
    if (variable->hasGlobalStorage()) globals_.push_back(variable);
  } else {
    refuse("not-imported", use, {decl->getNameAsString(), "it is no variable"});
  }
  return bindings_[decl] = b;
}

Binding RegionReader::bind(const clang::VarDecl* decl, clang::SourceRange use) {
  const clang::QualType type = decl->getType();
  const std::string name = decl->getNameAsString();
  Binding b;
  if (type.isVolatileQualified() || type->isAtomicType() || decl->isStaticLocal()) {
    refuse("not-imported", use,
           {name, decl->isStaticLocal() ? "it is static and keeps its value between calls" : "it is volatile or atomic"},
           {"pass it as a parameter"});
    return b;
  }
  if (decl->isLocalVarDecl() && type->isPointerType()) {
    refuse("not-imported", use, {name, "it is a pointer, and may name elements of any array"},
           {"write the array's own name and subscripts, A[i][j] instead of p[j]"});
    return b;
  }
  if (type->isPointerType() || type->isArrayType()) return bind_array(decl, use);
  const std::string dtype = dtype_of(context_, type);
  if (dtype.empty()) {
    refuse("not-imported", use, {name, "its type is " + type.getAsString()},
           {"pass the arrays and numbers that the region uses as parameters of their own"});
    return b;
  }
  if (decl->isLocalVarDecl()) {
    refuse("not-imported", use, {name, "its value here comes from outside the region, or from a loop that has ended"},
           {"declare a scalar in the region and assign it there"});
    return b;
  }
  if (!is_integer(dtype) || usage_.changed.count(decl) || usage_.loop_variables.count(decl))
    return is_stored(decl, dtype, use) ? bind_tensor(decl, dtype, {}, false) : b;
  b.kind = Kind::kSymbol;
  b.text = name_for(decl, false);
  b.dtype = dtype;
  return b;
}

// Can a tensor of a program hold such values? (Contract V8: the wider unsigned integers are for later.)
bool RegionReader::is_stored(const clang::VarDecl* decl, const std::string& dtype, clang::SourceRange use) {
  if (dtype != "u16" && dtype != "u32" && dtype != "u64") return true;
  const std::string wider = dtype == "u16" ? "int32_t" : "int64_t";
  refuse("not-imported", use,
         {decl->getNameAsString(),
          "it holds " + c_word(dtype) + ", and a program's tensors hold no unsigned integers but uint8_t"},
         {dtype == "u64" ? "declare it int64_t where its values fit"
                         : "declare it " + wider + ", which holds all its values, or " + c_word("i" + dtype.substr(1)) +
                               " where they fit"});
  return false;
}

Binding RegionReader::bind_tensor(const clang::VarDecl* decl, const std::string& dtype, std::vector<std::string> extents,
                                  bool array) {
  Binding b;
  b.kind = array ? Kind::kArray : Kind::kScalar;
  b.dtype = dtype;
  b.rank = static_cast<int>(extents.size());
  b.tensor = answer_.tensors.size();
  b.text = name_for(decl, false);
  TensorFact fact;
  fact.name = b.text;
  fact.dtype = dtype;
  fact.extents = std::move(extents);
  fact.scratch = decl->isLocalVarDecl();
  answer_.tensors.push_back(std::move(fact));
  return b;
}

Binding RegionReader::bind_array(const clang::VarDecl* decl, clang::SourceRange use) {
  const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(decl);
  std::vector<std::string> extents;
  clang::QualType element;
  if (!extents_of(decl, parameter ? parameter->getOriginalType() : decl->getType(), &extents, &element, use)) return {};
  const std::string dtype = dtype_of(context_, element);
  if (dtype.empty() || element.isVolatileQualified()) {
    refuse("not-imported", use, {decl->getNameAsString(), "its elements are " + element.getAsString()},
           {"elements are float, double, or integers of up to 64 bits; the fields of a struct become arrays of their own"});
    return {};
  }
  if (decl->isLocalVarDecl() && decl->hasInit()) {
    refuse("not-imported", use, {decl->getNameAsString(), "a local array with initial values"},
           {"pass it as a parameter, or assign its elements in a loop of the region"});
    return {};
  }
  if (!is_stored(decl, dtype, use)) return {};
  return bind_tensor(decl, dtype, std::move(extents), true);
}

// The loop whose variable a size names; null: none. A tensor has one size for the whole region.
const clang::VarDecl* RegionReader::loop_in(const clang::Stmt* size) const {
  if (!size) return nullptr;
  if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(size)) {
    const auto* v = llvm::dyn_cast<clang::VarDecl>(name->getDecl());
    const auto it = v ? bindings_.find(v) : bindings_.end();
    return it != bindings_.end() && it->second.kind == Kind::kLoop ? v : nullptr;
  }
  for (const clang::Stmt* part : size->children())
    if (const clang::VarDecl* v = loop_in(part)) return v;
  return nullptr;
}

bool RegionReader::extents_of(const clang::VarDecl* decl, clang::QualType type, std::vector<std::string>* extents,
                              clang::QualType* element, clang::SourceRange use) {
  for (;; type = *element) {
    const clang::ArrayType* array = context_.getAsArrayType(type);
    if (const auto* fixed = llvm::dyn_cast_or_null<clang::ConstantArrayType>(array)) {
      extents->push_back(std::to_string(fixed->getSize().getZExtValue()));
    } else if (const auto* sized = llvm::dyn_cast_or_null<clang::VariableArrayType>(array)) {
      if (const clang::VarDecl* loop = loop_in(sized->getSizeExpr())) {
        refuse("not-imported", use,
               {decl->getNameAsString(), "its size changes with the loop over '" + loop->getNameAsString() + "'"},
               {"declare it in front of the loops, as large as the largest iteration needs"});
        return false;
      }
      const bool outermost = extents->empty() && !decl->isLocalVarDecl();  // its accesses tell it where the text does not
      const std::optional<std::string> text = !sized->getSizeExpr() ? std::optional<std::string>()
                                              : outermost           ? affine_quietly(sized->getSizeExpr())
                                                                    : affine(sized->getSizeExpr());
      if (!text && !outermost) return false;
      extents->push_back(text.value_or(""));
    } else if (array) {
      extents->push_back("");
    } else if (type->isPointerType()) {
      if (!extents->empty()) {
        const std::string name = decl->getNameAsString();
        refuse("not-imported", use, {name, "it is a pointer to pointers, whose rows may lie anywhere"},
               {"pass one block of memory: double " + name + "[n][m], or double (*" + name + ")[m]"});
        return false;
      }
      extents->push_back("");
      *element = type->getPointeeType();
      continue;
    } else {
      *element = type;
      return true;
    }
    *element = array->getElementType();
  }
}

// Declarations in front of the region whose variables it uses belong to its text.
void RegionReader::hoist_declarations() {
  for (const clang::Stmt* s : region_.before) {
    const auto* declared = llvm::dyn_cast<clang::DeclStmt>(s);
    if (!declared) continue;
    for (const clang::Decl* d : declared->decls())
      if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(d)) hoist(variable);
  }
}

void RegionReader::hoist(const clang::VarDecl* v) {
  const clang::QualType type = v->getType();
  const bool used = usage_.paths.count(v) > 0;
  if (type->isArrayType() || type->isPointerType() || v->isStaticLocal()) return;  // judged where they are used
  const std::string dtype = dtype_of(context_, type);
  if (is_integer(dtype) && v->hasInit() && !usage_.changed.count(v) && !usage_.loop_variables.count(v)) {
    if (const std::optional<std::string> text = affine_quietly(v->getInit())) {
      bindings_[v] = {Kind::kAlias, *text, dtype};
      return;
    }
  }
  if (!used || fixed_value(v) || c_word(dtype).empty() || usage_.loop_variables.count(v)) return;
  if (!v->hasInit() && sink(v)) return;
  declare(v);
}

// A scalar that one block alone uses, and sets before it reads it, is declared in that block: it carries nothing from one
// iteration to the next.
bool RegionReader::sink(const clang::VarDecl* v) {
  const std::vector<std::vector<const clang::Stmt*>>& paths = usage_.paths.at(v);
  std::vector<const clang::Stmt*> common = paths[0];
  for (const std::vector<const clang::Stmt*>& path : paths) {
    std::size_t same = 0;
    while (same < common.size() && same < path.size() && common[same] == path[same]) ++same;
    common.resize(same);
  }
  if (common.empty()) return false;
  for (const clang::Stmt* child : llvm::cast<clang::CompoundStmt>(common.back())->body()) {
    if (!mentions(child, v)) continue;
    const auto* set = llvm::dyn_cast<clang::BinaryOperator>(child);
    const auto* name = set && set->getOpcode() == clang::BO_Assign
                           ? llvm::dyn_cast<clang::DeclRefExpr>(set->getLHS()->IgnoreParens())
                           : nullptr;
    if (!name || name->getDecl() != v || mentions(set->getRHS(), v)) return false;
    sunk_[common.back()].push_back(v);
    return true;
  }
  return false;
}

ArgumentFact RegionReader::argument_of(const clang::VarDecl* v) {
  ArgumentFact a;
  a.name = v->getNameAsString();
  a.global = v->hasGlobalStorage();
  a.internal = a.global && !v->isExternallyVisible();
  clang::QualType type = v->getType();
  a.pointer = type->isPointerType() || type->isArrayType();
  const auto bound = bindings_.find(v);
  const Kind kind = bound == bindings_.end() ? Kind::kRefused : bound->second.kind;
  a.text = bound == bindings_.end() ? a.name : bound->second.text;
  a.kind = kind == Kind::kSymbol ? "symbol" : kind == Kind::kArray ? "tensor" : kind == Kind::kScalar ? "scalar" : "unused";
  while (a.pointer && (type->isPointerType() || type->isArrayType())) {
    if (const auto* fixed = context_.getAsConstantArrayType(type))
      a.extents.push_back(std::to_string(fixed->getSize().getZExtValue()));
    type = type->isPointerType() ? type->getPointeeType() : context_.getAsArrayType(type)->getElementType();
  }
  if (!a.global) a.extents.clear();
  const bool known = !dtype_of(context_, type).empty() || type.getCanonicalType()->isBuiltinType();
  if (!known && !a.pointer && answer_.no_function.empty())
    answer_.no_function = "its parameter " + a.name + " is a " + type.getAsString() + " passed by value";
  a.type = known ? type->isEnumeralType() ? "int" : type.getCanonicalType().getAsString() : "void";
  if (const std::size_t at = a.type.find("_Bool"); at != std::string::npos) a.type.replace(at, 5, "bool");
  return a;
}

void RegionReader::describe_arguments() {
  for (const clang::ParmVarDecl* p : region_.function->parameters()) answer_.arguments.push_back(argument_of(p));
  for (const clang::VarDecl* g : globals_) answer_.arguments.push_back(argument_of(g));
}

}  // namespace facet::c_import
