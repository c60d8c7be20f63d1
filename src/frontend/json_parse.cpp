// The strict JSON reader: recursive descent over bytes, depth limited, every value with its byte range.
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string_view>

#include "src/frontend/json_tree.hpp"
#include "src/frontend/utf8.hpp"

namespace facet {

namespace {

constexpr int kMaxDepth = 256;                 // contract P3
constexpr std::size_t kMaxBytes = 256u << 20;  // larger data belongs in .npy files
constexpr std::size_t kMaxValues = 8u << 20;   // bounds the memory of the tree to about 1 GiB
constexpr std::size_t kMaxComplaints = 20;

class Parser {
 public:
  explicit Parser(JsonDocument* document) : doc_(*document), text_(document->text) {}

  Diagnostics run() {
    if (text_.compare(0, 3, "\xEF\xBB\xBF") == 0) pos_ = 3;
    skip_space();
    if (value(&doc_.root, 1)) {
      skip_space();
      if (pos_ < text_.size()) syntax("the end of the text");
    }
    return std::move(complaints_);
  }

 private:
  bool value(JsonValue* out, int depth) {
    if (++count_ > kMaxValues) return stop(Code::kJsonTooLarge, pos_, {"more than " + std::to_string(kMaxValues) + " values"});
    out->begin = static_cast<std::int32_t>(pos_);
    bool good = false;
    switch (peek()) {
      case '{': good = object(out, depth); break;
      case '[': good = array(out, depth); break;
      case '"':
        out->kind = JsonValue::Kind::kString;
        good = string(&out->text);
        break;
      case 't': good = word("true", JsonValue::Kind::kBool, out); break;
      case 'f': good = word("false", JsonValue::Kind::kBool, out); break;
      case 'n': good = word("null", JsonValue::Kind::kNull, out); break;
      default: good = number(out);
    }
    out->end = static_cast<std::int32_t>(pos_);
    return good;
  }

  bool object(JsonValue* out, int depth) {
    if (depth > kMaxDepth) return stop(Code::kJsonTooDeep, pos_, {std::to_string(kMaxDepth)});
    out->kind = JsonValue::Kind::kObject;
    ++pos_;
    skip_space();
    if (eat('}')) return true;
    while (true) {
      skip_space();
      if (peek() != '"') return syntax(out->members.empty() ? "a key in double quotes, or '}'" : "a key in double quotes");
      out->members.emplace_back();
      JsonMember& member = out->members.back();
      member.key_begin = static_cast<std::int32_t>(pos_);
      if (!string(&member.key)) return false;
      skip_space();
      if (!eat(':')) return syntax("':' after the key");
      skip_space();
      if (!value(&member.value, depth + 1)) return false;
      skip_space();
      if (eat(',')) continue;
      if (!eat('}')) return syntax("',' or '}'");
      check_duplicates(*out);
      return true;
    }
  }

  bool array(JsonValue* out, int depth) {
    if (depth > kMaxDepth) return stop(Code::kJsonTooDeep, pos_, {std::to_string(kMaxDepth)});
    out->kind = JsonValue::Kind::kArray;
    ++pos_;
    skip_space();
    if (eat(']')) return true;
    while (true) {
      skip_space();
      out->items.emplace_back();
      if (!value(&out->items.back(), depth + 1)) return false;
      skip_space();
      if (eat(',')) continue;
      if (eat(']')) return true;
      return syntax("',' or ']'");
    }
  }

  void check_duplicates(const JsonValue& object) {
    std::set<std::string_view> seen;
    for (const JsonMember& m : object.members)
      if (!seen.insert(m.key).second) complain(Code::kJsonDuplicateKey, static_cast<std::size_t>(m.key_begin), {m.key});
  }

  bool word(std::string_view spelling, JsonValue::Kind kind, JsonValue* out) {
    if (text_.compare(pos_, spelling.size(), spelling) != 0) return syntax("a value");
    out->kind = kind;
    out->boolean = spelling[0] == 't';
    pos_ += spelling.size();
    return true;
  }

  std::size_t digits() {
    const std::size_t first = pos_;
    while (peek() >= '0' && peek() <= '9') ++pos_;
    return pos_ - first;
  }

  bool number(JsonValue* out) {
    const std::size_t first = pos_;
    bool fraction = false;
    eat('-');
    if (!(peek() >= '0' && peek() <= '9')) {
      if (pos_ > first) return syntax("a digit after '-'");
      return syntax("a value");
    }
    if (!eat('0')) digits();
    if (peek() >= '0' && peek() <= '9') return syntax("no digit after a leading 0");
    if (eat('.')) {
      fraction = true;
      if (digits() == 0) return syntax("a digit after '.'");
    }
    if (peek() == 'e' || peek() == 'E') {
      fraction = true;
      ++pos_;
      if (!eat('+')) eat('-');
      if (digits() == 0) return syntax("a digit in the exponent");
    }
    convert(text_.substr(first, pos_ - first), fraction, first, out);
    return true;
  }

