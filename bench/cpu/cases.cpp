// The lines of the bench, each with its program: sizes are constants of the program, operands are inputs.
#include <fstream>
#include <random>
#include <sstream>

#include "bench/cpu/bench.hpp"

namespace bench {
namespace {

std::string dtype(int bytes) { return bytes == 4 ? "f32" : "f64"; }

std::string list(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (std::int64_t e : shape) text += (text.empty() ? "" : ", ") + std::to_string(e);
  return "[" + text + "]";
}

std::int64_t count(const std::vector<std::int64_t>& shape) {
  std::int64_t n = 1;
  for (std::int64_t e : shape) n *= e;
  return n;
}

// The program and the counts that follow from the shapes.
Case finished(Case c, const std::vector<std::vector<std::int64_t>>& inputs, const std::string& ops,
              const std::vector<std::int64_t>& output) {
  std::string tensors, names;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = "x" + std::to_string(i);
    names += (i ? ", \"" : "\"") + name + "\"";
    tensors += (i ? ", \"" : "\"") + name + "\": {\"dtype\": \"" + dtype(c.bytes) + "\", \"shape\": " + list(inputs[i]) + "}";
    c.inputs.push_back(count(inputs[i]));
    c.moved += static_cast<double>(c.bytes * c.inputs.back());
  }
  c.output = count(output);
  c.moved += static_cast<double>(c.bytes * c.output);
  const std::string numerics = c.conv.free ? ", \"numerics\": {\"reassociate\": \"free\"}" : "";
  c.json = "{\"facet\": 1, \"name\": \"" + c.program + "\"" + numerics + ", \"tensors\": {" + tensors + "}, \"inputs\": [" +
           names + "], \"ops\": [" + ops + "], \"outputs\": [\"y\"]}\n";
  return c;
}

std::string sizes_text(const std::vector<std::int64_t>& sizes, const char* between) {
  std::string text;
  for (std::int64_t s : sizes) text += (text.empty() ? "" : between) + std::to_string(s);
  return text;
}

Case matmul(std::int64_t m, std::int64_t n, std::int64_t k, int bytes) {
  Case c;
  c.kind = "matmul";
  c.bytes = bytes;
  c.sizes = {m, n, k};
  c.name = "matmul " + dtype(bytes) + " " + sizes_text(c.sizes, "x");
  c.program = "matmul_" + dtype(bytes) + "_" + sizes_text(c.sizes, "_");
  c.flops = 2.0 * static_cast<double>(m * n * k);
  return finished(c, {{m, k}, {k, n}}, R"({"op": "matmul", "in": ["x0", "x1"], "out": "y"})", {m, n});
}

Case matmul_bias_gelu(std::int64_t m, std::int64_t n, std::int64_t k) {
  Case c;
  c.kind = "matmul_bias_gelu";
  c.sizes = {m, n, k};
  c.name = "matmul + bias + gelu " + sizes_text(c.sizes, "x");
  c.program = "matmul_bias_gelu_" + sizes_text(c.sizes, "_");
  c.flops = 2.0 * static_cast<double>(m * n * k);
  return finished(c, {{m, k}, {k, n}, {n}},
                  R"({"op": "matmul", "in": ["x0", "x1"], "out": "s"}, {"op": "add", "in": ["s", "x2"], "out": "t"}, )"
                  R"({"op": "gelu", "in": "t", "out": "y"})",
                  {m, n});
}

// Memory-bound, m rows of n.
Case rows(const std::string& kind, const std::string& ops, std::int64_t m, std::int64_t n, int vectors) {
  Case c;
  c.kind = kind;
  c.sizes = {m, n};
  c.name = kind + " " + sizes_text(c.sizes, "x");
  c.program = kind + "_" + sizes_text(c.sizes, "_");
  c.flops = 5.0 * static_cast<double>(m * n);
  std::vector<std::vector<std::int64_t>> inputs{{m, n}};
  for (int i = 0; i < vectors; ++i) inputs.push_back({n});
  return finished(c, inputs, ops, {m, n});
}

Case softmax(std::int64_t m, std::int64_t n) {
  return rows("softmax", R"({"op": "softmax", "in": "x0", "out": "y", "attrs": {"axis": -1}})", m, n, 0);
}

Case layer_norm(std::int64_t m, std::int64_t n) {
  return rows("layer_norm", R"({"op": "layer_normalization", "in": ["x0", "x1", "x2"], "out": "y"})", m, n, 2);
}

Case log_softmax(std::int64_t m, std::int64_t n) {
  return rows("log_softmax", R"({"op": "log_softmax", "in": "x0", "out": "y", "attrs": {"axis": -1}})", m, n, 0);
}

Case rms_norm(std::int64_t m, std::int64_t n) {
  return rows("rms_norm", R"({"op": "rms_normalization", "in": ["x0", "x1"], "out": "y"})", m, n, 1);
}

Case bias_gelu(std::int64_t m, std::int64_t n) {
  return rows("bias_gelu", R"({"op": "add", "in": ["x0", "x1"], "out": "t"}, {"op": "gelu", "in": "t", "out": "y"})", m, n, 1);
}

Case convolution(const Convolution& conv) {
  Case c;
  c.kind = "convolution";
  c.conv = conv;
  const std::int64_t out = conv.output(), depth = conv.channels / conv.groups;
  const std::size_t rank = static_cast<std::size_t>(conv.rank);
  const auto each = [&](std::int64_t x) { return list(std::vector<std::int64_t>(rank, x)); };
  const auto shape = [&](std::int64_t first, std::int64_t second, std::int64_t x) {
    std::vector<std::int64_t> s{first, second};
    s.insert(s.end(), rank, x);
    return s;
  };
  const std::string window = sizes_text(std::vector<std::int64_t>(rank, conv.window), "x");
  c.name = "conv " + std::to_string(conv.size) + "^" + std::to_string(rank) + " " + std::to_string(conv.channels) + "->" +
           std::to_string(conv.filters) + " " + window + (conv.stride > 1 ? " stride " + std::to_string(conv.stride) : "") +
           (conv.groups > 1 ? " depthwise" : "") + (conv.transposed ? " transposed" : "") + (conv.free ? " free" : "");
  c.program = "conv_" +
              sizes_text({conv.size, conv.channels, conv.filters, conv.window, conv.stride, conv.groups, conv.rank}, "_") +
              (conv.transposed ? "_transposed" : "") + (conv.free ? "_free" : "");
  double taps = 1;
  for (std::size_t d = 0; d < rank; ++d) taps *= static_cast<double>(conv.window * (conv.transposed ? conv.size : out));
  c.flops = 2.0 * static_cast<double>(conv.filters * depth) * taps;
  const std::string p = list(std::vector<std::int64_t>(2 * rank, conv.pad)), s = each(conv.stride);
  return finished(c,
                  {shape(1, conv.channels, conv.size),
                   conv.transposed ? shape(conv.channels, conv.filters, conv.window) : shape(conv.filters, depth, conv.window)},
                  std::string(R"({"op": ")") + (conv.transposed ? "conv_transpose" : "conv") +
                      R"(", "in": ["x0", "x1"], "out": "y", "attrs": {"pads": )" + p + R"(, "strides": )" + s +
                      R"(, "group": )" + std::to_string(conv.groups) + "}}",
                  shape(1, conv.filters, out));
}

Convolution with_free_numerics(Convolution c) {
  c.free = true;
  return c;
}

// "adb,cd->cba a=384 b=384 c=24 d=384"
Case contraction(const std::string& line) {
  std::istringstream words(line);
  Case c;
  c.kind = "contraction";
  words >> c.einsum;
  for (std::string word; words >> word;) c.axes[word[0]] = std::stoll(word.substr(2));
  c.name = c.einsum;
  c.program = "contraction_";
  for (char x : c.einsum)
    if (x != '-' && x != '>') c.program += x == ',' ? '_' : x;
  std::vector<std::vector<std::int64_t>> shapes(1);
  for (char x : c.einsum) {
    if (x == ',' || x == '>') shapes.emplace_back();
    if (c.axes.count(x)) shapes.back().push_back(c.axes[x]);
  }
  c.flops = 2;
  for (const auto& [axis, extent] : c.axes) c.flops *= static_cast<double>(extent);
  return finished(c, {shapes[0], shapes[1]},
                  R"({"op": "einsum", "in": ["x0", "x1"], "out": "y", "attrs": {"equation": ")" + c.einsum + "\"}}", shapes[2]);
}

