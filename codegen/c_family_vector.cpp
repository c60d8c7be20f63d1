// Vectors: loads and stores by the distance between lanes, masks, splats, lane reductions.
//
// A vector access is base + lane * distance when its subscripts have that form: distance 1 is a load, 0 a broadcast, any other
// a strided gather; without that form the offsets are a vector. Masks: comparisons give integer vectors as wide as what they
// compare, `mask` converts them to the width of what they select; named masks and the arguments of masked helpers have 4-byte
// elements. A comparison of lane numbers with a scalar, the guard of a partial tile, becomes first_i32xL(count).
#include <optional>

#include "codegen/c_family.hpp"

namespace facet {

namespace {

// The total distance between lanes in elements, and lane 0's subscripts; nullopt when some subscript is not affine in the lane
// or a moving subscript has a stride that is not a constant.
struct LaneAccess {
  std::vector<ExprPtr> base;
  std::int64_t distance = 0;
};

std::optional<LaneAccess> lane_access(const std::vector<ExprPtr>& subscripts, const std::vector<ExprPtr>& strides) {
  LaneAccess access;
  bool any = false;
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    any = any || subscripts[d]->lanes > 1;
    const LaneForm form = lane_form(subscripts[d]);
    if (!form.affine) return std::nullopt;
    access.base.push_back(form.base);
    if (form.step == 0) continue;
    if (strides[d]->op != Op::kLiteral) return std::nullopt;
    access.distance += form.step * strides[d]->int_value;
  }
  if (!any && !strides.empty()) {  // scalar subscripts: lanes run along the innermost axis
    if (strides.back()->op != Op::kLiteral) return std::nullopt;
    access.distance = strides.back()->int_value;
  }
  return access;
}

// Subscripts of lane l, when they were all scalar and the innermost stride is not a constant.
std::vector<ExprPtr> along_lanes(std::vector<ExprPtr> subscripts, int lanes, std::int64_t step) {
  for (const ExprPtr& s : subscripts)
    if (s->lanes > 1) return subscripts;
  Expr iota;
  iota.op = Op::kIota;
  iota.type = DType::kI64;
  iota.lanes = lanes;
  iota.args = {idx(0)};
  const ExprPtr lane = std::make_shared<const Expr>(iota);
  subscripts.back() = binary(Op::kAdd, step == 1 ? lane : binary(Op::kMul, lane, idx(step)), subscripts.back());
  return subscripts;
}

int natural_mask_bytes(DType compared) {
  return compared == DType::kBool ? 4 : static_cast<int>(size_bytes(computed_as(compared)));
}

std::string mask_type(int bytes, int lanes) {
  return type_suffix(bytes == 1 ? DType::kI8 : bytes == 2 ? DType::kI16 : bytes == 4 ? DType::kI32 : DType::kI64, lanes);
}

// dtype whose memory holds `type` as integers or floats of the same width: bool is u8, f16 is u16.
DType memory_dtype(DType type) {
  if (type == DType::kBool) return DType::kU8;
  if (type == DType::kF16 || type == DType::kBF16) return DType::kU16;
  return type;
}

}  // namespace

std::string CPrinter::vector_arg(const ExprPtr& e, int lanes) {
  if (e->type == DType::kBool) return mask(e, 4);
  if (e->lanes > 1) return at(e, Level::kOr);
  return call("splat", e->type, lanes, {at(e, Level::kTernary)});
}

std::string CPrinter::mask(const ExprPtr& e, int bytes) {
  if (e->lanes == 1) return at(e, Level::kOr);
  const Spelled s = spell(e);
  const int have = s.mask_bytes ? s.mask_bytes : 4;
  if (have != bytes) return "__builtin_convertvector(" + s.text + ", " + mask_type(bytes, e->lanes) + ")";
  return s.level < Level::kUnary ? "(" + s.text + ")" : s.text;
}

