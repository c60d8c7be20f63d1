// Expansion of helper templates.
#include "codegen/prelude.hpp"

#include <cctype>
#include <cstring>
#include <functional>
#include <map>

namespace facet {

namespace {

bool word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Calls `visit` on every identifier of `text`.
void each_word(const std::string& text, const std::function<void(const std::string&)>& visit) {
  for (std::size_t i = 0; i < text.size();) {
    if (!word_char(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && word_char(text[end])) ++end;
    if (!std::isdigit(static_cast<unsigned char>(text[i]))) visit(text.substr(i, end - i));
    i = end;
  }
}

// "f32x16" -> type and lanes.
bool parse_type(const std::string& word, DType* type, int* lanes) {
  const std::size_t x = word.find('x');
  if (!dtype_from_text(word.substr(0, x), type)) return false;
  *lanes = 1;
  if (x == std::string::npos) return true;
  if (x + 1 == word.size() || word.size() - x > 5) return false;
  for (std::size_t i = x + 1; i < word.size(); ++i)
    if (!std::isdigit(static_cast<unsigned char>(word[i]))) return false;
  *lanes = std::stoi(word.substr(x + 1));
  return true;
}

DType integer_of(DType type, bool is_signed_type) {
  switch (size_bytes(computed_as(type))) {
    case 1: return is_signed_type ? DType::kI8 : DType::kU8;
    case 2: return is_signed_type ? DType::kI16 : DType::kU16;
    case 4: return is_signed_type ? DType::kI32 : DType::kU32;
    default: return is_signed_type ? DType::kI64 : DType::kU64;
  }
}

std::string numbers(int first, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i ? ", " : "") + std::to_string(first + i);
  return text;
}

std::string replaced(std::string text, char what, const std::string& by) {
  for (std::size_t i = text.find(what); i != std::string::npos; i = text.find(what, i + by.size())) text.replace(i, 1, by);
  return text;
}

class Expansion {
 public:
  Expansion(DType type, int lanes, const std::string& qualifier) : type_(type), lanes_(lanes), qualifier_(qualifier) {}

  std::string operator()(const std::string& text) const {
    std::string result;
    for (std::size_t i = 0; i < text.size();) {
      if (text[i] != '$') {
        result += text[i++];
        continue;
      }
      std::size_t end = ++i;
      while (end < text.size() && std::isupper(static_cast<unsigned char>(text[end]))) ++end;
      const std::string mark = text.substr(i, end - i);
      i = end;
      if (mark == "EACH") {
        const std::size_t close = matching(text, i);
        const std::string item = (*this)(text.substr(i + 1, close - i - 1));
        for (int l = 0; l < lanes_; ++l) result += (l ? ", " : "") + replaced(item, '@', std::to_string(l));
        i = close + 1;
      } else {
        result += mark_text(mark);
      }
    }
    return result;
  }

 private:
  static std::size_t matching(const std::string& text, std::size_t open) {
    int depth = 0;
    for (std::size_t i = open; i < text.size(); ++i) {
      if (text[i] == '(') ++depth;
      if (text[i] == ')' && --depth == 0) return i;
    }
    return text.size();
  }

