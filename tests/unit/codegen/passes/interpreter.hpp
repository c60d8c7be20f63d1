// A small evaluator of loop trees for the tests of the passes: scalar and
// vector semantics, every access checked.
//
// Buffers hold doubles (floats) or integers; an element never written is
// poison, and reading it throws, as does any access outside the buffer.
// Masked-off lanes are not evaluated. One definition per operation, written for
// clearness.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "facet/loop_ast.hpp"

namespace facet::test {

struct Cell {
  double real = 0;
  std::int64_t integer = 0;
  bool defined = false;
};

struct Memory {
  std::map<std::string, std::vector<Cell>> cells;
  std::map<std::string, std::vector<std::int64_t>> extents;
};

struct Value {
  std::vector<double> real;
  std::vector<std::int64_t> integer;
  std::size_t lanes() const { return real.size(); }
};

class Evaluator {
 public:
  Evaluator(const LoopProgram& program, const std::map<std::string, std::int64_t>& symbols, Memory& memory)
      : program_(program), memory_(memory) {
    for (const auto& [name, value] : symbols) set(name, value);
    for (const Buffer& b : program.buffers) add_buffer(b, false);
  }

  void run() {
    for (const Kernel& k : program_.kernels) block(k.body);
  }
  std::int64_t loads = 0, stores = 0;  // vector accesses count once

 private:
  const LoopProgram& program_;
  Memory& memory_;
  std::map<std::string, Value> names_;

  void set(const std::string& name, std::int64_t v) { names_[name] = Value{{static_cast<double>(v)}, {v}}; }

  void add_buffer(const Buffer& b, bool fresh) {
    std::vector<std::int64_t> extents;
    std::int64_t count = 1;
    for (const ExprPtr& e : b.extents) {
      extents.push_back(integer(e));
      count *= extents.back();
    }
    memory_.extents[b.name] = extents;
    std::vector<Cell>& cells = memory_.cells[b.name];
    if (fresh) cells.clear();
    cells.resize(static_cast<std::size_t>(count));
  }

  std::int64_t integer(const ExprPtr& e) { return eval(e).integer[0]; }

  Cell& cell(const std::string& buffer, std::vector<std::int64_t> at) {
    const auto found = memory_.cells.find(buffer);
    if (found == memory_.cells.end()) throw std::runtime_error("no buffer " + buffer);
    const std::vector<std::int64_t>& extents = memory_.extents[buffer];
    std::int64_t offset = 0;
    if (at.size() != extents.size()) throw std::runtime_error("rank of " + buffer);
    for (std::size_t d = at.size(); d-- > 1;) {  // [0, p] may name an element of a later row: joined dimensions
      if (at[d] < extents[d] || at[d - 1] != 0 || extents[d] == 0) continue;
      at[d - 1] = at[d] / extents[d];
      at[d] %= extents[d];
    }
    for (std::size_t d = 0; d < at.size(); ++d) {
      if (at[d] < 0 || at[d] >= extents[d])
        throw std::runtime_error(buffer + "[" + std::to_string(at[d]) + "] outside, dimension " + std::to_string(d));
      offset = offset * extents[d] + at[d];
    }
    return found->second[static_cast<std::size_t>(offset)];
  }

  bool inside(const std::string& buffer, const std::vector<std::int64_t>& at) {
    const std::vector<std::int64_t>& extents = memory_.extents[buffer];
    for (std::size_t d = 0; d < at.size(); ++d)
      if (at[d] < 0 || at[d] >= extents[d]) return false;
    return true;
  }

  // Subscripts of one lane: vector subscripts give theirs, scalar innermost
  // ones move on when all are scalar.
  static std::vector<std::int64_t> lane_subscripts(const std::vector<Value>& subscripts, std::size_t lane,
                                                   std::int64_t stride) {
    bool gather = false;
    for (const Value& s : subscripts) gather = gather || s.lanes() > 1;
    std::vector<std::int64_t> at;
    for (const Value& s : subscripts) at.push_back(s.lanes() > 1 ? s.integer[lane] : s.integer[0]);
    if (!gather && !at.empty()) at.back() += static_cast<std::int64_t>(lane) * stride;
    return at;
  }

