// Cutting texts into tokens.
#include "src/frontend/lexer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace facet {

namespace {

constexpr std::size_t kExcerptLimit = 200;  // contract P3

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }

std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text.substr(0, kExcerptLimit);
}

// Longest first, so that the first match is the right one.
constexpr const char* kPunctuation[] = {"<<=", ">>=", "...", "..", "<=", ">=", "==", "!=", "<<", ">>", "&&", "||",
                                        "++",  "--",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", "->", "**",
                                        "+",   "-",   "*",   "/",  "%",  "<",  ">",  "=",  "(",  ")",  "[",  "]",
                                        "{",   "}",   ",",   ";",  "?",  ":",  "&",  "|",  "^",  "~",  "!",  "."};

// Assignments and steps, which equations do not have.
bool is_c_only(const char* p) {
  const std::size_t length = std::strlen(p);
  if (length < 2 || std::strcmp(p, "**") == 0) return false;
  return std::strcmp(p, "++") == 0 || std::strcmp(p, "--") == 0 ||
         (p[length - 1] == '=' && !std::strchr("=!<>", p[length - 2])) || length == 3;
}

class Lexer {
 public:
  Lexer(const SourceText& source, Language language) : source_(source), text_(source.text()), language_(language) {}

  Result<std::vector<Token>> run() {
    for (;;) {
      if (!skip_blank()) return error(Code::kSyntax, at_, {"the end of the comment, */", "the end of the text"});
      if (at_ >= text_.size()) break;
      if (tokens_.size() >= kTokenLimit) return error(Code::kTextTooLong, at_, {std::to_string(kTokenLimit)});
      const char c = text_[at_];
      const bool number = is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]));
      if (is_letter(c)) {
        read_name();
      } else if (number) {
        if (!read_number()) return std::move(errors_);
      } else if (!read_punctuation()) {
        return error(Code::kBadCharacter, at_, {character(at_)});
      }
    }
    push(TokenKind::kEnd, at_);
    return std::move(tokens_);
  }

 private:
  static constexpr std::size_t kTokenLimit = 1000000;  // bounds the work on hostile input; the longest real text has thousands

  Diagnostic error(Code code, std::size_t offset, std::vector<std::string> args) const {
    return diagnose(code, source_.at(static_cast<int>(offset)), std::move(args));
  }

  // The character at `offset`, whole if it is UTF-8, as a number if it cannot be shown.
  std::string character(std::size_t offset) const {
    const auto byte = static_cast<unsigned char>(text_[offset]);
    if (byte >= 0x20 && byte < 0x7f) return std::string("'") + text_[offset] + "'";
    std::size_t end = offset + 1;
    while (end < text_.size() && end < offset + 4 && (static_cast<unsigned char>(text_[end]) & 0xC0) == 0x80) ++end;
    if (byte >= 0xC2 && end > offset + 1) return "'" + text_.substr(offset, end - offset) + "'";
    return "with code " + std::to_string(byte);
  }

  void push(TokenKind kind, std::size_t begin) {
    Token token;
    token.kind = kind;
    token.text = text_.substr(begin, at_ - begin);
    token.offset = static_cast<int>(begin);
    token.end = static_cast<int>(at_);
    tokens_.push_back(std::move(token));
  }

  // Moves over white space, comments and pragmas (which say nothing about values); false when a comment does not end.
  bool skip_blank() {
    while (at_ < text_.size()) {
      if (is_space(text_[at_])) {
        ++at_;
      } else if (language_ == Language::kC && (text_.compare(at_, 2, "//") == 0 || text_.compare(at_, 7, "#pragma") == 0)) {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (language_ == Language::kC && text_.compare(at_, 2, "/*") == 0) {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string::npos) return false;
        at_ = end + 2;
      } else {
        break;
      }
    }
    return true;
  }

  void read_name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    push(TokenKind::kName, begin);
  }

  bool read_punctuation() {
    for (const char* p : kPunctuation) {
      if (language_ == Language::kEquation && is_c_only(p)) continue;  // x - -1 may be written x--1
      const std::size_t length = std::strlen(p);
      if (text_.compare(at_, length, p) != 0) continue;
      const std::size_t begin = at_;
      at_ += length;
      push(TokenKind::kPunctuation, begin);
      return true;
    }
    return false;
  }

  void skip_digits() {
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  }

  // Leaves at_ behind the digits; true for a floating point number. "0..N" is the integer 0 and then "..".
  bool scan_decimal() {
    bool floating = false;
    skip_digits();
    if (at_ < text_.size() && text_[at_] == '.' && !(at_ + 1 < text_.size() && text_[at_ + 1] == '.')) {
      floating = true;
      ++at_;
      skip_digits();
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      std::size_t next = at_ + 1;
      if (next < text_.size() && (text_[next] == '+' || text_[next] == '-')) ++next;
      if (next < text_.size() && is_digit(text_[next])) {
        floating = true;
        at_ = next;
        skip_digits();
      }
    }
    return floating;
  }

  bool read_number() {
    const std::size_t begin = at_;
    const bool hex = language_ == Language::kC && (text_.compare(at_, 2, "0x") == 0 || text_.compare(at_, 2, "0X") == 0);
    bool floating = false;
    if (hex) {
      at_ += 2;
      while (at_ < text_.size() && std::isxdigit(static_cast<unsigned char>(text_[at_]))) ++at_;
    } else {
      floating = scan_decimal();
    }
    push(floating ? TokenKind::kFloat : TokenKind::kInteger, begin);
    Token& token = tokens_.back();
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_])))
      token.suffix += static_cast<char>(std::tolower(static_cast<unsigned char>(text_[at_++])));
    token.end = static_cast<int>(at_);
    return set_value(&token, hex ? begin + 2 : begin, hex ? 16 : 10) && check_suffix(token);
  }

  bool set_value(Token* token, std::size_t digits, int base) {
    const char* first = text_.data() + digits;
    const char* last = text_.data() + token->offset + token->text.size();
    if (token->kind == TokenKind::kInteger) {
      if (base == 10 && language_ == Language::kC && last - first > 1 && *first == '0') {
        errors_.push_back(error(Code::kBadNumber, digits, {token->text, "an octal number; write it in decimal"}));
        return false;
      }
      const std::from_chars_result r = std::from_chars(first, last, token->int_value, base);
      if (r.ec == std::errc() && r.ptr == last) return true;
      errors_.push_back(
          error(Code::kBadNumber, digits, {token->text, first == last ? "digits are missing" : "it does not fit 64 bits"}));
      return false;
    }
    const std::from_chars_result r = std::from_chars(first, last, token->float_value);
    // Too small for a double is 0; too large is an error. from_chars says "out of range" for both.
    if (r.ec == std::errc::result_out_of_range) token->float_value = std::strtod(std::string(first, last).c_str(), nullptr);
    if (std::isfinite(token->float_value)) return true;
    errors_.push_back(error(Code::kBadNumber, digits, {token->text, "it is too large for f64"}));
    return false;
  }

  bool check_suffix(const Token& token) {
    static const char* const integer[] = {"", "u", "l", "ul", "lu", "ll", "ull", "llu"};
    static const char* const floating[] = {"", "f", "l"};
    const auto known = [&](const char* s) { return token.suffix == s; };
    bool ok = token.suffix.empty();
    if (language_ == Language::kC)
      ok = token.kind == TokenKind::kInteger ? std::any_of(std::begin(integer), std::end(integer), known)
                                             : std::any_of(std::begin(floating), std::end(floating), known);
    if (ok) return true;
    const std::string whole =
        text_.substr(static_cast<std::size_t>(token.offset), static_cast<std::size_t>(token.end - token.offset));
    errors_.push_back(error(Code::kBadNumber, static_cast<std::size_t>(token.offset),
                            {whole, "letters follow the number (a name starts with a letter)"}));
    return false;
  }

  const SourceText& source_;
  const std::string& text_;
  Language language_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
  Diagnostics errors_;
};

}  // namespace

