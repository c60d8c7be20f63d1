// Type words of C, and the names of operand types in messages.
#include <algorithm>

#include "src/frontend/expression.hpp"

namespace facet {

bool c_type(const std::string& name, DType* type) {
  static const std::pair<const char*, DType> rows[] = {
      {"int", DType::kI32},      {"long", DType::kI64},     {"float", DType::kF32},    {"double", DType::kF64},
      {"int8_t", DType::kI8},    {"int16_t", DType::kI16},  {"int32_t", DType::kI32},  {"int64_t", DType::kI64},
      {"uint8_t", DType::kU8},   {"uint16_t", DType::kU16}, {"uint32_t", DType::kU32}, {"uint64_t", DType::kU64},
      {"unsigned", DType::kU32}, {"short", DType::kI16},    {"char", DType::kI8},      {"bool", DType::kBool},
      {"size_t", DType::kU64},   {"_Bool", DType::kBool}};
  for (const auto& [word, t] : rows) {
    if (name != word) continue;
    if (type) *type = t;
    return true;
  }
  return false;
}

// One type name, or several words of C: [unsigned] [char | short | int | long [long] [int]].
bool ExpressionParser::type_words(DType* type) {
  std::vector<std::string> words;
  while (peek().kind == TokenKind::kName && (c_type(peek().text, nullptr) || peek().text == "signed")) {
    if (!words.empty() && !c_type(peek(1).text, nullptr) && peek(1).kind != TokenKind::kName && peek(1).text != ")") break;
    words.push_back(take().text);
  }
  if (words.empty()) return fail("a type"), false;
  const auto has = [&](const char* w) { return std::find(words.begin(), words.end(), w) != words.end(); };
  DType base = DType::kI32;
  for (const std::string& w : words)
    if (w != "unsigned" && w != "signed" && !(w == "int" && words.size() > 1)) c_type(w, &base);
  if (has("unsigned")) {
    base = base == DType::kI8    ? DType::kU8
           : base == DType::kI16 ? DType::kU16
           : base == DType::kI64 ? DType::kU64
                                 : DType::kU32;
  } else if (has("double") && has("long")) {
    base = DType::kF64;
  }
  *type = base;
  return true;
}

std::string describe(const OperandType& t) {
  switch (t.form) {
    case OperandType::Form::kFixed: return to_text(t.dtype);
    case OperandType::Form::kNumber: return "an integer literal";
    case OperandType::Form::kFraction: return "a floating point literal";
    case OperandType::Form::kPosition: return "an index (an integer)";
    case OperandType::Form::kUnknown: break;
  }
  return "unknown";
}

}  // namespace facet
