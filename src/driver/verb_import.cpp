// import: a C function becomes a program. The reading is the plugin's; what remains is to fit sizes, to find out which arrays
// are only given out, and to check the program as any other, so that what is written is right.
#include <algorithm>
#include <cstdlib>

#include "codegen/openmp/jit_client.hpp"
#include "src/driver/pipeline.hpp"
#include "src/driver/settings.hpp"
#include "src/driver/verbs.hpp"
#include "src/frontend/c_import/plugin.hpp"
#include "src/frontend/files.hpp"
#include "src/frontend/import_c.hpp"

namespace facet {

namespace {

std::vector<std::string> clang_flags(const Options& options) {
  std::vector<std::string> flags;
  for (const std::string& d : options.defines) flags.push_back("-D" + d);
  for (const std::string& i : options.includes) flags.push_back("-I" + i);
  return flags;
}

Result<std::int64_t> number(const std::string& option, const std::string& form, const std::string& text) {
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != 0 || text.size() > 18) return diagnose(Code::kBadAssignment, {}, {option, form, text});
  return static_cast<std::int64_t>(value);
}

Result<CSizes> sizes_of(const Options& options) {
  CSizes sizes;
  for (const std::string& text : options.set) {
    const auto parts = split_assignment("--set", "NAME=VALUE", text);
    if (!parts) return parts.errors();
    const Result<std::int64_t> value = number("--set", "NAME=VALUE", parts->second);
    if (!value) return value.errors();
    sizes.values[parts->first] = *value;
  }
  const std::string form = "NAME=MIN..MAX";
  for (const std::string& text : options.ranges) {
    const auto parts = split_assignment("--range", form, text);
    if (!parts) return parts.errors();
    const std::size_t dots = parts->second.find("..");
    if (dots == std::string::npos) return diagnose(Code::kBadAssignment, {}, {"--range", form, text});
    const Result<std::int64_t> low = number("--range", form, parts->second.substr(0, dots));
    const Result<std::int64_t> high = number("--range", form, parts->second.substr(dots + 2));
    if (!low) return low.errors();
    if (!high) return high.errors();
    if (*low > *high) return diagnose(Code::kBadAssignment, {}, {"--range", form, text});
    sizes.ranges[parts->first] = {*low, *high};
  }
  return sizes;
}

Result<std::string> read_answer(const std::string& file, const Options& options) {
  const Result<std::string> text = read_text_file(file);  // what is no text file is told in our own words
  if (!text) return text.errors();
  if (const std::size_t at = text->find('\0'); at != std::string::npos) {
    Place place;
    place.file = file;
    place.line = static_cast<int>(std::count(text->begin(), text->begin() + static_cast<long>(at), '\n')) + 1;
    place.column = static_cast<int>(at - (text->rfind('\n', at) == std::string::npos ? 0 : text->rfind('\n', at) + 1)) + 1;
    return diagnose(Code::kCSyntax, place, {"the file holds a zero byte: it is no text"}, {"give the C source file"});
  }
  if (!jit_problem().empty())
    return diagnose(Code::kImportMissing, {}, {jit_problem()}, {"scripts/setup installs what it is built from"});
  const auto read = reinterpret_cast<ReadCFunction>(jit_plugin_function(kReadCName));
  if (!read) return diagnose(Code::kImportMissing, {}, {"the plugin is of another version"});
  const std::vector<std::string> flags = clang_flags(options);
  std::vector<const char*> pointers;
  for (const std::string& f : flags) pointers.push_back(f.c_str());
  char* answer = read(file.c_str(), options.function.c_str(), pointers.data(), static_cast<int>(pointers.size()));
  std::string out = answer ? answer : "";
  std::free(answer);
  return out;
}

bool is_right(const CRegion& region, const std::set<std::string>& whole, const Options& options) {
  Ledger ledger;
  return check_text(write_json(program_of(region, whole)), "", options.time_budget_s, &ledger).ok() && ledger.empty();
}

// Arrays that the region sets everywhere before it reads them need not be given.
std::set<std::string> written_whole(const CRegion& region, const Options& options) {
  std::set<std::string> whole;
  for (const CTensor& t : region.tensors) {
    if (!t.written || t.scratch || t.extents.empty()) continue;
    std::set<std::string> more = whole;
    more.insert(t.name);
    if (is_right(region, more, options)) whole = std::move(more);
  }
  return whole;
}

Outcome outcome_of(const CRegion& region, const std::string& text, const Program& program, const Options& options) {
  Outcome outcome;
  outcome.json.add("program", JsonValue::of(program.name)).add("function", JsonValue::of(region.function.name));
  outcome.json.add("inputs", JsonValue::array_of(program.inputs)).add("outputs", JsonValue::array_of(program.outputs));
  if (options.output.empty()) {
    outcome.text = text;
    return outcome;
  }
  const auto names = [](const std::vector<std::string>& list) {
    std::string out;
    for (const std::string& n : list) out += (out.empty() ? "" : ", ") + n;
    return out.empty() ? std::string("nothing") : out;
  };
  outcome.text = "wrote " + options.output + ": " + region.function.prototype + "\n";
  for (const CSymbol& s : region.symbols)
    outcome.text += "  symbol " + s.name + " in " + std::to_string(s.min) + ".." + std::to_string(s.max) + ", planned for " +
                    std::to_string(s.value) + "\n";
  for (const std::string& a : region.assumptions) outcome.text += "  assumes " + a + "\n";
  outcome.text += "  reads " + names(program.inputs) + "; gives " + names(program.outputs) + "\n";
  if (!region.function.impossible.empty()) outcome.text += "  no drop-in function: " + region.function.impossible + "\n";
  return outcome;
}

// The program is not written, so what is wrong with it is told of the C file: by its line, or by the region's first.
Diagnostics of_the_c_file(const Diagnostics& errors, const CRegion& region, const std::string& file) {
  static const std::string kCode = "/ops/0/code/";
  Diagnostics told;
  for (Diagnostic d : errors) {
    const std::string pointer = d.place.pointer;
    const bool of_line = pointer.rfind(kCode, 0) == 0;
    const std::size_t line = of_line ? static_cast<std::size_t>(std::strtoul(pointer.c_str() + kCode.size(), nullptr, 10)) : 0;
    if (!of_line && !pointer.empty()) d.notes.push_back("in the program that the region becomes, at " + pointer);
    d.place = line_place(region, line, file);
    told.push_back(std::move(d));
  }
  return told;
}

}  // namespace

