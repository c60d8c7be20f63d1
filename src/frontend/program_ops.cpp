// The section "ops": each op's fields, then its names in program order (contract P1, P2, P6, V7, L1).
#include <algorithm>
#include <set>

#include "facet/nearest.hpp"
#include "src/frontend/files.hpp"
#include "src/frontend/program_reader.hpp"
#include "src/frontend/region.hpp"

namespace facet {

namespace {

using Kind = JsonValue::Kind;

class OpsReader {
 public:
  explicit OpsReader(ProgramReader* reader) : r_(*reader) {}

  void run(const JsonValue& ops) {
    if (!r_.json.array(ops, "\"ops\"")) return;
    for (const std::string& name : r_.program.inputs) defined_[name] = "an input";
    for (const auto& [name, tensor] : r_.program.tensors)
      if (tensor.data) defined_[name] = "a constant";
    for (std::size_t i = 0; i < ops.items.size(); ++i) note_definitions(ops.items[i], i);
    for (std::size_t i = 0; i < ops.items.size(); ++i) op(ops.items[i], i);
  }

 private:
  // First op that defines each name, so that a use above it can say where the definition is.
  void note_definitions(const JsonValue& v, std::size_t number) {
    const JsonValue* out = v.find("out");
    if (!out) return;
    if (out->is(Kind::kString)) first_definition_.emplace(out->text, number);
    for (const JsonValue& item : out->items)
      if (item.is(Kind::kString)) first_definition_.emplace(item.text, number);
  }

  void op(const JsonValue& v, std::size_t number) {
    Node node;
    node.place = r_.json.place(v);
    if (!v.is(Kind::kObject)) return r_.json.complain(Code::kWrongType, v, {"an op", "an object", kind_text(v)});
    const JsonValue* const name = v.find("op");
    if (!name) return r_.json.complain(Code::kMissingField, v, {"op", "op " + std::to_string(number)});
    const auto op_name = r_.json.string(*name, "\"op\"");
    if (!op_name) return;
    node.op = *op_name;
    const bool compute = node.op == "compute", loops = node.op == "loops";
    check_fields(v, node.op);
    for (const JsonMember& m : v.members) note_parts(m.value, "/" + m.key, &node);
    if (const JsonValue* attrs = v.find("attrs")) attributes(*attrs, &node);
    if (const JsonValue* def = v.find("def"); def && compute) text_lines(*def, "\"def\"", &node);
    if (loops) loops_text(v, &node);
    // Names in the order of use: operands are read before results exist.
    if (const JsonValue* in = v.find("in")) operands(*in, v, &node);
    if (const JsonValue* inout = v.find("inout"); inout && loops) updated(*inout, &node);
    if (const JsonValue* out = v.find("out")) results(*out, number, &node);
    r_.program.nodes.push_back(std::move(node));
  }

  // Where each member stands, so that a complaint about an attribute points at the attribute.
  void note_parts(const JsonValue& v, const std::string& where, Node* node) {
    constexpr std::size_t kMostItems = 64;  // no list that is right is longer; its own place does for a wrong one
    Place place = r_.json.document().place_at(v.begin);
    place.pointer = node->place.pointer + where;
    node->parts.emplace(where, std::move(place));
    for (std::size_t i = 0; i < std::min(v.items.size(), kMostItems); ++i)
      note_parts(v.items[i], where + "/" + std::to_string(i), node);
    for (const JsonMember& m : v.members) note_parts(m.value, where + "/" + m.key, node);
  }

  void check_fields(const JsonValue& v, const std::string& op) {
    const std::string what = "op \"" + op + "\"";
    if (op == "compute") {
      r_.json.fields(v, what, {"op", "out", "def"}, {"in", "attrs"});
    } else if (op == "loops") {
      r_.json.fields(v, what, {"op"}, {"in", "out", "inout", "code", "file", "source"});
    } else {
      for (const char* field : {"def", "inout", "code", "file", "source"})
        if (const JsonValue* misplaced = v.find(field))
          r_.json.complain(Code::kWrongField, *misplaced, {field, std::string(field) == "def" ? "compute" : "loops"});
      r_.json.fields(v, what, {"op", "out"}, {"in", "attrs", "def", "inout", "code", "file", "source"}, "attrs");
    }
  }

  bool attribute(const JsonValue& v, const std::string& what, Attribute* out) {
    switch (v.kind) {
      case Kind::kBool: out->value = v.boolean; return true;
      case Kind::kInteger: out->value = v.integer; return true;
      case Kind::kFloat: out->value = v.number; return true;
      case Kind::kString: out->value = v.text; return true;
      case Kind::kArray: {
        std::vector<Attribute> list(v.items.size());
        for (std::size_t i = 0; i < list.size(); ++i)
          if (!attribute(v.items[i], "an entry of " + what, &list[i])) return false;
        out->value = std::move(list);
        return true;
      }
      default:
        r_.json.complain(Code::kWrongType, v, {what, "a number, a string, true, false or an array of these", kind_text(v)});
    }
    return false;
  }

