// Transform: a schedule step as a record. Help, JSON checking, the recipe reference and the tuner's ranges come from it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "facet/recipe.hpp"
#include "facet/result.hpp"
#include "polyhedral/schedule.hpp"

namespace facet {

// One argument of a step. kind: "statement" | "statements" | "loop" | "loops" | "array" | "int" | "ints" | "names" | "text" |
// "bool" | "layout"
struct Parameter {
  const char* name;
  const char* kind;
  bool required;
  const char* doc;
};

// What the reference shows of a step beside its arguments.
struct Page {
  const char* before;  // the loops
  const char* after;
  const char* elsewhere;  // its names in other systems, or its near twins
  const char* refuses;
};

// For messages: "a list", 12, "\"x\"".
std::string describe(const Argument& a);

// The arguments of one step, with checked access. The first complaint is kept; getters then return defaults.
class Arguments {
 public:
  static constexpr std::int64_t kHighest = 1'000'000'000;

  Arguments(const Schedule& schedule, const Step& step) : schedule_(schedule), step_(step) {}

  bool has(const std::string& name) const { return step_.arguments.count(name) > 0; }
  std::string text(const std::string& name, const std::string& otherwise = "");
  bool truth(const std::string& name, bool otherwise);
  // Numbers beyond `highest` would overflow 64 bits in the code that is generated, times the sizes that symbols allow.
  std::int64_t integer(const std::string& name, std::int64_t otherwise, std::int64_t lowest, std::int64_t highest = kHighest);
  std::int64_t any_integer(const std::string& name);  // for bounds that the caller words
  std::vector<std::int64_t> integers(const std::string& name, std::int64_t lowest, std::int64_t highest = kHighest);
  std::vector<std::string> texts(const std::string& name);
  const ArgumentMap* map(const std::string& name) const;
  void check_names(const std::string& name);             // of new loops: words, each once, none a symbol's
  int statement(const std::string& name = "statement");  // a statement's number, -1 with a complaint
  std::vector<int> statements();                         // those of argument "statements"; a complaint names an unknown one
  std::vector<std::string> loops_for(int statement);  // of "loops", a list for all or an object statement -> list; may be empty
  const Array* array(const std::string& name = "array");  // null with a complaint
  TreePtr loop(int statement, const std::string& name);   // by loop name; null with a complaint
  void complain(Diagnostic d) {
    if (!problem_) problem_ = std::move(d);
  }
  void bad(const std::string& name, const std::string& expected, const std::string& found);
  // `path`: the argument, or a part of it as "sizes/1" or "layout/pad/j".
  void bad_at(const std::string& path, const std::string& expected, const std::string& found);
  // A precondition does not hold; the notes are ways out. The place is that of the argument which `why` quotes first.
  void refuse(const std::string& why, std::vector<std::string> notes);
  const std::optional<Diagnostic>& problem() const { return problem_; }

 private:
  const Schedule& schedule_;
  const Step& step_;

  std::optional<Diagnostic> problem_;
};

struct Transform {
  const char* name;
  const char* summary;
  std::vector<Parameter> parameters;
  // The new schedule; meaningless when `args` holds a problem afterwards. Changes geometry only: legality is asked by apply.
  Schedule (*apply)(const Schedule& schedule, Arguments& args);
  Page page;
  const char* target = "";  // "openmp", "cuda": the only one whose code obeys the step; "": every one
};

const std::vector<const Transform*>& all_transforms();
const Transform* find_transform(const std::string& name);

// Does the step have every required argument and no unknown one?
std::optional<Diagnostic> check_arguments(const std::vector<Parameter>& parameters, const Step& step);

// The step that has marked a loop: "`vectorize`".
std::string marker_of(const LoopMark& mark);

// Shared by the transforms ------------------------------------------------------------------------------------------------

// The loops of `statement` with these names, which must stand directly inside each other in some order; empty with a complaint.
std::vector<TreePtr> loop_chain(const Schedule& schedule, int statement, const std::vector<std::string>& names,
                                Arguments& args);
// Replaces the chain (outermost first in the tree) by `loops` around the same body.
Schedule replace_chain(const Schedule& schedule, const std::vector<TreePtr>& chain, std::vector<Tree> loops);
// The tree with only these statements; loops get fresh ids when `fresh` is given, and `renamed` learns old -> new.
TreePtr restrict_tree(const TreePtr& tree, const std::vector<int>& statements, int* fresh,
                      std::map<int, int>* renamed = nullptr);

}  // namespace facet
