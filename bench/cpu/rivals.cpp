// OpenBLAS and oneDNN computing the cases; they are linked into the bench only.
#include <cblas.h>

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "bench/cpu/bench.hpp"

extern "C" void openblas_set_num_threads(int);

namespace bench {
namespace {

using dnnl::memory;

dnnl::engine& engine() {
  static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

memory::desc matrix(std::int64_t rows, std::int64_t columns) {
  return memory::desc({rows, columns}, memory::data_type::f32, memory::format_tag::ab);
}

Rival primitive(dnnl::primitive made, std::unordered_map<int, memory> arguments) {
  auto stream = std::make_shared<dnnl::stream>(engine());
  return {"oneDNN", [made, arguments, stream]() mutable {
            made.execute(*stream, arguments);
            stream->wait();
          }};
}

std::vector<Rival> matmul(const Case& which, std::vector<Buffer>& in, Buffer& out) {
  const std::int64_t m = which.symbols[0], n = which.symbols[1], k = which.symbols[2];
  const float *a = in[0].data(), *b = in[1].data();
  float* c = out.data();
  Rival blas{"OpenBLAS",
             [=] { cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0f, a, k, b, n, 0.0f, c, n); }};
  const memory::desc da = matrix(m, k), db = matrix(k, n), dc = matrix(m, n);
  dnnl::matmul made({{da, db, dc}, engine()});
  return {blas, primitive(made, {{DNNL_ARG_SRC, memory(da, engine(), in[0].data())},
                                 {DNNL_ARG_WEIGHTS, memory(db, engine(), in[1].data())},
                                 {DNNL_ARG_DST, memory(dc, engine(), out.data())}})};
}

std::vector<Rival> softmax(const Case& which, std::vector<Buffer>& in, Buffer& out) {
  const memory::desc d = matrix(which.symbols[0], which.symbols[1]);
  dnnl::softmax_forward made({{dnnl::prop_kind::forward_inference, d, 1}, engine()});
  return {
      primitive(made, {{DNNL_ARG_SRC, memory(d, engine(), in[0].data())}, {DNNL_ARG_DST, memory(d, engine(), out.data())}})};
}

std::vector<Rival> layer_norm(const Case& which, std::vector<Buffer>& in, Buffer& out) {
  const memory::desc d = matrix(which.symbols[0], which.symbols[1]);
  const memory::desc row({which.symbols[1]}, memory::data_type::f32, memory::format_tag::a);
  const auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
  dnnl::layer_normalization_forward made({{dnnl::prop_kind::forward_inference, d, 1e-5f, flags}, engine()});
  return {primitive(made, {{DNNL_ARG_SRC, memory(d, engine(), in[0].data())},
                           {DNNL_ARG_SCALE, memory(row, engine(), in[1].data())},
                           {DNNL_ARG_SHIFT, memory(row, engine(), in[2].data())},
                           {DNNL_ARG_DST, memory(d, engine(), out.data())}})};
}

std::vector<Rival> bias_gelu(const Case& which, std::vector<Buffer>& in, Buffer& out) {
  const memory::desc d = matrix(which.symbols[0], which.symbols[1]), row = matrix(1, which.symbols[1]);
  dnnl::post_ops after;
  after.append_eltwise(1.0f, dnnl::algorithm::eltwise_gelu_erf, 0, 0);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  dnnl::binary made({{dnnl::algorithm::binary_add, d, row, d}, attributes, engine()});
  return {primitive(made, {{DNNL_ARG_SRC_0, memory(d, engine(), in[0].data())},
                           {DNNL_ARG_SRC_1, memory(row, engine(), in[1].data())},
                           {DNNL_ARG_DST, memory(d, engine(), out.data())}})};
}

}  // namespace

std::vector<Rival> rivals_of(const Case& which, std::vector<Buffer>& inputs, Buffer& output, int threads) {
  openblas_set_num_threads(threads);
  if (which.program == "matmul") return matmul(which, inputs, output);
  if (which.program == "softmax_rows") return softmax(which, inputs, output);
  if (which.program == "layer_norm") return layer_norm(which, inputs, output);
  if (which.program == "bias_gelu") return bias_gelu(which, inputs, output);
  return {};
}

}  // namespace bench
