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
  const std::int64_t m = which.sizes[0], n = which.sizes[1], k = which.sizes[2];
  if (which.bytes == 8) {
    const double *a = in[0].f64(), *b = in[1].f64();
    double* c = out.f64();
    return {{"OpenBLAS", [=] { cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0, a, k, b, n, 0.0, c, n); }}};
  }
  const float *a = in[0].f32(), *b = in[1].f32();
  float* c = out.f32();
  Rival blas{"OpenBLAS",
             [=] { cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0f, a, k, b, n, 0.0f, c, n); }};
  const memory::desc da = matrix(m, k), db = matrix(k, n), dc = matrix(m, n);
  dnnl::matmul made({{da, db, dc}, engine()});
  return {blas, primitive(made, {{DNNL_ARG_SRC, memory(da, engine(), in[0].data())},
                                 {DNNL_ARG_WEIGHTS, memory(db, engine(), in[1].data())},
                                 {DNNL_ARG_DST, memory(dc, engine(), out.data())}})};
}

std::vector<Rival> matmul_bias_gelu(const Case& which, std::vector<Buffer>& in, Buffer& out) {
  const std::int64_t m = which.sizes[0], n = which.sizes[1], k = which.sizes[2];
  const memory::desc da = matrix(m, k), db = matrix(k, n), row = matrix(1, n), dc = matrix(m, n);
  dnnl::post_ops after;
  after.append_eltwise(1.0f, dnnl::algorithm::eltwise_gelu_erf, 0, 0);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  dnnl::matmul made({{da, db, row, dc}, attributes, engine()});
  return {primitive(made, {{DNNL_ARG_SRC, memory(da, engine(), in[0].data())},
                           {DNNL_ARG_WEIGHTS, memory(db, engine(), in[1].data())},
                           {DNNL_ARG_BIAS, memory(row, engine(), in[2].data())},
                           {DNNL_ARG_DST, memory(dc, engine(), out.data())}})};
}

// The descriptor of the primitive; weights of a transposed one come with their first two dimensions swapped.
template <class Primitive>
typename Primitive::primitive_desc described(const Convolution& c, dnnl::algorithm algorithm, const memory::desc& x,
                                             const memory::desc& w, const memory::desc& y) {
  const memory::dims strides(static_cast<std::size_t>(c.rank), c.stride), pads(static_cast<std::size_t>(c.rank), c.pad);
  return {{dnnl::prop_kind::forward_inference, algorithm, x, w, y, strides, pads, pads}, engine()};
}

struct ConvolutionWay {
  const char* name;
  dnnl::algorithm algorithm;
  memory::desc x, w, y;
  bool same_output;
};

template <class Primitive>
Rival convolution_rival(const Convolution& c, const ConvolutionWay& way, memory x, memory w, memory y) {
  const auto chosen = described<Primitive>(c, way.algorithm, way.x, way.w, way.y);
  auto stream = dnnl::stream(engine());
  if (!way.same_output) {
    memory ax(chosen.src_desc(), engine()), aw(chosen.weights_desc(), engine());
    dnnl::reorder(x, ax).execute(stream, x, ax);
    dnnl::reorder(w, aw).execute(stream, w, aw);
    stream.wait();
    x = ax;
    w = aw;
    y = memory(chosen.dst_desc(), engine());
  }
  Rival rival = primitive(Primitive(chosen), {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_DST, y}});
  rival.name = way.name;
  rival.same_output = way.same_output;
  return rival;
}

// Plain NCHW, the layouts oneDNN chooses (operands reordered before timing), and its Winograd where it has one.
std::vector<Rival> convolution(const Case& which, std::vector<Buffer>& in, Buffer& out) {
  using tag = memory::format_tag;
  const Convolution& c = which.conv;
  const std::int64_t depth = c.channels / c.groups, o = c.output();
  const bool grouped = c.groups > 1, volume = c.rank == 3;
  const auto dims = [&](memory::dims first, std::int64_t x) {
    first.insert(first.end(), static_cast<std::size_t>(c.rank), x);
    return first;
  };
  const memory::dims xs = dims({1, c.channels}, c.size), ys = dims({1, c.filters}, o);
  const memory::dims ws =
      grouped ? dims({c.groups, c.filters / c.groups, depth}, c.window) : dims({c.filters, depth}, c.window);
  const auto f32 = memory::data_type::f32;
  const tag plain_data = volume ? tag::ncdhw : tag::nchw;
  const tag plain_weights = c.transposed ? (volume ? tag::iodhw : tag::iohw)
                            : grouped    ? (volume ? tag::goidhw : tag::goihw)
                                         : (volume ? tag::oidhw : tag::oihw);
  const memory::desc x(xs, f32, plain_data), y(ys, f32, plain_data), w(ws, f32, plain_weights);
  const auto any = [&](const memory::dims& d) { return memory::desc(d, f32, tag::any); };
  const auto direct = c.transposed ? dnnl::algorithm::deconvolution_direct : dnnl::algorithm::convolution_direct;
  std::vector<ConvolutionWay> ways{{"oneDNN NCHW", direct, x, w, y, true},
                                   {"oneDNN own layout", direct, any(xs), any(ws), any(ys), false}};
  if (c.window == 3 && c.stride == 1 && !grouped && !volume && !c.transposed)
    ways.push_back({"oneDNN Winograd", dnnl::algorithm::convolution_winograd, any(xs), any(ws), any(ys), false});
  std::vector<Rival> list;
  for (const ConvolutionWay& way : ways) {
    try {
      const memory mx(x, engine(), in[0].data()), mw(w, engine(), in[1].data()), my(y, engine(), out.data());
      list.push_back(c.transposed ? convolution_rival<dnnl::deconvolution_forward>(c, way, mx, mw, my)
                                  : convolution_rival<dnnl::convolution_forward>(c, way, mx, mw, my));
    } catch (const dnnl::error&) {}  // oneDNN has no such algorithm for the shape
  }
  return list;
}

