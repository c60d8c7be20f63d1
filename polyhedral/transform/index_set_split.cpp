// index_set_split: a loop's iterations before a point and those from it on become two loops.
//
//     for i in 0..N                          for i in 0..M
//       S(i)                       -->         S(i)
//                                            for i in M..N
//                                              S.from(i)                 index_set_split at M
//
// The point is a number or an affine expression of symbols, in the values that the loop counts. The second loop's statements
// are called S.from, so that later steps can treat the two differently: one part vectorized without guards, another on threads,
// a boundary apart from the interior. Known elsewhere as index-set splitting, loop splitting (Halide's specialize, TVM's loop
// partition). The near twin for a few first or last iterations of bounds that vary is `peel`. Refuses a point outside the loop,
// and arrays in buffers inside it. The order stays, so legality cannot fail unless a mark on the loop does.
// Source: Griebl, Feautrier and Lengauer, Index set splitting, IJPP 2000.
#include <cctype>

#include "polyhedral/affine.hpp"
#include "polyhedral/transform/split_instances.hpp"

namespace facet {

namespace {

// Sums and differences of integers, symbols and their products, as isl text; "" when it is anything else.
class PointText {
 public:
  PointText(const Scop& scop, const std::string& text) : scop_(scop), text_(text) {}

  std::string run() {
    bool good = term();
    while (good && at_ < text_.size()) {
      if (text_[at_] != '+' && text_[at_] != '-') return "";
      out_ += text_[at_++];
      good = term();
    }
    return good ? out_ : "";
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool factor() {
    skip();
    const std::size_t from = at_;
    const auto part = [&](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    while (at_ < text_.size() && part(text_[at_])) ++at_;
    const std::string word = text_.substr(from, at_ - from);
    skip();
    if (word.empty() || word.size() > 255) return false;
    if (std::isdigit(static_cast<unsigned char>(word[0]))) {
      if (word.find_first_not_of("0123456789") != std::string::npos || word.size() > 18) return false;
      out_ += word;
      return true;
    }
    for (const Symbol& s : scop_.symbols)
      if (s.name == word) {
        out_ += parameter_id(word);
        ++symbols_;
        return true;
      }
    return false;
  }

  bool term() {
    symbols_ = 0;
    skip();
    if (at_ < text_.size() && text_[at_] == '-') out_ += text_[at_++];
    if (!factor()) return false;
    while (at_ < text_.size() && text_[at_] == '*') {
      out_ += text_[at_++];
      if (!factor()) return false;
    }
    return symbols_ <= 1;
  }

  const Scop& scop_;
  const std::string& text_;
  std::size_t at_ = 0;
  int symbols_ = 0;
  std::string out_;
};

Schedule apply(const Schedule& schedule, Arguments& args) {
  const int s = args.statement();
  const TreePtr loop = args.loop(s, args.text("loop"));
  const std::int64_t number = args.integer("at", 0, -1'000'000'000'000);
  const std::string expression = args.text("expression");
  if (args.problem() || !loop) return schedule;
  if (args.has("at") == args.has("expression")) {
    args.bad("at", "one of `at` and `expression`", args.has("at") ? "both" : "neither");
    return schedule;
  }
  const std::string point = args.has("at") ? std::to_string(number) : PointText(*schedule.scop, expression).run();
  if (point.empty()) {
    args.bad("expression", "sums of integers, symbols and integer multiples of symbols", "\"" + expression + "\"");
    return schedule;
  }
  std::map<int, isl::set> apart;
  for (const auto& [statement, f] : loop->member) {
    const Statement& st = schedule.statement(statement);
    const isl::pw_aff bound = read_pw_aff(parameter_prefix(schedule.scop->symbols) + "{ " +
                                          tuple_text(statement_id(st.name), st.iterators.size()) + " -> [(" + point + ")] }");
    apart.emplace(statement, f.ge_set(bound));
  }
  return split_loop(schedule, args, loop, apart, false, ".from");
}

}  // namespace

extern const Transform kIndexSetSplit;
const Transform kIndexSetSplit = {
    "index_set_split",
    "A loop's iterations before a point and those from it on become two loops; the second one's statements are called S.from.",
    {{"statement", "statement", true, "a statement inside the loop"},
     {"loop", "loop", true, "the loop"},
     {"at", "int", false, "the first iteration of the second loop, in the loop's own values"},
     {"expression", "text", false, "instead of `at`: of symbols, as \"N - 4\""}},
    apply,
    {"for i in 0..N  S(i)", "for i in 0..M  S(i)\nfor i in M..N  S.from(i)", "loop partition (TVM)",
     "a point with all iterations on one side; arrays in buffers inside the loop: split first"}};

}  // namespace facet