  Value read(const Expr& e) {
    std::vector<Value> subscripts;
    for (const ExprPtr& s : e.args) subscripts.push_back(eval(s));
    Value mask;
    if (e.mask) mask = eval(e.mask);
    Value out;
    ++loads;
    for (int lane = 0; lane < e.lanes; ++lane) {
      double real = 0;
      std::int64_t n = 0;
      if (!e.mask || mask.integer[static_cast<std::size_t>(lane)]) {
        const std::vector<std::int64_t> at = lane_subscripts(subscripts, static_cast<std::size_t>(lane), 1);
        if (e.pad && !inside(e.name, at)) {
          real = eval(e.pad).real[0];
          n = eval(e.pad).integer[0];
        } else {
          const Cell& c = cell(e.name, at);
          if (!c.defined) throw std::runtime_error("read of undefined " + to_text(std::make_shared<const Expr>(e)));
          real = c.real;
          n = c.integer;
        }
      }
      out.real.push_back(real);
      out.integer.push_back(n);
    }
    return out;
  }

  static std::int64_t floor_div(std::int64_t a, std::int64_t b) {
    if (b == 0) return 0;
    const std::int64_t q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
  }

  static double real_of(Op op, double a, double b, double c) {
    switch (op) {
      case Op::kAdd: return a + b;
      case Op::kSub: return a - b;
      case Op::kMul: return a * b;
      case Op::kDiv: return a / b;
      case Op::kMin: return std::min(a, b);
      case Op::kMax: return std::max(a, b);
      case Op::kNeg: return -a;
      case Op::kExp: return std::exp(a);
      case Op::kTanh: return std::tanh(a);
      case Op::kSqrt: return std::sqrt(a);
      case Op::kFma: return a * b + c;
      default: throw std::runtime_error("test evaluator: real operation");
    }
  }

  static std::int64_t integer_of(Op op, std::int64_t a, std::int64_t b, std::int64_t c) {
    switch (op) {
      case Op::kAdd: return a + b;
      case Op::kSub: return a - b;
      case Op::kMul: return a * b;
      case Op::kFloorDiv: return floor_div(a, b);
      case Op::kFloorMod: return b == 0 ? 0 : a - b * floor_div(a, b);
      case Op::kTruncDiv: return b == 0 ? 0 : a / b;
      case Op::kTruncMod: return b == 0 ? 0 : a % b;
      case Op::kMin: return std::min(a, b);
      case Op::kMax: return std::max(a, b);
      case Op::kNeg: return -a;
      case Op::kNot: return !a;
      case Op::kAnd: return a && b;
      case Op::kOr: return a || b;
      case Op::kFma: return a * b + c;
      default: throw std::runtime_error("test evaluator: integer operation");
    }
  }

  static bool compare(Op op, double a, double b) {
    switch (op) {
      case Op::kLt: return a < b;
      case Op::kLe: return a <= b;
      case Op::kGt: return a > b;
      case Op::kGe: return a >= b;
      case Op::kEq: return a == b;
      default: return a != b;
    }
  }

  Value splat(const Value& v, int lanes) {
    return Value{std::vector<double>(static_cast<std::size_t>(lanes), v.real[0]),
                 std::vector<std::int64_t>(static_cast<std::size_t>(lanes), v.integer[0])};
  }

