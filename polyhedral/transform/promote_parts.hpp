// What the three forms of promote share: a part of a read array per iteration, a whole array for one statement, a result tile.
#pragma once

#include <string>
#include <vector>

#include "polyhedral/transform/transform.hpp"

namespace facet {

// The forms (promote.cpp, promote_whole.cpp, promote_result.cpp). Arguments are checked; a complaint is left in `args`.
Schedule promote_part(const Schedule& schedule, Arguments& args, const std::string& array, int statement, const TreePtr& at);
Schedule promote_whole(const Schedule& schedule, Arguments& args, const std::string& array, int statement);
Schedule promote_result(const Schedule& schedule, Arguments& args, const std::string& array, int statement, const TreePtr& at);

// The part promoted last, for the reader's loop, as `count` parts in turns (promote_buffers.cpp).
Schedule with_buffers(const Schedule& promoted, Arguments& args, int reader, std::int64_t count);

// Do plain assignments below `at` write all that an iteration touches of the array? What a result tile needs.
bool writes_its_part(const Schedule& schedule, const std::string& array, const TreePtr& at);

MemorySpace space_of(const std::string& memory, Arguments& args);

// The statement's loop names that walk the dimensions of the array, "dN" where none does alone or the name is used already.
std::vector<std::string> dimension_names(const Statement& s, const std::string& array, std::size_t rank);

constexpr std::int64_t kMostInLayout = 1000000000;  // of `inner`, `pad` and `room`, as of other numbers in steps

// `layout` {order, inner, pad} of the step over the named dimensions; `room` is left to promote_whole.
void read_layout(Arguments& args, const std::vector<std::string>& dims, StorageMap& m);

std::string fresh_buffer(const Schedule& schedule, const std::string& array, const std::string& suffix);

// What a copy holds where the array has no element: the padding value of the statements' reads, zero without one; null when
// they differ. And the copy that reads so.
ExprPtr fill_of(const Schedule& schedule, const std::vector<int>& statements, const Array& array);
void read_with_fill(const Scop& scop, Statement& copy, const ExprPtr& fill);

// { [outer] -> A[e] }: the whole box of constant size for each iteration that needs any of it.
isl::map whole_boxes(const isl::map& part, const StorageMap& m);

// { the writer's instance -> the copy's of the element that it writes }.
isl::map of_one_element(const Statement& writer, const Statement& copy);

// The copy of whole boxes stays before or after each writer of an element that it reads, as it is now (promote_fill.cpp).
void keep_order_of_boxes(Schedule& next, const StorageMap& m);

// The loops around `statement` down to `at`, outermost first.
std::vector<TreePtr> loops_down_to(const Schedule& schedule, int statement, int at);

// The copying statement: domain { copy[outer.., element..] }. It moves array -> buffer, or with `store` buffer -> array.
Statement copy_statement(const Schedule& schedule, const StorageMap& m, const isl::set& domain,
                         const std::vector<std::string>& outer, const std::vector<std::string>& dims, bool store);

// The copy's loops over the element's dimensions, in `order` (slowest first); `outer` dimensions come before them in the
// domain.
TreePtr copy_nest(Schedule& next, const Statement& copy, int number, std::size_t outer, const std::vector<int>& order);

// Every loop of `around` learns its value for the copying statement.
TreePtr with_outer_loops(const TreePtr& tree, const std::vector<TreePtr>& around, int statement, const Statement& copy,
                         int number);

// Adds `list` to what the schedule must keep.
void add_dependences(Schedule& next, Dependences list);

}  // namespace facet