SourceText::SourceText(std::string text, Place base) : text_(std::move(text)) {
  pieces_.push_back({0, std::move(base)});
  find_lines();
}

SourceText::SourceText(const std::vector<std::string>& pieces, const std::vector<Place>& places, const Place& base) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i) text_ += '\n';
    pieces_.push_back({text_.size(), i < places.size() ? places[i] : base});
    text_ += pieces[i];
  }
  if (pieces_.empty()) pieces_.push_back({0, base});
  find_lines();
}

void SourceText::find_lines() {
  line_starts_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
}

Place SourceText::at(int offset) const {
  const std::size_t end = std::min(static_cast<std::size_t>(std::max(offset, 0)), text_.size());
  const auto line = std::upper_bound(line_starts_.begin(), line_starts_.end(), end) - 1;
  // A part of a long line is enough: printable() cuts, and copying all of it for each statement is quadratic.
  constexpr std::size_t kShown = 1000;
  const std::size_t next = line + 1 == line_starts_.end() ? text_.size() : *(line + 1) - 1;
  const std::size_t line_end = std::min(next, *line + kShown);
  const auto after =
      std::upper_bound(pieces_.begin(), pieces_.end(), end, [](std::size_t at, const Piece& p) { return at < p.begin; });
  const Piece& piece = *(after - 1);
  Place place = piece.place;
  const std::size_t before = end - *line;  // characters in front, on this line
  const std::string& shown = piece.place.excerpt;
  const std::size_t start = std::min(static_cast<std::size_t>(std::max(piece.place.column - 1, 0)), shown.size());
  const bool in_file = *line == piece.begin && piece.place.line > 0 && piece.place.column > 0 && !shown.empty() &&
                       shown.compare(start, before, text_, *line, before) == 0;
  if (in_file) {
    place.column = piece.place.column + static_cast<int>(before);
    return place;
  }
  place.line = static_cast<int>(line - line_starts_.begin()) + 1;
  place.column = static_cast<int>(before) + 1;
  place.excerpt = printable(text_.substr(*line, line_end - *line));
  return place;
}

std::string SourceText::slice(int begin, int end) const {
  if (begin < 0 || end <= begin || begin >= static_cast<int>(text_.size())) return "";
  return printable(text_.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
}

Result<std::vector<Token>> lex(const SourceText& source, Language language) { return Lexer(source, language).run(); }

std::string describe(const Token& token) {
  return token.kind == TokenKind::kEnd ? "the end of the text" : "'" + token.text + "'";
}

}  // namespace facet
