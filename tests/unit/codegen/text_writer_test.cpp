// Indentation, comments that cannot swallow code, and identifiers for every name the contract allows.
#include "codegen/text_writer.hpp"

#include <gtest/gtest.h>

namespace facet {
namespace {

TEST(TextWriter, IndentsBlocks) {
  TextWriter w;
  w.open("for (;;)");
  w.line("x = 1;");
  w.line("");
  w.close();
  EXPECT_EQ(w.text(), "for (;;) {\n  x = 1;\n\n}\n");
}

TEST(TextWriter, CommentsStayComments) {
  TextWriter w;
  w.comment("one\ntwo \\");
  w.comment("");
  EXPECT_EQ(w.text(), "// one two  \n");
  TextWriter wide;
  wide.comment(std::string(300, 'a') + " b");
  for (std::size_t at = 0; at < wide.text().size(); at = wide.text().find('\n', at) + 1)
    EXPECT_EQ(wide.text().substr(at, 3), "// ");
}

TEST(NameTable, RenamesWhatIsTaken) {
  NameTable names(c_family_words());
  EXPECT_EQ(names.of("buffer", "x"), "x");
  EXPECT_EQ(names.of("buffer", "class"), "class_2");
  EXPECT_EQ(names.of("buffer", "class_2"), "class_2_2");
  EXPECT_EQ(names.of("buffer", "linux"), "linux_2");
  EXPECT_EQ(names.of("buffer", "h0.init"), "h0_init");
  EXPECT_EQ(names.of("buffer", "h0_init"), "h0_init_2");
  EXPECT_EQ(names.of("buffer", "_Pragma"), "v_Pragma");
  EXPECT_EQ(names.of("buffer", "a__b"), "a_b");
  EXPECT_EQ(names.of("buffer", "f32x16"), "f32x16_2");
  EXPECT_EQ(names.of("buffer", "exp_f32"), "exp_f32_2");
  EXPECT_EQ(names.of("buffer", "load_i8x64"), "load_i8x64_2");
  EXPECT_EQ(names.of("buffer", "exp"), "exp");
  EXPECT_EQ(names.of("buffer", "x16"), "x16");
}

TEST(NameTable, OneNamePerKind) {
  NameTable names(c_family_words());
  EXPECT_EQ(names.of("index", "t0"), "t0");
  EXPECT_EQ(names.of("value", "t0"), "t0_2");
  EXPECT_EQ(names.of("index", "t0"), "t0");
  EXPECT_FALSE(names.has("buffer", "t0"));
}

}  // namespace
}  // namespace facet
