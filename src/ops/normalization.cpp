// Normalizations: mean and variance over some axes, then scale and shift.
#include <algorithm>

#include "src/ops/builder.hpp"

namespace facet {

namespace {

// Mean and 1/sqrt(variance + epsilon) of x over `reduced`, as locals over `kept`; both in `acc`.
struct Moments {
  std::string mean, inverse, variance;  // references
};

Moments add_moments(OpBuilder& b, const Loops& kept, const Loops& reduced, const Subscripts& read, DType acc, bool centered) {
  Shape shape;
  for (const Loop& l : reduced) shape.push_back(l.extent);
  const std::string element = cast_text(acc, b.dtype(), ref("a0", read));
  const std::string count = in_parens(extent_text(acc, shape));
  Moments m;
  if (centered) {
    const std::string mean = b.local("mean");
    b.line(mean, kept, reduction("sum", reduced, element) + " / " + count, reduced);
    m.mean = ref(mean, indices_of(kept));
  }
  const std::string offset = centered ? element + " - " + m.mean : element;
  const std::string variance = b.local(centered ? "variance" : "mean_square"), inverse = b.local("inverse");
  b.line(variance, kept, reduction("sum", reduced, in_parens(offset) + " * " + in_parens(offset)) + " / " + count, reduced);
  b.line(inverse, kept, "1.0 / sqrt(" + ref(variance, indices_of(kept)) + " + " + number_text(acc, b.number("epsilon")) + ")");
  m.inverse = ref(inverse, indices_of(kept));
  m.variance = ref(variance, indices_of(kept));
  return m;
}

// The operand `k` at the trailing axes of `all`, in acc; complains unless it broadcasts to them.
std::string trailing_read(OpBuilder& b, int k, const Loops& all, std::size_t first, DType acc) {
  Shape tail;
  for (std::size_t a = first; a < all.size(); ++a) tail.push_back(all[a].extent);
  if (!same_shape(broadcast_two(b, tail, b.shape(k), k), tail) && !b.failed())
    b.bad_shapes(k, b.def().operands[static_cast<std::size_t>(k)].name + " " + shape_text(b.shape(k)) +
                        " does not broadcast to the normalized axes " + shape_text(tail));
  if (b.failed()) return "";
  return cast_text(acc, b.dtype(k), broadcast_read(b, k, Loops(all.begin() + static_cast<std::ptrdiff_t>(first), all.end())));
}

// layer_normalization (centered) and rms_normalization over the axes from `axis` on.
void define_trailing(OpBuilder& b, bool centered) {
  const int axis = b.axis("axis", b.rank(0));
  if (b.failed()) return;
  const DType in = b.dtype(), acc = accumulator(b, in);
  const Loops all = b.loops(b.shape(0));
  const Loops kept(all.begin(), all.begin() + axis);
  Loops reduced;
  Subscripts read = indices_of(kept);
  for (std::size_t a = static_cast<std::size_t>(axis); a < all.size(); ++a) {
    reduced.push_back(b.loop("r", all[a].extent));
    read.push_back(reduced.back().index());
  }
  std::string scale, shift;
  if (b.has(1)) scale = trailing_read(b, 1, all, static_cast<std::size_t>(axis), acc);
  if (b.has(2)) shift = trailing_read(b, 2, all, static_cast<std::size_t>(axis), acc);
  if (b.failed()) return;
  b.out(0, in, b.shape(0));
  const Moments m = add_moments(b, kept, reduced, read, acc, centered);
  std::string value = cast_text(acc, in, ref("a0", indices_of(all)));
  if (centered) value = in_parens(value + " - " + m.mean);
  value += " * " + m.inverse;
  if (!scale.empty()) value += " * " + scale;
  if (!shift.empty()) value += " + " + shift;
  b.line("y0", all, cast_text(in, acc, value));
  // The optional outputs keep the rank: the normalized axes have size 1.
  Shape stats;
  Loops stat_loops = kept;
  for (std::size_t a = 0; a < all.size(); ++a) {
    stats.push_back(a < kept.size() ? all[a].extent : idx(1));
    if (a >= kept.size() && b.output_count() > 1) stat_loops.push_back(b.loop("u", idx(1)));
  }
  for (int k = 1; k < b.output_count(); ++k) {
    b.out(k, acc, stats);
    if (b.wants(k)) b.line("y" + std::to_string(k), stat_loops, k == 1 ? m.mean : m.inverse);
  }
}

bool channel_operands(OpBuilder& b, std::vector<int> operands) {
  if (!b.expect_rank(0, 2)) return false;
  for (const int k : operands) {
    if (!b.has(k)) continue;
    if (!b.expect_rank(k, 1, 1)) return false;
    if (same_dim(b.dim(k, 0), b.dim(0, 1))) continue;
    b.bad_shapes(k, b.def().operands[static_cast<std::size_t>(k)].name + " has " + to_text(b.dim(k, 0)) + " elements, x has " +
                        to_text(b.dim(0, 1)) + " channels");
  }
  return !b.failed();
}

// (x - mean) * inverse * scale + bias with per-channel scale and bias.
std::string scaled(const OpBuilder& b, const Loops& all, DType acc, const Moments& m) {
  const Subscripts c = {all[1].index()};
  return "(" + cast_text(acc, b.dtype(), ref("a0", indices_of(all))) + " - " + m.mean + ") * " + m.inverse + " * " +
         cast_text(acc, b.dtype(1), ref("a1", c)) + " + " + cast_text(acc, b.dtype(2), ref("a2", c));
}

void define_instance(OpBuilder& b) {
  if (!channel_operands(b, {1, 2})) return;
  const DType in = b.dtype(), acc = accumulator(b, in);
  const Loops all = b.loops(b.shape(0)), kept(all.begin(), all.begin() + 2);
  Loops reduced;
  for (std::size_t a = 2; a < all.size(); ++a) reduced.push_back(b.loop("r", all[a].extent));
  Subscripts read = indices_of(kept);
  for (const Loop& l : reduced) read.push_back(l.index());
  b.out(0, in, b.shape(0));
  const Moments m = add_moments(b, kept, reduced, read, acc, true);
  b.line("y0", all, cast_text(in, acc, scaled(b, all, acc, m)));
}

void define_group(OpBuilder& b) {
  if (!channel_operands(b, {1, 2})) return;
  const std::int64_t groups = b.integer("num_groups");
  if (groups < 1) return b.bad_value("num_groups", "must be positive");
  const std::optional<ExprPtr> size = exact_quotient(b.dim(0, 1), idx(groups));
  if (!size || !constant_of(*size))
    return b.bad_value("num_groups",
                       to_text(b.dim(0, 1)) + " channels are not a constant multiple of " + std::to_string(groups));
  const DType in = b.dtype(), acc = accumulator(b, in);
  const Loops all = b.loops(b.shape(0));
  const Loops kept = {all[0], b.loop("g", idx(groups))};
  Loops reduced = {b.loop("r", *size)};
  Subscripts read = {all[0].index(), idx_add(idx_mul(*size, kept[1].index()), reduced[0].index())};
  for (std::size_t a = 2; a < all.size(); ++a) {
    reduced.push_back(b.loop("r", all[a].extent));
    read.push_back(reduced.back().index());
  }
  b.out(0, in, b.shape(0));
  Moments m = add_moments(b, kept, reduced, read, acc, true);
  const ExprPtr group = idx_floordiv(all[1].index(), *constant_of(*size));
  const auto at_group = [&](const std::string& text) { return ref(text.substr(0, text.find('[')), {all[0].index(), group}); };
  m = Moments{at_group(m.mean), at_group(m.inverse), ""};
  b.line("y0", all, cast_text(in, acc, scaled(b, all, acc, m)));
}

// Inference uses the given mean and variance (operands 3 and 4); training those of the batch, and gives the running ones.
void define_batch(OpBuilder& b) {
  if (!channel_operands(b, {1, 2, 3, 4})) return;
  const bool training = b.flag("training_mode");
  if (!training && b.output_count() > 1)
    return b.bad_value("training_mode", "running mean and variance are outputs of training_mode 1 only");
  const DType in = b.dtype(), acc = accumulator(b, in);
  const Loops all = b.loops(b.shape(0));
  const Loops channel = {all[1]};
  const Subscripts c = {all[1].index()};
  b.out(0, in, b.shape(0));
  Moments m;
  if (training) {
    Loops reduced;
    Subscripts read;
    for (std::size_t a = 0; a < all.size(); ++a) {
      if (a != 1) reduced.push_back(b.loop("r", all[a].extent));
      read.push_back(a == 1 ? all[1].index() : reduced.back().index());
    }
    m = add_moments(b, channel, reduced, read, acc, true);
  } else {
    const std::string inverse = b.local("inverse");
    b.line(inverse, channel,
           "1.0 / sqrt(" + cast_text(acc, b.dtype(4), ref("a4", c)) + " + " + number_text(acc, b.number("epsilon")) + ")");
    m = Moments{cast_text(acc, b.dtype(3), ref("a3", c)), ref(inverse, c), ""};
  }
  b.line("y0", all, cast_text(in, acc, scaled(b, all, acc, m)));
  const std::string momentum = number_text(acc, b.number("momentum")), rest = number_text(acc, 1 - b.number("momentum"));
  for (int k = 1; k < b.output_count(); ++k) {
    b.out(k, b.dtype(k + 2), b.shape(k + 2));
    const std::string now = k == 1 ? m.mean : m.variance;
    if (b.wants(k))
      b.line("y" + std::to_string(k), channel,
             cast_text(b.dtype(k + 2), acc,
                       cast_text(acc, b.dtype(k + 2), ref(formal(k + 2), c)) + " * " + momentum + " + " + now + " * " + rest));
  }
}

OpDef record(const std::string& name, const std::string& summary) {
  OpDef def;
  def.name = name;
  def.family = "normalization";
  def.summary = summary;
  def.operands = {
      {"x", DTypes::kFloat, 'T', false}, {"scale", DTypes::kFloat, 'T', false}, {"bias", DTypes::kFloat, 'T', false}};
  def.outputs = {"y"};
  def.attributes = {float_attr("epsilon", 1e-5, "added to the variance"), acc_attribute()};
  def.tolerance = Tolerance::kSum;
  return def;
}

}  // namespace

void add_normalizations(std::vector<OpDef>& table) {
  OpDef layer = record("layer_normalization", "zero mean and unit variance over the axes from `axis` on, then scale and bias");
  layer.aliases = {"layer_norm"};
  layer.operands[1].optional = layer.operands[2].optional = true;
  layer.outputs = {"y", "mean", "inv_std_dev"};
  layer.attributes.push_back(int_attr("axis", -1, "first normalized axis"));
  layer.attributes.push_back(int_attr("stash_type", 1, "accepted; statistics are kept in the accumulator's dtype"));
  layer.samples = {{{"f32[3, 4]", "f32[4]", "f32[4]"}, {}},
                   {{"f32[2, 3, 4]", "f32[3, 4]"}, {{"axis", as_attribute(1)}, {"epsilon", as_attribute(0.1)}}},
                   {{"f32[2, 3, 4]", "f32[4]", "f32[4]"}, {{"axis", as_attribute(-2)}}},
                   {{"bf16[3, 13]", "bf16[13]", "bf16[13]"}, {}}};
  layer.define = [](OpBuilder& b) { define_trailing(b, true); };
  table.push_back(std::move(layer));

  OpDef rms = record("rms_normalization", "x divided by its root mean square over the axes from `axis` on, then scale");
  rms.aliases = {"rms_norm"};
  rms.operands.pop_back();
  rms.operands[1].optional = true;
  rms.attributes.push_back(int_attr("axis", -1, "first normalized axis"));
  rms.attributes.push_back(int_attr("stash_type", 1, "accepted; statistics are kept in the accumulator's dtype"));
  rms.samples = {{{"f32[3, 4]", "f32[4]"}, {}},
                 {{"f32[2, 3, 4]", "f32[3, 4]"}, {{"axis", as_attribute(1)}, {"epsilon", as_attribute(0.1)}}}};
  rms.define = [](OpBuilder& b) { define_trailing(b, false); };
  table.push_back(std::move(rms));

  OpDef instance = record("instance_normalization", "zero mean and unit variance of each channel of each example");
  instance.samples = {{{"f32[2, 3, 4]", "f32[3]", "f32[3]"}, {}},
                      {{"f32[2, 3, 2, 5]", "f32[3]", "f32[3]"}, {{"epsilon", as_attribute(0.1)}}}};
  instance.define = define_instance;
  table.push_back(std::move(instance));

  OpDef group = record("group_normalization", "zero mean and unit variance of each group of channels of each example");
  group.attributes.push_back(required_attr("num_groups", AttrKind::kInt, "channels are cut into that many groups"));
  group.attributes.push_back(int_attr("stash_type", 1, "accepted; statistics are kept in the accumulator's dtype"));
  group.samples = {
      {{"f32[2, 4, 3]", "f32[4]", "f32[4]"}, {{"num_groups", as_attribute(2)}}},
      {{"f32[2, 6, 2, 3]", "f32[6]", "f32[6]"}, {{"num_groups", as_attribute(3)}, {"epsilon", as_attribute(0.1)}}}};
  group.define = define_group;
  table.push_back(std::move(group));

  OpDef batch = record("batch_normalization", "each channel with given statistics, or (training_mode) those of the batch");
  batch.operands.push_back({"input_mean", DTypes::kFloat, 'T', false});
  batch.operands.push_back({"input_var", DTypes::kFloat, 'T', false});
  batch.outputs = {"y", "running_mean", "running_var"};
  batch.attributes.push_back(float_attr("momentum", 0.9, "weight of the old running statistics"));
  batch.attributes.push_back(flag_attr("training_mode", false, "1: statistics of the batch"));
  batch.samples = {{{"f32[2, 3, 4]", "f32[3]", "f32[3]", "f32[3]", "f32[3]"}, {}},
                   {{"f32[2, 3, 4]", "f32[3]", "f32[3]", "f32[3]", "f32[3]"},
                    {{"training_mode", as_attribute(1)}, {"momentum", as_attribute(0.75)}}}};
  batch.define = define_batch;
  table.push_back(std::move(batch));
}

}  // namespace facet