CPrinter::Spelled CPrinter::mask_text(const ExprPtr& e) {
  const int lanes = e->lanes;
  const auto part = [&](std::size_t n) {
    return e->args[n]->lanes > 1 ? mask(e->args[n], 4)
                                 : "(" + call("splat", DType::kI32, lanes, {"-(int32_t)" + at(e->args[n], Level::kAtom)}) + ")";
  };
  switch (e->op) {
    case Op::kLiteral: return {call("splat", DType::kI32, lanes, {e->int_value ? "-1" : "0"}), Level::kAtom, 4};
    case Op::kValue: return {names.of("value", e->name), Level::kAtom, 4};
    case Op::kRead: return vector_read(e);
    case Op::kSplat: return {call("splat", DType::kI32, lanes, {"-(int32_t)" + at(e->args[0], Level::kAtom)}), Level::kAtom, 4};
    case Op::kNot: return {"~" + part(0), Level::kUnary, 4};
    case Op::kAnd:
    case Op::kBitAnd: return {part(0) + " & " + part(1), Level::kBitAnd, 4};
    case Op::kOr:
    case Op::kBitOr: return {part(0) + " | " + part(1), Level::kBitOr, 4};
    case Op::kXor:
    case Op::kBitXor: return {part(0) + " ^ " + part(1), Level::kBitXor, 4};
    case Op::kSelect: {
      if (e->args[0]->lanes == 1) return {at(e->args[0], Level::kOr) + " ? " + part(1) + " : " + part(2), Level::kTernary, 4};
      return {"(" + part(0) + " & " + part(1) + ") | (~" + part(0) + " & " + part(2) + ")", Level::kBitOr, 4};
    }
    case Op::kIsNan:
    case Op::kIsInf: {
      const DType type = e->args[0]->type;
      if (!is_float(type)) return {call("splat", DType::kI32, lanes, {"0"}), Level::kAtom, 4};
      return {call(e->op == Op::kIsNan ? "is_nan" : "is_inf", type, lanes, {vector_arg(e->args[0], lanes)}), Level::kAtom,
              natural_mask_bytes(type)};
    }
    case Op::kCast: {
      const ExprPtr& a = e->args[0];
      return {vector_arg(a, lanes) + " != " + call("splat", a->type, lanes, {"0"}), Level::kEqual, natural_mask_bytes(a->type)};
    }
    default: break;
  }
  if (e->args.size() != 2) {
    fail("no spelling for the mask " + to_text(e));
    return {"0"};
  }
  const ExprPtr& a = e->args[0];
  const ExprPtr& b = e->args[1];
  // iota(i) < n and its kin.
  const LaneForm left = lane_form(a);
  const LaneForm right = lane_form(b);
  if (a->type == DType::kI64 && left.affine && right.affine && left.step - right.step == 1) {
    const bool or_equal = e->op == Op::kLe || e->op == Op::kGt;
    const ExprPtr count = idx_add(idx_sub(right.base, left.base), idx(or_equal ? 1 : 0));
    const std::string first = call("first", DType::kI32, lanes, {index_text(count)});
    if (e->op == Op::kLt || e->op == Op::kLe) return {first, Level::kAtom, 4};
    if (e->op == Op::kGe || e->op == Op::kGt) return {"~" + first, Level::kUnary, 4};
  }
  const char* op = e->op == Op::kLt   ? " < "
                   : e->op == Op::kLe ? " <= "
                   : e->op == Op::kGt ? " > "
                   : e->op == Op::kGe ? " >= "
                   : e->op == Op::kEq ? " == "
                   : e->op == Op::kNe ? " != "
                                      : nullptr;
  if (!op) {
    fail("no spelling for the mask " + to_text(e));
    return {"0"};
  }
  const bool masks = a->type == DType::kBool;
  const auto side = [&](const ExprPtr& x) {
    return masks ? mask(x, 4) : x->lanes > 1 ? at(x, Level::kShift) : vector_arg(x, lanes);
  };
  return {side(a) + op + side(b), Level::kCompare, natural_mask_bytes(a->type)};
}

