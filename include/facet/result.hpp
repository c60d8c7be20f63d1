// Result<T>, Diagnostic and Place: how every layer reports that something did not work.
//
// Three kinds of failure are never mixed: the user is wrong (exit 2), the answer is no (a refused step or a failed
// verification, exit 1), an outside part is missing (exit 3). A broken invariant of ours is an assertion (exit 4).
// Facet functions do not throw across a layer border.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace facet {

// The exit status of the tool, and so the kind of a failure.
enum class Failure { kAnswerIsNo = 1, kInput = 2, kMissing = 3, kInternal = 4 };

// Every diagnostic the tool can give; the enumerators come from the .def files (one line per diagnostic).
enum class Code {
#define FACET_DIAGNOSTIC(id, failure, pattern) id,
#include "facet/diagnostics/all.def"
#undef FACET_DIAGNOSTIC
};

// Where a complaint belongs. Unknown parts are empty or zero. Lines and columns count from 1.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
  std::string pointer;  // JSON pointer into the program or recipe, e.g. "/ops/2/attrs/axis"
  std::string excerpt;  // the source line, for the caret display; at most 200 characters
};

struct Diagnostic {
  Code code = Code::kInternalError;
  Place place;
  std::string message;
  std::vector<std::string> notes;  // "way out" lines: nearest name, expected form, repair
};

using Diagnostics = std::vector<Diagnostic>;

// The registered kebab-case name ("unknown-op"), the failure kind and the message pattern of a code.
std::string code_name(Code code);
Failure failure_of(Code code);
const std::vector<Code>& all_codes();

// Fills the pattern's {0}, {1}, ... with `args`, each cut to 200 characters of quoted input.
Diagnostic diagnose(Code code, Place place, std::vector<std::string> args = {}, std::vector<std::string> notes = {});

// "file:line:column: error[code-name]: message (at /pointer)" + excerpt with caret + notes, one per line.
std::string to_text(const Diagnostic& diagnostic);
std::string to_text(const Diagnostics& diagnostics);

// A value, or one or more diagnostics.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}                                  // NOLINT(google-explicit-constructor)
  Result(Diagnostic diagnostic) : state_(Diagnostics{std::move(diagnostic)}) {}  // NOLINT(google-explicit-constructor)
  Result(Diagnostics diagnostics) : state_(std::move(diagnostics)) {}            // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Diagnostics& errors() const { return std::get<1>(state_); }

 private:
  std::variant<T, Diagnostics> state_;
};

struct Done {};  // the value of a Result that only says "it worked"

}  // namespace facet
