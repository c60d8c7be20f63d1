// Sizes of an imported region: extents that the C file does not say, and ranges of symbols.
//
// Each subscript is bounded by putting the bounds of the loops around it in place of their variables, innermost first, by the
// sign of the coefficient: a linear form in symbols. `double x[]` read at x[i + 1], i < n, then has n + 1 elements; and where
// the extent is known, extent - 1 - upper >= 0 and lower >= 0 are conditions on the sizes: of one symbol a bound of its range,
// of several an assumption. For other sizes the C function reads outside its arrays, or a loop does not run: a drop-in then
// runs the loops as they are. Accesses under an `if` are left out at first: the condition may be what keeps them inside. What
// is not proved here is judged afterwards, as for every program.
#include <algorithm>
#include <cctype>

#include "src/frontend/affine.hpp"
#include "src/frontend/import_c.hpp"
#include "src/frontend/loops.hpp"

namespace facet {

namespace {

struct Linear {
  std::map<std::string, std::int64_t> factors;  // none is zero
  std::int64_t constant = 0;
};

void add(Linear* a, const Linear& b, std::int64_t times) {
  a->constant += times * b.constant;
  for (const auto& [name, factor] : b.factors)
    if ((a->factors[name] += times * factor) == 0) a->factors.erase(name);
}

Linear plus(Linear a, std::int64_t constant) {
  a.constant += constant;
  return a;
}

std::optional<Linear> linear(const ExprPtr& e) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 40;  // sums of these cannot overflow
  Linear out;
  if (e->op == Op::kLiteral) {
    out.constant = e->int_value;
    return std::abs(e->int_value) < kLarge ? std::optional<Linear>(out) : std::nullopt;
  }
  if (e->op == Op::kIndex) {
    out.factors[e->name] = 1;
    return out;
  }
  if (e->op != Op::kAdd && e->op != Op::kSub && e->op != Op::kNeg && e->op != Op::kMul) return std::nullopt;
  const std::optional<Linear> a = linear(e->args[0]);
  const std::optional<Linear> b = linear(e->args.back());
  if (!a || !b || (e->op == Op::kMul && !a->factors.empty()) || std::abs(a->constant) > kLarge) return std::nullopt;
  if (e->op == Op::kMul && std::abs(a->constant) > 1000000) return std::nullopt;
  if (e->op != Op::kNeg && e->op != Op::kMul) add(&out, *a, 1);
  add(&out, *b, e->op == Op::kMul ? a->constant : e->op == Op::kAdd ? 1 : -1);
  return out;
}

// One of the linear forms that `e` (a minimum for upper bounds, a maximum for lower ones) is bounded by; one of symbols alone
// before others.
std::optional<Linear> bound_of(const ExprPtr& e, Op choice, const std::set<std::string>& loops) {
  if (e->op != choice && e->op != Op::kAdd && e->op != Op::kSub) return linear(e);
  if (const std::optional<Linear> whole = linear(e)) return whole;
  if (e->op != choice) {  // min(a, b) + 1
    const std::optional<Linear> rest = linear(e->args[1]);
    std::optional<Linear> first = bound_of(e->args[0], choice, loops);
    if (!rest || !first) return std::nullopt;
    add(&*first, *rest, e->op == Op::kAdd ? 1 : -1);
    return first;
  }
  const std::optional<Linear> a = bound_of(e->args[0], choice, loops), b = bound_of(e->args[1], choice, loops);
  if (!a || !b) return a ? a : b;
  const bool inner = std::any_of(a->factors.begin(), a->factors.end(), [&](const auto& f) { return loops.count(f.first) > 0; });
  return inner ? b : a;
}

struct Access {
  std::string tensor;
  std::vector<std::optional<Linear>> lower, upper;  // of each subscript, in symbols
  bool guarded = false;
};

class Accesses {
 public:
  std::vector<Access> list;

  void walk_body(const LoopBody& body) {
    for (const LoopStatement& s : body) {
      if (s.kind == LoopStatement::Kind::kAssign) note(s.target, s.subscripts);
      if (s.value)
        walk(s.value, [&](const Expr& e) {
          if (e.op == Op::kRead) note(e.name, e.args);
        });
      if (s.kind == LoopStatement::Kind::kFor) loops_.push_back(&s), names_.insert(s.name);
      if (s.kind == LoopStatement::Kind::kIf) ++guards_;
      walk_body(s.body);
      walk_body(s.otherwise);
      if (s.kind == LoopStatement::Kind::kIf) --guards_;
      if (s.kind == LoopStatement::Kind::kFor) loops_.pop_back();
    }
  }

 private:
  void note(const std::string& tensor, const std::vector<ExprPtr>& subscripts) {
    Access a;
    a.tensor = tensor;
    a.guarded = guards_ > 0;
    for (const ExprPtr& s : subscripts) {
      a.lower.push_back(extreme(s, false));
      a.upper.push_back(extreme(s, true));
    }
    list.push_back(std::move(a));
  }

