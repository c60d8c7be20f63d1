// ExportInterface: what the C functions around kernels have in common for every target: workspace carved into arrays, arguments
// checked, sizes and counts told. A target's printer adds how kernels are called.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/arena.hpp"
#include "codegen/c_family.hpp"
#include "codegen/interface.hpp"
#include "codegen/text_writer.hpp"
#include "facet/loop_ast.hpp"

namespace facet {

struct ExportStyle {
  std::string qualifier;       // of the helpers: "" or "inline "
  std::string scope;           // how they are named from outside: "" or "facet_p_host::"
  std::string workspace_note;  // a comment's line
  int alignment = 64;          // of the arrays in the workspace, bytes
};

// "a, b"
std::string comma_list(const std::vector<std::string>& items);

class ExportInterface {
 protected:
  // `embedded`: constants that stand in the source.
  ExportInterface(const LoopProgram& program, const Interface& face, const std::map<std::string, std::string>& embedded,
                  const std::set<std::string>& reserved, ExportStyle style);

  // Symbols in the expressions, and "const int64_t N = args.N;" for those.
  static std::set<std::string> names_in(const std::vector<ExprPtr>& list);
  void symbol_lines(const std::set<std::string>& wanted, const std::string& args = "args.");
  std::string size(const ExprPtr& e, Level level = Level::kTernary) { return sizes_.index_text(e, level); }
  std::string array(const std::string& buffer) { return "arrays." + fields_.of("buffer", buffer); }

  void print_carve();                    // struct Workspace, carve(); nothing when there is no workspace
  void print_check();                    // int check(args, workspace): a status
  void print_workspace_size();           // facet_NAME_workspace_bytes
  void print_ends(std::size_t kernels);  // facet_NAME_destroy, facet_NAME_kernel_count

  class Sizes : public CPrinter {
   public:
    using CPrinter::CPrinter;
  };

  const LoopProgram& program_;
  const Interface& face_;
  const std::map<std::string, std::string>& embedded_;
  const ExportStyle style_;
  const std::string prefix_;  // "facet_NAME_"
  std::vector<const Buffer*> workspace_;
  Sizes sizes_;
  NameTable fields_;
  TextWriter w_;

 private:
  std::string args() const { return "const " + face_.args_type() + "* args"; }
};

}  // namespace facet