  void convert(const std::string& spelling, bool fraction, std::size_t at, JsonValue* out) {
    if (fraction) {
      out->kind = JsonValue::Kind::kFloat;
      out->number = std::strtod(spelling.c_str(), nullptr);
      if (!std::isfinite(out->number)) complain(Code::kJsonNumberRange, at, {spelling, "a finite f64"});
      return;
    }
    out->kind = JsonValue::Kind::kInteger;
    const std::from_chars_result r = std::from_chars(spelling.data(), spelling.data() + spelling.size(), out->integer);
    if (r.ec != std::errc()) complain(Code::kJsonNumberRange, at, {spelling, "a signed 64-bit integer"});
    out->number = static_cast<double>(out->integer);
  }

  bool string(std::string* out) {
    ++pos_;
    while (true) {
      if (pos_ >= text_.size()) return syntax("the closing '\"' of a string");
      const unsigned char c = static_cast<unsigned char>(text_[pos_]);
      if (c == '"') {
        ++pos_;
        return true;
      }
      if (c < 0x20) return syntax("no control character in a string (write \\n, \\t or \\u00XX)");
      if (c == '\\') {
        if (!escape(out)) return false;
      } else if (c < 0x80) {
        *out += static_cast<char>(c);
        ++pos_;
      } else {
        const std::size_t length = utf8_sequence(text_, pos_);
        if (length == 0) return stop(Code::kJsonEncoding, pos_, {});
        out->append(text_, pos_, length);
        pos_ += length;
      }
    }
  }

  bool escape(std::string* out) {
    static constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
    const std::size_t at = pos_++;
    const char c = peek();
    const std::size_t k = kFrom.find(c);
    if (c != '\0' && k != std::string_view::npos) {
      *out += kTo[k];
      ++pos_;
      return true;
    }
    std::uint32_t code = 0;
    if (c != 'u' || !hex4(&code)) return syntax_at(at, "an escape: \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\uXXXX");
    if (code >= 0xDC00 && code < 0xE000) return stop(Code::kJsonEncoding, at, {});
    if (code >= 0xD800 && code < 0xDC00) {
      std::uint32_t low = 0;
      if (!eat('\\') || peek() != 'u' || !hex4(&low) || low < 0xDC00 || low >= 0xE000) return stop(Code::kJsonEncoding, at, {});
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(out, code);
    return true;
  }

  bool hex4(std::uint32_t* code) {
    ++pos_;
    if (pos_ + 4 > text_.size()) return false;
    const std::from_chars_result r = std::from_chars(text_.data() + pos_, text_.data() + pos_ + 4, *code, 16);
    if (r.ptr != text_.data() + pos_ + 4) return false;
    pos_ += 4;
    return true;
  }

  char peek() const { return pos_ < text_.size() ? text_[pos_] : '\0'; }
  bool eat(char c) {
    if (pos_ >= text_.size() || text_[pos_] != c) return false;
    ++pos_;
    return true;
  }
  void skip_space() {
    while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\n' || text_[pos_] == '\r' || text_[pos_] == '\t'))
      ++pos_;
  }

  // What stands at an offset, for messages.
  std::string found_at(std::size_t at) const {
    if (at >= text_.size()) return "the end of the text";
    const unsigned char c = static_cast<unsigned char>(text_[at]);
    if (c == '\n' || c == '\r') return "the end of the line";
    if (c < 0x20 || c == 0x7F) return "the control character " + std::to_string(c);
    if (c >= 0x80) {
      const std::size_t length = utf8_sequence(text_, at);
      return length == 0 ? "the byte " + std::to_string(c) : "'" + text_.substr(at, length) + "'";
    }
    std::size_t end = at;
    while (end < text_.size() && end < at + 20 && std::isalnum(static_cast<unsigned char>(text_[end]))) ++end;
    return "'" + text_.substr(at, std::max<std::size_t>(end - at, 1)) + "'";
  }

  bool syntax(const std::string& expected) { return syntax_at(pos_, expected); }
  bool syntax_at(std::size_t at, const std::string& expected) { return stop(Code::kJsonSyntax, at, {expected, found_at(at)}); }
  bool stop(Code code, std::size_t at, std::vector<std::string> args) {
    complaints_.push_back(diagnose(code, doc_.place_at(static_cast<std::int32_t>(at)), std::move(args)));
    return false;
  }
  void complain(Code code, std::size_t at, std::vector<std::string> args) {
    if (complaints_.size() < kMaxComplaints) stop(code, at, std::move(args));
  }

  JsonDocument& doc_;
  const std::string& text_;
  std::size_t pos_ = 0;
  std::size_t count_ = 0;
  Diagnostics complaints_;
};

}  // namespace

Result<JsonDocument> parse_json(const std::string& text, const std::string& file) {
  JsonDocument document;
  document.file = file;
  if (text.size() > kMaxBytes) {
    Place place;
    place.file = file;
    return diagnose(Code::kJsonTooLarge, place,
                    {std::to_string(text.size()) + " bytes; the limit is " + std::to_string(kMaxBytes)});
  }
  document.text = text;
  document.line_starts.push_back(0);
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') document.line_starts.push_back(static_cast<std::int32_t>(i + 1));
  Diagnostics complaints = Parser(&document).run();
  if (!complaints.empty()) return complaints;
  return document;
}

}  // namespace facet
