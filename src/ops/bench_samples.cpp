// Operators whose extents mean different things (channels, windows, gates) have a row: layers of the sizes that networks have.
// All others are maps, reductions and moves, for which only the amount of data counts: their first sample grows.
#include "src/ops/bench_samples.hpp"

#include <algorithm>
#include <set>

#include "src/ops/builder.hpp"
#include "src/ops/sample_shapes.hpp"
#include "src/ops/samples.hpp"

namespace facet {

namespace {

struct Row {
  const char* name;
  std::vector<std::string> operands;
  Attributes attrs;
};

Attribute list(std::vector<int> values) { return as_attribute(values); }

const std::vector<Row>& contractions() {
  static const std::vector<Row> rows = {
      {"matmul", {"f32[512, 512]", "f32[512, 512]"}, {}},
      {"gemm", {"f32[512, 512]", "f32[512, 512]", "f32[512]"}, {}},
      {"linear", {"f32[512, 512]", "f32[512, 512]", "f32[512]"}, {}},
      {"triangular_matmul", {"f32[512, 512]", "f32[512, 512]"}, {}},
      {"einsum", {"f32[64, 32, 64]", "f32[64, 64, 256]"}, {{"equation", as_attribute("bij,bjk->bik")}}},
      {"conv", {"f32[1, 64, 56, 56]", "f32[64, 64, 3, 3]", "f32[64]"}, {{"pads", list({1, 1, 1, 1})}}},
      {"conv_transpose", {"f32[1, 64, 28, 28]", "f32[64, 32, 2, 2]", "f32[32]"}, {{"strides", list({2, 2})}}},
      {"attention", {"f32[1, 8, 256, 64]", "f32[1, 8, 256, 64]", "f32[1, 8, 256, 64]"}, {}},
      {"rotary_embedding", {"f32[4, 16, 512, 64]", "f32[4, 512, 32]", "f32[4, 512, 32]"}, {}},
      {"rnn", {"f32[64, 16, 128]", "f32[1, 128, 128]", "f32[1, 128, 128]", "f32[1, 256]"}, {}},
      {"gru", {"f32[64, 16, 128]", "f32[1, 384, 128]", "f32[1, 384, 128]", "f32[1, 768]"}, {}},
      {"lstm", {"f32[64, 16, 128]", "f32[1, 512, 128]", "f32[1, 512, 128]", "f32[1, 1024]"}, {}},
  };
  return rows;
}

const std::vector<Row>& layers() {
  static const Attribute window = list({3, 3}), two = list({2, 2});
  static const std::vector<std::string> image = {"f32[8, 64, 56, 56]"};
  static const std::vector<Row> rows = {
      {"max_pool", image, {{"kernel_shape", window}, {"strides", two}}},
      {"average_pool", image, {{"kernel_shape", window}, {"strides", two}}},
      {"lp_pool", image, {{"kernel_shape", window}, {"strides", two}}},
      {"adaptive_average_pool", image, {{"output_size", list({7, 7})}}},
      {"adaptive_max_pool", image, {{"output_size", list({7, 7})}}},
      {"global_average_pool", image, {}},
      {"global_max_pool", image, {}},
      {"global_lp_pool", image, {}},
      {"batch_normalization", {"f32[8, 64, 56, 56]", "f32[64]", "f32[64]", "f32[64]", "f32[64]"}, {}},
      {"instance_normalization", {"f32[8, 64, 56, 56]", "f32[64]", "f32[64]"}, {}},
      {"group_normalization", {"f32[8, 64, 56, 56]", "f32[64]", "f32[64]"}, {{"num_groups", as_attribute(8)}}},
      {"layer_normalization", {"f32[2048, 768]", "f32[768]", "f32[768]"}, {}},
      {"rms_normalization", {"f32[2048, 768]", "f32[768]"}, {}},
      {"lrn", image, {{"size", as_attribute(5)}}},
      {"mean_variance_normalization", image, {}},
      {"softmax", {"f32[2048, 768]"}, {}},
      {"log_softmax", {"f32[2048, 768]"}, {}},
      {"hardmax", {"f32[2048, 768]"}, {}},
      {"resize", {"f32[4, 32, 56, 56]"}, {{"scales", list({2, 2})}, {"axes", list({2, 3})}, {"mode", as_attribute("cubic")}}},
      {"reshape", {"f32[1024, 3072]"}, {{"shape", list({3072, 1024})}}},
      {"slice", {"f32[2048, 3072]"}, {{"starts", list({1, 2})}, {"ends", list({2047, 3070})}}},
      {"unfold", {"f32[4, 32, 56, 56]"}, {{"kernel_shape", window}}},
      {"depth_to_space", image, {{"blocksize", as_attribute(2)}}},
      {"space_to_depth", image, {{"blocksize", as_attribute(2)}}},
      {"embedding", {"f32[30000, 256]", "i64[8, 512]"}, {}},
      {"gather", {"f32[30000, 256]", "i64[4096]"}, {}},
      {"one_hot", {"i64[4096]"}, {{"depth", as_attribute(1000)}}},
      {"scatter_nd", {"f32[4096, 256]", "i64[2048, 1]", "f32[2048, 256]"}, {{"reduction", as_attribute("add")}}},
      {"top_k", {"f32[2048, 768]"}, {{"k", as_attribute(8)}}},
      {"softmax_cross_entropy_loss", {"f32[2048, 768]", "i64[2048]"}, {}},
      {"negative_log_likelihood_loss", {"f32[2048, 768]", "i64[2048]"}, {}},
  };
  return rows;
}

bool accepted(const OpDef& op, const OpSample& sample) {
  const Result<Program> program = sample_program(op, sample);
  return program && define(call_of(*program, program->nodes[0]));
}

// The first sample of f32; the first one where there is none.
const OpSample& start_of(const OpDef& op) {
  for (const OpSample& s : op.samples)
    if (!s.operands.empty() && s.operands[0].rfind("f32[", 0) == 0) return s;
  return op.samples[0];
}

}  // namespace

std::vector<std::string> unfit_bench_rows() {
  std::vector<std::string> names;
  for (const std::vector<Row>* rows : {&contractions(), &layers()})
    for (const Row& row : *rows) {
      const OpDef* op = find_op(row.name);
      if (!op || op->name != row.name || !accepted(*op, {row.operands, row.attrs})) names.push_back(row.name);
    }
  return names;
}

OpSample bench_sample(const OpDef& op, const std::function<bool(const Program&)>& enough) {
  for (const std::vector<Row>* rows : {&contractions(), &layers()})
    for (const Row& row : *rows)
      if (op.name == row.name && accepted(op, {row.operands, row.attrs})) return {row.operands, row.attrs};
  OpSample sample = start_of(op);
  for (bool grown = true; grown;) {
    grown = false;
    std::set<std::int64_t> extents;
    for (const Shaped& s : operands_of(sample)) extents.insert(s.extents.begin(), s.extents.end());
    // From the largest one down, so that doubled extents do not meet others on their way.
    for (auto e = extents.rbegin(); e != extents.rend(); ++e) {
      const OpSample next = sample_of(mapped(operands_of(sample), {{*e, 2 * *e}}), sample);
      if (*e < 2 || !accepted(op, next)) continue;
      sample = next;
      grown = true;
      if (enough(*sample_program(op, sample))) return sample;
    }
  }
  return sample;
}

}  // namespace facet