  std::optional<Linear> extreme(const ExprPtr& e, bool upper) const {
    std::optional<Linear> form = linear(e);
    for (auto loop = loops_.rbegin(); form && loop != loops_.rend(); ++loop) {
      const auto it = form->factors.find((*loop)->name);
      if (it == form->factors.end()) continue;
      const std::int64_t factor = it->second;
      const bool largest = (factor > 0) == upper, ascending = (*loop)->step > 0;
      std::optional<Linear> bound =
          bound_of(largest == ascending ? (*loop)->bound : (*loop)->first, largest ? Op::kMin : Op::kMax, names_);
      if (!bound) return std::nullopt;
      if (largest == ascending) bound = plus(*bound, largest ? -1 : 1);
      form->factors.erase((*loop)->name);
      add(&*form, *bound, factor);
    }
    return form;
  }

  std::vector<const LoopStatement*> loops_;
  std::set<std::string> names_;
  int guards_ = 0;
};

std::string text(const Linear& e) {
  std::string out;
  for (const auto& [name, factor] : e.factors) {
    const std::int64_t size = std::abs(factor);
    out += out.empty() ? (factor < 0 ? "-" : "") : factor < 0 ? " - " : " + ";
    out += (size == 1 ? "" : std::to_string(size) + "*") + name;
  }
  if (out.empty()) return std::to_string(e.constant);
  if (e.constant != 0) out += (e.constant < 0 ? " - " : " + ") + std::to_string(std::abs(e.constant));
  return out;
}

// form >= 0 as a condition without negative terms: "m + 1 <= n".
std::string condition_text(const Linear& form) {
  Linear left, right;
  for (const auto& [name, factor] : form.factors) (factor < 0 ? left : right).factors[name] = std::abs(factor);
  (form.constant < 0 ? left : right).constant = std::abs(form.constant);
  return text(left) + " <= " + text(right);
}

class SizeFitter {
 public:
  SizeFitter(const CSizes& sizes, bool guarded, CRegion* region) : sizes_(sizes), guarded_(guarded), region_(*region) {}

  Result<Done> run() {
    const Result<Done> known = check_names();
    if (!known) return known;
    first_ranges();
    Program program = provisional();
    const Result<LoopBody> body = parse(program);
    if (!body) return body.errors();
    Accesses accesses;
    accesses.walk_body(*body);
    Diagnostics problems;
    for (CTensor& t : region_.tensors)
      for (std::size_t d = 0; d < t.extents.size(); ++d)
        if (t.extents[d].empty()) find_extent(accesses.list, d, &t, &problems);
    if (!problems.empty()) return problems;
    for (const Access& a : accesses.list)
      if (guarded_ || !a.guarded) limit(a);
    give_values();
    return Done{};
  }

 private:
  CSymbol* symbol(const std::string& name) {
    for (CSymbol& s : region_.symbols)
      if (s.name == name) return &s;
    return nullptr;
  }

  Result<Done> check_names() {
    std::vector<std::string> asked;
    for (const auto& [name, value] : sizes_.values) asked.push_back(name);
    for (const auto& [name, range] : sizes_.ranges) asked.push_back(name);
    for (const std::string& name : asked)
      if (!symbol(name)) return diagnose(Code::kUnknownSymbol, {}, {name});
    return Done{};
  }

  // Wide, and so that no tensor can have 2^63 elements.
  void first_ranges() {
    std::size_t rank = 1;
    for (const CTensor& t : region_.tensors) rank = std::max(rank, t.extents.size());
    for (CSymbol& s : region_.symbols) {
      s.max = std::int64_t{1} << std::min<std::size_t>(30, 57 / rank);
      const auto asked = sizes_.ranges.find(s.name);
      if (asked != sizes_.ranges.end()) s.min = asked->second.first, s.max = asked->second.second;
    }
  }

  std::vector<std::string> symbol_names() const {
    std::vector<std::string> names;
    for (const CSymbol& s : region_.symbols) names.push_back(s.name);
    return names;
  }

  // Enough of a program for the text to be read; extents do not matter for that.
  Program provisional() const {
    Program p;
    for (const CSymbol& s : region_.symbols) p.symbols.push_back({s.name, s.min, s.max, s.min, {}});
    for (const CTensor& t : region_.tensors) {
      Tensor tensor;
      tensor.name = t.name;
      tensor.dtype = t.dtype;
      tensor.shape.assign(t.extents.size(), idx(1));
      tensor.declared = tensor.inferred = true;
      p.tensors[t.name] = std::move(tensor);
    }
    return p;
  }

  Result<LoopBody> parse(const Program& program) const {
    LoopContext context;
    context.program = &program;
    context.in = symbol_names();
    for (const CTensor& t : region_.tensors) context.inout.push_back(t.name);
    context.local_prefix = "c";
    context.place.file = region_.function.file;
    for (std::size_t i = 0; i < region_.lines.size(); ++i) {
      Place place = context.place;
      place.line = region_.numbers[i];
      place.column = 1;
      place.excerpt = region_.lines[i];
      context.line_places.push_back(std::move(place));
    }
    Result<ParsedLoops> parsed = parse_loops(region_.lines, context);
    if (!parsed) return parsed.errors();
    return std::move(parsed->body);
  }