  std::string mark_text(const std::string& mark) const {
    const DType signed_type = integer_of(type_, true);
    const DType unsigned_type = integer_of(type_, false);
    if (mark == "FN") return qualifier_;
    if (mark == "S") return type_suffix(type_, lanes_);
    if (mark == "T") return value_type(type_, lanes_);
    if (mark == "E") return value_type(type_, 1);
    if (mark == "ES") return type_suffix(type_, 1);
    if (mark == "L") return std::to_string(lanes_);
    if (mark == "M") return lanes_ > 1 ? value_type(signed_type, lanes_) : "bool";
    if (mark == "I") return value_type(signed_type, lanes_);
    if (mark == "IS") return type_suffix(signed_type, lanes_);
    if (mark == "U") return value_type(unsigned_type, lanes_);
    if (mark == "US") return type_suffix(unsigned_type, lanes_);
    if (mark == "WU") return size_bytes(type_) == 8 ? "uint64_t" : "uint32_t";
    if (mark == "B") return std::to_string(8 * size_bytes(computed_as(type_)));
    if (mark == "C") return lanes_ > 1 ? "splat_" + type_suffix(type_, lanes_) : "";
    if (mark == "D") return value_type(DType::kF64, lanes_);
    if (mark == "DS") return type_suffix(DType::kF64, lanes_);
    if (mark == "F") return value_type(DType::kF32, lanes_);
    if (mark == "FS") return type_suffix(DType::kF32, lanes_);
    if (mark == "K") return lanes_ > 1 ? value_type(DType::kI32, lanes_) : "bool";
    if (mark == "H" || mark == "TH") return type_suffix(type_, lanes_ / 2);
    if (mark == "LOW") return numbers(0, lanes_ / 2);
    if (mark == "HIGH") return numbers(lanes_ / 2, lanes_ / 2);
    if (mark == "ALL") return numbers(0, lanes_);
    if (mark == "HALF") return std::to_string(lanes_ / 2);
    if (mark == "IC") return lanes_ > 1 ? "splat_" + type_suffix(signed_type, lanes_) : "";
    if (mark == "LC") return std::to_string(lanes_);
    return "$" + mark;
  }

