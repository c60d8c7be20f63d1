// Completion scripts and the reference page, from the command line's own table.
#include <sstream>

#include "src/driver/help.hpp"

namespace facet {

namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : between) + w;
  return text;
}

std::string option_words(const VerbHelp& verb) {
  std::string text;
  for (const OptionHelp& o : verb.options) text += (text.empty() ? "" : " ") + joined(split(o.names, ','), " ");
  return text;
}

std::string verb_words(const std::vector<VerbHelp>& verbs) {
  std::string text;
  for (const VerbHelp& v : verbs) text += v.name + " ";
  return text + "--help --version";
}

// Every option that takes a value, once.
std::vector<OptionHelp> valued_options(const std::vector<VerbHelp>& verbs) {
  std::vector<OptionHelp> list;
  for (const VerbHelp& v : verbs)
    for (const OptionHelp& o : v.options) {
      bool known = o.form.empty();
      for (const OptionHelp& other : list) known = known || other.names == o.names;
      if (!known) list.push_back(o);
    }
  return list;
}

bool takes_path(const OptionHelp& o) { return o.form == "FILE" || o.form == "DIR" || o.form == "RECIPE" || o.form == "CXX"; }

std::string bash_script(const std::vector<VerbHelp>& verbs) {
  std::string text =
      "# bash completion of facet; written by `facet completion bash`.\n"
      "_facet() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"" +
      verb_words(verbs) +
      "\" -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"$before\" in\n";
  for (const OptionHelp& o : valued_options(verbs)) {
    const std::string names = joined(split(o.names, ','), "|");
    if (!o.choices.empty())
      text += "    " + names + ") COMPREPLY=($(compgen -W \"" + joined(o.choices, " ") + "\" -- \"$word\")); return ;;\n";
    else if (takes_path(o))
      text += "    " + names + ") COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n";
    else
      text += "    " + names + ") return ;;\n";
  }
  text +=
      "  esac\n  if [ \"${word#-}\" = \"$word\" ]; then\n    COMPREPLY=($(compgen -f -- \"$word\"))\n    return\n  fi\n  case \"$verb\" in\n";
  for (const VerbHelp& v : verbs)
    text += "    " + v.name + ") COMPREPLY=($(compgen -W \"" + option_words(v) + "\" -- \"$word\")) ;;\n";
  return text + "  esac\n}\ncomplete -o filenames -F _facet facet\n";
}

// Without the characters that _arguments gives a meaning.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '[' ? '(' : c == ']' ? ')' : c == ':' ? ',' : c == '\'' || c == '"' ? '`' : c;
  return out;
}

std::string zsh_option(const OptionHelp& o) {
  std::string text;
  for (const std::string& name : split(o.names, ',')) {
    text += " '*" + name + "[" + plain(o.text) + "]";
    if (!o.choices.empty())
      text += ":" + plain(o.form) + ":(" + joined(o.choices, " ") + ")";
    else if (takes_path(o))
      text += ":" + plain(o.form) + ":_files";
    else if (!o.form.empty())
      text += ":" + plain(o.form) + ":";
    text += "'";
  }
  return text;
}

std::string zsh_script(const std::vector<VerbHelp>& verbs) {
  std::string text =
      "#compdef facet\n# zsh completion of facet; written by `facet completion zsh`.\n_facet() {\n  local -a verbs\n  verbs=(\n";
  for (const VerbHelp& v : verbs) text += "    '" + v.name + ":" + plain(v.summary) + "'\n";
  text += "  )\n  if (( CURRENT == 2 )); then\n    _describe 'verb' verbs\n    return\n  fi\n  case $words[2] in\n";
  for (const VerbHelp& v : verbs) {
    text += "    " + v.name + ") _arguments";
    for (const OptionHelp& o : v.options) text += zsh_option(o);
    text += " '*:file:_files' ;;\n";
  }
  return text + "  esac\n}\n_facet \"$@\"\n";
}

}  // namespace

std::string completion_script(const std::string& shell, const std::vector<VerbHelp>& verbs) {
  return shell == "bash" ? bash_script(verbs) : shell == "zsh" ? zsh_script(verbs) : "";
}

std::string commands_markdown(const std::vector<VerbHelp>& verbs) {
  std::string text =
      "# Commands\n"
      "\n"
      "This page is written from the command line's own table; a test compares the two (`FACET_BLESS=1` writes it anew). `facet VERB --help`\n"
      "prints the same.\n"
      "\n"
      "stdout carries the result, stderr diagnostics and progress; `--json` makes stdout one JSON document. Exit status: 0 done, 1 the answer\n"
      "is no, 2 the input is wrong, 3 an outside part is missing, 4 a bug, 130 interrupted ([errors.md](errors.md) lists every message).\n"
      "Files are written under a temporary name and renamed; the cache of compiled kernels is locked against concurrent runs.\n"
      "`source <(facet completion bash)` completes verbs and options; an installed tool brings the scripts along.\n";
  for (const VerbHelp& v : verbs) {
    text += "\n## `facet " + v.name + (v.arguments.empty() ? "" : " " + v.arguments) + "`\n\n" + v.summary + "\n\n```\n" +
            v.example + "\n```\n\n| option | meaning |\n| --- | --- |\n";
    for (const OptionHelp& o : v.options) {
      std::string form;  // a bar would end the cell
      for (const char c : o.form.empty() ? "" : " " + o.form) form += c == '|' ? std::string("\\|") : std::string(1, c);
      std::string meaning;
      for (const char c : o.text) meaning += c == '|' ? std::string("\\|") : std::string(1, c);
      if (!o.choices.empty()) meaning += ": " + joined(o.choices, ", ");
      text += "| `" + joined(split(o.names, ','), "`, `") + "`" + form + " | " + meaning + " |\n";
    }
  }
  return text;
}

}  // namespace facet
