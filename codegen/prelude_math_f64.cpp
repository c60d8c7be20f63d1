// Double-precision mathematics.
#include "codegen/prelude.hpp"

namespace facet {

const HelperTable& math_helpers_f64() {
  static const HelperTable table = {};
  return table;
}

}  // namespace facet
