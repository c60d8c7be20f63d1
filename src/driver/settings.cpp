// --set and --numerics against the program (contract P8, V9, V11).
#include "src/driver/settings.hpp"

#include <charconv>

#include "facet/nearest.hpp"
#include "src/driver/pipeline.hpp"

namespace facet {

namespace {

std::string sizes_text(const SymbolValues& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes) text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(value);
  return text;
}

bool read_switch(const std::string& value, bool* out) {
  if (value != "true" && value != "false") return false;
  *out = value == "true";
  return true;
}

}  // namespace

Result<std::pair<std::string, std::string>> split_assignment(const std::string& option, const std::string& form,
                                                             const std::string& text) {
  const std::size_t equal = text.find('=');
  if (equal == std::string::npos || equal == 0 || equal + 1 == text.size())
    return diagnose(Code::kBadAssignment, {}, {option, form, text});
  return std::make_pair(text.substr(0, equal), text.substr(equal + 1));
}

Result<SymbolValues> sizes_in_force(const Program& program, const std::vector<std::string>& set) {
  SymbolValues sizes;
  std::vector<std::string> names;
  for (const Symbol& s : program.symbols) {
    sizes[s.name] = s.value;
    names.push_back(s.name);
  }
  for (const std::string& text : set) {
    const auto parts = split_assignment("--set", "NAME=VALUE", text);
    if (!parts) return parts.errors();
    const auto& [name, value] = *parts;
    std::int64_t number = 0;
    const std::from_chars_result r = std::from_chars(value.data(), value.data() + value.size(), number);
    if (r.ec != std::errc() || r.ptr != value.data() + value.size())
      return diagnose(Code::kBadAssignment, {}, {"--set", "NAME=VALUE with an integer value", text});
    if (!sizes.count(name)) return diagnose(Code::kUnknownSymbol, {}, {name}, did_you_mean(name, names));
    for (const Symbol& s : program.symbols)
      if (s.name == name && (number < s.min || number > s.max))
        return diagnose(Code::kSymbolOutsideRange, s.place, {name, value, std::to_string(s.min), std::to_string(s.max)});
    sizes[name] = number;
  }
  for (const ExprPtr& a : program.assumptions)
    if (evaluate_index(a, sizes) == 0)
      return diagnose(Code::kAssumptionBroken, {}, {to_text(a)}, {"the sizes are " + sizes_text(sizes)});
  return sizes;
}

Result<Done> override_numerics(const std::vector<std::string>& settings, Numerics* n) {
  for (const std::string& text : settings) {
    const auto parts = split_assignment("--numerics", "KEY=VALUE", text);
    if (!parts) return parts.errors();
    const auto& [key, value] = *parts;
    bool good = true;
    if (key == "reassociate") {
      good = value == "strict" || value == "tree" || value == "free";
      n->reassociate = value == "strict" ? Numerics::Reassociate::kStrict
                       : value == "free" ? Numerics::Reassociate::kFree
                                         : Numerics::Reassociate::kTree;
    } else if (key == "contract") {
      good = read_switch(value, &n->contract);
    } else if (key == "approximate") {
      good = read_switch(value, &n->approximate);
    } else if (key == "denormals") {
      good = value == "keep" || value == "flush";
      n->flush_denormals = value == "flush";
    } else {
      return diagnose(Code::kBadAssignment, {}, {"--numerics", "reassociate, contract, approximate or denormals", text},
                      did_you_mean(key, {"reassociate", "contract", "approximate", "denormals"}));
    }
    if (!good)
      return diagnose(
          Code::kBadAssignment, {},
          {"--numerics", "reassociate=strict|tree|free, contract=true|false, approximate=true|false, denormals=keep|flush",
           text});
  }
  return Done{};
}

}  // namespace facet
