// The state of a trial is a schedule; what is asked of it is asked of the transforms' own helpers.
#include "polyhedral/trial.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "facet/expr_facts.hpp"
#include "polyhedral/affine.hpp"
#include "polyhedral/analyse.hpp"
#include "polyhedral/check_recipe.hpp"
#include "polyhedral/copies.hpp"
#include "polyhedral/enumerate_schedule.hpp"
#include "polyhedral/model.hpp"
#include "polyhedral/replay.hpp"
#include "polyhedral/storage.hpp"
#include "polyhedral/transform/promote_parts.hpp"
#include "polyhedral/variants.hpp"

namespace facet {

struct Trial::State {
  std::shared_ptr<const Program> program;  // under the variant's condition
  ReaderIndex readers;
  NodeGroup nodes;
  Budget budget;
  SymbolValues sizes;
  int variant = 0, group = 0;
  std::vector<Step> rewrites;
  Schedule original, current;
  std::shared_ptr<const Schedule> refused;
};

namespace {

// Of a part: larger ones, copied once an iteration, only make the interpreter slow.
constexpr std::int64_t kMostElements = 1000;

// For one step: isl's scheduler may take minutes where its integer programs are unlucky.
constexpr std::chrono::seconds kStepTime{5};

bool boxed(const StorageMap& m) { return m.kind == StorageMap::Kind::kPromote || !m.sizes.empty(); }

class Viewer {
 public:
  explicit Viewer(const Schedule& schedule) : schedule_(schedule) {}

  TrialView run() {
    add_loops(schedule_.tree, -1, 0);
    for (const int s : statements_of(schedule_.tree)) view_.statements.push_back(statement(s));
    for (const auto& [name, a] : schedule_.scop->arrays) view_.arrays.push_back(array(a));
    add_sequences(schedule_.tree);
    return std::move(view_);
  }

 private:
  void add_loops(const TreePtr& node, int outer, int shared) {
    if (node->kind == Tree::Kind::kLoop) {
      TrialLoop l;
      l.id = node->id;
      l.outer = outer;
      l.kind = node->mark.kind;
      l.shares_threads = shared > 0;
      l.threads = l.kind == LoopKind::kMapped && node->mark.gpu.block >= 0;
      l.leaf = true;
      for_each_loop(node->children[0], [&](const Tree&) { l.leaf = false; });
      l.statements = statements_of(node);
      for (const StorageMap& m : schedule_.storage)
        l.boxes = l.boxes || (boxed(m) && ((m.at >= 0 && find_loop(node, m.at)) || holds(node, m.copy_in) ||
                                           holds(node, m.copy_out) || holds(node, m.reader)));
      view_.loops.push_back(std::move(l));
      shared = node->mark.kind == LoopKind::kParallel ? node->mark.collapse - 1 : shared - 1;
    } else {
      shared = 0;
    }
    for (const TreePtr& c : node->children) add_loops(c, node->kind == Tree::Kind::kLoop ? node->id : -1, shared);
  }

  static bool holds(const TreePtr& node, int statement) { return statement >= 0 && contains(node, statement); }

  TrialStatement statement(int s) const {
    const Statement& st = schedule_.statement(s);
    TrialStatement t;
    t.number = s;
    t.name = st.name;
    t.iterators = st.iterators;
    t.target = st.target;
    t.copy = st.kind == StatementKind::kCopy;
    t.update = st.update.has_value();
    for (const Access& a : st.reads)
      if (!std::count(t.reads.begin(), t.reads.end(), a.array)) t.reads.push_back(a.array);
    if (t.update) t.reduced = reduced(st);
    t.adds_terms = st.update == ReduceKind::kSum && (st.value->op == Op::kAdd || st.value->op == Op::kSub);
    t.inputs = inputs(st);
    const std::vector<TreePtr> around = loops_around(schedule_.tree, s);
    for (const TreePtr& l : around) {
      t.loops.push_back(l->id);
      t.names.push_back(l->names.at(s));
    }
    if (around.empty()) return t;
    const std::string walked = walked_iterator(schedule_, *around.back(), s);
    t.stores_rows = !walked.empty() && Model::stride(st.subscripts, walked) == Model::Stride::kUnit;
    return t;
  }

  static std::vector<std::string> reduced(const Statement& st) {
    std::vector<std::string> rest = st.iterators;
    for (const ExprPtr& e : st.subscripts)
      if (e->op != Op::kIndex || std::erase(rest, e->name) == 0) return {};
    return rest;
  }

