// Random programs: maps, reductions, triangles, padded stencils, transpositions, in-place recurrences, mixed in one graph.
#include "src/driver/fuzz_maker.hpp"
#include "src/frontend/json_tree.hpp"

namespace facet {

std::uint64_t FuzzRandom::next() {
  std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

namespace {

const std::vector<std::string> kExtents = {"N", "N", "1", "3", "5", "8", "13"};
const std::vector<std::string> kIndices = {"i", "j", "k"};

struct Value {
  std::string name;
  std::vector<std::string> shape;
};

class Maker {
 public:
  explicit Maker(FuzzRandom& random) : random_(random) {}

  FuzzProgram make() {
    const int inputs = 1 + random_.below(3), ops = 1 + random_.below(5);
    for (int i = 0; i < inputs; ++i) input();
    for (int i = 0; i < ops; ++i) op(i);
    JsonValue symbols = JsonValue::object(), n = JsonValue::object();
    n.add("min", JsonValue::of(1)).add("max", JsonValue::of(40)).add("default", JsonValue::of(1 + random_.below(19)));
    symbols.add("N", std::move(n));
    JsonValue root = JsonValue::object();
    root.add("facet", JsonValue::of(1)).add("name", JsonValue::of("fuzz")).add("symbols", std::move(symbols));
    root.add("tensors", std::move(tensors_)).add("inputs", std::move(inputs_)).add("ops", std::move(ops_));
    // Every result is an output with even odds, the last one always: dead and live intermediates both occur.
    JsonValue outputs = JsonValue::array();
    for (std::size_t i = 0; i < results_.size(); ++i)
      if (i + 1 == results_.size() || random_.chance(40)) outputs.items.push_back(JsonValue::of(results_[i]));
    root.add("outputs", std::move(outputs));
    made_.json = write_json(root);
    return std::move(made_);
  }

 private:
  static JsonValue declaration(const std::vector<std::string>& shape) {
    JsonValue extents = JsonValue::array();
    for (const std::string& e : shape) extents.items.push_back(e == "N" ? JsonValue::of(e) : JsonValue::of(std::stoi(e)));
    JsonValue out = JsonValue::object();
    return out.add("dtype", JsonValue::of("i32")).add("shape", std::move(extents));
  }

  void input() {
    Value v{"x" + std::to_string(values_.size()), {}};
    const int rank = 1 + random_.below(3);
    for (int d = 0; d < rank; ++d) v.shape.push_back(random_.pick(kExtents));
    tensors_.add(v.name, declaration(v.shape));
    inputs_.items.push_back(JsonValue::of(v.name));
    values_.push_back(std::move(v));
  }

  // A read of any tensor inside a domain: an axis takes an index of its extent, or its first element.
  std::string read(const std::vector<std::string>& shape, const std::vector<std::string>& indices) {
    const Value& v = random_.pick(values_);
    std::string text = v.name + "[";
    for (std::size_t d = 0; d < v.shape.size(); ++d) {
      std::vector<std::string> fitting;
      for (std::size_t a = 0; a < shape.size(); ++a)
        if (shape[a] == v.shape[d]) fitting.push_back(indices[a]);
      std::string subscript = fitting.empty() ? "0" : random_.pick(fitting);
      if (!fitting.empty() && random_.chance(15)) {
        subscript = v.shape[d] + " - 1 - " + subscript;
      } else if (!fitting.empty() && random_.chance(8)) {
        subscript += random_.chance(50) ? " / 2" : " / 3";
      } else if (!indices.empty() && v.shape[d] != "N" && random_.chance(15)) {
        subscript = "(" + random_.pick(indices) + " + 2) % " + v.shape[d];
      }
      text += (d ? ", " : "") + subscript;
    }
    used_.push_back(v.name);
    return text + "]";
  }

  std::string padded(const Value& v, const std::vector<std::string>& indices) {
    std::string text = v.name + "[";
    for (std::size_t d = 0; d < v.shape.size(); ++d) {
      const int shift = random_.below(5) - 2;
      text += (d ? ", " : "") + indices[d] + (shift < 0 ? " - " + std::to_string(-shift) : " + " + std::to_string(shift));
    }
    return text + " ? " + std::to_string(random_.below(7) - 3) + "]";
  }

  // Letters A and B of a form become the operands. The first `forms` are valid in equations and in C.
  static constexpr int kPlainForms = 6;
  std::string combine(const std::string& a, const std::string& b, int forms = kPlainForms + 1) {
    static const char* const kForms[] = {
        "A + B", "A - B", "A * B", "max(A, B)", "min(A, B)", "A + 3 * B", "select(A < B, A, B)"};
    std::string out;
    for (const char c : std::string(kForms[random_.below(forms)])) out += c == 'A' ? a : c == 'B' ? b : std::string(1, c);
    return out;
  }

  static std::string list(const std::vector<std::string>& items) {
    std::string text;
    for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
    return text;
  }

  void compute(const std::string& name, const std::vector<std::string>& shape, const std::vector<std::string>& indices,
               const std::vector<std::string>& reduced, const std::string& value, const std::string& where) {
    std::string ranges;
    for (std::size_t d = 0; d < indices.size(); ++d)
      ranges += (ranges.empty() ? " for " : ", ") + indices[d] + " in 0.." + shape[d];
    JsonValue op = JsonValue::object();
    std::vector<std::string> in;
    for (const std::string& u : used_) {
      bool known = false;
      for (const std::string& other : in) known = known || other == u;
      if (!known) in.push_back(u);
    }
    op.add("op", JsonValue::of("compute")).add("in", JsonValue::array_of(in)).add("out", JsonValue::of(name));
    op.add("def",
           JsonValue::of(name + "[" +
                         list(std::vector<std::string>(indices.begin(), indices.end() - static_cast<long>(reduced.size()))) +
                         "] = " + value + where + ranges));
    ops_.items.push_back(std::move(op));
    made_.ops.push_back(name);
    used_.clear();
    values_.push_back({name, std::vector<std::string>(shape.begin(), shape.end() - static_cast<long>(reduced.size()))});
    results_.push_back(name);
  }

  // A scalar of the innermost block between two statements.
  void scoped(const std::string& name, const Value& base) {
    std::string open, subscript;
    for (std::size_t d = 0; d < base.shape.size(); ++d) {
      const std::string& i = kIndices[d];
      subscript += "[" + i + "]";
      open += "for (int " + i + " = 0; " + i + " < " + base.shape[d] + "; " + i + "++) ";
    }
    const std::string from = base.name + subscript;
    loops_op(name, base,
             {open + "{ int v = " + combine(from, "3", kPlainForms) + "; " + name + subscript + " = " +
              combine("v", from, kPlainForms) + "; }"});
  }

  // One element sums up a row after the other: the loop over rows starts the sum anew, and its result is read in between.
  void started_anew(const std::string& name, const Value& base) {
    const std::string rows = "for (int i = 0; i < " + base.shape[0] + "; i++) ", from = base.name + "[i][j]";
    const std::string columns = "for (int j = 0; j < " + base.shape[1] + "; j++) ", sum = name + "[0][0]";
    std::string later = rows;
    later.replace(later.find("= 0;"), 4, "= 1;");
    loops_op(name, base,
             {rows + columns + name + "[i][j] = " + from + ";",
              later + "{ " + sum + " = 0; " + columns + sum + " = " + sum + " + " + combine(from, "2", kPlainForms) + "; " +
                  columns + name + "[i][j] = " + combine(sum, from, kPlainForms) + "; }"});
  }

  void loops_op(const std::string& name, const Value& base, const std::vector<std::string>& code) {
    JsonValue op = JsonValue::object();
    op.add("op", JsonValue::of("loops")).add("in", JsonValue::array_of({base.name, "N"})).add("out", JsonValue::of(name));
    op.add("code", JsonValue::array_of(code));
    ops_.items.push_back(std::move(op));
    tensors_.add(name, declaration(base.shape));
    made_.ops.push_back(name);
    values_.push_back({name, base.shape});
    results_.push_back(name);
  }

  void op(int number) {
    const std::string name = "t" + std::to_string(number);
    const Value base = random_.pick(values_);
    const std::vector<std::string> indices(kIndices.begin(), kIndices.begin() + static_cast<long>(base.shape.size()));
    const int kind = random_.below(12);
    if (kind == 10 && base.shape.size() == 2 && contraction(name, base)) return;
    if (kind < 3 || base.shape.empty()) {
      compute(name, base.shape, indices, {}, combine(read(base.shape, indices), read(base.shape, indices)), "");
    } else if (kind < 6) {
      reduction(name, base, indices);
    } else if (kind < 8 || kind == 10) {
      const std::string left = padded(base, indices);
      used_.push_back(base.name);
      compute(name, base.shape, indices, {}, combine(left, read(base.shape, indices)), "");
    } else if (kind == 11 && base.shape.size() == 2 && number % 2 == 0) {
      started_anew(name, base);
    } else if (kind == 11) {
      scoped(name, base);
    } else {
      recurrence(name, base);
    }
  }

  // base[i, k] times another matrix that has k rows; false when there is none.
  bool contraction(const std::string& name, const Value& base) {
    for (const Value& v : values_) {
      if (v.shape.size() != 2 || v.shape[0] != base.shape[1]) continue;
      used_ = {base.name, v.name};
      compute(name, {base.shape[0], v.shape[1], base.shape[1]}, {"i", "j", "k"}, {"k"},
              "sum[k](" + base.name + "[i, k] * " + v.name + "[k, j])", "");
      return true;
    }
    return false;
  }

  void reduction(const std::string& name, const Value& base, const std::vector<std::string>& indices) {
    static const std::vector<std::string> kKinds = {"sum", "sum", "sum", "max", "min", "prod"};
    const std::vector<std::string> reduced = {indices.back()};
    std::string where;
    if (indices.size() > 1 && random_.chance(30))
      where = " where " + indices.back() + (random_.chance(50) ? " <= " : " > ") + indices[0];
    const std::string body = combine(read(base.shape, indices), read(base.shape, indices));
    compute(name, base.shape, indices, reduced, random_.pick(kKinds) + "[" + list(reduced) + "](" + body + ")", where);
  }

  // In place on a fresh array: a copy, then a sweep forwards or backwards along the last axis.
  void recurrence(const std::string& name, const Value& base) {
    std::string open, subscript, before;
    const std::size_t rank = base.shape.size();
    std::vector<std::string> loops(kIndices.begin(), kIndices.begin() + static_cast<long>(rank));
    for (std::size_t d = 0; d < rank; ++d) {
      subscript += "[" + loops[d] + "]";
      before += "[" + loops[d] + (d + 1 == rank ? " - 1]" : "]");
      open += "for (int " + loops[d] + " = 0; " + loops[d] + " < " + base.shape[d] + "; " + loops[d] + "++) ";
    }
    std::string sweep = open;
    const std::size_t at = sweep.rfind("= 0;");
    sweep.replace(at, 4, "= 1;");
    loops_op(name, base,
             {open + name + subscript + " = " + base.name + subscript + ";",
              sweep + name + subscript + " = " + combine(name + subscript, name + before, kPlainForms) + ";"});
  }

  FuzzRandom& random_;
  std::vector<Value> values_;
  std::vector<std::string> results_, used_;
  JsonValue tensors_ = JsonValue::object(), inputs_ = JsonValue::array(), ops_ = JsonValue::array();
  FuzzProgram made_;
};

}  // namespace

FuzzProgram random_program(FuzzRandom& random) { return Maker(random).make(); }

}  // namespace facet
