// Reads AT&T assembly of x86-64, as g++ and Clang write it.
//
// A function is what stands between its label and `.size`. A jump to a label at or before itself closes a loop, the lines
// between the two; a loop that holds no other is innermost. Instructions are told by their spelling: zmm and ymm registers are
// vectors whatever is done to them, xmm registers also hold scalars, so that only packed arithmetic and whole moves count.
//
// Clang writes "64-byte Spill" and "64-byte Folded Reload" behind what its register allocator put in, and these comments are
// believed. g++ writes none: there a spill is a vector register that is stored to a fixed address of the frame which the same
// function also loads from; an element of a local array at a constant place is counted with them.
//
// A kernel's functions carry its name: itself, what was outlined for threads (k0.omp_outlined, k0._omp_fn.0), cold parts. A
// short serial kernel may be gone, inlined into facet_NAME_run; where it is the only one, that function is taken for it.
#include "codegen/openmp/object_code.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

namespace facet {

namespace {

struct Instruction {
  std::string mnemonic, operands, comment;
};

struct Function {
  std::string name;
  std::vector<Instruction> code;
  std::map<std::string, std::size_t> labels;  // the next instruction's place
};

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
bool begins(const std::string& text, std::string_view part) { return text.rfind(part, 0) == 0; }

Instruction instruction_of(const std::string& line) {
  Instruction i;
  const std::size_t comment = line.find('#');
  if (comment != std::string::npos) i.comment = line.substr(comment);
  std::istringstream words(line.substr(0, comment));
  words >> i.mnemonic;
  std::getline(words, i.operands);
  i.operands.erase(std::remove_if(i.operands.begin(), i.operands.end(), [](char c) { return c == ' ' || c == '\t'; }),
                   i.operands.end());
  return i;
}

std::vector<Function> functions_of(const std::string& assembly) {
  std::vector<Function> list;
  std::set<std::string> names;  // of functions, by their `.type`
  bool inside = false;
  std::istringstream lines(assembly);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || line[first] == '#') continue;
    const std::string text = line.substr(first);
    if (begins(text, ".type") && holds(text, "@function")) {
      std::string name = instruction_of(text).operands;
      names.insert(name.substr(0, name.find(',')));
    } else if (begins(text, ".size")) {
      inside = false;
    } else if (const std::size_t colon = text.find(':'); first == 0 && colon != std::string::npos) {
      const std::string label = text.substr(0, colon);
      if (names.count(label)) {
        list.push_back({label, {}, {}});
        inside = true;
      } else if (inside) {
        list.back().labels[label] = list.back().code.size();
      }
    } else if (inside && text[0] != '.') {
      list.back().code.push_back(instruction_of(text));
    }
  }
  return list;
}

using Range = std::pair<std::size_t, std::size_t>;  // first and last instruction

std::vector<Range> innermost_loops(const Function& f) {
  std::set<Range> loops;
  for (std::size_t i = 0; i < f.code.size(); ++i) {
    if (f.code[i].mnemonic[0] != 'j') continue;
    const auto target = f.labels.find(f.code[i].operands);
    if (target != f.labels.end() && target->second <= i) loops.insert({target->second, i});
  }
  std::vector<Range> innermost;
  for (const Range& l : loops)
    if (std::none_of(loops.begin(), loops.end(),
                     [&](const Range& o) { return o != l && l.first <= o.first && o.second <= l.second; }))
      innermost.push_back(l);
  return innermost;
}

int register_bytes(const Instruction& i) {
  return holds(i.operands, "%zmm") ? 64 : holds(i.operands, "%ymm") ? 32 : holds(i.operands, "%xmm") ? 16 : 0;
}

// Bytes of the vectors that the instruction works on; 0 for scalar ones.
int packed_bytes(const Instruction& i) {
  const int bytes = register_bytes(i);
  if (bytes != 16) return bytes;
  const std::string name = i.mnemonic[0] == 'v' ? i.mnemonic.substr(1) : i.mnemonic;
  if (begins(name, "mov"))
    return holds(i.operands, "(") && (begins(name, "movup") || begins(name, "movap") || begins(name, "movdq")) ? bytes : 0;
  const std::string type = name.size() > 2 ? name.substr(name.size() - 2) : "";
  for (const char* arithmetic : {"add", "sub", "mul", "div", "max", "min", "sqrt", "fmadd", "fmsub", "fnmadd", "fnmsub"})
    if ((begins(name, arithmetic) && (type == "ps" || type == "pd")) || begins(name, "p" + std::string(arithmetic)))
      return bytes;
  return 0;
}