  // Arrays of which a part of the value, but not all of it, makes something index by index.
  std::vector<std::string> inputs(const Statement& st) const {
    std::vector<std::string> list;
    const auto plain = [](const Expr& r) {
      return !r.pad && std::all_of(r.args.begin(), r.args.end(), [](const ExprPtr& e) { return e->op == Op::kIndex; });
    };
    walk(st.value, [&](const Expr& whole) {
      for (const ExprPtr& part : whole.args) {
        if (whole.op == Op::kRead || part->op == Op::kRead) continue;
        walk(part, [&](const Expr& r) {
          if (r.op != Op::kRead || !plain(r) || std::count(list.begin(), list.end(), r.name)) return;
          const bool own = std::none_of(st.iterators.begin(), st.iterators.end(), [&](const std::string& i) {
            return mentions_index(part, i) && !mentions_index(r.args, i);
          });
          if (own && !is_written(r.name)) list.push_back(r.name);
        });
      }
    });
    return list;
  }

  bool is_written(const std::string& array) const {
    for (int s = 0; s < schedule_.statement_count(); ++s)
      if (schedule_.statement(s).target == array) return true;
    return false;
  }

  TrialArray array(const Array& a) const {
    TrialArray t;
    t.name = a.name;
    t.outside = a.external || a.live_out;
    t.scalar = a.scalar;
    t.padded = padded_reads(schedule_, a.name, -1);
    t.streamed = std::count(schedule_.streamed.begin(), schedule_.streamed.end(), a.name) > 0;
    for (const StorageMap& m : schedule_.storage) {
      if (m.array != a.name) continue;
      t.contracted = t.contracted || m.kind == StorageMap::Kind::kContract;
      t.stored_otherwise = true;
      t.parts.push_back(m.at);
    }
    return t;
  }

  void add_sequences(const TreePtr& node) {
    if (node->kind == Tree::Kind::kSequence) {
      std::vector<TrialNest> nests;
      for (const TreePtr& c : node->children) {
        TrialNest n{statements_of(c), {}};
        for (TreePtr l = c; l->kind == Tree::Kind::kLoop; l = l->children[0]) n.loops.push_back(l->id);
        nests.push_back(std::move(n));
      }
      view_.sequences.push_back(std::move(nests));
    }
    for (const TreePtr& c : node->children) add_sequences(c);
  }