  Value eval(const ExprPtr& e) {
    switch (e->op) {
      case Op::kLiteral:
        return is_float(e->type) ? Value{{e->float_value}, {0}} : Value{{static_cast<double>(e->int_value)}, {e->int_value}};
      case Op::kIndex:
      case Op::kValue: {
        const auto it = names_.find(e->name);
        if (it == names_.end()) throw std::runtime_error("no name " + e->name);
        if (it->second.lanes() != static_cast<std::size_t>(e->lanes)) throw std::runtime_error("lanes of " + e->name);
        return it->second;
      }
      case Op::kRead: return read(*e);
      case Op::kSelect:
        if (e->args[0]->lanes == 1) return eval(e->args[integer(e->args[0]) ? 1 : 2]);
        break;
      case Op::kSplat: return splat(eval(e->args[0]), e->lanes);
      case Op::kIota: {
        Value v = splat(eval(e->args[0]), e->lanes);
        for (std::size_t l = 0; l < v.lanes(); ++l) {
          v.integer[l] += static_cast<std::int64_t>(l);
          v.real[l] = static_cast<double>(v.integer[l]);
        }
        return v;
      }
      case Op::kExtract: {
        Value v = eval(e->args[0]);
        if (e->args.size() > 1) {
          const Value w = eval(e->args[1]);
          v.real.insert(v.real.end(), w.real.begin(), w.real.end());
          v.integer.insert(v.integer.end(), w.integer.begin(), w.integer.end());
        }
        const auto from = e->int_value, to = from + e->lanes;
        return Value{{v.real.begin() + from, v.real.begin() + to}, {v.integer.begin() + from, v.integer.begin() + to}};
      }
      case Op::kLaneReduce: return lane_reduce(*e);
      default: break;
    }
    return elementwise(*e);
  }

  Value lane_reduce(const Expr& e) {
    const Value v = eval(e.args[0]);
    const Op op = e.reduce_kind == ReduceKind::kSum    ? Op::kAdd
                  : e.reduce_kind == ReduceKind::kProd ? Op::kMul
                  : e.reduce_kind == ReduceKind::kMax  ? Op::kMax
                  : e.reduce_kind == ReduceKind::kMin  ? Op::kMin
                  : e.reduce_kind == ReduceKind::kAny  ? Op::kOr
                                                       : Op::kAnd;
    Value out{{v.real[0]}, {v.integer[0]}};
    for (std::size_t l = 1; l < v.lanes(); ++l) {
      if (is_float(e.type))
        out.real[0] = real_of(op, out.real[0], v.real[l], 0);
      else
        out.integer[0] = integer_of(op, out.integer[0], v.integer[l], 0);
    }
    if (!is_float(e.type)) out.real[0] = static_cast<double>(out.integer[0]);
    return out;
  }

  Value elementwise(const Expr& e) {
    std::vector<Value> args;
    for (const ExprPtr& a : e.args) {
      args.push_back(eval(a));
      if (args.back().lanes() != static_cast<std::size_t>(e.lanes))
        throw std::runtime_error("lanes of an operand of " + to_text(std::make_shared<const Expr>(e)));
    }
    const bool real_operands = is_float(e.args.back()->type);
    Value out;
    for (std::size_t l = 0; l < static_cast<std::size_t>(e.lanes); ++l) {
      const auto r = [&](std::size_t i) { return i < args.size() ? args[i].real[l] : 0.0; };
      const auto n = [&](std::size_t i) { return i < args.size() ? args[i].integer[l] : std::int64_t{0}; };
      double real = 0;
      std::int64_t whole = 0;
      if (e.op == Op::kSelect) {
        real = n(0) ? r(1) : r(2);
        whole = n(0) ? n(1) : n(2);
      } else if (e.op == Op::kCast) {
        real = real_operands ? r(0) : static_cast<double>(n(0));
        whole = real_operands ? static_cast<std::int64_t>(r(0)) : n(0);
      } else if (e.op >= Op::kLt && e.op <= Op::kNe) {
        whole = real_operands ? compare(e.op, r(0), r(1)) : compare(e.op, static_cast<double>(n(0)), static_cast<double>(n(1)));
      } else if (is_float(e.type)) {
        real = real_of(e.op, r(0), r(1), r(2));
      } else {
        whole = integer_of(e.op, n(0), n(1), n(2));
      }
      if (!is_float(e.type)) real = static_cast<double>(whole);
      out.real.push_back(real);
      out.integer.push_back(whole);
    }
    return out;
  }

