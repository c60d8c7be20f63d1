// Helper functions of generated code: text templates, expanded per type and emitted only where used.
//
// A template is C text with marks for its type: a scalar (float) and a vector (f32x16) come from one text where C spells both
// alike. What an expanded text calls is found by its typed names, so no list of dependencies is kept. Marks:
//   $FN   function qualifier          $S  suffix: f32x16         $T  type: float, f32x16      $E  element type: float
//   $ES   element suffix: f32         $L  lanes                  $M  comparison's type: bool, i32x16
//   $I $IS  signed integer of the same width, its suffix          $U $US  unsigned
//   $WU   unsigned of at least 32 bits $B  bits of an element    $C(x)  constant in every lane
//   $D $DS  double or f64xL, its suffix $F $FS  float or f32xL    $K  mask with 4-byte elements: i32xL
//   $H    suffix of the lower half: f32x8      $LOW $HIGH  lane numbers of the halves      $ALL  0, 1, ..., L-1
//   $EACH(e)  e once per lane, separated by commas, @ being the lane number
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/c_family.hpp"

namespace facet {

struct HelperText {
  const char* name;
  const char* types;  // "f32 f64", "float" (both), "signed", "unsigned", "narrow" (8, 16 bits), "wide", "int", "any"
  enum Shape { kScalar, kVector, kBoth } shape;
  const char* text;
  std::string (*make)(DType type, int lanes) = nullptr;  // instead of text: writes the template, when it depends on the lanes
};
using HelperTable = std::vector<HelperText>;

// How a target writes helpers. `tables` are searched in order; a vector helper without text is a loop over the scalar one.
struct PreludeDialect {
  std::string qualifier = "static inline";
  std::vector<const HelperTable*> tables;
  std::string vector_qualifier = "static inline";  // of functions that pass vectors
};

// The text of all helpers that `used` needs, callees first, sorted by name otherwise. Unknown helpers are added to `errors`.
std::string emit_helpers(const std::set<HelperUse>& used, const PreludeDialect& dialect, Diagnostics* errors);

// The typedefs of every vector type that `text` names: f32x16, and its unaligned form f32x16_u where used.
std::string vector_typedefs(const std::string& text);

// Splits "floor_div_i64x8" into its helper and type; false when the word has no typed suffix.
bool parse_helper(const std::string& word, HelperUse* use);

// exp, log, tanh, ... shared by all targets, over: mad, fma, sqrt, abs, bits, from_bits, copysign, round_even, scale2.
const HelperTable& math_helpers_f32();
const HelperTable& math_helpers_f64();  // angles included
const HelperTable& math_helpers_angle();

}  // namespace facet