// "-72(%rbp)", "128(%rsp)": the operand at a fixed place of the frame; "" when there is none.
std::string frame_operand(const Instruction& i) {
  for (const char* base : {"(%rsp)", "(%rbp)"}) {
    const std::size_t at = i.operands.find(base);
    if (at == std::string::npos) continue;
    const std::size_t comma = i.operands.rfind(',', at);
    const std::size_t start = comma == std::string::npos ? 0 : comma + 1;
    return i.operands.substr(start, at + 6 - start);
  }
  return "";
}

bool stores(const Instruction& i) {
  return holds(i.mnemonic, "mov") && !i.operands.empty() && i.operands.back() == ')' && i.operands[0] == '%';
}

std::int64_t moved_bytes(const Instruction& i) {
  if (i.comment.size() > 2 && holds(i.comment, "-byte")) return std::max(0, std::atoi(i.comment.c_str() + 2));
  const std::string type = i.mnemonic.size() > 2 ? i.mnemonic.substr(i.mnemonic.size() - 2) : "";
  return type == "ss" ? 4 : type == "sd" ? 8 : register_bytes(i);
}

class SpillReader {
 public:
  SpillReader(const Function& f, bool marked) : marked_(marked) {
    std::set<std::string> stored, loaded;
    for (const Instruction& i : f.code)
      if (const std::string place = frame_operand(i); register_bytes(i) > 0 && !place.empty())
        (stores(i) ? stored : loaded).insert(place);
    std::set_intersection(stored.begin(), stored.end(), loaded.begin(), loaded.end(), std::inserter(slots_, slots_.end()));
  }
  void count(const Instruction& i, ObjectCode* code) const {
    if (register_bytes(i) == 0 || !is_spill(i)) return;
    (stores(i) ? code->spill_store_bytes : code->spill_load_bytes) += moved_bytes(i);
  }

 private:
  bool is_spill(const Instruction& i) const {
    return marked_ ? holds(i.comment, "Spill") || holds(i.comment, "Reload") : slots_.count(frame_operand(i)) > 0;
  }
  bool marked_;
  std::set<std::string> slots_;
};

void add(const Function& f, bool marked, ObjectCode* code) {
  const SpillReader spills(f, marked);
  for (const Range& loop : innermost_loops(f)) {
    int widest = 0;
    for (std::size_t i = loop.first; i <= loop.second; ++i) {
      widest = std::max(widest, packed_bytes(f.code[i]));
      spills.count(f.code[i], code);
    }
    ++code->loops;
    code->vector_loops += widest > 0 ? 1 : 0;
    code->vector_bytes = std::max(code->vector_bytes, widest);
  }
}

}  // namespace

std::vector<std::optional<ObjectCode>> object_code(const Module& module, const std::string& assembly) {
  std::vector<std::optional<ObjectCode>> codes(module.kernels.size());
  if (!holds(assembly, "%rsp") && !holds(assembly, "%rdi")) return codes;
  const bool marked = holds(assembly, "# %bb.0");
  const std::vector<Function> functions = functions_of(assembly);
  for (std::size_t k = 0; k < codes.size(); ++k) {
    const std::string& name = module.kernels[k].function;
    const std::string mangled = std::to_string(name.size()) + name + "E";
    for (const Function& f : functions)
      if (holds(f.name, mangled)) {
        if (!codes[k]) codes[k].emplace();
        add(f, marked, &*codes[k]);
      }
  }
  if (std::count(codes.begin(), codes.end(), std::nullopt) != 1) return codes;
  for (const Function& f : functions)
    if (f.name == "facet_" + module.name + "_run") {
      std::optional<ObjectCode>& missing = *std::find(codes.begin(), codes.end(), std::nullopt);
      add(f, marked, &missing.emplace());
      break;
    }
  return codes;
}

std::string to_text(const ObjectCode& code) {
  std::string text = code.loops == 0 ? "no loops" : std::to_string(code.loops) + " innermost loops, scalar";
  if (code.vector_loops > 0)
    text = std::to_string(8 * code.vector_bytes) + "-bit vectors in " + std::to_string(code.vector_loops) + " of " +
           std::to_string(code.loops) + " innermost loops";
  if (code.spill_store_bytes + code.spill_load_bytes == 0) return text + ", no spills";
  return text + ", " + std::to_string(code.spill_store_bytes) + " bytes of spill stores, " +
         std::to_string(code.spill_load_bytes) + " of loads";
}

}  // namespace facet