  // Is form >= 0 for all sizes in range?
  bool holds(const Linear& form) {
    __int128 least = form.constant;
    for (const auto& [name, factor] : form.factors) {
      const CSymbol* s = symbol(name);
      if (!s) return false;
      least += static_cast<__int128>(factor) * (factor > 0 ? s->min : s->max);
    }
    return least >= 0;
  }

  bool at_least(const Linear& a, const Linear& b) {
    Linear difference = a;
    add(&difference, b, -1);
    return holds(difference);
  }

  // Where the region names it first.
  Place use_of(const std::string& name) const {
    const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (std::size_t i = 0; i < region_.lines.size(); ++i) {
      const std::string& line = region_.lines[i];
      for (std::size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + 1)) {
        if ((at > 0 && letter(line[at - 1])) || (at + name.size() < line.size() && letter(line[at + name.size()]))) continue;
        Place place = line_place(region_, i, region_.function.file);
        place.column = static_cast<int>(at) + 1;
        return place;
      }
    }
    return line_place(region_, 0, region_.function.file);
  }

  void find_extent(const std::vector<Access>& accesses, std::size_t d, CTensor* t, Diagnostics* problems) {
    std::optional<Linear> extent;
    bool told = true;
    for (const bool guarded : {false, true}) {
      for (const Access& a : accesses) {
        if (a.tensor != t->name || a.guarded != guarded) continue;
        const std::optional<Linear>& last = a.upper[d];
        if (!last || (guarded && !extent)) told = false;
        if (!told) break;
        const Linear needed = plus(*last, 1);
        if (extent && at_least(*extent, needed)) continue;
        told = told && !guarded && (!extent || at_least(needed, *extent));
        extent = needed;
      }
    }
    for (const auto& f : extent ? extent->factors : std::map<std::string, std::int64_t>()) told = told && symbol(f.first);
    if (told && extent) {
      t->extents[d] = text(*extent);
      return;
    }
    problems->push_back(diagnose(Code::kCExtent, use_of(t->name), {t->name},
                                 {"declare it with its size, " + t->name + "[n]", "subscripts under an if do not tell it"}));
  }

  void limit(const Access& a) {
    for (const CTensor& t : region_.tensors) {
      if (t.name != a.tensor) continue;
      for (std::size_t d = 0; d < a.upper.size(); ++d) {
        const Result<ExprPtr> extent = parse_affine(t.extents[d], symbol_names(), {});
        const std::optional<Linear> size = extent ? linear(*extent) : std::nullopt;
        if (a.lower[d]) require(*a.lower[d]);
        if (!a.upper[d] || !size) continue;
        Linear room = plus(*size, -1);
        add(&room, *a.upper[d], -1);
        require(room);
      }
    }
  }

  // Makes form >= 0 true for all sizes: by a range, or by an assumption.
  void require(const Linear& form) {
    for (const auto& f : form.factors)
      if (!symbol(f.first)) return;
    if (form.factors.empty() || holds(form)) return;
    if (form.factors.size() > 1) {
      const std::string condition = condition_text(form);
      if (std::count(region_.assumptions.begin(), region_.assumptions.end(), condition)) return;
      region_.assumptions.push_back(condition);
      forms_.push_back(form);
      return;
    }
    const auto& [name, factor] = *form.factors.begin();
    CSymbol& s = *symbol(name);
    if (factor > 0) {
      const std::int64_t least = (-form.constant + factor - 1) / factor;
      if (least <= s.max) s.min = std::max(s.min, least);
    } else if (form.constant >= 0 && form.constant / -factor >= s.min) {
      s.max = std::min(s.max, form.constant / -factor);
      fixed_.insert(name);
    }
  }

  // The size to plan for: what the user says, the largest where the file has a size, else a middling one.
  void give_values() {
    constexpr std::int64_t kMiddling = 128;
    for (CSymbol& s : region_.symbols) {
      const auto asked = sizes_.values.find(s.name);
      s.value = asked != sizes_.values.end() ? asked->second
                : fixed_.count(s.name)       ? s.max
                                             : std::clamp(kMiddling, s.min, s.max);
      if (asked != sizes_.values.end()) s.max = std::max(s.max, s.value), s.min = std::min(s.min, s.value);
    }
    for (std::size_t round = 0; round < 2 * forms_.size(); ++round) {
      const Linear& form = forms_[round % forms_.size()];
      std::int64_t value = form.constant;
      for (const auto& [name, factor] : form.factors) value += factor * symbol(name)->value;
      for (const auto& [name, factor] : form.factors) {
        if (value >= 0 || factor <= 0) continue;
        CSymbol& s = *symbol(name);
        const std::int64_t more = std::min(s.max - s.value, (-value + factor - 1) / factor);
        s.value += more;
        value += factor * more;
      }
    }
  }

  const CSizes& sizes_;
  const bool guarded_;
  CRegion& region_;
  std::vector<Linear> forms_;    // of the assumptions
  std::set<std::string> fixed_;  // symbols that sizes in the file limit
};

}  // namespace

Result<Done> fit_sizes(const CSizes& sizes, bool guarded, CRegion* region) { return SizeFitter(sizes, guarded, region).run(); }

}  // namespace facet
