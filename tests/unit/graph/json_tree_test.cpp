// The JSON reader: positions, strictness, round trips, and agreement with an independent reader on accepted texts.
#include "src/frontend/json_tree.hpp"

#include <gtest/gtest.h>

namespace facet {
namespace {

Diagnostics errors_of(const std::string& text) {
  const Result<JsonDocument> d = parse_json(text, "t.json");
  return d ? Diagnostics{} : d.errors();
}

Code code_of(const std::string& text) {
  const Diagnostics errors = errors_of(text);
  return errors.empty() ? Code::kInternalError : errors[0].code;
}

std::string nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(JsonTree, PositionsCountFromOne) {
  const Result<JsonDocument> d = parse_json("{\n  \"a\": [1,\n    {\"b/c~\": true}]\n}", "t.json");
  ASSERT_TRUE(d);
  const JsonValue& inner = d->root.members[0].value.items[1].members[0].value;
  const Place place = d->place(inner);
  EXPECT_EQ(place.line, 3);
  EXPECT_EQ(place.column, 14);
  EXPECT_EQ(place.pointer, "/a/1/b~1c~0");
  EXPECT_EQ(place.excerpt, "    {\"b/c~\": true}]");
  EXPECT_EQ(d->place_of_key(d->root.members[0].value.items[1].members[0]).column, 6);
  EXPECT_EQ(d->place(d->root).pointer, "");
}

TEST(JsonTree, Numbers) {
  const Result<JsonDocument> d = parse_json("[9223372036854775807, -9223372036854775808, 1e3, -0.5, 0, 1E-400]", "");
  ASSERT_TRUE(d);
  EXPECT_EQ(d->root.items[0].integer, INT64_MAX);
  EXPECT_EQ(d->root.items[1].integer, INT64_MIN);
  EXPECT_TRUE(d->root.items[2].is(JsonValue::Kind::kFloat));
  EXPECT_EQ(d->root.items[3].number, -0.5);
  EXPECT_EQ(d->root.items[5].number, 0);
  for (const char* text : {"9223372036854775808", "-9223372036854775809", "1e309", "123456789012345678901234567890"})
    EXPECT_EQ(code_of(text), Code::kJsonNumberRange) << text;
}

TEST(JsonTree, SyntaxIsStrict) {
  for (const char* text : {"",      "{",          "[1,]",    "{\"a\":1,}", "{a:1}",  "[01]",      "[1.]",    "[.5]",
                           "[+1]",  "[1e]",       "nul",     "[1 2]",      "\"a",    "1 1",       "// c\n1", "['a']",
                           "[NaN]", "[Infinity]", "\"\\x\"", "\"\\u12\"",  "\"\t\"", "{\"a\" 1}", "[-]",     "\x01"})
    EXPECT_EQ(code_of(text), Code::kJsonSyntax) << text;
}

TEST(JsonTree, Utf8IsChecked) {
  for (const char* text :
       {"\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\\ud800\"", "\"\\udc00\"", "\"\xf4\x90\x80\x80\"", "\"\xe2\x82\""})
    EXPECT_EQ(code_of(text), Code::kJsonEncoding) << text;
  const Result<JsonDocument> d = parse_json("\"\\u00e9\\ud83d\\ude00\xe2\x82\xac\"", "");
  ASSERT_TRUE(d);
  EXPECT_EQ(d->root.text, "\xc3\xa9\xf0\x9f\x98\x80\xe2\x82\xac");
}

TEST(JsonTree, DepthLimit) {
  EXPECT_TRUE(parse_json(nested(256), ""));
  EXPECT_EQ(code_of(nested(257)), Code::kJsonTooDeep);
  EXPECT_EQ(code_of(std::string(5000000, '[')), Code::kJsonTooDeep);
}

TEST(JsonTree, SeveralComplaintsAtOnce) {
  const Diagnostics errors = errors_of("{\"a\": 1, \"a\": 1e999, \"b\": {\"c\": 1, \"c\": 2}}");
  ASSERT_EQ(errors.size(), 3u);
  EXPECT_EQ(errors[0].code, Code::kJsonNumberRange);
  EXPECT_EQ(errors[1].code, Code::kJsonDuplicateKey);
  EXPECT_EQ(errors[1].place.column, 36);
}

TEST(JsonTree, LongLinesAreCut) {
  const Diagnostics errors = errors_of("[\"" + std::string(10 << 20, 'x') + "\", ?]");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_LE(errors[0].place.excerpt.size(), 200u);
  EXPECT_LT(to_text(errors[0]).size(), 600u);
}

TEST(JsonTree, WritersRoundTrip) {
  const std::string text = "{\"a\":[1,-2.5,1e+300,0.1,true,null,\"x\\n\\u0001\xc3\xa9\"],\"b\":{}}";
  const Result<JsonDocument> d = parse_json(text, "");
  ASSERT_TRUE(d);
  EXPECT_EQ(write_json_compact(d->root), text);
  const Result<JsonDocument> again = parse_json(write_json(d->root), "");
  ASSERT_TRUE(again);
  EXPECT_EQ(write_json_compact(again->root), text);
}

}  // namespace
}  // namespace facet
