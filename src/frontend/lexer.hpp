// Words of the two small languages (equations, C loop nests): a text cut into tokens that remember where they stood.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facet/result.hpp"

namespace facet {

// The text being read and where it lies, so that an offset becomes a Place with line, column and excerpt.
// Lines and columns count inside the text, unless the place of a piece gives its first character in a file and the file's line
// (Place::excerpt) shows the piece unescaped: then they are the file's.
class SourceText {
 public:
  SourceText(std::string text, Place base);
  // Pieces joined by newlines; `places` has one place for each, or is empty (then `base` is the place of all).
  SourceText(const std::vector<std::string>& pieces, const std::vector<Place>& places, const Place& base);

  const std::string& text() const { return text_; }
  Place at(int offset) const;
  std::string slice(int begin, int end) const;  // what was written there, on one line, for messages

 private:
  struct Piece {
    std::size_t begin = 0;
    Place place;
  };
  void find_lines();

  std::string text_;
  std::vector<Piece> pieces_;
  std::vector<std::size_t> line_starts_;
};

enum class Language { kEquation, kC };

enum class TokenKind { kName, kInteger, kFloat, kPunctuation, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;  // as written; "" at the end
  int offset = 0;
  int end = 0;                  // offset behind the last character
  std::uint64_t int_value = 0;  // kInteger: the digits; at most 2^64 - 1
  double float_value = 0;       // kFloat
  std::string suffix;           // kC: lower case letters behind the number ("f", "ul")
};

// Cuts the text into tokens, kEnd last. kC also skips comments and reads hexadecimal numbers and suffixes.
// Errors: a character without meaning, a number that does not fit, an open comment.
Result<std::vector<Token>> lex(const SourceText& source, Language language);

// "end of text" or the quoted token, for messages.
std::string describe(const Token& token);

}  // namespace facet
