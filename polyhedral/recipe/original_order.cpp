// The last word on a group: is the program's own order better than what the policies have made of it?
//
// Each policy decides by a model of its own part. predict() counts whole schedules, coarsely, so it is asked for clear cases
// only: the original order, with the lanes and threads that it allows, wins where it is predicted to take half the time.
#include "polyhedral/predict.hpp"
#include "polyhedral/recipe/planner.hpp"

#include <algorithm>

namespace facet {

namespace {

constexpr double kClearly = 2;      // predictions of one program's schedules err by less, compared with each other
constexpr double kOwnShare = 0.25;  // of what is left of the time

bool marks_only(const Step& s) {
  static const char* const kMarks[] = {"parallelize", "vectorize", "unroll", "stream", "contract"};
  return std::any_of(std::begin(kMarks), std::end(kMarks), [&](const char* m) { return s.verb == m; });
}

}  // namespace

std::optional<std::vector<Step>> better_original_order(const Schedule& original, GroupPlanner& planned) {
  if (std::all_of(planned.steps().begin(), planned.steps().end(), marks_only)) return std::nullopt;
  const Budget budget = planned.budget().part(kOwnShare);
  Ledger unheard;
  GroupPlanner plain(original, planned.options(), budget, unheard);
  plan_contraction_of_arrays(plain);
  plan_vectors(plain);
  plan_threads(plain);
  plan_streams(plain);
  double own_us = 0, plain_us = 0;
  const Result<Done> counted = guarded("comparison with the original order", budget, [&] {
    own_us = predict(planned.schedule(), planned.options()).time_us;
    plain_us = predict(plain.schedule(), planned.options()).time_us;
  });
  const std::string subject = "group " + original.scop->name;
  if (!counted) {
    planned.decline("order", subject, "not compared with the original order: " + counted.errors()[0].message);
    return std::nullopt;
  }
  const std::string costs = "the whole kernel is predicted at " + time_text(own_us) + " by these steps, at " +
                            time_text(plain_us) + " in the original order with threads and lanes";
  if (own_us < kClearly * plain_us) {
    planned.note("order", subject, costs);
    return std::nullopt;
  }
  planned.decline("order", subject, "the steps above are not taken: " + costs);
  return plain.steps();
}

}  // namespace facet
