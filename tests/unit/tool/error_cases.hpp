// Reads the tables of tests/errors: "template NAME" and "case CODE POINTER [TEMPLATE]" blocks; "# ..." is a comment.
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

struct ErrorCase {
  std::string where;  // "programs.txt:41"
  std::string code;
  std::string pointer;
  std::string text;
  std::string body;  // what stands for the $ of the template
};
inline void PrintTo(const ErrorCase& c, std::ostream* out) { *out << c.where; }

inline void read_error_table(const std::string& path, std::vector<ErrorCase>* cases) {
  std::ifstream file(path);
  std::map<std::string, std::string> templates;
  std::string* body = nullptr;
  std::vector<std::string> used;  // template of each case of this file
  const std::size_t first = cases->size();
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line);
    std::string kind, code, pointer, name;
    words >> kind;
    if (kind == "template" && words >> name) {
      body = &templates[name];
    } else if (kind == "case" && words >> code >> pointer) {
      words >> name;
      const std::string base = std::filesystem::path(path).filename();
      cases->push_back({base + ":" + std::to_string(number), code, pointer, "", ""});
      used.push_back(name);
      body = &cases->back().text;
    } else if (body && !line.empty() && line[0] != '#') {
      *body += line + "\n";
    }
  }
  for (std::size_t i = first; i < cases->size(); ++i) {
    const std::string& form = templates[used[i - first]];
    const std::size_t at = form.find('$');
    std::string& text = (*cases)[i].text;
    if (!text.empty()) text.pop_back();
    (*cases)[i].body = text;
    if (at == std::string::npos) continue;
    text = form.substr(0, at) + text + form.substr(at + 1);
  }
}

inline std::vector<ErrorCase> all_error_cases(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<ErrorCase> cases;
  for (const std::string& path : files) read_error_table(path, &cases);
  return cases;
}

}  // namespace facet
