// Lines with indentation, and identifiers that are valid and unique. Knows no language beyond braces.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

namespace facet {

// Collects lines. Blocks are opened with a header and closed with a brace; nothing is ever re-read.
class TextWriter {
 public:
  explicit TextWriter(int indent = 0) : indent_(indent) {}

  void line(const std::string& text);         // indented; "" gives an empty line
  void raw(const std::string& text);          // as it is, may hold several lines
  void comment(const std::string& text);      // "// text", broken at 120 columns; nothing for ""
  void open(const std::string& header);       // "header {" and one level deeper
  void close(const std::string& tail = "}");  // one level back, then "}"
  void reopen(const std::string& middle);     // "} else {": closes and opens
  const std::string& text() const { return text_; }
  int indent() const { return indent_; }

 private:
  std::string text_;
  int indent_;
};

// Gives every (kind, name) pair one identifier: the name itself where it is free, else the name with a suffix.
//
// Contract P2 allows any word as a name (class, float, blockIdx, exp, linux, _Reserved); dots of local names become
// underscores. Two kinds with one name ("t0" as an index and as a temporary) get two identifiers. Deterministic in the order of
// first use.
class NameTable {
 public:
  explicit NameTable(const std::set<std::string>& reserved) : taken_(reserved) {}

  const std::string& of(const std::string& kind, const std::string& name);
  // Whether the pair has an identifier already.
  bool has(const std::string& kind, const std::string& name) const;
  // Spells a pair by a text of the caller's choice, `(int64_t)blockIdx.x`; nothing else may have asked for it before.
  void bind(const std::string& kind, const std::string& name, const std::string& text) { names_[{kind, name}] = text; }
  // Makes a word unavailable (a helper, a typedef), before the names that might collide are asked for.
  void reserve(const std::string& word) { taken_.insert(word); }

 private:
  std::set<std::string> taken_;
  std::map<std::pair<std::string, std::string>, std::string> names_;
};

// Words of C, C++17, the compilers' predefined macros and the headers that generated hosts include.
const std::set<std::string>& c_family_words();

// Whether the identifier `word` occurs in `text`.
bool names_word(const std::string& text, const std::string& word);

// `name` made of letters, digits and single underscores, not starting with a digit or an underscore.
std::string sanitized(const std::string& name);

}  // namespace facet
