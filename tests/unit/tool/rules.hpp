// Reads the tables of tests/rules: one sentence of the contract is a rule, with programs that it accepts and programs that it
// refuses.
//
//   rule ID SENTENCE
//   template NAME                      lines up to the next word; $ stands for the body of an entry
//   accept ID [TEMPLATE]               body, then directives
//   refuse ID CODE POINTER [TEMPLATE]  POINTER "-" is any place
//
// Directives of an entry: "set NAME=VALUE", "given NAME v v v" (values of an input), "-> NAME DTYPE[SHAPE] v v v" (what must
// come out; "~>" within the roundings of the dtype), "tool ARGUMENTS" (the command line is run instead, the program being
// p.json; CODE "exit-1" is a status without an error document).
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace facet {

struct RuleValues {
  std::string name, type;  // "y", "f32[3]"
  std::vector<std::string> values;
  bool rounded = false;
};

struct RuleEntry {
  std::string where, rule;
  bool accepted = false;
  std::string code, pointer, text, form;
  std::vector<std::string> set, tool;
  std::vector<RuleValues> given, results;
};

struct RuleTable {
  std::string name;                          // "programs"
  std::map<std::string, std::string> rules;  // id -> sentence
  std::vector<RuleEntry> entries;
};
inline void PrintTo(const RuleTable& t, std::ostream* out) { *out << t.name; }

inline std::vector<std::string> rest_of(std::istringstream& words) {
  std::vector<std::string> list;
  for (std::string w; words >> w;) list.push_back(w);
  return list;
}

// True when the line was a directive of the entry.
inline bool read_directive(const std::string& line, RuleEntry* e) {
  std::istringstream words(line);
  std::string kind;
  RuleValues v;
  words >> kind;
  if (kind == "set") {
    for (const std::string& s : rest_of(words)) e->set.push_back(s);
  } else if (kind == "tool") {
    e->tool.push_back(line.substr(line.find("tool") + 5));
  } else if (kind == "given" && words >> v.name) {
    v.values = rest_of(words);
    e->given.push_back(v);
  } else if ((kind == "->" || kind == "~>") && words >> v.name >> v.type) {
    v.rounded = kind == "~>";
    v.values = rest_of(words);
    e->results.push_back(v);
  } else {
    return false;
  }
  return true;
}

inline RuleTable read_rule_table(const std::filesystem::path& path) {
  RuleTable table;
  table.name = path.stem();
  std::ifstream file(path);
  std::map<std::string, std::string> templates;
  std::string* body = nullptr;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line);
    std::string kind, id;
    words >> kind;
    if (kind == "rule" && words >> id) {
      std::getline(words, table.rules[id]);
      body = nullptr;
    } else if (kind == "template" && words >> id) {
      body = &templates[id];
    } else if ((kind == "accept" || kind == "refuse") && words >> id) {
      RuleEntry e;
      e.where = path.filename().string() + ":" + std::to_string(number);
      e.rule = id;
      e.accepted = kind == "accept";
      if (!e.accepted) words >> e.code >> e.pointer;
      words >> e.form;
      table.entries.push_back(e);
      body = &table.entries.back().text;
    } else if (body && !line.empty() && line[0] != '#' &&
               (table.entries.empty() || !read_directive(line, &table.entries.back()))) {
      *body += (body->empty() ? "" : "\n") + line;
    }
  }
  for (RuleEntry& e : table.entries) {
    const std::string& form = templates[e.form];
    const std::size_t at = form.find('$');
    if (at != std::string::npos) e.text = form.substr(0, at) + e.text + form.substr(at + 1);
  }
  return table;
}

inline std::vector<RuleTable> all_rule_tables(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<RuleTable> tables;
  for (const std::filesystem::path& f : files) tables.push_back(read_rule_table(f));
  return tables;
}

}  // namespace facet
