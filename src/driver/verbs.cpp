// The list of verbs that this version has.
#include "src/driver/verbs.hpp"

namespace facet {

const std::vector<Verb>& all_verbs() {
  static const std::vector<Verb> verbs = {{"check", verb_check},
                                          {"show", verb_show},
                                          {"schedule", verb_schedule},
                                          {"legal", verb_legal},
                                          {"explain", verb_explain},
                                          {"compile", verb_compile},
                                          {"run", verb_run},
                                          {"diff", verb_diff},
                                          {"fuzz", verb_fuzz},
                                          {"doctor", verb_doctor},
                                          {"selftest", verb_selftest},
                                          {"import", verb_import},
                                          {"completion", verb_completion}};
  return verbs;
}

}  // namespace facet
