// Runs a verb and turns its result into stdout, stderr and the exit status (contract, "The command line", F3).
#include "src/driver/cli.hpp"

#include <cstdio>
#include <cstring>
#include <new>

#include "src/driver/verbs.hpp"

namespace facet {

namespace {

void print(std::FILE* to, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

JsonValue diagnostic_json(const Diagnostic& d) {
  JsonValue out = JsonValue::object();
  out.add("code", JsonValue::of(code_name(d.code))).add("message", JsonValue::of(d.message));
  out.add("file", JsonValue::of(d.place.file)).add("line", JsonValue::of(d.place.line));
  out.add("column", JsonValue::of(d.place.column)).add("pointer", JsonValue::of(d.place.pointer));
  if (!d.notes.empty()) out.add("notes", JsonValue::array_of(d.notes));
  return out;
}

// The first complaint is "error"; the others follow in "more".
std::string error_document(const Diagnostics& errors) {
  JsonValue error = diagnostic_json(errors[0]);
  JsonValue more = JsonValue::array();
  for (std::size_t i = 1; i < errors.size(); ++i) more.items.push_back(diagnostic_json(errors[i]));
  if (!more.items.empty()) error.add("more", std::move(more));
  return write_json(JsonValue::object().add("error", std::move(error)));
}

// The gravest kind wins: a bug of ours before a missing part before wrong input before a refusal.
int status_of(const Diagnostics& errors) {
  int status = 1;
  for (const Diagnostic& d : errors) status = std::max(status, static_cast<int>(failure_of(d.code)));
  return status;
}

int fail(const Diagnostics& errors, bool json) {
  print(stderr, to_text(errors));
  if (json) print(stdout, error_document(errors));
  return status_of(errors);
}

bool asks_for_json(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--json") == 0) return true;
  return false;
}

Result<Outcome> run_verb(const Options& options) {
  for (const Verb& verb : all_verbs())
    if (options.verb == verb.name) return verb.run(options);
  return diagnose(Code::kNotInThisVersion, {}, {"the verb " + options.verb});
}

int run(int argc, const char* const* argv) {
  const Result<CommandLine> line = parse_command_line(argc, argv);
  if (!line) return fail(line.errors(), asks_for_json(argc, argv));
  if (!line->answer.empty()) {
    print(stdout, line->answer);
    return 0;
  }
  const Result<Outcome> outcome = run_verb(line->options);
  if (!outcome) return fail(outcome.errors(), line->options.json);
  print(stdout, line->options.json ? write_json(outcome->json) : outcome->text);
  return outcome->status;
}

}  // namespace

int run_tool(int argc, const char* const* argv) {
  const bool json = asks_for_json(argc, argv);
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc& e) {
    return fail({diagnose(Code::kOutOfMemory, {}, {"the tool", "more"})}, json);
  } catch (const std::exception& e) { return fail({diagnose(Code::kInternalError, {}, {"the driver", e.what()})}, json); }
}

}  // namespace facet
