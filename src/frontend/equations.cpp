// The lines of one node: definitions in order, open dtypes closed by later lines, all complaints together.
#include "src/frontend/equations.hpp"

#include <algorithm>

#include "src/frontend/equations_line.hpp"

namespace facet {

namespace {

// The left side: NAME[] or NAME[i, j].
bool parse_left(ExpressionParser& parser, EquationLine* line, const SourceText& source) {
  if (parser.peek().kind != TokenKind::kName) return parser.fail("the name that this equation defines"), false;
  const Token name = parser.take();
  line->target = name.text;
  line->target_offset = name.offset;
  if (!parser.expect("[", "'['; one element is written " + name.text + "[] = ...")) return false;
  if (parser.accept("]")) return true;
  do {
    const Token& token = parser.peek();
    const bool plain = token.kind == TokenKind::kName && (parser.is(",", 1) || parser.is("]", 1));
    if (!plain) {
      const SyntaxPtr found = parser.expression();
      if (!found) return false;
      if (found->kind == Syntax::Kind::kName) return parser.fail("',' or ']'"), false;
      return parser.fail(Code::kLeftNotPlain, found->begin, {source.slice(found->begin, found->end)},
                         {"name the elements by plain indices and restrict them with 'where'"}),
             false;
    }
    BoundIndex index;
    const Token taken = parser.take();
    index.name = taken.text;
    index.offset = taken.offset;
    line->left.push_back(std::move(index));
  } while (parser.accept(","));
  return parser.expect("]", "',' or ']'");
}

bool parse_line(ExpressionParser& parser, EquationLine* line) {
  if (!parse_left(parser, line, line->source)) return false;
  if (!parser.expect("=")) return false;
  line->value = parser.expression();
  if (!line->value || !parser.clauses(&line->clauses)) return false;
  if (parser.at_end()) return true;
  return parser.fail("an operator, 'where', 'for' or the end of the equation"), false;
}

class EquationsParser {
 public:
  EquationsParser(const std::vector<std::string>& texts, const EquationContext& context) : texts_(texts), context_(context) {}

  Result<ParsedEquations> run() {
    if (texts_.empty()) return diagnose(Code::kNoEquations, context_.place);
    parse_lines();
    declare();
    equations_.resize(lines_.size());
    for (const std::unique_ptr<EquationLine>& line : lines_) compile(line.get());
    finish();
    if (!errors_.empty()) return errors_;
    return std::move(result_);
  }

 private:
  void parse_lines() {
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      Place place = context_.place;
      place.excerpt.clear();
      place.line = place.column = 0;
      if (i < context_.line_places.size()) {
        place = context_.line_places[i];
      } else if (!place.pointer.empty()) {
        place.pointer += "/def/" + std::to_string(i);
      }
      std::unique_ptr<EquationLine> line = parse_equation_line(texts_[i], place, &errors_);
      if (!line) {
        incomplete_ = true;
        continue;
      }
      line->number = static_cast<int>(lines_.size());
      lines_.push_back(std::move(line));
    }
  }

  // Every name on a left side is an output or a local of the node.
  void declare() {
    for (const std::unique_ptr<EquationLine>& line : lines_) {
      if (definitions_.count(line->target)) continue;
      Definition d;
      d.out = std::find(context_.outs.begin(), context_.outs.end(), line->target) != context_.outs.end();
      const auto declared = context_.declared.find(line->target);
      if (declared != context_.declared.end()) {
        d.tensor = *declared->second;
        d.declared = d.dtype_known = d.shape_known = true;
      } else {
        d.tensor.name = d.out ? line->target : context_.local_prefix + "." + line->target;
        d.tensor.local = !d.out;
        d.tensor.place = line->source.at(line->target_offset);
      }
      definitions_.emplace(line->target, std::move(d));
      order_.push_back(line->target);
    }
  }

  void compile(EquationLine* line) {
    Definition& d = definitions_.at(line->target);
    const std::size_t before = errors_.size();
    LineCompiler compiler(line, context_, &definitions_, &errors_);
    const bool ok =
        allowed_target(*line) && compiler.bind() && compiler.find_ranges() && compiler.infer() && give_dtype(*line, &d);
    if (d.first_line < 0) d.first_line = line->number;
    if (!ok) d.broken = true;
    if (!ok && errors_.size() == before) incomplete_ = true;  // it reads a name whose own line was wrong
    if (!ok || d.broken) return;
    d.tensor.inferred = d.dtype_known;
    if (!d.dtype_known) {
      waiting_.push_back(line);
      return;
    }
    build(line, d.tensor.dtype);
    close_waiting(line->target, d.tensor.dtype);
  }