  void attributes(const JsonValue& v, Node* node) {
    if (!v.is(Kind::kObject)) return r_.json.complain(Code::kWrongType, v, {"\"attrs\"", "an object", kind_text(v)});
    for (const JsonMember& m : v.members) {
      Attribute a;
      if (attribute(m.value, "attribute \"" + m.key + "\"", &a)) node->attrs[m.key] = std::move(a);
    }
  }

  void text_lines(const JsonValue& v, const std::string& what, Node* node) {
    const std::vector<const JsonValue*> lines = r_.json.strings(v, what);
    if (lines.empty() && v.is(Kind::kArray) && v.items.empty()) r_.json.complain(Code::kEmptyList, v, {what});
    for (const JsonValue* line : lines) {
      node->text.push_back(line->text);
      node->text_places.push_back(r_.json.document().text_place(*line));
    }
  }

  void loops_text(const JsonValue& v, Node* node) {
    const JsonValue* const code = v.find("code");
    const JsonValue* const file = v.find("file");
    if (!code == !file) return r_.json.complain(Code::kCodeOrFile, v);
    if (code) {
      text_lines(*code, "\"code\"", node);
      if (const JsonValue* source = v.find("source")) source_lines(*source, node);
      return;
    }
    const auto relative = r_.json.string(*file, "\"file\"");
    if (!relative) return;
    const Place place = r_.json.place(*file);
    const Result<std::string> path = path_inside(r_.program.folder, *relative, place);
    if (!path) return r_.json.complain_all(path.errors());
    const Result<std::string> text = read_text_file(*path, place);
    if (!text) return r_.json.complain_all(text.errors());
    Result<Region> region = find_region(*text, *path, place);
    if (!region) return r_.json.complain_all(region.errors());
    node->text = std::move(region->lines);
    node->text_places = std::move(region->places);
  }

  // {"file": "x.c", "lines": [12, 13]}: where the lines of "code" were written; messages name these places.
  void source_lines(const JsonValue& v, Node* node) {
    if (!r_.json.fields(v, "\"source\"", {"file", "lines"})) return;
    const JsonValue* const file = v.find("file");
    const JsonValue* const lines = v.find("lines");
    if (!file || !lines || !r_.json.array(*lines, "\"lines\"")) return;
    const auto name = r_.json.string(*file, "\"file\"");
    if (!name) return;
    if (lines->items.size() != node->text.size())
      return r_.json.complain(Code::kSourceLines, *lines,
                              {std::to_string(lines->items.size()), std::to_string(node->text.size())});
    node->source_file = *name;
    for (std::size_t i = 0; i < node->text.size(); ++i) {
      const auto number = r_.json.integer(lines->items[i], "a line number");
      constexpr std::int64_t kMostLines = 1000000000;
      if (!number || *number < 1 || *number > kMostLines) {
        if (number)
          r_.json.complain(Code::kWrongType, lines->items[i], {"a line number", "a positive integer", std::to_string(*number)});
        node->source_lines.clear();
        return;
      }
      node->source_lines.push_back(static_cast<int>(*number));
    }
    constexpr std::size_t kExcerptLimit = 200;
    for (std::size_t i = 0; i < node->text.size(); ++i) {
      Place& place = node->text_places[i];
      place.file = *name;
      place.line = node->source_lines[i];
      place.column = 1;
      place.excerpt = node->text[i].substr(0, kExcerptLimit);
    }
  }

  // A name that must be defined above; `symbols_too` for the texts' roles.
  bool usable(const std::string& name, const JsonValue& at, const std::string& op, bool symbols_too) {
    if (defined_.count(name)) return true;
    if (r_.is_symbol(name)) {
      if (symbols_too) return true;
      r_.json.complain(Code::kSymbolAsTensor, at, {name, op});
      return false;
    }
    const auto below = first_definition_.find(name);
    if (below != first_definition_.end()) {
      r_.json.complain(Code::kDefinedBelow, at, {name, std::to_string(below->second)},
                       {"ops run in the order written; move the definition above its first use"});
      return false;
    }
    std::vector<std::string> names;
    for (const auto& [known, how] : defined_) names.push_back(known);
    if (symbols_too) names.insert(names.end(), r_.symbol_names.begin(), r_.symbol_names.end());
    std::vector<std::string> notes = did_you_mean(name, names);
    if (notes.empty() && r_.program.tensors.count(name))
      notes.push_back("\"" + name +
                      "\" is declared in \"tensors\"; list it in \"inputs\", give it \"data\", or compute it in an op");
    r_.json.complain(Code::kUndefinedName, at, {name}, notes);
    return false;
  }

