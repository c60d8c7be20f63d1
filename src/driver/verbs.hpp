// The verbs of the command line, one function each.
#pragma once

#include <string>

#include "src/driver/options.hpp"
#include "src/frontend/json_tree.hpp"

namespace facet {

// What a verb answers: text for people, one JSON document for programs, and the exit status (0 or 1).
struct Outcome {
  std::string text;
  JsonValue json = JsonValue::object();
  int status = 0;
};

Result<Outcome> verb_check(const Options& options);
Result<Outcome> verb_show(const Options& options);
Result<Outcome> verb_schedule(const Options& options);
Result<Outcome> verb_legal(const Options& options);
Result<Outcome> verb_explain(const Options& options);
Result<Outcome> verb_compile(const Options& options);
Result<Outcome> verb_run(const Options& options);
Result<Outcome> verb_diff(const Options& options);
Result<Outcome> verb_doctor(const Options& options);
Result<Outcome> verb_selftest(const Options& options);
Result<Outcome> verb_fuzz(const Options& options);
Result<Outcome> verb_import(const Options& options);
Result<Outcome> verb_completion(const Options& options);

struct Verb {
  const char* name;
  Result<Outcome> (*run)(const Options& options);
};
const std::vector<Verb>& all_verbs();

}  // namespace facet
