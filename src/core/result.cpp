// The diagnostic registry and its text.
#include "facet/result.hpp"

#include <algorithm>

namespace facet {

namespace {

struct Row {
  Code code;
  const char* id;
  Failure failure;
  const char* pattern;
};

constexpr Row kRows[] = {
#define FACET_DIAGNOSTIC(id, failure, pattern) {Code::id, #id, Failure::failure, pattern},
#include "facet/diagnostics/all.def"
#undef FACET_DIAGNOSTIC
};

constexpr std::size_t kQuoteLimit = 200;  // contract P3

const Row& row_of(Code code) { return kRows[static_cast<std::size_t>(code)]; }

std::string cut(const std::string& text) {
  if (text.size() <= kQuoteLimit) return text;
  std::size_t end = kQuoteLimit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not inside a UTF-8 sequence
  return text.substr(0, end) + "...";
}

std::string fill(const std::string& pattern, const std::vector<std::string>& args) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '{' && i + 2 < pattern.size() && pattern[i + 2] == '}' && pattern[i + 1] >= '0' &&
        pattern[i + 1] <= '9') {
      const std::size_t k = static_cast<std::size_t>(pattern[i + 1] - '0');
      text += k < args.size() ? cut(args[k]) : "";
      i += 2;
    } else {
      text += pattern[i];
    }
  }
  return text;
}

}  // namespace

// kUnknownOp -> "unknown-op"
std::string code_name(Code code) {
  std::string name;
  for (const char* p = row_of(code).id + 1; *p; ++p) {
    const bool upper = *p >= 'A' && *p <= 'Z';
    if (upper && !name.empty()) name += '-';
    name += upper ? static_cast<char>(*p - 'A' + 'a') : *p;
  }
  return name;
}

Failure failure_of(Code code) { return row_of(code).failure; }

const std::vector<Code>& all_codes() {
  static const std::vector<Code> codes = [] {
    std::vector<Code> list;
    for (const Row& row : kRows) list.push_back(row.code);
    return list;
  }();
  return codes;
}

Diagnostic diagnose(Code code, Place place, std::vector<std::string> args, std::vector<std::string> notes) {
  return Diagnostic{code, std::move(place), fill(row_of(code).pattern, args), std::move(notes)};
}

std::string to_text(const Diagnostic& d) {
  std::string text = d.place.file.empty() ? "facet" : d.place.file;
  if (d.place.line > 0) text += ":" + std::to_string(d.place.line) + ":" + std::to_string(std::max(1, d.place.column));
  text += failure_of(d.code) == Failure::kAnswerIsNo ? ": refused[" : ": error[";
  text += code_name(d.code) + "]: " + d.message;
  if (!d.place.pointer.empty()) text += " (at " + d.place.pointer + ")";
  text += "\n";
  if (!d.place.excerpt.empty()) {
    text += "  " + d.place.excerpt + "\n";
    if (d.place.column > 0 && d.place.column <= static_cast<int>(d.place.excerpt.size()) + 1)
      text += "  " + std::string(static_cast<std::size_t>(d.place.column - 1), ' ') + "^\n";
  }
  for (const std::string& note : d.notes) text += "  note: " + note + "\n";
  return text;
}

std::string to_text(const Diagnostics& list) {
  std::string text;
  for (const Diagnostic& d : list) text += to_text(d);
  return text;
}

}  // namespace facet
