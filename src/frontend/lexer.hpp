// Words of the two small languages (equations, C loop nests): a text cut into tokens that remember where they stood.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facet/result.hpp"

namespace facet {

// The text being read and where it lies, so that an offset becomes a Place with line, column and excerpt.
// Lines and columns count inside the text, unless `base` gives the place of the text's first character in its file and the
// file's line (base.excerpt) shows the text unescaped: then they are the file's.
class SourceText {
 public:
  SourceText(std::string text, Place base) : text_(std::move(text)), base_(std::move(base)) {}

  const std::string& text() const { return text_; }
  Place at(int offset) const;
  std::string slice(int begin, int end) const;   // what was written there, on one line, for messages

 private:
  std::string text_;
  Place base_;
};

enum class Language { kEquation, kC };

enum class TokenKind { kName, kInteger, kFloat, kPunctuation, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;              // as written; "" at the end
  int offset = 0;
  int end = 0;                   // offset behind the last character
  std::uint64_t int_value = 0;   // kInteger: the digits; at most 2^64 - 1
  double float_value = 0;        // kFloat
  std::string suffix;            // kC: lower case letters behind the number ("f", "ul")
};

// Cuts the text into tokens, kEnd last. kC also skips comments and reads hexadecimal numbers and suffixes.
// Errors: a character without meaning, a number that does not fit, an open comment.
Result<std::vector<Token>> lex(const SourceText& source, Language language);

// "end of text" or the quoted token, for messages.
std::string describe(const Token& token);

}  // namespace facet
