// Names that the prelude and the printed program use themselves.
#include <sstream>

#include "src/run/naive/prelude.hpp"

namespace facet::naive {

const std::set<std::string>& prelude_words() {
  static const std::set<std::string> words = [] {
    std::istringstream list(
        "Real Facts Whole Array Scalar Sum Spread moved g_seed kSpreadRuns compute give Product Extremum Fold ArgReal "
        "ArgWhole kInf rounded exact finish alike corners max_of min_of continuous max min abs fmax fmin math step wave "
        "sigmoid_of sign_of pow remainder worse wrapped compare less less_equal greater greater_equal equal not_equal "
        "convert is_nan is_inf select both either to_real to_real_unsigned saturated to_whole quotient residue "
        "floor_quotient floor_residue power calc add sub mul neg shift_left shift_right floor_div floor_mod smaller "
        "larger inside round_up stored added store accumulate fold gather g_gathers g_first_gather wrapped_gather "
        "element_name half_value brain_value run Naive std naive_impl k symbols inputs outputs bounds");
    std::set<std::string> set;
    for (std::string word; list >> word;) set.insert(word);
    return set;
  }();
  return words;
}

}  // namespace facet::naive
