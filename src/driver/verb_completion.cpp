// completion: a script that completes verbs, options and their words, for the shell named.
#include "facet/nearest.hpp"
#include "src/driver/help.hpp"
#include "src/driver/verbs.hpp"

namespace facet {

Result<Outcome> verb_completion(const Options& options) {
  const std::string& shell = options.files[0];
  Outcome outcome;
  outcome.text = completion_script(shell, command_help());
  if (outcome.text.empty())
    return diagnose(Code::kBadCommandLine, {}, {"no completion for the shell \"" + shell + "\"; there is bash and zsh"},
                    did_you_mean(shell, {"bash", "zsh"}));
  outcome.json.add("shell", JsonValue::of(shell)).add("script", JsonValue::of(outcome.text));
  return outcome;
}

}  // namespace facet