std::vector<Case> fixed_cases(const std::string& contractions) {
  std::vector<Case> cases;
  for (const int bytes : {4, 8}) {
    for (const std::int64_t n : {256, 512, 1000, 1024, 2048}) cases.push_back(matmul(n, n, n, bytes));
    cases.push_back(matmul(4096, 4096, 64, bytes));
    cases.push_back(matmul(64, 4096, 4096, bytes));
    cases.push_back(matmul(4096, 64, 4096, bytes));
    cases.push_back(matmul(127, 129, 131, bytes));
  }
  cases.push_back(matmul_bias_gelu(512, 4096, 1024));
  std::ifstream file(contractions);
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') cases.push_back(contraction(line));
  // ResNet-50 layers at batch 1: channels, size, filters, window, stride, padding; MobileNet's depthwise ones; a generator's
  // transposed one; a video network's.
  for (const Convolution& c :
       {Convolution{64, 56, 64, 3, 1, 1}, Convolution{128, 28, 128, 3, 1, 1}, Convolution{256, 14, 256, 3, 1, 1},
        Convolution{512, 7, 512, 3, 1, 1}, Convolution{64, 56, 256, 1, 1, 0}, Convolution{256, 56, 64, 1, 1, 0},
        Convolution{3, 224, 64, 7, 2, 3}, Convolution{128, 56, 128, 3, 1, 1, 128}, Convolution{512, 14, 512, 5, 1, 2, 512},
        Convolution{128, 16, 64, 4, 2, 1, 1, 2, true}, Convolution{32, 16, 32, 3, 1, 1, 1, 3}})
    cases.push_back(convolution(c));
  // Products of other sums allowed: Winograd's.
  for (const Convolution& c : {Convolution{64, 56, 64, 3, 1, 1}, Convolution{128, 28, 128, 3, 1, 1},
                               Convolution{256, 14, 256, 3, 1, 1}, Convolution{512, 7, 512, 3, 1, 1}})
    cases.push_back(convolution(with_free_numerics(c)));
  for (const std::int64_t m : {512, 16384}) {
    cases.push_back(softmax(m, 4096));
    cases.push_back(layer_norm(m, 4096));
  }
  cases.push_back(rms_norm(16384, 4096));
  cases.push_back(log_softmax(16384, 4096));
  cases.push_back(bias_gelu(4096, 4096));
  return cases;
}

