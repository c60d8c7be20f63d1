// The reference on the example programs: small odd sizes are evaluated, and the digit classifiers classify real digits.
#include <gtest/gtest.h>

#include <cmath>

#include "src/frontend/json.hpp"
#include "src/frontend/npy.hpp"
#include "src/graph/elaborate.hpp"
#include "src/run/inputs.hpp"
#include "src/run/reference.hpp"
#include "support/examples.hpp"
#include "support/paths.hpp"

namespace facet {
namespace {

Program example(const std::string& file) {
  const Result<Program> program = read_program(test::text_of_file(file), file);
  EXPECT_TRUE(program.ok()) << to_text(program.errors());
  const Result<Program> elaborated = elaborate(*program);
  EXPECT_TRUE(elaborated.ok()) << to_text(elaborated.errors());
  return *elaborated;
}

// Every symbol at most 7, where its range allows it.
SymbolValues small_sizes(const Program& program) {
  SymbolValues sizes;
  for (const Symbol& s : program.symbols) sizes[s.name] = std::clamp<std::int64_t>(7, s.min, s.max);
  return sizes;
}

class ExampleReference : public testing::TestWithParam<std::string> {};

TEST_P(ExampleReference, EvaluatesSmallSizes) {
  const Program program = example(GetParam());
  const SymbolValues sizes = small_sizes(program);
  const Result<HostTensors> inputs = make_inputs(program, sizes, 3, {});
  ASSERT_TRUE(inputs.ok()) << to_text(inputs.errors());
  const Result<ReferenceRun> run = run_reference(program, sizes, *inputs);
  ASSERT_TRUE(run.ok()) << to_text(run.errors());
  for (const std::string& name : program.outputs) {
    const ReferenceTensor& out = run->outputs.at(name);
    const auto finite = [](double x) { return std::isfinite(x); };
    EXPECT_TRUE(std::all_of(out.floats.begin(), out.floats.end(), finite)) << name;
    EXPECT_TRUE(std::all_of(out.bounds.begin(), out.bounds.end(), finite)) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ExampleReference, testing::ValuesIn(test::example_files()),
                         [](const auto& instance) { return test::example_name(instance.param); });

// The share of the first `count` test images that the program's reference classifies as their label says.
double accuracy(const std::string& folder, std::int64_t count) {
  const std::string examples = test::source_path("examples/");
  const Program program = example(examples + folder + "/program.json");
  HostTensor images = *read_npy(examples + "digits/test_images.npy", {});
  const HostTensor labels = *read_npy(examples + "digits/test_labels.npy", {});
  images.shape[0] = count;
  images.bytes.resize(static_cast<std::size_t>(count * 64));
  const SymbolValues sizes = {{"N", count}};
  const Result<HostTensors> inputs = make_inputs(program, sizes, 1, {{"pixels", images}});
  EXPECT_TRUE(inputs.ok()) << to_text(inputs.errors());
  const ReferenceRun run = *run_reference(program, sizes, *inputs);
  const std::vector<double>& p = run.outputs.at("probability").floats;
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto row = p.begin() + i * 10;
    right += std::max_element(row, row + 10) - row == labels.get_int(i);
  }
  return static_cast<double>(right) / static_cast<double>(count);
}

TEST(DigitExamples, TheFullyConnectedNetworkReadsDigits) { EXPECT_GE(accuracy("07_digits_mlp", 40), 0.95); }
TEST(DigitExamples, TheConvolutionalNetworkReadsDigits) { EXPECT_GE(accuracy("08_digits_cnn", 20), 0.95); }

}  // namespace
}  // namespace facet
