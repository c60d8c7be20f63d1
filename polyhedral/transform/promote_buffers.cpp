// promote with several buffers: the part for a later iteration is fetched while this one computes.
//
//     for kt {                                     for kt = -1.. {
//       A.tile = A[kt];                    -->       if (kt + 1 exists)  A.tile[(kt + 1) % 2] = A[kt + 1]
//       .. A.tile                                    if (kt >= 0)  .. A.tile[kt % 2]
//     }                                            }                                           buffers: 2
//
// A.tile becomes an array with a part for each iteration, contracted at the loop around and folded to n places in the loop's
// dimension (see contract); the copy runs n - 1 iterations ahead. That turns are kept is in the dependences that folding adds:
// where a later step makes the copy overtake a reader of the old part, legality says so.
//
// Known elsewhere as double buffering, software pipelining (num_stages in Triton, storage_align and double_buffer in TVM).
#include <algorithm>

#include "polyhedral/storage.hpp"
#include "polyhedral/transform/fold.hpp"
#include "polyhedral/transform/part_array.hpp"
#include "polyhedral/transform/promote_parts.hpp"

namespace facet {

namespace {

class Buffers {
 public:
  // `promoted`: with the part as its last storage map.
  Buffers(const Schedule& promoted, Arguments& args, int reader, std::int64_t count)
      : before_(promoted), args_(args), part_(promoted.storage.back()), count_(count), next_(promoted) {
    around_ = facet::loops_down_to(promoted, reader, part_.at);
    for (const int s : statements_of(find_loop(promoted.tree, part_.at)))
      if (promoted.has_flow(part_.copy_in, s, part_.buffer)) readers_.push_back(s);
  }

  Schedule run() {
    const PartArray array = [&] {
      PartArray made(before_, args_, part_.array, part_.buffer, around_, readers_);
      made.set_offsets(part_.offsets);
      return made;
    }();
    check_steps();
    if (args_.problem()) return before_;
    declare(array);
    next_.storage.pop_back();
    leave_array();
    run_ahead();
    StorageMap box = contracted(next_, part_.buffer, outer_loop());
    keep_layout(box);
    std::vector<std::int64_t> places(box.sizes.size(), 0);
    places[around_.size() - 1] = count_;
    box.fold_to(places);
    add_dependences(next_, turns(next_, next_.scop->arrays.at(part_.buffer), places));
    next_.storage.push_back(std::move(box));
    return std::move(next_);
  }

 private:
  // Turns go by the loop's values: of one whose values lie two apart every iteration would have the same place, and what runs
  // ahead would fall between them.
  void check_steps() const {
    const TreePtr loop = around_.back();
    for (const int s : readers_) {
      const isl::set values = map_to_values(before_.statement(s).domain, {loop->member.at(s)}).range();
      if (values.is_empty() || values.stride(0).is_one()) continue;
      return args_.refuse("the values of loop '" + loop->names.at(s) + "' lie " +
                              std::to_string(take_int(values.stride(0).release())) + " apart",
                          {"promote without `buffers`, or before the step that spreads the loop"});
    }
  }

  void declare(const PartArray& array) {
    auto scop = std::make_shared<Scop>(*before_.scop);
    Array a;
    a.name = part_.buffer;
    a.dtype = scop->arrays.at(part_.array).dtype;
    a.extents = array.extents();
    a.extents.insert(a.extents.end(), part_.sizes.begin(), part_.sizes.end());
    scop->arrays[a.name] = a;
    const int n = static_cast<int>(scop->statements.size());
    for (const int s : readers_)
      array.move_reads(s < n ? scop->statements[static_cast<std::size_t>(s)] : next_.copies[static_cast<std::size_t>(s - n)],
                       array.of_member(s));
    Statement& copy = next_.copies[static_cast<std::size_t>(part_.copy_in - n)];
    copy.write.array = part_.array;  // it writes the part, by the array's elements
    array.move_write(copy, array.of_iterators(copy));
    next_.scop = std::move(scop);
  }

  // The readers do not touch the array any more: what they owed to its writers, the copy does.
  void leave_array() {
    Dependences kept = *next_.dependences;
    const auto reads = [&](int s) { return std::count(readers_.begin(), readers_.end(), s) > 0; };
    std::erase_if(kept, [&](const Dependence& d) { return d.array == part_.array && (reads(d.source) || reads(d.sink)); });
    next_.dependences = std::make_shared<const Dependences>(std::move(kept));
  }

  // In the loop of the part the copy's iterations come `count - 1` earlier.
  void run_ahead() {
    const TreePtr at = find_loop(next_.tree, part_.at);
    Tree loop = *at;
    loop.member.at(part_.copy_in) = add_constant(loop.member.at(part_.copy_in), 1 - count_);
    next_.tree = replace_node(next_.tree, at, make_loop_tree(std::move(loop), at->children[0]));
  }

  int outer_loop() const { return around_.size() < 2 ? -1 : around_[around_.size() - 2]->id; }

  void keep_layout(StorageMap& box) const {
    const std::size_t front = around_.size();
    box.space = part_.space;
    box.order.resize(front);
    box.inner.assign(front, 0);
    for (const int d : part_.order) box.order.push_back(d + static_cast<int>(front));
    box.inner.insert(box.inner.end(), part_.inner.begin(), part_.inner.end());
    if (part_.pad.empty()) return;
    box.pad.assign(front, 0);
    box.pad.insert(box.pad.end(), part_.pad.begin(), part_.pad.end());
  }

  const Schedule& before_;
  Arguments& args_;
  const StorageMap part_;
  std::int64_t count_;
  Schedule next_;
  std::vector<TreePtr> around_;
  std::vector<int> readers_;
};

}  // namespace

Schedule with_buffers(const Schedule& promoted, Arguments& args, int reader, std::int64_t count) {
  return Buffers(promoted, args, reader, count).run();
}

}  // namespace facet