// Sizes of the same families, primes and non-multiples among them.
std::vector<Case> drawn_cases(std::uint64_t seed) {
  std::minstd_rand generator(static_cast<unsigned>(seed));
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(generator()) % (high - low + 1);
  };
  std::vector<Case> cases;
  for (const int bytes : {4, 8}) {
    for (int i = 0; i < 3; ++i) cases.push_back(matmul(draw(200, 1500), draw(200, 1500), draw(200, 1500), bytes));
    cases.push_back(matmul(draw(2000, 4096), draw(2000, 4096), draw(17, 96), bytes));
    cases.push_back(matmul(draw(17, 96), draw(2000, 4096), draw(2000, 4096), bytes));
    cases.push_back(matmul(draw(2000, 4096), draw(17, 96), draw(2000, 4096), bytes));
    cases.push_back(matmul(draw(60, 200), draw(60, 200), draw(60, 200), bytes));
  }
  cases.push_back(matmul_bias_gelu(draw(200, 600), draw(1000, 4096), draw(500, 1200)));
  for (int i = 0; i < 3; ++i) cases.push_back(convolution({draw(48, 200), draw(10, 50), draw(48, 200), 3, 1, 1}));
  cases.push_back(convolution({draw(48, 200), draw(10, 50), draw(48, 200), 1, 1, 0}));
  cases.push_back(convolution({3, draw(100, 200), draw(32, 64), 7, 2, 3}));
  const std::int64_t channels = draw(100, 400);
  cases.push_back(convolution({channels, draw(14, 60), channels, 3, 1, 1, channels}));
  cases.push_back(convolution({draw(60, 130), draw(10, 20), draw(40, 70), 4, 2, 1, 1, 2, true}));
  cases.push_back(convolution({draw(20, 40), draw(10, 20), draw(20, 40), 3, 1, 1, 1, 3}));
  cases.push_back(softmax(draw(300, 5000), draw(1000, 5000)));
  cases.push_back(layer_norm(draw(300, 5000), draw(1000, 5000)));
  return cases;
}

}  // namespace

std::vector<Case> all_cases(const std::string& contractions, std::uint64_t seed) {
  return seed == 0 ? fixed_cases(contractions) : drawn_cases(seed);
}

}  // namespace bench
