// SPDX-License-Identifier: MIT
//
// Start of the clang plugin. `mpicc -fws` gives cc1 -fopenmp in any case, because clang sets its back half up for
// OpenMP by that option alone; what the user sees of it (the `omp` pragmas, _OPENMP) is taken back here unless the
// user asked for it too.
#include "front.h"

namespace ws_clang {

Options options;
bool typed_atomics = true;

namespace {

// Remembers where other pragmas stand. Ours are noted by their handler, after this.
class PragmaWatcher : public clang::PPCallbacks {
public:
    explicit PragmaWatcher(const clang::SourceManager& sources) : sources_(sources) {}

    void PragmaDirective(clang::SourceLocation at, clang::PragmaIntroducerKind) override
    {
        note_pragma(sources_, at, at, "");
    }

private:
    const clang::SourceManager& sources_;
};

class Checker : public clang::ASTConsumer {
public:
    explicit Checker(clang::CompilerInstance& compiler) : compiler_(compiler) {}

    bool HandleTopLevelDecl(clang::DeclGroupRef declarations) override
    {
        if (ws_used() && !compiler_.getDiagnostics().hasErrorOccurred())
            count_steps(compiler_.getASTContext(), declarations);
        return true;
    }

    void HandleTranslationUnit(clang::ASTContext& context) override
    {
        if (ws_used())
            check_file(compiler_);
        if (marked_openmp_loops())
            look_at_openmp_loops(context);
    }

private:
    clang::CompilerInstance& compiler_;
};

struct OpenMPOfHeader : LanguageListener {
    bool on = false;
    void language(const clang::LangOptions& options) override { on = options.OpenMP; }
};

// Clang 14 crashes when it reads a precompiled header that was made without OpenMP's option, which -fws turns on.
void refuse_header_without_openmp(clang::CompilerInstance& compiler)
{
    const std::string& header = compiler.getPreprocessorOpts().ImplicitPCHInclude;
    OpenMPOfHeader made;
    if (header.empty() || !read_header(compiler, header, made) || made.on)
        return;
    refuse_header(compiler.getDiagnostics(), {}, header);
    compiler.getLangOpts().OpenMP = 0;
}

// The front half. Before the main action: an error found at the end of the file still prevents code generation.
class FrontAction : public clang::PluginASTAction {
public:
    std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler, llvm::StringRef) override
    {
        options.compiling = true;
        clang::Preprocessor& preprocessor = compiler.getPreprocessor();
        preprocessor.addPPCallbacks(std::make_unique<PragmaWatcher>(compiler.getSourceManager()));
        // The types of the chunk sizes are checked in the tree; here they only become long.
        preprocessor.setPredefines(preprocessor.getPredefines() +
                                   "\n# 1 \"<ws>\" 1 3\n"
                                   "#ifdef __cplusplus\n"
                                   "extern \"C\"\n"
                                   "#endif\n"
                                   "__attribute__((nothrow)) int " +
                                   ws::mark_function +
                                   "(const char *, int, long, long, const char *, int, ...);\n"
                                   "# 1 \"<built-in>\" 2\n");
        take_over_diagnostics(compiler.getDiagnostics());
        refuse_header_without_openmp(compiler);
        // Braces in a loop's head: as in a loop without directive.
        compiler.getDiagnostics().setSeverityForGroup(clang::diag::Flavor::WarningOrError, "openmp-loop-form",
                                                      clang::diag::Severity::Ignored);
        return std::make_unique<Checker>(compiler);
    }

    bool ParseArgs(const clang::CompilerInstance&, const std::vector<std::string>& arguments) override
    {
        for (const std::string& argument : arguments) {
            options.openmp |= argument == "openmp";
            options.openmp_loops |= argument == "openmp-loops";
            options.report |= argument == "report";
            if (!ws::set_warning(argument))
                ws::leave_out(argument);
        }
        return true;
    }

    ActionType getActionType() override { return AddBeforeMainAction; }
};

// Clang's OpenMP option is off exactly while the parser chooses its handler for `#pragma omp`: after the code
// generator was set up (Initialize, in the order of the consumers), before the semantic analysis is (InitializeSema).
class OpenMPSwitch : public clang::SemaConsumer {
public:
    explicit OpenMPSwitch(clang::CompilerInstance& compiler)
        : language_(compiler.getLangOpts()), openmp_(language_.OpenMP)
    {}

    void Initialize(clang::ASTContext&) override
    {
        if (!options.openmp)
            language_.OpenMP = 0;
    }
    void InitializeSema(clang::Sema& sema) override
    {
        language_.OpenMP = openmp_;
        if (options.openmp && (options.openmp_loops || options.report))
            take_over_openmp_pragma(sema.getPreprocessor());
    }

private:
    clang::LangOptions& language_;
    const unsigned openmp_;
};

class SwitchAction : public clang::PluginASTAction {
public:
    std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler, llvm::StringRef) override
    {
        return std::make_unique<OpenMPSwitch>(compiler);
    }
    bool ParseArgs(const clang::CompilerInstance&, const std::vector<std::string>&) override { return true; }
    ActionType getActionType() override { return AddAfterMainAction; }
};

clang::FrontendPluginRegistry::Add<FrontAction> front("ws", "MPI workshare: #pragma ws");
clang::FrontendPluginRegistry::Add<SwitchAction> openmp_switch("ws-openmp-switch", "MPI workshare: clang's own OpenMP");

} // namespace

} // namespace ws_clang