Result<Outcome> verb_import(const Options& options) {
  const std::string& language = options.files[0];
  if (language != "c")
    return diagnose(
        Code::kNoImport, {}, {language},
        {language == "onnx"
             ? "ONNX files are not read in this version; facet's operators have ONNX's names and meanings, so that a "
               "graph can be written down as a program (docs/operators.md)"
             : "facet import c FILE -o PROGRAM"});
  const Result<CSizes> sizes = sizes_of(options);
  if (!sizes) return sizes.errors();
  const std::string& file = options.files[1];
  const Result<std::string> answer = read_answer(file, options);
  if (!answer) return answer.errors();
  Result<CRegion> region = read_c_region(*answer, file);
  if (!region) return region.errors();
  const CRegion as_read = *region;
  const Result<Done> fitted = fit_sizes(*sizes, false, &*region);
  if (!fitted) return fitted.errors();
  if (!is_right(*region, {}, options)) {  // perhaps the subscripts under conditions limit the sizes
    CRegion narrower = as_read;
    if (fit_sizes(*sizes, true, &narrower) && is_right(narrower, {}, options)) *region = std::move(narrower);
  }
  const std::string text = write_json(program_of(*region, written_whole(*region, options)));
  const Result<Program> program = check_text(text, file, options.time_budget_s, nullptr);
  if (!program) return of_the_c_file(program.errors(), *region, file);
  if (!options.output.empty()) {
    const Result<Done> written = write_file(options.output, text);
    if (!written) return written.errors();
  }
  Outcome outcome = outcome_of(*region, text, *program, options);
  if (options.output.empty()) {
    const Result<JsonDocument> document = parse_json(text, "");
    if (document) outcome.json = document->root;
  }
  return outcome;
}

}  // namespace facet
