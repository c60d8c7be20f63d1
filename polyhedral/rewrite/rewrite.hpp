// rewrites: steps that change what a group computes with (not what), before any schedule. Each makes a new Scop with
// dependences of its own and carries its own proof.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "facet/recipe.hpp"
#include "facet/result.hpp"
#include "polyhedral/scop.hpp"
#include "polyhedral/transform/transform.hpp"

namespace facet {

// A rewrite as a record, like a Transform.
struct Rewrite {
  const char* name;
  const char* summary;
  std::vector<Parameter> parameters;
  // The new Scop; null with a complaint in `args`.
  std::shared_ptr<const Scop> (*apply)(const Scop& scop, Arguments& args);
  Page page;
};

const std::vector<const Rewrite*>& all_rewrites();

// The Scop after all rewrites, in order. Throws isl's exceptions: call it inside guarded().
Result<std::shared_ptr<const Scop>> rewritten(std::shared_ptr<const Scop> scop, const std::vector<Step>& rewrites);

}  // namespace facet
