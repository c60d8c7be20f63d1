// A C file through Clang's front end: its errors, its functions, and which statements stand between the two pragmas.
//
// A region is what `#pragma scop` and `#pragma endscop` hold in one function; a function without pragmas is its own region when
// it is asked for by name, or is the only one of the file.
#include "src/frontend/c_import/region.hpp"

#include "clang/AST/ASTConsumer.h"
#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Frontend/Utils.h"
#include "clang/Lex/Pragma.h"
#include "clang/Lex/Preprocessor.h"
#include "src/frontend/c_import/reader.hpp"

namespace facet::c_import {

namespace {

struct Pragmas {
  std::vector<clang::SourceLocation> begins, ends;
};

class RegionPragma : public clang::PragmaHandler {
 public:
  RegionPragma(llvm::StringRef name, std::vector<clang::SourceLocation>* places) : PragmaHandler(name), places_(*places) {}
  void HandlePragma(clang::Preprocessor& preprocessor, clang::PragmaIntroducer introducer, clang::Token&) override {
    places_.push_back(introducer.Loc);
    preprocessor.DiscardUntilEndOfDirective();
  }

 private:
  std::vector<clang::SourceLocation>& places_;
};

Problem problem(const char* code, std::vector<std::string> args, std::vector<std::string> notes = {}) {
  Problem p;
  p.code = code;
  p.args = std::move(args);
  p.notes = std::move(notes);
  return p;
}

class ErrorList : public clang::DiagnosticConsumer {
 public:
  explicit ErrorList(std::vector<Problem>* problems) : problems_(*problems) {}
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& d) override {
    DiagnosticConsumer::HandleDiagnostic(level, d);
    if (level < clang::DiagnosticsEngine::Error || problems_.size() >= 20) return;
    llvm::SmallString<200> text;
    d.FormatDiagnostic(text);
    Problem p = problem("c-syntax", {text.str().str()});
    if (d.hasSourceManager() && d.getLocation().isValid()) {
      const clang::SourceManager& sources = d.getSourceManager();
      const clang::SourceLocation at = sources.getFileLoc(d.getLocation());
      p.file = sources.getFilename(at).str();
      p.line = static_cast<int>(sources.getSpellingLineNumber(at));
      p.column = static_cast<int>(sources.getSpellingColumnNumber(at));
      const std::pair<clang::FileID, unsigned> where = sources.getDecomposedLoc(at);
      const llvm::StringRef buffer = sources.getBufferData(where.first);
      const std::size_t start = where.second - static_cast<unsigned>(p.column - 1);
      p.excerpt = buffer.substr(start, buffer.find_first_of("\r\n", start) - start).substr(0, 200).str();
    }
    problems_.push_back(std::move(p));
  }

 private:
  std::vector<Problem>& problems_;
};

class RegionConsumer : public clang::ASTConsumer {
 public:
  RegionConsumer(const std::string& wanted, const Pragmas* pragmas, Answer* answer)
      : wanted_(wanted), pragmas_(*pragmas), answer_(*answer) {}

  void HandleTranslationUnit(clang::ASTContext& context) override {
    if (context.getDiagnostics().hasErrorOccurred()) return;
    const clang::SourceManager& sources = context.getSourceManager();
    std::vector<const clang::FunctionDecl*> all, chosen;
    for (const clang::Decl* d : context.getTranslationUnitDecl()->decls()) {
      const auto* f = llvm::dyn_cast<clang::FunctionDecl>(d);
      if (!f || !f->isThisDeclarationADefinition() || !sources.isInMainFile(sources.getExpansionLoc(f->getLocation())))
        continue;
      all.push_back(f);
      if (wanted_.empty() ? count(sources, f, pragmas_.begins) > 0 : f->getNameAsString() == wanted_) chosen.push_back(f);
    }
    if (wanted_.empty() && chosen.empty() && all.size() == 1 && pragmas_.begins.empty()) chosen = all;
    if (chosen.size() != 1) return choose(all, chosen);
    std::optional<RegionOf> region = region_of(sources, chosen[0]);
    if (!region) return;
    answer_ = RegionReader(context, std::move(*region)).run();
  }

 private:
  static std::size_t count(const clang::SourceManager& sources, const clang::FunctionDecl* f,
                           const std::vector<clang::SourceLocation>& places) {
    std::size_t n = 0;
    for (const clang::SourceLocation at : places) n += inside(sources, f->getBody(), at);
    return n;
  }
  static bool inside(const clang::SourceManager& sources, const clang::Stmt* s, clang::SourceLocation at) {
    return sources.isBeforeInTranslationUnit(s->getBeginLoc(), at) && sources.isBeforeInTranslationUnit(at, s->getEndLoc());
  }

  void choose(const std::vector<const clang::FunctionDecl*>& all, const std::vector<const clang::FunctionDecl*>& chosen) {
    std::string names;
    for (const clang::FunctionDecl* f : chosen.empty() ? all : chosen)
      names += (names.empty() ? "" : ", ") + f->getNameAsString();
    const std::string what = !wanted_.empty() ? "a function " + wanted_
                             : chosen.empty() ? "a function with #pragma scop"
                                              : "one function with #pragma scop, but has several";
    answer_.problems.push_back(
        problem("no-c-function", {what}, {"functions here: " + (names.empty() ? "none" : names) + "; --function chooses one"}));
  }

