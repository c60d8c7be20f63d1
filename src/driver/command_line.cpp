// The command line's grammar and its help, by CLI11 (its only doorway). Every option is declared once here.
#include <algorithm>
#include <cstdio>
#include <set>

#include <CLI/CLI.hpp>

#include "facet/nearest.hpp"
#include "src/driver/help.hpp"
#include "src/driver/machines.hpp"
#include "src/driver/options.hpp"
#include "src/ops/op_table.hpp"

namespace facet {

namespace {

struct Row {
  const char* verb;
  const char* summary;
  const char* example;
  bool program;  // takes PROGRAM and the options that belong to every verb that reads one
};

constexpr Row kRows[] = {
    {"check", "Read a program, infer and validate everything, and sum it up.",
     "facet check mlp.json\nfacet check mlp.json --json\n\n"
     "Exit 0 means: every name, shape, dtype, subscript and data file is right for all allowed sizes.",
     true},
    {"show", "Print the program at a stage: graph, statements, deps, schedule, ast or source.",
     "facet show mlp.json --stage statements\nfacet show mlp.json --stage source --set N=128", true},
    {"schedule", "Print the recipe that the auto-scheduler chose, as an editable file.",
     "facet schedule mlp.json -o mlp.recipe.json\n# edit a tile size, write \"?\" where the scheduler shall fill in, then:\n"
     "facet run mlp.json --schedule mlp.recipe.json --verify",
     true},
    {"legal", "Is a recipe legal? If not, print the violated dependence as two instances.",
     "facet legal mlp.json --schedule mlp.recipe.json\nfacet legal mlp.json --schedule mlp.recipe.json --replay\n\n"
     "Exit 0: legal. Exit 1: refused, with the reason.",
     true},
    {"compile", "Write kernel sources, header, manifest, CMake file and a self-checking main.",
     "facet compile mlp.json -o mlp_kernel\ncmake -S mlp_kernel -B build && cmake --build build && build/mlp_check", true},
    {"run", "Compile, load and execute; inputs that are not given are drawn at random.",
     "facet run mlp.json --verify --time\nfacet run mlp.json --set N=200 --input x=x.npy --output results\n"
     "facet run mlp.json --target reference --output expected\n"
     "facet run mlp.json --target cuda --interpret --verify --set N=40",
     true},
    {"explain", "What was fused, tiled, promoted and mapped, and what was refused and why.",
     "facet explain mlp.json\nfacet explain mlp.json --json", true},
    {"tune", "Search recipes by measurement.", "facet tune mlp.json", true},
    {"diff", "What two recipes do differently.",
     "facet diff a.recipe.json b.recipe.json\nfacet diff a.recipe.json b.recipe.json --program mlp.json", false},
    {"fuzz", "Run random programs and recipes against the reference.",
     "facet fuzz --count 1000 --seed 7\nfacet fuzz --count 200 --compiled", false},
    {"doctor", "What this machine has and lacks: compilers, GPU, libraries, measured ceilings.", "facet doctor", false},
    {"selftest", "Check every operator's samples, and given programs, on the GPU (or in the GPU-mode interpreter).",
     "facet selftest --target cuda\nfacet selftest --target cuda examples/*/program.json\n"
     "facet selftest --sweep --sample 500 --seed 3\nfacet selftest --sweep --op conv\n"
     "facet selftest --time --family contraction",
     false},
    {"import", "Read a program from a C function (onnx is not read yet).",
     "facet import c stencil.c -o stencil.json\nfacet import c blas.c --function gemm -DUSE_DOUBLE -Iinclude --set n=2000 -o gemm.json\n"
     "facet compile gemm.json --c-function -o gemm_kernel\n\n"
     "The statements between #pragma scop and #pragma endscop; what is not affine is refused with its line, column and the nearest form.",
     false},
    {"completion", "Print a completion script for bash or zsh.",
     "source <(facet completion bash)\nfacet completion zsh > ~/.zsh/completions/_facet", false},
};

// Words that options take; the checks, the help and completion read them here.
const std::vector<std::string> kStages = {"graph", "statements", "deps", "schedule", "ast", "source"};
const std::vector<std::string> kSwitches = {"on", "off"};
const std::vector<std::string> kTargets = {"reference", "openmp", "cuda"};

std::vector<std::string> choices_of(const std::string& option) {
  if (option == "--stage") return kStages;
  if (option == "--fusion") return kSwitches;
  if (option == "--target") return kTargets;
  return {};
}

constexpr const char* kEpilogue =
    "A program is a JSON file: tensors, operators, index equations and loop nests. A first one:\n"
    "  {\"facet\": 1, \"name\": \"scale\", \"tensors\": {\"x\": {\"dtype\": \"f32\", \"shape\": [1000]}}, \"inputs\": [\"x\"],\n"
    "   \"ops\": [{\"op\": \"mul\", \"in\": [\"x\", 2.0], \"out\": \"y\"}], \"outputs\": [\"y\"]}\n"
    "  facet check scale.json            is it right?\n"
    "  facet run scale.json --verify     compile it, run it, compare it with the reference\n\n"
    "Exit status: 0 done, 1 the answer is no, 2 the input is wrong, 3 an outside part is missing, 4 a bug, 130 interrupted.\n"
    "facet VERB --help tells the options of a verb.";

std::set<std::string> operator_families() {
  std::set<std::string> names;
  for (const OpDef* op : all_ops()) names.insert(op->family);
  return names;
}

void list_option(CLI::App* app, const char* name, std::vector<std::string>* to, const char* help, const char* form) {
  app->add_option(name, *to, help)->allow_extra_args(false)->type_name(form);
}

void add_common(CLI::App* app, Options* o) {
  app->add_flag("--json", o->json, "Make stdout one JSON document (also for errors)");
  app->add_option("--machine", o->machine, "A machine description other than this machine's")->type_name("FILE");
  app->add_option("--threads", o->threads, "Threads to use (default: all this process may use)")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
  app->add_option("--compiler", o->compiler,
                  "C++ compiler to use instead of the in-process one; for cuda nvrtc, nvcc or clang++")
      ->type_name("CXX");
  app->add_option("--time-budget", o->time_budget_s, "Seconds for analysis, planning and printing (default 10)")
      ->type_name("S")
      ->check(CLI::Range(0.0, 1e6));
}

void add_program_options(CLI::App* app, Options* o) {
  app->add_option("program", o->files, "The program file")->required()->expected(1)->type_name("PROGRAM");
  app->add_option("--target", o->target,
                  "reference, openmp, openmp:ISA (compile: openmp:all), cuda or cuda:sm_NN (default openmp)")
      ->type_name("T");
  app->add_option("--schedule", o->schedule, "Use this recipe instead of planning one")->type_name("RECIPE");
  list_option(app, "--set", &o->set, "Give a symbol a value; may be repeated", "NAME=VALUE");
  list_option(app, "--numerics", &o->numerics,
              "reassociate=strict|tree|free, contract=, approximate=, denormals=", "KEY=VALUE");
  app->add_option("--fusion", o->fusion, "off: every op is its own kernel")
      ->type_name("on|off")
      ->check(CLI::IsMember(kSwitches));
  app->add_option("--emit", o->emit,
                  "compile: also write ptx, sass (cuda) or asm (openmp), comma-separated, and say what the kernels take")
      ->type_name("KINDS");
  app->add_flag("--measure", o->measure, "Measure candidates while planning");
}

void add_verb_options(CLI::App* app, const std::string& verb, Options* o) {
  if (verb == "show")
    app->add_option("--stage", o->stage, "graph, statements, deps, schedule, ast or source (default graph)")
        ->check(CLI::IsMember(kStages))
        ->type_name("STAGE");
  if (verb == "schedule" || verb == "tune")
    app->add_option("-o,--output", o->output, "Write the recipe here")->type_name("FILE");
  if (verb == "compile") app->add_option("-o,--output", o->output, "The folder to write")->required()->type_name("DIR");
  if (verb == "compile")
    app->add_flag("--c-function", o->c_function,
                  "Also write c_function.cpp: the C function that the program came from, to link in its place");
  if (verb == "run") {
    list_option(app, "--input", &o->inputs, "Read an input from a .npy file; may be repeated", "NAME=FILE");
    app->add_option("-o,--output", o->output, "Write each output as DIR/NAME.npy")->type_name("DIR");
    app->add_flag("--verify", o->verify, "Compare every output element with the reference");
    app->add_flag("--interpret", o->interpret,
                  "Run the kernels in the interpreter, which reports races, missing barriers, accesses outside and reads of "
                  "what nothing wrote; for cuda no GPU is needed; small sizes");
    app->add_flag("--time", o->time, "Measure the kernels: time, share of the roofline, the model, vectors, spills, counters");
  }
  if (verb == "legal")
    app->add_flag("--replay", o->replay, "Run the violated pair of instances in the original and in the refused order");
  if (verb == "run" || verb == "fuzz" || verb == "selftest" || verb == "legal")
    app->add_option("--seed", o->seed, "Seed of random inputs (default 1)")->type_name("S");
  if (verb == "explain") app->add_option("--html", o->html, "Write a page instead of text")->type_name("FILE");
  if (verb == "fuzz") app->add_flag("--compiled", o->compiled, "Also compile the kernels and run them on 1 and 2 threads");
  if (verb == "fuzz")
    app->add_option("--count", o->count, "Pairs of programs and recipes (default 100)")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000000000}));
  if (verb == "diff") {
    app->add_option("recipes", o->files, "Two recipes")->required()->expected(2)->type_name("R1 R2");
    app->add_option("--program", o->program, "Also tell what that changes for this program, by the scheduler's model")
        ->type_name("PROGRAM");
    app->add_option("--target", o->target, "With --program: openmp or cuda (default openmp)")->type_name("T");
    list_option(app, "--set", &o->set, "With --program: give a symbol a value; may be repeated", "NAME=VALUE");
  }
  if (verb == "selftest") {
    app->add_option("programs", o->files, "Program files to check as well")->expected(0, -1)->type_name("PROGRAM...");
    app->add_option("--target", o->target, "cuda runs on the GPU; anything else is the GPU-mode interpreter")->type_name("T");
    app->add_flag("--sweep", o->sweep,
                  "Every operator in every dtype and kind of shape; without a GPU also as compiled host kernels");
    app->add_option("--sample", o->sample, "Only N cases of the sweep, chosen by the seed")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000000000}));
    app->add_option("--part", o->part, "Only every N-th case, from the K-th on: the K-th of N parts")
        ->type_name("K/N")
        ->check([](const std::string& text) {
          std::int64_t k = 0, n = 0;
          return part_of(text, &k, &n) ? std::string() : "expected K/N with 1 <= K <= N <= 1000, such as 2/3";
        });
    app->add_option("--op", o->op, "Only this operator")->type_name("NAME");
    app->add_flag("--time", o->time,
                  "A table of every operator's time instead of checking it: ms, GFLOP/s, GB/s, share of the ceiling");
    app->add_option("--family", o->family, "With --time: only the operators of this family")
        ->type_name("NAME")
        ->check(CLI::IsMember(operator_families()));
  }
  if (verb == "import") {
    app->add_option("source", o->files, "The language, c, and the file")->required()->expected(2)->type_name("c FILE");
    app->add_option("-o,--output", o->output, "Write the program here")->type_name("FILE");
    app->add_option("--function", o->function, "The function to read (default: the one with #pragma scop)")->type_name("NAME");
    list_option(app, "-D,--define", &o->defines, "Define a macro; may be repeated", "NAME[=VALUE]");
    list_option(app, "-I,--include", &o->includes, "Look for headers here; may be repeated", "DIR");
    list_option(app, "--set", &o->set, "The size to plan for; may be repeated", "NAME=VALUE");
    list_option(app, "--range", &o->ranges, "The range of a size (default: all that keeps subscripts inside)", "NAME=MIN..MAX");
  }
  if (verb == "completion") app->add_option("shell", o->files, "bash or zsh")->required()->expected(1)->type_name("bash|zsh");
}

