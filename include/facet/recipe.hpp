// Recipe: the schedule as data (contract, "A recipe"). The only output of the auto-scheduler, the only input of scheduling.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "facet/expr.hpp"
#include "facet/result.hpp"

namespace facet {

struct Argument;
using ArgumentList = std::vector<Argument>;
using ArgumentMap = std::map<std::string, Argument>;
struct Hole {};  // "?": the scheduler completes it
inline bool operator==(const Hole&, const Hole&) { return true; }
bool operator==(const Argument& a, const Argument& b);

// A JSON-like value of a step's argument.
struct Argument {
  std::variant<Hole, std::int64_t, bool, std::string, ArgumentList, ArgumentMap> value = Hole{};
};

// {"do": verb, ...arguments}
struct Step {
  std::string verb;
  ArgumentMap arguments;
  Place place;
  std::map<std::string, Place> argument_places;  // "sizes", "sizes/1", "layout/pad/j": as far as a file has them
};
bool operator==(const Step& a, const Step& b);  // wherever they stand

// Where an argument, or a part of it, stands; the step's place with the argument's pointer when no file has it.
Place place_of(const Step& step, const std::string& argument);

// Is it "?", or is there one among its entries?
bool holds_hole(const Argument& a);

struct Group {
  std::string name;
  std::vector<std::string> ops;  // tensors defined by the group's nodes, in order
  std::vector<Place> op_places;  // as far as a file has them
  bool rewrites_hole = false;
  std::vector<Step> rewrites;
  bool steps_hole = true;  // missing or "?": complete; false with no steps: original order, no vectors, no threads
  std::vector<Step> steps;
  Place place;
};

// Where the op stands; the group's place when no file has it.
Place place_of(const Group& group, std::size_t op);

struct Variant {
  std::string when;   // affine condition on symbols, "" is always
  ExprPtr condition;  // `when` read for a program's symbols (bind_conditions); null: always
  Place when_place;
  bool groups_hole = true;
  std::vector<Group> groups;
  Place place;
};

struct Recipe {
  std::string program_hash;  // "" is null
  std::string target;        // "" when it is left open
  std::vector<Step> graph;
  bool variants_hole = true;
  std::vector<Variant> variants;          // tried in order: the first whose condition holds for the sizes is taken
  std::vector<std::string> memory_order;  // groups as they run: what does not live at the same time shares memory
  std::vector<Place> order_places;        // as far as a file has them
  std::string arena = "auto";
  Place place, hash_place, target_place;
};

}  // namespace facet
