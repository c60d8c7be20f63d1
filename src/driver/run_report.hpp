// `run` as JSON and text: what ran, the verdict, and with --time a table of the kernels.
#pragma once

#include "src/driver/execute.hpp"
#include "src/driver/verbs.hpp"

namespace facet {

// null where the kernel has none.
JsonValue object_code_json(const std::optional<ObjectCode>& code);

// Into `out`; `verdict` is null without --verify.
void report_run(const Loaded& loaded, const Options& options, const Execution& e, const Verdict* verdict, Outcome* out);

}  // namespace facet
