// The dtype of every subexpression (contract C7, P4): fixed by tensors, or open in literals, indices and symbols.
#include "facet/nearest.hpp"
#include "src/frontend/equations_line.hpp"
#include "src/frontend/expression_functions.hpp"

namespace facet {

namespace {

OperandType fixed(DType dtype) { return {OperandType::Form::kFixed, dtype}; }

bool is_fixed(const OperandType& t, DType dtype) { return t.form == OperandType::Form::kFixed && t.dtype == dtype; }

bool is_comparison(Op op) { return op >= Op::kLt && op <= Op::kNe; }

bool is_bitwise(Op op) { return op >= Op::kBitAnd && op <= Op::kShr; }

const char* spelling_of(Op op) {
  switch (op) {
    case Op::kAnd: return "and";
    case Op::kOr: return "or";
    case Op::kBitAnd: return "&";
    case Op::kBitOr: return "|";
    case Op::kBitXor: return "^";
    case Op::kShl: return "<<";
    case Op::kShr: return ">>";
    case Op::kAdd: return "+";
    case Op::kSub: return "-";
    case Op::kMul: return "*";
    case Op::kDiv: return "/";
    case Op::kFloorMod: return "%";
    default: return "a comparison";
  }
}

}  // namespace

bool LineCompiler::infer() {
  const std::size_t before = errors_.size();
  scope_.clear();
  for (BoundIndex& index : line_.left) scope_.push_back(&index);
  const OperandType type = infer(*line_.value);
  return errors_.size() == before && type.form != Form::kUnknown;
}

OperandType LineCompiler::infer(const Syntax& s) {
  OperandType type;
  switch (s.kind) {
    case Syntax::Kind::kInteger: type = {Form::kNumber, DType::kI64}; break;
    case Syntax::Kind::kFloat: type = {Form::kFraction, DType::kF64}; break;
    case Syntax::Kind::kName: type = infer_name(s); break;
    case Syntax::Kind::kElement: type = infer_element(s); break;
    case Syntax::Kind::kUnary: type = infer_unary(s); break;
    case Syntax::Kind::kBinary: type = infer_binary(s); break;
    case Syntax::Kind::kCall: type = infer_call(s); break;
    case Syntax::Kind::kReduction: type = infer_reduction(s); break;
    case Syntax::Kind::kConditional: break;  // C only
  }
  s.type = type;
  return type;
}

// The tensor a name stands for in the text; null, with a complaint if asked for, when it cannot be read here.
const Tensor* LineCompiler::readable(const std::string& name, int offset, bool complain) {
  const auto operand = context_.tensors.find(name);
  if (operand != context_.tensors.end()) return operand->second;
  const auto it = definitions_.find(name);
  if (it != definitions_.end() && name != line_.target && it->second.first_line >= 0) {
    if (it->second.broken) return nullptr;
    if (complain && !it->second.dtype_known) return fail(Code::kOpenDtype, offset, {name}, {"give it a dtype: cast(f32, ...)"});
    return &it->second.tensor;
  }
  if (!complain) return nullptr;
  if (name == line_.target) return fail(Code::kSelfRead, offset, {name}, {"recurrences are written as op loops"});
  if (it != definitions_.end()) return fail(Code::kReadAboveDefinition, offset, {name});
  if (context_.program->tensors.count(name))
    return fail(Code::kUnknownNameInText, offset, {name, "listed in \"in\" of this op"}, {"add \"" + name + "\" to \"in\""});
  return fail(Code::kUnknownNameInText, offset, {name, "an operand, a local defined above, an index or a symbol"},
              did_you_mean(name, visible_names()));
}

OperandType LineCompiler::infer_name(const Syntax& s) {
  if (bound(s.name) || (is_symbol(s.name) && !is_tensor(s.name))) return {Form::kPosition, DType::kI64};
  if (!is_tensor(s.name)) {
    if (s.name == "true" || s.name == "false") return fixed(DType::kBool);
    if (s.name == "inf" || s.name == "nan") return {Form::kFraction, DType::kF64};
  }
  const Tensor* tensor = readable(s.name, s.offset, true);
  if (!tensor) return {};
  if (!tensor->shape.empty()) {
    fail(Code::kSubscriptCount, s.offset, {s.name, std::to_string(tensor->shape.size()), "no"});
    return {};
  }
  return fixed(tensor->dtype);
}

OperandType LineCompiler::infer_element(const Syntax& s) {
  if (bound(s.name) || (is_symbol(s.name) && !is_tensor(s.name))) {
    fail(Code::kUnknownNameInText, s.offset, {s.name, "a tensor: it takes no subscripts"});
    return {};
  }
  const Tensor* tensor = readable(s.name, s.offset, true);
  if (!tensor) return {};
  if (s.pad && !infer_pad(*s.pad, tensor->dtype)) return {};
  if (tensor->shape.size() == s.args.size()) return fixed(tensor->dtype);
  fail(Code::kSubscriptCount, s.offset, {s.name, std::to_string(tensor->shape.size()), std::to_string(s.args.size())});
  return {};
}

// C12: the padding value is a constant of the tensor's dtype.
bool LineCompiler::infer_pad(const Syntax& pad, DType dtype) {
  const Syntax& number = pad.kind == Syntax::Kind::kUnary && pad.op == Op::kNeg ? *pad.args[0] : pad;
  const bool word =
      number.kind == Syntax::Kind::kName && !bound(number.name) && !is_symbol(number.name) && !is_tensor(number.name);
  if (number.kind != Syntax::Kind::kInteger && number.kind != Syntax::Kind::kFloat && !word)
    return fail(Code::kPadNotConstant, pad.begin, {quote(pad)}, {"write a number, inf, nan, true or false"}), false;
  const OperandType type = infer(pad);
  if (type.form == Form::kUnknown) return false;
  const bool integer = type.form == Form::kNumber && dtype != DType::kBool;
  const bool fraction = type.form == Form::kFraction && is_float(dtype);
  if (integer || fraction || is_fixed(type, dtype)) return true;
  return fail(Code::kMixedDtypes, pad.begin, {"the padding value " + quote(pad), describe(type), "the tensor", to_text(dtype)}),
         false;
}

// `type` of `s` if `who` takes it, else unknown after a complaint. Literals and indices adapt where they can.
OperandType LineCompiler::require(const Syntax& s, OperandType type, const std::string& who, Takes takes) {
  if (type.form == Form::kUnknown) return type;
  const bool is_fixed_type = type.form == Form::kFixed;
  bool ok = false;
  std::string wanted;
  std::vector<std::string> notes;
  switch (takes) {
    case Takes::kNumbers:
      ok = !is_fixed(type, DType::kBool);
      wanted = "numbers";
      notes = {"convert it: cast(f32, ...)"};
      break;
    case Takes::kFloats:
      ok = is_fixed_type ? is_float(type.dtype) : type.form != Form::kPosition;
      wanted = "floating point numbers";
      notes = {"convert it: cast(f32, ...)"};
      break;
    case Takes::kIntegers:
      ok = is_fixed_type ? is_integer(type.dtype) : type.form != Form::kFraction;
      wanted = "integers";
      break;
    case Takes::kBools:
      ok = is_fixed(type, DType::kBool);
      wanted = "conditions (bool)";
      notes = {"compare it: x != 0"};
      break;
  }
  if (ok) return type;
  fail(Code::kWrongOperandDtype, s.begin, {who, wanted, quote(s), describe(type)}, notes);
  return {};
}

// The common type of two operands; an open one takes the other's dtype.
OperandType LineCompiler::join(const Syntax& a, OperandType x, const Syntax& b, OperandType y) {
  if (x.form == Form::kUnknown || y.form == Form::kUnknown) return {};
  const auto mixed = [&](const std::vector<std::string>& notes) -> OperandType {
    fail(Code::kMixedDtypes, b.begin, {quote(a), describe(x), quote(b), describe(y)}, notes);
    return {};
  };
  if (x.form == Form::kFixed && y.form == Form::kFixed) {
    if (x.dtype == y.dtype) return x;
    return mixed({"convert one of them: cast(" + to_text(x.dtype) + ", " + quote(b) + ")"});
  }
  if (x.form == Form::kFixed || y.form == Form::kFixed) {
    const OperandType& known = x.form == Form::kFixed ? x : y;
    const OperandType& open = x.form == Form::kFixed ? y : x;
    const Syntax& open_syntax = x.form == Form::kFixed ? b : a;
    const std::vector<std::string> convert = {"write cast(" + to_text(known.dtype) + ", " + quote(open_syntax) + ")"};
    if (known.dtype == DType::kBool) return mixed({"write true or false, or compare"});
    if (open.form == Form::kFraction && !is_float(known.dtype)) return mixed({});
    if (open.form == Form::kPosition && !is_integer(known.dtype)) return mixed(convert);
    return known;
  }
  if (x.form == Form::kNumber) return y;
  if (y.form == Form::kNumber || x.form == y.form) return x;
  return mixed({"an index is an integer; write cast(f32, " + quote(x.form == Form::kPosition ? a : b) + ")"});
}

OperandType LineCompiler::infer_unary(const Syntax& s) {
  const OperandType type = infer(*s.args[0]);
  if (s.op == Op::kNot) return require(*s.args[0], type, "not", Takes::kBools);
  if (s.op == Op::kBitNot) return require(*s.args[0], type, "~", Takes::kIntegers);
  return require(*s.args[0], type, "-", Takes::kNumbers);
}

OperandType LineCompiler::infer_binary(const Syntax& s) {
  const Syntax& a = *s.args[0];
  const Syntax& b = *s.args[1];
  infer(a);
  infer(b);
  const std::string who = spelling_of(s.op);
  if (s.op == Op::kAnd || s.op == Op::kOr) {
    const bool ok = require(a, a.type, who, Takes::kBools).form != Form::kUnknown;
    return require(b, b.type, who, Takes::kBools).form != Form::kUnknown && ok ? fixed(DType::kBool) : OperandType{};
  }
  const OperandType type = join(a, a.type, b, b.type);
  if (type.form == Form::kUnknown) return type;
  if (is_comparison(s.op)) {
    const bool equality = s.op == Op::kEq || s.op == Op::kNe;
    if (!equality && require(a, type, who, Takes::kNumbers).form == Form::kUnknown) return {};
    return fixed(DType::kBool);
  }
  if (is_bitwise(s.op)) {
    const std::vector<std::string> notes = {s.op == Op::kBitXor ? "powers are written pow(x, y)"
                                                                : "conditions are joined by and, or"};
    if (type.form != Form::kFixed || is_integer(type.dtype)) return require(a, type, who, Takes::kIntegers);
    fail(Code::kWrongOperandDtype, a.begin, {who, "integers", quote(a), describe(type)}, notes);
    return {};
  }
  if (s.op == Op::kFloorMod && (type.form == Form::kFraction || (type.form == Form::kFixed && is_float(type.dtype)))) {
    fail(Code::kWrongOperandDtype, a.begin, {who, "integers", quote(a), describe(type)},
         {"the floating point remainder is fmod(x, y)"});
    return {};
  }
  return require(a, type, who, Takes::kNumbers);
}

OperandType LineCompiler::infer_call(const Syntax& s) {
  if (s.name == "cast") return infer_cast(s);
  if (s.name == "select") return infer_select(s);
  const ScalarFunction* f = find_function(s.name);
  if (!f) {
    std::vector<std::string> notes = did_you_mean(s.name, function_names());
    if (is_reduction_name(s.name)) notes = {"a reduction names its indices: " + s.name + "[k](...)"};
    if (is_tensor(s.name)) notes = {"elements are written " + s.name + "[i, j]"};
    fail(Code::kUnknownFunction, s.offset, {s.name}, notes);
    return {};
  }
  const bool many = f->op == Op::kMin || f->op == Op::kMax;
  const int count = static_cast<int>(s.args.size());
  if (many ? count < 2 : count != f->arguments) {
    fail(Code::kArgumentCount, s.offset,
         {s.name, (many ? "at least " : "") + std::to_string(f->arguments), std::to_string(count)});
    return {};
  }
  for (const SyntaxPtr& a : s.args) infer(*a);
  OperandType type = s.args[0]->type;
  for (std::size_t i = 1; i < s.args.size(); ++i) type = join(*s.args[i - 1], type, *s.args[i], s.args[i]->type);
  if (type.form == Form::kUnknown) return type;
  switch (f->domain) {
    case Domain::kFloats:
      type = require(*s.args[0], type, s.name, Takes::kFloats);
      return type.form == Form::kNumber ? OperandType{Form::kFraction, DType::kF64} : type;
    case Domain::kTest:
      return require(*s.args[0], type, s.name, Takes::kFloats).form == Form::kUnknown ? OperandType{} : fixed(DType::kBool);
    case Domain::kRounding:
    case Domain::kNumbers: return require(*s.args[0], type, s.name, Takes::kNumbers);
    case Domain::kIntegers: return require(*s.args[0], type, s.name, Takes::kIntegers);
    case Domain::kBools: return require(*s.args[0], type, s.name, Takes::kBools);
  }
  return {};
}

OperandType LineCompiler::infer_cast(const Syntax& s) {
  if (s.args.size() != 2) {
    fail(Code::kArgumentCount, s.offset, {s.name, "2", std::to_string(s.args.size())}, {"write cast(f32, x)"});
    return {};
  }
  DType dtype = DType::kF32;
  const Syntax& word = *s.args[0];
  if (word.kind != Syntax::Kind::kName || !dtype_from_text(word.name, &dtype)) {
    fail(Code::kUnknownNameInText, word.begin, {quote(word), "a dtype"},
         did_you_mean(word.name, {"bool", "i8", "u8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"}));
    return {};
  }
  return infer(*s.args[1]).form == Form::kUnknown ? OperandType{} : fixed(dtype);
}

OperandType LineCompiler::infer_select(const Syntax& s) {
  if (s.args.size() != 3) {
    fail(Code::kArgumentCount, s.offset, {s.name, "3", std::to_string(s.args.size())},
         {"write select(condition, then, otherwise)"});
    return {};
  }
  const OperandType condition = require(*s.args[0], infer(*s.args[0]), "the condition of select", Takes::kBools);
  infer(*s.args[1]);
  infer(*s.args[2]);
  const OperandType type = join(*s.args[1], s.args[1]->type, *s.args[2], s.args[2]->type);
  return condition.form == Form::kUnknown ? OperandType{} : type;
}

OperandType LineCompiler::infer_reduction(const Syntax& s) {
  ReduceKind kind = ReduceKind::kSum;
  is_reduction_name(s.name, &kind);
  ReductionInfo& info = info_of(s);
  enter(info);
  const OperandType body = infer(*s.args[0]);
  leave(info);
  const bool position = kind == ReduceKind::kArgMax || kind == ReduceKind::kArgMin;
  if (kind == ReduceKind::kAny || kind == ReduceKind::kAll) return require(*s.args[0], body, s.name, Takes::kBools);
  const OperandType type = require(*s.args[0], body, s.name, Takes::kNumbers);
  if (type.form == Form::kUnknown) return type;
  if (position) {
    if (info.indices.size() != 1) {
      fail(Code::kArgumentCount, s.offset, {s.name, "1 index and not more", std::to_string(info.indices.size())});
      return {};
    }
    const std::optional<std::int64_t> count = constant_difference(info.indices[0].range.lower, info.indices[0].range.upper);
    if (count && *count <= 0) {
      fail(Code::kArgReductionEmpty, s.offset, {s.name});
      return {};
    }
    if (type.form == Form::kFixed || type.form == Form::kPosition) return fixed(DType::kI64);
    fail(Code::kOpenDtype, s.args[0]->begin, {quote(*s.args[0])}, {"give it a dtype: cast(f32, ...)"});
    return {};
  }
  const bool small = type.form == Form::kFixed && (type.dtype == DType::kI8 || type.dtype == DType::kU8);
  return kind == ReduceKind::kSum && small ? fixed(DType::kI32) : type;
}

}  // namespace facet