  DType type_;
  int lanes_;
  const std::string& qualifier_;
};

bool type_matches(const char* types, DType type) {
  const std::string list = types;
  const bool narrow = size_bytes(type) < 4;
  if (list == "any") return true;
  if (list == "float") return is_float(type);
  if (list == "int") return is_integer(type);
  if (list == "signed") return is_integer(type) && is_signed(type);
  if (list == "unsigned") return is_integer(type) && !is_signed(type);
  if (list == "narrow") return is_integer(type) && narrow;
  if (list == "wide") return is_integer(type) && !narrow;
  return (" " + list + " ").find(" " + to_text(type) + " ") != std::string::npos;
}

const HelperText* find_text(const PreludeDialect& dialect, const HelperUse& use) {
  for (const HelperTable* table : dialect.tables)
    for (const HelperText& row : *table) {
      const bool shape = row.shape == HelperText::kBoth || (row.shape == HelperText::kVector) == (use.lanes > 1);
      if (shape && use.name == row.name && type_matches(row.types, use.type)) return &row;
    }
  return nullptr;
}

std::string template_of(const HelperText& row, DType type, int lanes) { return row.make ? row.make(type, lanes) : row.text; }

// "static inline float pow_f32(float x, float y) {" -> result and parameter types of the scalar text.
struct Signature {
  std::string result;
  std::vector<std::string> parameters;
};

Signature signature_of(const std::string& text, const std::string& qualifier, const std::string& name) {
  Signature s;
  const std::size_t at = text.find(" " + name + "(");
  const std::size_t start = text.rfind(qualifier, at) + qualifier.size() + 1;
  s.result = text.substr(start, at - start);
  std::size_t i = at + name.size() + 2;
  const std::size_t close = text.find(')', i);
  while (i < close) {
    std::size_t comma = text.find(',', i);
    if (comma == std::string::npos || comma > close) comma = close;
    std::string parameter = text.substr(i, comma - i);
    s.parameters.push_back(parameter.substr(0, parameter.rfind(' ')));
    i = comma + 2;
  }
  return s;
}

// A vector helper as a loop over the scalar one.
std::string lane_loop(const HelperUse& use, const std::string& scalar_text, const PreludeDialect& dialect) {
  const auto widened = [&](const std::string& type) {
    for (const DType t : {DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kI32, DType::kU32, DType::kI64, DType::kU64,
                          DType::kF32, DType::kF64})
      if (value_type(t, 1) == type) return value_type(t, use.lanes);
    return value_type(DType::kI32, use.lanes);  // bool
  };
  const std::string scalar = use.name + "_" + type_suffix(use.type, 1);
  const Signature s = signature_of(scalar_text, dialect.qualifier, scalar);
  std::string parameters, arguments;
  for (std::size_t i = 0; i < s.parameters.size(); ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    parameters += (i ? ", " : "") + widened(s.parameters[i]) + " " + name;
    arguments += (i ? ", " : "") + name + "[l]";
  }
  const std::string result = widened(s.result);
  return dialect.vector_qualifier + " " + result + " " + use.name + "_" + type_suffix(use.type, use.lanes) + "(" + parameters +
         ") {\n  " + result + " r;\n  for (int l = 0; l < " + std::to_string(use.lanes) + "; ++l) r[l] = " + scalar + "(" +
         arguments + ");\n  return r;\n}\n";
}

}  // namespace

bool parse_helper(const std::string& word, HelperUse* use) {
  const std::size_t cut = word.rfind('_');
  if (cut == std::string::npos || cut == 0) return false;
  if (!parse_type(word.substr(cut + 1), &use->type, &use->lanes)) return false;
  use->name = word.substr(0, cut);
  return true;
}

std::string emit_helpers(const std::set<HelperUse>& used, const PreludeDialect& dialect, Diagnostics* errors) {
  std::string all;
  std::set<HelperUse> done;
  const std::function<void(const HelperUse&)> emit = [&](const HelperUse& use) {
    if (!done.insert(use).second) return;
    const HelperText* row = find_text(dialect, use);
    std::string text;
    if (row) {
      text = Expansion(use.type, use.lanes,
                       use.lanes > 1 ? dialect.vector_qualifier : dialect.qualifier)(template_of(*row, use.type, use.lanes));
    } else if (use.lanes > 1 && (row = find_text(dialect, {use.name, use.type, 1}))) {
      text = lane_loop(use, Expansion(use.type, 1, dialect.qualifier)(template_of(*row, use.type, 1)), dialect);
    } else {
      errors->push_back(diagnose(Code::kInternalError, {},
                                 {"code generation", "no helper " + use.name + "_" + type_suffix(use.type, use.lanes)}));
      return;
    }
    each_word(text, [&](const std::string& word) {
      HelperUse callee;
      if (word.compare(0, 9, "__builtin") != 0 && parse_helper(word, &callee) && !done.count(callee) &&
          (find_text(dialect, callee) || find_text(dialect, {callee.name, callee.type, 1})))
        emit(callee);
    });
    all += (text.front() == '\n' ? text.substr(1) : text) + "\n";
  };
  for (const HelperUse& use : used) emit(use);
  return all;
}

std::string vector_typedefs(const std::string& text) {
  std::map<std::pair<DType, int>, bool> types;  // -> unaligned form used
  each_word(text, [&](const std::string& word) {
    if (word.compare(0, 9, "__builtin") == 0) return;
    const bool unaligned = word.size() > 2 && word.compare(word.size() - 2, 2, "_u") == 0;
    std::string tail = unaligned ? word.substr(0, word.size() - 2) : word;
    if (tail.rfind('_') != std::string::npos) tail = tail.substr(tail.rfind('_') + 1);
    DType type;
    int lanes;
    if (!parse_type(tail, &type, &lanes) || lanes < 2) return;
    types[{type, lanes}] |= unaligned;
  });
  std::string lines;
  for (const auto& [key, unaligned] : types) {
    const auto& [type, lanes] = key;
    const std::string name = to_text(type) + "x" + std::to_string(lanes);
    const std::string bytes = std::to_string(size_bytes(type) * lanes);
    lines += "typedef " + storage_type(type) + " " + name + " __attribute__((vector_size(" + bytes + ")));\n";
    if (unaligned)
      lines += "typedef " + storage_type(type) + " " + name + "_u __attribute__((vector_size(" + bytes + "), aligned(" +
               std::to_string(size_bytes(type)) + "), may_alias));\n";
  }
  return lines;
}

}  // namespace facet