// Lanes of one vector, or of two side by side, where both parts are lanes of vectors of one width as one step.
std::string CPrinter::shuffle_text(const ExprPtr& e) {
  const bool joins = e->args.size() > 1;
  ExprPtr first = e->args[0], second = e->args[joins ? 1 : 0];
  std::int64_t from = joins ? 0 : e->int_value, then = 0;
  const int lanes = joins ? first->lanes : e->lanes;
  const auto part = [](const ExprPtr& x) { return x->op == Op::kExtract && x->lanes > 1 && x->args.size() == 1; };
  if (joins && part(first) && part(second) && first->args[0]->lanes == second->args[0]->lanes) {
    from = first->int_value;
    then = second->int_value;
    first = first->args[0];
    second = second->args[0];
  }
  std::string text = "__builtin_shufflevector(" + at(first, Level::kTernary) + ", " + at(second, Level::kTernary);
  for (int l = 0; l < lanes; ++l) text += ", " + std::to_string(from + l);
  for (int l = 0; joins && l < lanes; ++l) text += ", " + std::to_string(first->lanes + then + l);
  return text + ")";
}

CPrinter::Spelled CPrinter::lanes_text(const ExprPtr& e) {
  const ExprPtr& a = e->args[0];
  switch (e->op) {
    case Op::kSplat: return {call("splat", e->type, e->lanes, {at(a, Level::kTernary)})};
    case Op::kIota: return {call("iota", e->type, e->lanes, {at(a, Level::kTernary)})};
    case Op::kExtract:
      if (e->lanes > 1) return {shuffle_text(e)};
      if (a->type == DType::kBool) return {mask(a, 4) + "[" + std::to_string(e->int_value) + "] != 0", Level::kEqual};
      return {at(a, Level::kAtom) + "[" + std::to_string(e->int_value) + "]"};
    case Op::kLaneReduce: {
      const std::string helper = "lane_" + to_text(e->reduce_kind);
      if (a->type == DType::kBool) return {call(helper, DType::kI32, a->lanes, {mask(a, 4)}) + " != 0", Level::kEqual};
      return {call(helper, a->type, a->lanes, {at(a, Level::kTernary)})};
    }
    default: break;
  }
  // Casts between vectors.
  const DType from = a->type;
  const DType to = e->type;
  if (a->lanes == 1) return {vector_arg(cast(to, a), e->lanes)};
  if (from == DType::kBool) {
    const std::string bits = mask(a, 4);
    if (computed_as(to) == DType::kI32) return {"-" + bits, Level::kUnary};
    return {"__builtin_convertvector(-" + bits + ", " + value_type(to, e->lanes) + ")"};
  }
  if (to == DType::kF16 || to == DType::kBF16) {
    const bool direct = is_float(from);
    const std::string text =
        direct ? at(a, Level::kTernary)
               : "__builtin_convertvector(" + at(a, Level::kTernary) + ", " + value_type(DType::kF64, e->lanes) + ")";
    return {call(to == DType::kF16 ? "round_f16" : "round_bf16", direct ? from : DType::kF64, e->lanes, {text})};
  }
  if (is_float(from) && is_integer(to)) return {call("to_" + to_text(to), from, e->lanes, {at(a, Level::kTernary)})};
  if (value_type(from, e->lanes) == value_type(to, e->lanes)) return spell(a);
  return {"__builtin_convertvector(" + at(a, Level::kTernary) + ", " + value_type(to, e->lanes) + ")"};
}