  void operands(const JsonValue& in, const JsonValue& op, Node* node) {
    const bool text = node->op == "compute" || node->op == "loops";
    if (!in.is(Kind::kArray)) return operand(in, op, text, node);
    std::set<std::string> seen;
    for (const JsonValue& item : in.items) {
      if (text && item.is(Kind::kString) && !seen.insert(item.text).second)
        r_.json.complain(Code::kListedTwice, item, {item.text, "\"in\""});
      operand(item, op, text, node);
    }
  }

  void operand(const JsonValue& v, const JsonValue& op, bool text, Node* node) {
    if (v.is_number() && !text) return scalar(v, op, node);
    if (!v.is(Kind::kString)) {
      r_.json.complain(Code::kWrongType, v, {"an operand", text ? "a name" : "a name or a number", kind_text(v)});
    } else if (!v.text.empty() || text) {
      usable(v.text, v, node->op, text);
    }
    node->in.push_back(v.text);
  }

  // A number among the operands, as a constant named after the op's first output.
  void scalar(const JsonValue& v, const JsonValue& op, Node* node) {
    const JsonValue* const out = op.find("out");
    const JsonValue* const first = !out ? nullptr : out->is(Kind::kArray) && !out->items.empty() ? &out->items[0] : out;
    Tensor t;
    t.name = (first ? first->text : "") + ".c" + std::to_string(node->in.size());
    t.dtype = v.is(Kind::kInteger) ? DType::kI64 : DType::kF64;
    t.local = true;
    t.place = r_.json.place(v);
    t.data.emplace();
    t.data->fill = v.number;
    t.data->int_fill = v.integer;
    node->in.push_back(t.name);
    add_tensor(std::move(t));
  }

  void updated(const JsonValue& v, Node* node) {
    for (const JsonValue* item : r_.json.strings(v, "\"inout\"")) {
      const std::string& name = item->text;
      if (std::count(node->inout.begin(), node->inout.end(), name)) {
        r_.json.complain(Code::kListedTwice, *item, {name, "\"inout\""});
      } else if (std::count(node->in.begin(), node->in.end(), name)) {
        r_.json.complain(Code::kListedTwice, *item, {name, "both \"in\" and \"inout\""});
      } else if (usable(name, *item, node->op, false) && defined_[name] == "a constant") {
        r_.json.complain(Code::kInOutConstant, *item, {name});
      }
      node->inout.push_back(name);
    }
  }

  void results(const JsonValue& v, std::size_t number, Node* node) {
    if (v.is(Kind::kArray) && v.items.empty() && node->op != "loops") r_.json.complain(Code::kEmptyList, v, {"\"out\""});
    for (const JsonValue* item : r_.json.strings(v, "\"out\"")) {
      result(*item, number, node);
      node->out.push_back(item->text);
    }
  }

  void result(const JsonValue& v, std::size_t number, Node* node) {
    const std::string& name = v.text;
    const std::string by = "defined by op " + std::to_string(number);
    if (name.empty())
      return r_.json.complain(Code::kBadName, v, {name, "an output"},
                              {"give it a name; it need not be used, and trailing outputs may be left out"});
    if (!r_.json.check_name(name, v, "a tensor")) return;
    if (r_.is_symbol(name)) return r_.json.complain(Code::kNameTaken, v, {name});
    if (std::count(node->out.begin(), node->out.end(), name)) return r_.json.complain(Code::kListedTwice, v, {name, "\"out\""});
    const auto [at, fresh] = defined_.emplace(name, by);
    if (!fresh) return r_.json.complain(Code::kAssignedTwice, v, {name, at->second});
    if (r_.program.tensors.count(name)) return;  // declared: an assertion
    if (node->op == "loops")
      return r_.json.complain(
          Code::kLoopsOutUndeclared, v, {name},
          {"write \"" + name + "\": {\"dtype\": \"f32\", \"shape\": [...]} there: the elements that the loops set"});
    Tensor t;
    t.name = name;
    t.place = r_.json.place(v);
    add_tensor(std::move(t));
  }

  void add_tensor(Tensor t) {
    if (r_.program.tensors.count(t.name)) return;
    const std::string name = t.name;
    r_.program.tensor_order.push_back(name);
    r_.program.tensors[name] = std::move(t);
  }

  ProgramReader& r_;
  std::map<std::string, std::string> defined_;  // name -> how, for messages
  std::map<std::string, std::size_t> first_definition_;
};

}  // namespace

void read_ops(const JsonValue& ops, ProgramReader* reader) { OpsReader(reader).run(ops); }

}  // namespace facet