void declare(CLI::App* app, Options* options) {
  app->set_version_flag("--version", std::string("facet ") + FACET_VERSION, "Print the version");
  app->require_subcommand(1);
  app->footer(kEpilogue);
  for (const Row& row : kRows) {
    CLI::App* verb = app->add_subcommand(row.verb, row.summary);
    verb->footer(std::string("Examples:\n") + row.example);
    if (row.program) add_program_options(verb, options);
    add_verb_options(verb, row.verb, options);
    add_common(verb, options);
  }
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// "M=4" behind another value, as in `--set N=8 M=4`.
bool lone_assignment(const std::string& before, const std::string& word) {
  const bool after_option = before.rfind("-", 0) == 0 && before.find('=') == std::string::npos;
  return word[0] != '-' && word.find('=') != std::string::npos && !after_option;
}

// A nearest option or verb for the first word CLI11 could not place.
std::vector<std::string> suggestions(const CLI::App& app, int argc, const char* const* argv) {
  std::vector<std::string> verbs;
  for (const Row& row : kRows) verbs.push_back(row.verb);
  const CLI::App* verb = nullptr;
  for (int i = 1; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    if (verb && lone_assignment(argv[i - 1], argv[i]))
      return {"\"" + std::string(argv[i]) + "\" stands alone: each value has its option before it, --set " + argv[i]};
    if (!verb && word[0] != '-') {
      if (std::find(verbs.begin(), verbs.end(), word) == verbs.end()) return did_you_mean(word, verbs);
      verb = app.get_subcommand(word);
    } else if (word.rfind("--", 0) == 0) {
      std::vector<std::string> names = option_names(app);
      if (verb) names = option_names(*verb);
      if (std::find(names.begin(), names.end(), word) == names.end()) return did_you_mean(word, names);
    }
  }
  return {"facet --help lists the verbs; facet VERB --help lists its options"};
}

std::string help_text(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (chosen.empty()) return app.help() + "\n";
  std::string text = chosen[0]->help();
  const std::string usage = "Usage: " + chosen[0]->get_name();
  const std::size_t at = text.find(usage);
  if (at != std::string::npos) text.replace(at, usage.size(), "Usage: facet " + chosen[0]->get_name());
  return text + "\n";
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

bool part_of(const std::string& text, std::int64_t* k, std::int64_t* n) {
  constexpr std::int64_t kMost = 1000;
  int used = 0;
  long long first = 0, second = 0;
  if (text.size() > 9 || std::sscanf(text.c_str(), "%lld/%lld%n", &first, &second, &used) != 2) return false;
  *k = first;
  *n = second;
  return used == static_cast<int>(text.size()) && *k >= 1 && *k <= *n && *n <= kMost;
}

Result<CommandLine> parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  CLI::App app("facet compiles JSON tensor programs to fast OpenMP C++ and CUDA C++ by polyhedral scheduling.", "facet");
  declare(&app, &line.options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion&) {
    line.answer = std::string("facet ") + FACET_VERSION + "\n";
    return line;
  } catch (const CLI::CallForHelp&) {
    line.answer = help_text(app);
    return line;
  } catch (const CLI::ParseError& e) {
    const bool unknown = app.get_subcommands().empty() && argc > 1;
    const std::string problem = unknown ? "unknown verb \"" + std::string(argv[1]) + "\"" : one_line(e.what());
    return diagnose(Code::kBadCommandLine, {}, {problem}, suggestions(app, argc, argv));
  }
  line.options.verb = app.get_subcommands()[0]->get_name();
  if (line.options.measure)
    return diagnose(Code::kNotInThisVersion, {}, {"--measure"},
                    {"leave it out: the planner chooses by its model; run --time measures what it chose"});
  if (!is_target(line.options.target))
    return diagnose(Code::kBadTarget, {}, {line.options.target}, did_you_mean(line.options.target, kTargets));
  if (line.options.target == "reference" && !line.options.schedule.empty())
    return diagnose(Code::kBadCommandLine, {}, {"--schedule with --target reference"},
                    {"the reference runs the program's own order: leave one of the two out"});
  return line;
}

std::vector<VerbHelp> command_help() {
  Options unused;
  CLI::App app("facet", "facet");
  declare(&app, &unused);
  std::vector<VerbHelp> verbs;
  for (const Row& row : kRows) {
    VerbHelp help{row.verb, row.summary, row.example, "", {}};
    for (const CLI::Option* o : app.get_subcommand(row.verb)->get_options()) {
      if (o->get_positional()) {
        help.arguments = o->get_type_name();
        continue;
      }
      std::string names;
      for (const std::string& n : o->get_snames()) names += (names.empty() ? "-" : ",-") + n;
      for (const std::string& n : o->get_lnames()) names += (names.empty() ? "--" : ",--") + n;
      const bool takes_value = o->get_items_expected_max() > 0;
      const std::string longest = o->get_lnames().empty() ? "" : "--" + o->get_lnames()[0];
      help.options.push_back({names, takes_value ? o->get_type_name() : "", o->get_description(), choices_of(longest)});
    }
    verbs.push_back(std::move(help));
  }
  return verbs;
}

}  // namespace facet