  bool allowed_target(const EquationLine& line) {
    const Place place = line.source.at(line.target_offset);
    if (context_.tensors.count(line.target)) {
      errors_.push_back(
          diagnose(Code::kAssignsOperand, place, {line.target}, {"define another name, or name it in \"out\" only"}));
      return false;
    }
    for (const Symbol& s : context_.program->symbols) {
      if (s.name != line.target) continue;
      errors_.push_back(diagnose(Code::kAssignsOperand, place, {line.target}, {"it is a symbol of the program"}));
      return false;
    }
    return true;
  }

  // The dtype of the line's value becomes, or must be, its name's. Open values wait for another line of the name.
  bool give_dtype(const EquationLine& line, Definition* d) {
    const OperandType type = line.value->type;
    using Form = OperandType::Form;
    if (!d->dtype_known) {
      if (type.form != Form::kFixed) return true;
      d->tensor.dtype = type.dtype;
      d->dtype_known = true;
      return true;
    }
    const DType dtype = d->tensor.dtype;
    const bool number = type.form == Form::kNumber && dtype != DType::kBool;
    const bool fraction = type.form == Form::kFraction && is_float(dtype);
    const bool position = type.form == Form::kPosition && is_integer(dtype);
    if (number || fraction || position || (type.form == Form::kFixed && type.dtype == dtype)) return true;
    errors_.push_back(diagnose(Code::kDtypeDiffers, line.source.at(line.value->begin),
                               {line.target, describe(type), to_text(dtype)}, {"write cast(" + to_text(dtype) + ", ...)"}));
    return false;
  }

  void build(EquationLine* line, DType dtype) {
    LineCompiler compiler(line, context_, &definitions_, &errors_);
    Result<Equation> equation = compiler.build(dtype);
    if (equation) {
      equations_[static_cast<std::size_t>(line->number)] = std::move(*equation);
    } else {
      definitions_.at(line->target).broken = true;
      errors_.insert(errors_.end(), equation.errors().begin(), equation.errors().end());
    }
  }

  void close_waiting(const std::string& name, DType dtype) {
    std::vector<EquationLine*> rest;
    for (EquationLine* line : waiting_) {
      if (line->target != name) {
        rest.push_back(line);
      } else if (give_dtype(*line, &definitions_.at(name))) {
        build(line, dtype);
      }
    }
    waiting_ = std::move(rest);
  }

  void finish() {
    for (const EquationLine* line : waiting_)
      errors_.push_back(
          diagnose(Code::kOpenDtype, line->source.at(line->value->begin), {line->target}, {"give it one: cast(f32, ...)"}));
    for (const std::string& out : context_.outs)
      if (!definitions_.count(out) && !incomplete_) errors_.push_back(diagnose(Code::kOutputUndefined, context_.place, {out}));
    result_.equations = std::move(equations_);
    for (const std::string& name : order_) {
      Definition& d = definitions_.at(name);
      if (d.out) {
        result_.outs.emplace(name, std::move(d.tensor));
      } else {
        result_.locals.push_back(std::move(d.tensor));
      }
    }
  }

  const std::vector<std::string>& texts_;
  const EquationContext& context_;
  std::vector<std::unique_ptr<EquationLine>> lines_;
  std::map<std::string, Definition> definitions_;
  std::vector<std::string> order_;
  std::vector<EquationLine*> waiting_;
  std::vector<Equation> equations_;
  bool incomplete_ = false;
  Diagnostics errors_;
  ParsedEquations result_;
};

}  // namespace

std::unique_ptr<EquationLine> parse_equation_line(const std::string& text, const Place& place, Diagnostics* errors) {
  std::unique_ptr<EquationLine> line = std::make_unique<EquationLine>(text, place);
  Result<std::vector<Token>> tokens = lex(line->source, Language::kEquation);
  if (!tokens) {
    errors->insert(errors->end(), tokens.errors().begin(), tokens.errors().end());
    return nullptr;
  }
  ExpressionParser parser(line->source, Language::kEquation, std::move(*tokens));
  if (parse_line(parser, line.get())) return line;
  errors->insert(errors->end(), parser.errors().begin(), parser.errors().end());
  return nullptr;
}

Result<ParsedEquations> parse_equations(const std::vector<std::string>& lines, const EquationContext& context) {
  return EquationsParser(lines, context).run();
}

}  // namespace facet
