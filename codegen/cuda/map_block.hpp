// What a block's body consists of, and where its local arrays live.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "codegen/cuda/map_nest.hpp"

namespace facet::gpu {

// How a node is executed: spread over the threads, as a reduction, by all threads in step, an iteration a warp, or as scalar
// work.
enum class Role { kThreads, kReduction, kSteps, kWarps, kScalar };
Role role_of(const LoopPtr& n);

// The threads of the largest nest; 1 without any.
std::int64_t threads_of(const LoopList& body);

// The arrays allocated in the block's body, those of nests' bodies excepted: they are a thread's own anyway.
struct Locals {
  std::map<std::string, Buffer> all;
  Privates privates;               // each element is one thread's: registers
  std::set<std::string> replicas;  // every thread computes all of it alike: a copy each

  bool is_private(const std::string& buffer, const LoopPtr& user) const;  // no other thread sees this user's accesses
  bool by_all(
      const LoopPtr& n) const;  // scalar work that each thread can do for itself: it writes copies and named values only
};
Locals locals_of(const LoopList& body);

}  // namespace facet::gpu