  std::optional<RegionOf> region_of(const clang::SourceManager& sources, const clang::FunctionDecl* f) {
    RegionOf region;
    region.function = f;
    const std::size_t begins = count(sources, f, pragmas_.begins), ends = count(sources, f, pragmas_.ends);
    const auto* body = llvm::cast<clang::CompoundStmt>(f->getBody());
    if (begins == 0 && ends == 0) {
      for (const clang::Stmt* s : body->body())
        if (!is_last_return(body, s)) region.statements.push_back(s);
      return region;
    }
    if (begins != 1 || ends != 1) {
      answer_.problems.push_back(problem(
          "region-missing", {sources.getFilename(sources.getFileLoc(f->getLocation())).str(),
                             f->getNameAsString() + " has " + std::to_string(begins) + " and " + std::to_string(ends)}));
      return std::nullopt;
    }
    clang::SourceLocation from, to;
    for (const clang::SourceLocation at : pragmas_.begins)
      if (inside(sources, body, at)) from = at;
    for (const clang::SourceLocation at : pragmas_.ends)
      if (inside(sources, body, at)) to = at;
    gather(sources, body, from, to, &region);
    return region;
  }

  static bool is_last_return(const clang::CompoundStmt* body, const clang::Stmt* s) {
    const auto* result = llvm::dyn_cast<clang::ReturnStmt>(s);
    return result && !result->getRetValue() && s == body->body_back();
  }

  // Statements between the pragmas, in whichever block they stand; those around them that do something are told.
  void gather(const clang::SourceManager& sources, const clang::CompoundStmt* body, clang::SourceLocation from,
              clang::SourceLocation to, RegionOf* region) {
    for (const clang::Stmt* s : body->body()) {
      const clang::SourceLocation at = sources.getExpansionLoc(s->getBeginLoc());
      if (sources.isBeforeInTranslationUnit(from, at) && sources.isBeforeInTranslationUnit(at, to)) {
        region->statements.push_back(s);
        continue;
      }
      if (sources.isBeforeInTranslationUnit(at, from)) region->before.push_back(s);
      const clang::CompoundStmt* nested = inside(sources, s, from) ? block_with(sources, s, from) : nullptr;
      if (nested) gather(sources, nested, from, to, region);
      const bool harmless = llvm::isa<clang::DeclStmt>(s) || llvm::isa<clang::NullStmt>(s) || is_last_return(body, s);
      if (!harmless && region->outside.empty())
        region->outside =
            "line " + std::to_string(sources.getSpellingLineNumber(at)) + " stands outside the region and does something";
    }
  }

  static const clang::CompoundStmt* block_with(const clang::SourceManager& sources, const clang::Stmt* s,
                                               clang::SourceLocation at) {
    for (const clang::Stmt* child : s->children())
      if (child && inside(sources, child, at)) return block_with(sources, child, at);
    return llvm::dyn_cast<clang::CompoundStmt>(s);
  }

  const std::string wanted_;
  const Pragmas& pragmas_;
  Answer& answer_;
};

class ReadAction : public clang::ASTFrontendAction {
 public:
  ReadAction(const std::string& wanted, Answer* answer) : wanted_(wanted), answer_(*answer) {}
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& instance, llvm::StringRef) override {
    instance.getPreprocessor().AddPragmaHandler(new RegionPragma("scop", &pragmas_.begins));  // owned by the preprocessor
    instance.getPreprocessor().AddPragmaHandler(new RegionPragma("endscop", &pragmas_.ends));
    return std::make_unique<RegionConsumer>(wanted_, &pragmas_, &answer_);
  }

 private:
  std::string wanted_;
  Pragmas pragmas_;
  Answer& answer_;
};

}  // namespace

std::string read_c(const std::string& file, const std::string& function, const std::vector<std::string>& flags) {
  Answer answer;
  std::vector<Problem> errors;
  ErrorList consumer(&errors);
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options = new clang::DiagnosticOptions();
  llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> diagnostics =
      clang::CompilerInstance::createDiagnostics(options.get(), &consumer, /*ShouldOwnClient=*/false);
  // FACET_JIT_CLANG fixes where the driver looks for its own headers.
  std::vector<const char*> line = {FACET_JIT_CLANG, "-x", "c", "-std=gnu17", "-w", "-fsyntax-only"};
  for (const std::string& flag : flags) line.push_back(flag.c_str());
  line.push_back(file.c_str());
  clang::CreateInvocationOptions how;
  how.Diags = diagnostics;
  std::shared_ptr<clang::CompilerInvocation> invocation = clang::createInvocation(line, how);
  if (invocation) {
    invocation->getFrontendOpts().DisableFree = false;
    clang::CompilerInstance instance;
    instance.setInvocation(std::move(invocation));
    instance.setDiagnostics(diagnostics.get());
    instance.setVerboseOutputStream(llvm::nulls());
    ReadAction action(function, &answer);
    instance.ExecuteAction(action);
  } else if (errors.empty()) {
    errors.push_back(problem("c-syntax", {"clang accepts no such flags"}));
  }
  answer.problems.insert(answer.problems.begin(), errors.begin(), errors.end());
  return to_json(answer);
}

}  // namespace facet::c_import