CPrinter::Spelled CPrinter::vector_read(const ExprPtr& e) {
  const Buffer& buffer = buffer_of(e->name);
  const DType memory = memory_dtype(e->type);
  const int lanes = e->lanes;
  std::vector<ExprPtr> subscripts = clamped(buffer, e);
  ExprPtr active = e->mask;
  if (e->pad) {  // lanes outside are not read, then replaced
    subscripts = along_lanes(subscripts, lanes, 1);
    const std::vector<ExprPtr> moving = along_lanes(e->args, lanes, 1);
    for (std::size_t d = 0; d < moving.size(); ++d) {
      const ExprPtr inside =
          binary(Op::kAnd, binary(Op::kGe, moving[d], idx(0)), binary(Op::kLt, moving[d], buffer.extents[d]));
      active = active ? binary(Op::kAnd, active, inside) : inside;
    }
  }
  std::string text;
  const std::optional<LaneAccess> access = lane_access(subscripts, strides_of(buffer));
  const std::string active_text = active ? (active->lanes > 1 ? mask(active, 4) : vector_arg(active, lanes)) : "";
  std::vector<std::string> args;
  if (access) {
    const std::string base = address(buffer, access->base);
    const std::string step = std::to_string(access->distance);
    if (access->distance == 0 && !active)
      text = call("splat", memory, lanes, {element(buffer, access->base)});
    else if (access->distance == 1)
      text = active ? call("load_masked", memory, lanes, {base, active_text}) : call("load", memory, lanes, {base});
    else
      text = active ? call("load_strided_masked", memory, lanes, {base, step, active_text})
                    : call("load_strided", memory, lanes, {base, step});
  } else {
    const std::string base = buffer_name(buffer.name);
    const std::string offsets = offset(buffer, along_lanes(subscripts, lanes, 1));
    text = active ? call("gather_masked", memory, lanes, {base, offsets, active_text})
                  : call("gather", memory, lanes, {base, offsets});
  }
  if (e->type == DType::kBool) {
    const std::string bits = "(" + text + " != " + call("splat", DType::kU8, lanes, {"0"}) + ")";
    if (!e->pad) return {bits, Level::kAtom, 1};
    fail("a padded vector read of bool: " + to_text(e));
  }
  text = from_storage(e->type, lanes, text);
  if (!e->pad) return {text};
  const int bytes = static_cast<int>(size_bytes(computed_as(e->type)));
  return {mask(active, bytes) + " ? " + text + " : " + vector_arg(e->pad, lanes), Level::kTernary};
}

void CPrinter::vector_store(const Store& s, const Buffer& buffer) {
  const DType memory = memory_dtype(s.value->type);
  ExprPtr stored = s.value;
  std::string value_text;
  if (memory == DType::kU8 && stored->type == DType::kBool)
    value_text = "-__builtin_convertvector(" + mask(stored, 1) + ", " + value_type(DType::kU8, s.lanes) + ")";
  else
    value_text = to_storage(stored->type, s.lanes, stored);
  bool scatter = false;
  for (const ExprPtr& x : s.subscripts) scatter = scatter || x->lanes > 1;
  const std::vector<ExprPtr> subscripts = scatter ? s.subscripts : along_lanes(s.subscripts, s.lanes, s.lane_stride);
  const std::optional<LaneAccess> access = lane_access(subscripts, strides_of(buffer));
  const std::string active = s.mask ? (s.mask->lanes > 1 ? mask(s.mask, 4) : vector_arg(s.mask, s.lanes)) : "";
  std::string text;
  if (access && access->distance == 1) {
    const std::string base = address(buffer, access->base);
    text = s.mask ? call("store_masked", memory, s.lanes, {base, value_text, active})
                  : call(s.stream ? "stream" : "store", memory, s.lanes, {base, value_text});
  } else if (access) {
    const std::string base = address(buffer, access->base);
    const std::string step = std::to_string(access->distance);
    text = s.mask ? call("store_strided_masked", memory, s.lanes, {base, step, value_text, active})
                  : call("store_strided", memory, s.lanes, {base, step, value_text});
  } else {
    const std::string base = buffer_name(buffer.name);
    const std::string offsets = offset(buffer, subscripts);
    text = s.mask ? call("scatter_masked", memory, s.lanes, {base, offsets, value_text, active})
                  : call("scatter", memory, s.lanes, {base, offsets, value_text});
  }
  out.line(text + ";");
}

}  // namespace facet