  void store(const Store& s) {
    std::vector<Value> subscripts;
    for (const ExprPtr& e : s.subscripts) subscripts.push_back(eval(e));
    const Value value = eval(s.value);
    if (value.lanes() != static_cast<std::size_t>(s.lanes)) throw std::runtime_error("lanes of the store to " + s.buffer);
    Value mask;
    if (s.mask) mask = eval(s.mask);
    ++stores;
    for (std::size_t l = 0; l < static_cast<std::size_t>(s.lanes); ++l) {
      if (s.mask && !mask.integer[l]) continue;
      Cell& c = cell(s.buffer, lane_subscripts(subscripts, l, s.lane_stride));
      Value one{{value.real[l]}, {value.integer[l]}};
      if (s.update) {
        if (!c.defined) throw std::runtime_error("update of undefined " + s.buffer);
        const Op op = *s.update == ReduceKind::kSum    ? Op::kAdd
                      : *s.update == ReduceKind::kProd ? Op::kMul
                      : *s.update == ReduceKind::kMax  ? Op::kMax
                                                       : Op::kMin;
        if (is_float(s.value->type))
          one.real[0] = real_of(op, c.real, one.real[0], 0);
        else
          one.integer[0] = integer_of(op, c.integer, one.integer[0], 0);
      }
      c = Cell{is_float(s.value->type) ? one.real[0] : static_cast<double>(one.integer[0]), one.integer[0], true};
    }
  }

  void block(const LoopList& body) {
    const std::map<std::string, Value> before = names_;
    for (const LoopPtr& n : body) node(n);
    // Names introduced here end here; assignments to outer names stay.
    std::map<std::string, Value> after;
    for (const auto& [name, v] : before) after[name] = names_[name];
    names_ = std::move(after);
  }

  void node(const LoopPtr& n) {
    if (const For* f = std::get_if<For>(&n->node)) {
      if (f->kind == LoopKind::kUnroll || f->kind == LoopKind::kVector) requests++;
      const std::int64_t lower = integer(f->lower), upper = integer(f->upper);
      for (std::int64_t i = lower; i < upper; i += f->step) {
        set(f->iterator, i);
        block(f->body);
      }
      names_.erase(f->iterator);
    } else if (const If* f = std::get_if<If>(&n->node)) {
      block(integer(f->condition) ? f->then : f->otherwise);
    } else if (const Store* s = std::get_if<Store>(&n->node)) {
      store(*s);
    } else if (const Let* l = std::get_if<Let>(&n->node)) {
      Value v = l->value ? eval(l->value) : splat(Value{{std::nan("")}, {-77}}, l->lanes);
      if (v.lanes() != static_cast<std::size_t>(l->lanes)) throw std::runtime_error("lanes of let " + l->name);
      names_[l->name] = v;
    } else if (const Set* s = std::get_if<Set>(&n->node)) {
      const Value v = eval(s->value);
      if (v.lanes() != names_.at(s->name).lanes()) throw std::runtime_error("lanes of set " + s->name);
      names_[s->name] = v;
    } else if (const Allocate* a = std::get_if<Allocate>(&n->node)) {
      add_buffer(a->buffer, true);
    } else if (const Sequence* s = std::get_if<Sequence>(&n->node)) {
      block(s->body);
    } else if (!std::get_if<Comment>(&n->node) && !std::get_if<Prefetch>(&n->node)) {
      throw std::runtime_error("test evaluator: statement");
    }
  }

 public:
  std::int64_t requests = 0;  // kVector and kUnroll loops met
};

}  // namespace facet::test
