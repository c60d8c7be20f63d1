// Indentation and identifiers.
#include "codegen/text_writer.hpp"

#include <cctype>
#include <cstddef>

namespace facet {

namespace {

constexpr std::size_t kColumns = 120;

// Words like exp_f32, floor_div_i64, load_u8x64, f32x16: typedefs and helpers of generated code end with a type.
bool is_typed_word(const std::string& word) {
  static const char* const types[] = {"bool", "i8",  "u8",  "i16",  "u16", "i32", "u32",
                                      "i64",  "u64", "f16", "bf16", "f32", "f64"};
  std::string tail = word;
  if (tail.size() > 2 && tail.compare(tail.size() - 2, 2, "_u") == 0) tail.resize(tail.size() - 2);
  tail = tail.substr(tail.rfind('_') == std::string::npos ? 0 : tail.rfind('_') + 1);
  const std::size_t digits = tail.find_last_not_of("0123456789");
  const bool vector = digits != std::string::npos && digits + 1 < tail.size() && tail[digits] == 'x' && digits > 0;
  const std::string base = vector ? tail.substr(0, digits) : tail;
  for (const char* type : types)
    if (base == type && (vector || tail != word)) return true;
  return false;
}

std::string spaces(int levels) { return std::string(static_cast<std::size_t>(levels) * 2, ' '); }

}  // namespace

void TextWriter::line(const std::string& text) { text_ += text.empty() ? "\n" : spaces(indent_) + text + "\n"; }

void TextWriter::raw(const std::string& text) { text_ += text; }

void TextWriter::comment(const std::string& text) {
  std::string rest = text;
  // A user's text may hold line ends, or a backslash that would continue the comment onto code.
  for (char& c : rest)
    if (c == '\n' || c == '\r' || c == '\\') c = ' ';
  const std::size_t room = kColumns - static_cast<std::size_t>(indent_) * 2 - 3;
  while (rest.size() > room) {
    std::size_t cut = rest.rfind(' ', room);
    if (cut == std::string::npos || cut == 0) cut = room;
    line("// " + rest.substr(0, cut));
    rest = rest.substr(rest[cut] == ' ' ? cut + 1 : cut);
  }
  if (!rest.empty()) line("// " + rest);
}

void TextWriter::open(const std::string& header) {
  line(header.empty() ? "{" : header + " {");
  ++indent_;
}

void TextWriter::close(const std::string& tail) {
  --indent_;
  line(tail);
}

void TextWriter::reopen(const std::string& middle) {
  --indent_;
  line(middle);
  ++indent_;
}

std::string sanitized(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const char d = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    if (d == '_' && !text.empty() && text.back() == '_') continue;  // a double underscore is the implementation's
    text += d;
  }
  if (text.empty() || text.front() == '_' || std::isdigit(static_cast<unsigned char>(text.front()))) text = "v" + text;
  return text;
}

bool names_word(const std::string& text, const std::string& word) {
  const auto inside = [&](std::size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
  };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if (!(at > 0 && inside(at - 1)) && !inside(at + word.size())) return true;
  return false;
}

const std::string& NameTable::of(const std::string& kind, const std::string& name) {
  const auto key = std::make_pair(kind, name);
  const auto it = names_.find(key);
  if (it != names_.end()) return it->second;
  const std::string base = sanitized(name);
  std::string chosen = base;
  const std::string joint = base.back() == '_' ? "" : "_";
  for (int n = 2; taken_.count(chosen) || is_typed_word(chosen); ++n) chosen = base + joint + std::to_string(n);
  taken_.insert(chosen);
  return names_[key] = chosen;
}

bool NameTable::has(const std::string& kind, const std::string& name) const {
  return names_.count(std::make_pair(kind, name)) != 0;
}

const std::set<std::string>& c_family_words() {
  static const std::set<std::string> words = {
      // C++17 and C11 keywords and alternative tokens, later keywords, and words with a meaning in some place.
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
      "char16_t", "char32_t", "char8_t", "class", "compl", "concept", "const", "consteval", "constexpr", "constinit",
      "const_cast", "continue", "co_await", "co_return", "co_yield", "decltype", "default", "delete", "do", "double",
      "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "final", "float", "for", "friend", "goto", "if",
      "import", "inline", "int", "long", "module", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
      "operator", "or", "or_eq", "override", "private", "protected", "public", "reflexpr", "register", "reinterpret_cast",
      "requires", "restrict", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct",
      "switch", "synchronized", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename",
      "typeof", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq", "main", "std",
      // Macros that compilers define in GNU mode, and macros or types of the headers used around generated code.
      "linux", "unix", "i386", "NULL", "EOF", "BUFSIZ", "assert", "errno", "offsetof", "stdin", "stdout", "stderr", "setjmp",
      "va_arg", "va_copy", "va_end", "va_list", "va_start", "NAN", "INFINITY", "HUGE_VAL", "I", "EXIT_SUCCESS", "EXIT_FAILURE",
      "RAND_MAX", "SIZE_MAX", "PTRDIFF_MIN", "PTRDIFF_MAX", "CHAR_BIT", "INT_MAX", "INT_MIN", "LONG_MAX", "LONG_MIN", "DBL_MAX",
      "FLT_MAX", "FLT_MIN", "DBL_MIN", "size_t", "ptrdiff_t", "max_align_t", "nullptr_t", "int8_t", "int16_t", "int32_t",
      "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "intptr_t", "uintptr_t", "intmax_t", "uintmax_t", "int_fast8_t",
      "int_fast16_t", "int_fast32_t", "int_fast64_t", "uint_fast8_t", "uint_fast16_t", "uint_fast32_t", "uint_fast64_t",
      "int_least8_t", "int_least16_t", "int_least32_t", "int_least64_t", "uint_least8_t", "uint_least16_t", "uint_least32_t",
      "uint_least64_t", "INT8_MIN", "INT16_MIN", "INT32_MIN", "INT64_MIN", "INT8_MAX", "INT16_MAX", "INT32_MAX", "INT64_MAX",
      "UINT8_MAX", "UINT16_MAX", "UINT32_MAX", "UINT64_MAX", "INT8_C", "INT16_C", "INT32_C", "INT64_C", "UINT8_C", "UINT16_C",
      "UINT32_C", "UINT64_C", "INTMAX_C", "UINTMAX_C", "INTPTR_MIN", "INTPTR_MAX", "UINTPTR_MAX", "INTMAX_MIN", "INTMAX_MAX",
      "UINTMAX_MAX", "WCHAR_MIN", "WCHAR_MAX", "WINT_MIN", "WINT_MAX", "SIG_ATOMIC_MIN", "SIG_ATOMIC_MAX"};
  return words;
}

}  // namespace facet
