// The list of rewrites and the one way a recipe reaches them.
#include "polyhedral/rewrite/rewrite.hpp"

#include <algorithm>

#include "facet/nearest.hpp"
#include "polyhedral/schedule.hpp"

namespace facet {

extern const Rewrite kFlatten;
extern const Rewrite kPrecompute;
extern const Rewrite kRfactor;
extern const Rewrite kSplitTerms;
extern const Rewrite kWinograd;

const std::vector<const Rewrite*>& all_rewrites() {
  static const std::vector<const Rewrite*> list = {&kFlatten, &kPrecompute, &kRfactor, &kSplitTerms, &kWinograd};
  return list;
}

Result<std::shared_ptr<const Scop>> rewritten(std::shared_ptr<const Scop> scop, const std::vector<Step>& rewrites) {
  for (const Step& step : rewrites) {
    const auto& all = all_rewrites();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Rewrite* r) { return step.verb == r->name; });
    if (found == all.end()) {
      std::vector<std::string> known;
      for (const Rewrite* r : all) known.push_back(r->name);
      std::vector<std::string> notes = did_you_mean(step.verb, known);
      if (find_transform(step.verb)) notes.push_back("'" + step.verb + "' belongs into \"steps\"");
      return diagnose(Code::kUnknownStep, step.place, {step.verb}, std::move(notes));
    }
    if (std::optional<Diagnostic> d = check_arguments((*found)->parameters, step)) return *d;
    const Schedule names = original_schedule(scop, std::make_shared<const Dependences>());
    Arguments args(names, step);
    std::shared_ptr<const Scop> next = (*found)->apply(*scop, args);
    if (args.problem()) return *args.problem();
    scop = std::move(next);
  }
  return scop;
}

}  // namespace facet
