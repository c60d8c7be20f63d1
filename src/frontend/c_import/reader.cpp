// The walk's outside: complaints with their places, lines of the text, and the order of the reading.
#include "src/frontend/c_import/reader.hpp"

#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"

namespace facet::c_import {

namespace {

constexpr std::size_t kExcerptLimit = 200;  // as other messages (contract P3)
constexpr std::size_t kMostProblems = 50;

std::string one_line(llvm::StringRef text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out += blank ? ' ' : c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out.substr(0, kExcerptLimit);
}

class UsageVisitor : public clang::RecursiveASTVisitor<UsageVisitor> {
 public:
  explicit UsageVisitor(Usage* usage) : usage_(*usage) {}

  bool TraverseCompoundStmt(clang::CompoundStmt* s) {
    path_.push_back(s);
    const bool ok = RecursiveASTVisitor::TraverseCompoundStmt(s);
    path_.pop_back();
    return ok;
  }
  bool TraverseForStmt(clang::ForStmt* s) {
    const clang::ValueDecl* outer = loop_;
    const auto* init = llvm::dyn_cast_or_null<clang::BinaryOperator>(s->getInit());
    const auto* name = init && init->getOpcode() == clang::BO_Assign
                           ? llvm::dyn_cast<clang::DeclRefExpr>(init->getLHS()->IgnoreParenImpCasts())
                           : nullptr;
    const auto* declared = llvm::dyn_cast_or_null<clang::DeclStmt>(s->getInit());
    if (name) usage_.loop_variables.insert(name->getDecl());
    // What the header does to its own variable is no change; the body may change nothing it counts with.
    loop_ = name                                   ? name->getDecl()
            : declared && declared->isSingleDecl() ? llvm::dyn_cast<clang::ValueDecl>(declared->getSingleDecl())
                                                   : nullptr;
    bool ok = TraverseStmt(s->getInit()) && TraverseStmt(s->getCond()) && TraverseStmt(s->getInc());
    loop_ = outer;
    return ok && TraverseStmt(s->getBody());
  }
  bool VisitBinaryOperator(clang::BinaryOperator* e) {
    if (e->isAssignmentOp()) change(e->getLHS());
    return true;
  }
  bool VisitUnaryOperator(clang::UnaryOperator* e) {
    if (e->isIncrementDecrementOp() || e->getOpcode() == clang::UO_AddrOf) change(e->getSubExpr());
    return true;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr* e) {
    usage_.paths[e->getDecl()].push_back(path_);
    return true;
  }

 private:
  void change(const clang::Expr* e) {
    const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(e->IgnoreParenImpCasts());
    if (name && name->getDecl() != loop_) usage_.changed.insert(name->getDecl());
  }

  Usage& usage_;
  const clang::ValueDecl* loop_ = nullptr;
  std::vector<const clang::Stmt*> path_;
};

}  // namespace

Usage usage_of(const RegionOf& region) {
  Usage usage;
  UsageVisitor visitor(&usage);
  for (const clang::Stmt* s : region.before) visitor.TraverseStmt(const_cast<clang::Stmt*>(s));
  usage.paths.clear();  // only mentions inside the region count
  for (const clang::Stmt* s : region.statements) visitor.TraverseStmt(const_cast<clang::Stmt*>(s));
  return usage;
}

RegionReader::RegionReader(clang::ASTContext& context, RegionOf region)
    : context_(context), sources_(context.getSourceManager()), region_(std::move(region)), usage_(usage_of(region_)) {}

Answer RegionReader::run() {
  answer_.function = region_.function->getNameAsString();
  answer_.no_function = region_.outside;
  const clang::CharSourceRange head =
      clang::CharSourceRange::getCharRange(sources_.getExpansionLoc(region_.function->getBeginLoc()),
                                           sources_.getExpansionLoc(region_.function->getBody()->getBeginLoc()));
  answer_.prototype = one_line(clang::Lexer::getSourceText(head, sources_, context_.getLangOpts()));
  if (!region_.function->getReturnType()->isVoidType() && answer_.no_function.empty())
    answer_.no_function = "it returns a value";
  reserve_outer_names();
  hoist_declarations();
  for (const clang::Stmt* s : region_.statements) statement(s);
  describe_arguments();
  return std::move(answer_);
}

std::string RegionReader::quote(clang::SourceRange range) const {
  const clang::CharSourceRange in_file =
      clang::CharSourceRange::getTokenRange(sources_.getFileLoc(range.getBegin()), sources_.getFileLoc(range.getEnd()));
  return one_line(clang::Lexer::getSourceText(in_file, sources_, context_.getLangOpts()));
}

std::nullopt_t RegionReader::refuse(const char* code, clang::SourceRange culprit, Notes args, Notes notes) {
  if (answer_.problems.size() >= kMostProblems) return std::nullopt;
  const clang::SourceLocation at = sources_.getFileLoc(culprit.getBegin());
  Problem p;
  p.code = code;
  p.file = sources_.getFilename(at).str();
  p.line = static_cast<int>(sources_.getSpellingLineNumber(at));
  p.column = static_cast<int>(sources_.getSpellingColumnNumber(at));
  for (const Problem& other : answer_.problems)
    if (other.code == p.code && other.line == p.line && other.column == p.column) return std::nullopt;
  const std::pair<clang::FileID, unsigned> where = sources_.getDecomposedLoc(at);
  const llvm::StringRef text = sources_.getBufferData(where.first);
  const std::size_t start = where.second - static_cast<unsigned>(p.column - 1);
  p.excerpt = text.substr(start, text.find_first_of("\r\n", start) - start).substr(0, kExcerptLimit).str();
  p.args = std::move(args);
  p.notes = std::move(notes);
  answer_.problems.push_back(std::move(p));
  return std::nullopt;
}

// A new line of text, indented as in the file, where the file has one; else the statement follows on the same line.
void RegionReader::begin(clang::SourceLocation at) {
  const clang::SourceLocation in_file = sources_.getExpansionLoc(at);
  const int line = static_cast<int>(sources_.getSpellingLineNumber(in_file));
  const unsigned column = sources_.getSpellingColumnNumber(in_file);
  if (answer_.lines.empty() || line > answer_.lines.back().number) {
    answer_.lines.push_back({line, std::string(column - 1, ' ')});
  } else if (!answer_.lines.back().text.empty() && answer_.lines.back().text.back() != ' ') {
    put(" ");
  }
}

}  // namespace facet::c_import