  const Schedule& schedule_;
  TrialView view_;
};

template <class T, class Same>
const T* find(const std::vector<T>& list, const Same& same) {
  const auto it = std::find_if(list.begin(), list.end(), same);
  return it == list.end() ? nullptr : &*it;
}

TrialVerdict complaint(const Diagnostic& d) {
  const bool refusal = failure_of(d.code) != Failure::kInput && failure_of(d.code) != Failure::kInternal;
  TrialVerdict v;
  v.reason = d.code == Code::kStepPrecondition && refusal ? "precondition" : code_name(d.code);
  v.message = to_text(d);
  return v;
}

}  // namespace

const TrialLoop& TrialView::loop(int id) const {
  return *find(loops, [&](const TrialLoop& l) { return l.id == id; });
}
const TrialStatement& TrialView::statement(int number) const {
  return *find(statements, [&](const TrialStatement& s) { return s.number == number; });
}
const TrialArray* TrialView::array(const std::string& name) const {
  return find(arrays, [&](const TrialArray& a) { return a.name == name; });
}

Trial::Trial(std::unique_ptr<State> state) : state_(std::move(state)) {}
Trial::~Trial() = default;
Trial::Trial(Trial&&) noexcept = default;

int Trial::variant() const { return state_->variant; }
int Trial::group() const { return state_->group; }
const SymbolValues& Trial::sizes() const { return state_->sizes; }

TrialView Trial::view() const {
  TrialView view;
  const Result<Done> ran = guarded("view", state_->budget, [&] { view = Viewer(state_->current).run(); });
  return ran ? view : TrialView{};
}

std::pair<std::int64_t, std::int64_t> Trial::range(int loop, int statement) const {
  std::pair<std::int64_t, std::int64_t> range{0, -1};
  std::vector<std::pair<std::string, std::int64_t>> fixed;
  for (const auto& [name, value] : state_->sizes) fixed.emplace_back(parameter_id(name), value);
  const TreePtr node = find_loop(state_->current.tree, loop);
  const Result<Done> ran = guarded("range", state_->budget, [&] {
    range = value_range(node->member.at(statement), state_->current.statement(statement).domain, fixed);
  });
  return ran ? range : std::pair<std::int64_t, std::int64_t>{0, -1};
}

bool Trial::has_constant_part(const std::string& array, int loop) const {
  bool constant = false;
  const Result<Done> ran = guarded("footprint", state_->budget, [&] {
    const isl::map part = footprint(state_->current, array, loop);
    if (part.is_null() || part.is_empty()) return;
    const std::vector<BoxDimension> box = box_hull(part);
    std::int64_t elements = 1;
    for (const BoxDimension& d : box) elements = d.size && elements <= kMostElements ? elements * *d.size : kMostElements + 1;
    constant = elements <= kMostElements;
  });
  return ran && constant;
}

bool Trial::writes_its_part(const std::string& array, int loop) const {
  bool writes = false;
  const TreePtr at = find_loop(state_->current.tree, loop);
  const Result<Done> ran =
      guarded("footprint", state_->budget, [&] { writes = facet::writes_its_part(state_->current, array, at); });
  return ran && writes;
}

std::vector<std::string> Trial::dimensions(const std::string& array, int statement) const {
  return dimension_names(state_->current.statement(statement), array, state_->current.scop->arrays.at(array).extents.size());
}

bool Trial::applies(const Step& step) const {
  Budget budget = state_->budget;
  budget.deadline = std::chrono::steady_clock::now() + kStepTime;
  const StepOutcome outcome = apply_step(state_->current, step, budget);
  return outcome.schedule || outcome.refusal->violation;
}

TrialVerdict Trial::attempt(const Step& step) {
  Budget budget = state_->budget;
  budget.deadline = std::chrono::steady_clock::now() + kStepTime;
  StepOutcome outcome = apply_step(state_->current, step, budget);
  if (outcome.schedule) {
    state_->current = std::move(*outcome.schedule);
    return {true, "", "", {}};
  }
  StepRefusal& refusal = *outcome.refusal;
  refusal.step = 0;
  state_->refused = refusal.schedule;
  if (!refusal.violation) return complaint(refusal.diagnostic);
  TrialVerdict verdict;
  verdict.reason = "dependence";
  verdict.message = to_text(refusal.diagnostic);
  describe_refusal(refusal, "", {step}, &verdict.report);
  verdict.report.replay = make_replay(state_->original, refusal, state_->budget);
  return verdict;
}

TrialVerdict Trial::attempt_rewrite(const Step& step) {
  std::vector<Step> rewrites = state_->rewrites;
  rewrites.push_back(step);
  const Result<Schedule> made = analyse(*state_->program, state_->readers, state_->nodes, state_->budget, rewrites);
  if (!made) return complaint(made.errors()[0]);
  state_->rewrites = std::move(rewrites);
  state_->original = state_->current = *made;
  return {true, "", "", {}};
}

namespace {

Enumeration enumerated(const Schedule& original, const Schedule& schedule, const SymbolValues& sizes, std::size_t most,
                       const Budget& budget) {
  Enumeration all;
  const Result<Done> ran = guarded("enumeration", budget, [&] { all = enumerate(original, schedule, sizes, most); });
  if (!ran) all = Enumeration{{}, {}, {}, to_text(ran.errors())};
  return all;
}

}  // namespace

Enumeration Trial::original(const SymbolValues& sizes, std::size_t most) const {
  return enumerated(state_->original, state_->original, sizes, most, state_->budget);
}
Enumeration Trial::scheduled(const SymbolValues& sizes, std::size_t most) const {
  return enumerated(state_->original, state_->current, sizes, most, state_->budget);
}
Enumeration Trial::refused(const SymbolValues& sizes, std::size_t most) const {
  if (!state_->refused) return Enumeration{{}, {}, {}, "no schedule was refused"};
  return enumerated(state_->original, *state_->refused, sizes, most, state_->budget);
}

Result<std::vector<Trial>> trials_of(const Program& given, const Recipe& wanted, const ScheduleOptions& options) {
  const auto program = std::make_shared<const Program>(with_copies(given));
  Recipe recipe = wanted;
  const std::vector<std::size_t> added = add_copy_groups(*program, false, &recipe);
  const Budget budget = budget_of(options);
  std::vector<VariantCase> cases;
  const Result<Done> told =
      guarded("conditions of variants", Budget{0, {}}, [&] { cases = cases_of(*program, recipe, options.sizes); });
  if (!told) return told.errors();
  std::vector<Trial> trials;
  for (const VariantCase& c : cases) {
    const std::size_t v = static_cast<std::size_t>(c.index);
    if (recipe.variants[v].groups_hole || !c.never.empty()) continue;
    const Result<std::vector<NodeGroup>> groups = groups_of_recipe(*c.program, recipe.variants[v]);
    if (!groups) return groups.errors();
    for (std::size_t g = added[v]; g < groups->size(); ++g) {
      auto state = std::make_unique<Trial::State>();
      // The cases that have no condition of their own point to the program, which lives as long as this list.
      state->program = c.program.get() == program.get() ? program : c.program;
      state->readers = readers_of(*state->program);
      state->nodes = (*groups)[g];
      state->budget = budget;
      state->sizes = c.sizes;
      state->variant = c.index;
      state->group = static_cast<int>(g - added[v]);
      const Result<Schedule> schedule = analyse(*state->program, state->readers, state->nodes, budget);
      if (!schedule) return schedule.errors();
      state->original = state->current = *schedule;
      trials.push_back(Trial(std::move(state)));
    }
  }
  return trials;
}

}  // namespace facet
