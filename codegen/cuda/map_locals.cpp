// Local arrays of a block: whose they are. An array that nests alone touch, each element by one thread, is in registers; one
// that is written only where every thread can do the work for itself, a copy each; all others are shared memory.
#include <algorithm>
#include <functional>

#include "codegen/cuda/map_block.hpp"

namespace facet::gpu {

using passes::as;

namespace {

// `stepped`: iterators of the serial loops around.
using Visit = std::function<void(const LoopPtr& n, Role role, const std::set<std::string>& stepped)>;

void each_role(const LoopList& body, std::set<std::string> stepped, const Visit& visit) {
  for (const LoopPtr& n : body) {
    const Role role = role_of(n);
    visit(n, role, stepped);
    if (role != Role::kSteps && role != Role::kWarps) continue;
    if (const For* f = as<For>(n)) {
      std::set<std::string> inside = stepped;
      inside.insert(f->iterator);
      each_role(f->body, std::move(inside), visit);
    }
    if (const Sequence* s = as<Sequence>(n)) each_role(s->body, stepped, visit);
    if (const If* i = as<If>(n)) {
      each_role(i->then, stepped, visit);
      each_role(i->otherwise, stepped, visit);
    }
  }
}

std::set<std::string> stored_in(const LoopPtr& n) {
  std::set<std::string> names;
  passes::walk_nodes({n}, [&](const LoopPtr& m) {
    if (const Store* s = as<Store>(m)) names.insert(s->buffer);
  });
  return names;
}

bool allocates(const LoopPtr& n, const std::string& buffer) {
  bool found = false;
  passes::walk_nodes({n}, [&](const LoopPtr& m) {
    if (const Allocate* a = as<Allocate>(m)) found = found || a->buffer.name == buffer;
  });
  return found;
}

Privates privates_of(const LoopList& body, const std::map<std::string, Buffer>& all) {
  Privates privates;
  std::set<std::string> shared;
  each_role(body, {}, [&](const LoopPtr& n, Role role, const std::set<std::string>& stepped) {
    if (role == Role::kSteps || role == Role::kWarps || as<Allocate>(n)) return;
    const Nest nest = role == Role::kThreads ? nest_at(n) : Nest{};
    const std::set<std::string> inner = inner_names(n, nest);
    for (const passes::Access& a : passes::accesses_of(LoopList{n})) {
      const auto local = all.find(a.buffer);
      if (local == all.end() || local->second.space == MemorySpace::kShared) continue;
      const std::optional<Owner> owner = role == Role::kThreads ? owner_of(a, nest, inner, stepped) : std::nullopt;
      const std::optional<Private> part = owner ? private_of(local->second, *owner, nest) : std::nullopt;
      const auto known = privates.find(a.buffer);
      if (!part || (known != privates.end() && known->second.owner != part->owner)) shared.insert(a.buffer);
      if (part) privates.emplace(a.buffer, *part);
    }
  });
  for (const std::string& name : shared) privates.erase(name);
  return privates;
}

}  // namespace

Role role_of(const LoopPtr& n) {
  if (gives_warps(n)) return Role::kWarps;
  if (starts_nest(n)) return Role::kThreads;
  const std::optional<ReductionNest> reduction = reduction_of(n);
  if (reduction && std::any_of(reduction->loops.begin(), reduction->loops.end(), in_block)) return Role::kReduction;
  bool inner = false;
  const auto look = [&](const LoopList& body) {
    for (const LoopPtr& m : body) inner = inner || role_of(m) != Role::kScalar;
  };
  if (const For* f = as<For>(n)) look(f->body);
  if (const Sequence* s = as<Sequence>(n)) look(s->body);
  if (const If* i = as<If>(n)) {
    look(i->then);
    look(i->otherwise);
    if (!passes::accesses_of(i->condition).empty()) return Role::kScalar;
  }
  return inner ? Role::kSteps : Role::kScalar;
}

std::int64_t threads_of(const LoopList& body) {
  std::int64_t threads = 1;
  each_role(body, {}, [&](const LoopPtr& n, Role role, const std::set<std::string>&) {
    if (role == Role::kThreads || role == Role::kReduction) threads = std::max(threads, nest_at(n).threads);
    if (role == Role::kWarps) threads = std::max(threads, kWarp * as<For>(n)->gpu.threads);
  });
  return threads;
}

bool Locals::is_private(const std::string& buffer, const LoopPtr& user) const {
  return replicas.count(buffer) || privates.count(buffer) || allocates(user, buffer);
}

bool Locals::by_all(const LoopPtr& n) const {
  for (const std::string& b : stored_in(n))
    if (!replicas.count(b) && !allocates(n, b)) return false;
  return true;
}

Locals locals_of(const LoopList& body) {
  Locals locals;
  each_role(body, {}, [&](const LoopPtr& n, Role role, const std::set<std::string>&) {
    if (role == Role::kScalar)
      if (const Allocate* a = as<Allocate>(n)) locals.all[a->buffer.name] = a->buffer;
  });
  locals.privates = privates_of(body, locals.all);
  for (const auto& [name, b] : locals.all)
    if (b.space != MemorySpace::kShared && !locals.privates.count(name)) locals.replicas.insert(name);
  for (bool changed = true; changed;) {
    changed = false;
    each_role(body, {}, [&](const LoopPtr& n, Role role, const std::set<std::string>&) {
      if (role == Role::kReduction || role == Role::kSteps || role == Role::kWarps || as<Allocate>(n)) return;
      if (role == Role::kScalar && locals.by_all(n)) return;
      for (const std::string& b : stored_in(n)) changed = locals.replicas.erase(b) > 0 || changed;
    });
  }
  return locals;
}

}  // namespace facet::gpu