// The axes of `order` that `from` has, laid out anew: to[order] = from[...].
void permute(const float* from, const std::string& has, float* to, const std::string& order,
             const std::map<char, std::int64_t>& axes) {
  std::vector<std::int64_t> extent, stride;
  std::int64_t total = 1;
  for (char axis : order) {
    std::int64_t s = 1;
    for (std::size_t d = has.size(); d-- > 0 && has[d] != axis;) s *= axes.at(has[d]);
    extent.push_back(axes.at(axis));
    stride.push_back(s);
    total *= extent.back();
  }
  const std::int64_t inner = extent.back(), step = stride.back();
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < total / inner; ++row) {
    std::int64_t rest = row, at = 0;
    for (std::size_t d = order.size() - 1; d-- > 0; rest /= extent[d]) at += rest % extent[d] * stride[d];
    float* out = to + row * inner;
    for (std::int64_t i = 0; i < inner; ++i) out[i] = from[at + i * step];
  }
}

// Both operands to matrices, one product, the result to its order; a step is left out where the order is right already.
std::vector<Rival> contraction(const Case& which, std::vector<Buffer>& in, Buffer& out) {
  const std::size_t comma = which.einsum.find(','), arrow = which.einsum.find("->");
  const std::string a = which.einsum.substr(0, comma), b = which.einsum.substr(comma + 1, arrow - comma - 1),
                    c = which.einsum.substr(arrow + 2);
  std::string m, n, k;
  for (char x : c) (a.find(x) != std::string::npos ? m : n) += x;
  for (char x : a)
    if (c.find(x) == std::string::npos) k += x;
  const auto size = [&](const std::string& group) {
    std::int64_t s = 1;
    for (char x : group) s *= which.axes.at(x);
    return s;
  };
  const std::int64_t M = size(m), N = size(n), K = size(k);
  auto pa = std::make_shared<Buffer>(M * K, 4), pb = std::make_shared<Buffer>(K * N, 4),
       pc = std::make_shared<Buffer>(M * N, 4);
  float *fa = in[0].f32(), *fb = in[1].f32(), *fc = out.f32();
  const std::map<char, std::int64_t> axes = which.axes;
  return {{"transpose+OpenBLAS", [=] {
             if (a != m + k) permute(fa, a, pa->f32(), m + k, axes);
             if (b != k + n) permute(fb, b, pb->f32(), k + n, axes);
             float* product = c == m + n ? fc : pc->f32();
             cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, M, N, K, 1.0f, a == m + k ? fa : pa->f32(), K,
                         b == k + n ? fb : pb->f32(), N, 0.0f, product, N);
             if (c != m + n) permute(product, m + n, fc, c, axes);
           }}};
}

std::vector<Rival> softmax(const Case& which, std::vector<Buffer>& in, Buffer& out) {
  const memory::desc d = matrix(which.sizes[0], which.sizes[1]);
  dnnl::softmax_forward made({{dnnl::prop_kind::forward_inference, d, 1}, engine()});
  return {
      primitive(made, {{DNNL_ARG_SRC, memory(d, engine(), in[0].data())}, {DNNL_ARG_DST, memory(d, engine(), out.data())}})};
}

std::vector<Rival> log_softmax(const Case& which, std::vector<Buffer>& in, Buffer& out) {
  const memory::desc d = matrix(which.sizes[0], which.sizes[1]);
  dnnl::logsoftmax_forward made({{dnnl::prop_kind::forward_inference, d, 1}, engine()});
  return {
      primitive(made, {{DNNL_ARG_SRC, memory(d, engine(), in[0].data())}, {DNNL_ARG_DST, memory(d, engine(), out.data())}})};
}

std::vector<Rival> layer_norm(const Case& which, std::vector<Buffer>& in, Buffer& out) {
  const memory::desc d = matrix(which.sizes[0], which.sizes[1]);
  const memory::desc row({which.sizes[1]}, memory::data_type::f32, memory::format_tag::a);
  const auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
  dnnl::layer_normalization_forward made({{dnnl::prop_kind::forward_inference, d, 1e-5f, flags}, engine()});
  return {primitive(made, {{DNNL_ARG_SRC, memory(d, engine(), in[0].data())},
                           {DNNL_ARG_SCALE, memory(row, engine(), in[1].data())},
                           {DNNL_ARG_SHIFT, memory(row, engine(), in[2].data())},
                           {DNNL_ARG_DST, memory(d, engine(), out.data())}})};
}

std::vector<Rival> bias_gelu(const Case& which, std::vector<Buffer>& in, Buffer& out) {
  const memory::desc d = matrix(which.sizes[0], which.sizes[1]), row = matrix(1, which.sizes[1]);
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

const char* openblas_core() { return openblas_get_corename(); }

std::vector<Rival> rivals_of(const Case& which, std::vector<Buffer>& inputs, Buffer& output, int threads) {
  openblas_set_num_threads(threads);
  if (which.kind == "matmul") return matmul(which, inputs, output);
  if (which.kind == "matmul_bias_gelu") return matmul_bias_gelu(which, inputs, output);
  if (which.kind == "contraction") return contraction(which, inputs, output);
  if (which.kind == "convolution") return convolution(which, inputs, output);
  if (which.kind == "softmax") return softmax(which, inputs, output);
  if (which.kind == "log_softmax") return log_softmax(which, inputs, output);
  if (which.kind == "layer_norm") return layer_norm(which, inputs, output);
  if (which.kind == "bias_gelu") return bias_gelu(which, inputs, output);
  return {};
}

}  // namespace bench
