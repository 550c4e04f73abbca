// SPDX-License-Identifier: MIT
//
// The user wrote `ws`; clang's OpenMP front end speaks of `omp`. Each diagnostic passes here before it is printed: if
// it is about one of our pragmas, its text is put into our words.
#include "front.h"

#include "../clauses/messages.h"

namespace ws_clang {

namespace {

namespace message = ws::message;

// Where its text begins and ends.
struct Extent {
    clang::SourceLocation at, end;
};
using Pragmas = ws::Pragmas<clang::FileID, Extent>;
Pragmas pragmas;

struct SourceLine {
    clang::FileID file;
    int line;
};

// Where the user looks for it: outside of macros.
SourceLine place_of(const clang::SourceManager& sources, clang::SourceLocation at)
{
    const auto [file, offset] = sources.getDecomposedExpansionLoc(at);
    return {file, int(sources.getLineNumber(file, offset))};
}

// The line of somebody else's pragma begins a parallel loop of OpenMP's own.
bool is_parallel_for(const clang::SourceManager& sources, clang::SourceLocation at)
{
    bool invalid = false;
    const char* text = sources.getCharacterData(sources.getExpansionLoc(at), &invalid);
    if (invalid)
        return false;
    const llvm::StringRef line = llvm::StringRef(text).split('\n').first;
    return line.contains("parallel") && line.contains("for");
}

// Whether a place belongs to the statement that follows a pragma: by the brackets between the two.
bool inside_construct(const clang::SourceManager& sources, clang::SourceLocation pragma, clang::SourceLocation at)
{
    pragma = sources.getExpansionLoc(pragma);
    at = sources.getExpansionLoc(at);
    const clang::FileID file = sources.getFileID(pragma);
    if (sources.getFileID(at) != file)
        return false;
    const llvm::StringRef text = sources.getBufferData(file);
    const size_t end_of_line = text.find('\n', sources.getFileOffset(pragma));
    if (end_of_line == llvm::StringRef::npos)
        return false;
    clang::Lexer lexer(sources.getLocForStartOfFile(file), clang::LangOptions(), text.begin(),
                       text.begin() + end_of_line, text.end());
    int depth = 0;
    for (clang::Token token; !lexer.LexFromRawLexer(token);) {
        if (sources.getFileOffset(token.getLocation()) >= sources.getFileOffset(at))
            return true;
        if (token.isOneOf(clang::tok::l_brace, clang::tok::l_paren))
            depth++;
        else if (token.isOneOf(clang::tok::r_brace, clang::tok::r_paren))
            depth--;
        if (depth < 0 || (depth == 0 && token.isOneOf(clang::tok::semi, clang::tok::r_brace)))
            return false;
    }
    return false;
}

// Whole messages that say what is wrong in terms of what the user did not write. %s: the pragma.
struct KnownMessage {
    const char* beginning;
    const char* instead;
};
// Those that need not be about a directive at all are, if they stand inside its block.
constexpr KnownMessage known_messages[] = {
    {"statement after '#pragma omp", message::must_be_a_loop},
    {"no matching function for call to '__ws_mark'", message::integer_chunk},
    {"'break' statement cannot be used in OpenMP for loop", message::break_of_loop},
    {"cannot return from OpenMP region", message::left},
    {"cannot 'co_return' from", message::left},
    {"'break' statement not in loop or switch", message::break_of_block},
    {"'continue' statement not in loop", message::continue_of_block},
    {"OpenMP constructs may not be nested inside a simd region", message::not_in_simd},
    {"orphaned 'omp section' directives", message::outside_of_sections},
    {"'omp section' directive must be closely nested", message::outside_of_sections},
    {"the statement for '#pragma omp parallel sections' must be a compound statement",
     message::must_be_a_block},
    {"cannot jump from this", nullptr},
    {"use of undeclared label", nullptr}, // of one outside or inside
};

// What clang calls the constructs that ours have become, where it leaves `#pragma` out.
constexpr const char* short_names[][2] = {
    {"'parallel for'", "'#pragma ws for'"},
    {"'omp parallel for'", "'#pragma ws for'"},
    {"'omp parallel sections'", "'#pragma ws sections'"},
    {"'omp declare reduction'", "'#pragma ws declare reduction'"},
    {"'omp atomic'", "'#pragma ws atomic'"},
    {"'omp critical'", "'#pragma ws critical'"},
    {"'omp task'", "'#pragma ws task'"},
    {"'omp taskloop'", "'#pragma ws taskloop'"},
    {"'omp taskgroup'", "'#pragma ws taskgroup'"},
    {"'omp taskwait'", "'#pragma ws taskwait'"},
    {"'atomic'", "'#pragma ws atomic'"},
    {"'critical'", "'#pragma ws critical'"},
};

bool rename(std::string& text)
{
    bool changed = false;
    for (const auto& name : short_names)
        changed |= ws::replace_all(text, name[0], name[1]);
    return ws::rename_constructs(text) || changed;
}

class Renamer : public clang::DiagnosticConsumer {
public:
    explicit Renamer(clang::DiagnosticsEngine& diagnostics)
        : next_(diagnostics.getClient()), own_(diagnostics.takeClient())
    {}

    void BeginSourceFile(const clang::LangOptions& language, const clang::Preprocessor* preprocessor) override
    {
        next_->BeginSourceFile(language, preprocessor);
    }
    void EndSourceFile() override { next_->EndSourceFile(); }
    void finish() override { next_->finish(); }
    void clear() override
    {
        DiagnosticConsumer::clear();
        next_->clear();
    }
    bool IncludeInDiagnosticCounts() const override { return next_->IncludeInDiagnosticCounts(); }

    void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& diagnostic) override
    {
        DiagnosticConsumer::HandleDiagnostic(level, diagnostic);
        if (pragmas.empty() || !diagnostic.hasSourceManager() || diagnostic.getLocation().isInvalid()) {
            next_->HandleDiagnostic(level, diagnostic);
            return;
        }
        // Place of the declaration of our mark.
        const clang::PresumedLoc presumed = diagnostic.getSourceManager().getPresumedLoc(diagnostic.getLocation());
        if (level == clang::DiagnosticsEngine::Note && presumed.isValid() &&
            llvm::StringRef(presumed.getFilename()) == "<ws>")
            return;
        llvm::SmallString<128> formatted;
        diagnostic.FormatDiagnostic(formatted);
        std::string text(formatted.str());
        if (put_into_our_words(level, diagnostic, text)) {
            // Both constructs that an atomic becomes may lead to the same.
            const auto now = std::make_pair(diagnostic.getLocation(), text);
            if (now != last_)
                with_text(diagnostic, text,
                          [&](const clang::Diagnostic& ours) { next_->HandleDiagnostic(level, ours); });
            last_ = now;
        } else
            next_->HandleDiagnostic(level, diagnostic);
    }

private:
    static bool is_about_openmp(const clang::Diagnostic& diagnostic)
    {
        return clang::DiagnosticIDs::getCategoryNameFromID(
                   clang::DiagnosticIDs::getCategoryNumberForDiag(diagnostic.getID())) == "OpenMP Issue";
    }

    // The pragma that a message is about: the last one before it, but a loop's if the message says so.
    static const Pragmas::Pragma* subject(const clang::SourceManager& sources, const SourceLine& place, bool about_loop)
    {
        const Pragmas::Pragma* pragma = pragmas.above(place.file, place.line);
        while (pragma && about_loop && pragma->name != "#pragma ws for" &&
               !(pragma->name.empty() && is_parallel_for(sources, pragma->place.at)))
            pragma = pragmas.above(place.file, pragma->first_line - 1);
        return pragma;
    }

    // Ours, of two pragmas that follow each other, if the second stands at the place.
    static const Pragmas::Pragma* shares_loop(const SourceLine& place)
    {
        const Pragmas::Pragma* second = pragmas.above(place.file, place.line);
        if (!second || second->first_line != place.line || !second->after_another)
            return nullptr;
        const Pragmas::Pragma* first = pragmas.above(place.file, place.line - 1);
        return !first->name.empty() ? first : !second->name.empty() ? second : nullptr;
    }

    static bool put_into_our_words(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& diagnostic,
                                   std::string& text)
    {
        const clang::SourceManager& sources = diagnostic.getSourceManager();
        const SourceLine place = place_of(sources, diagnostic.getLocation());
        if (const Pragmas::Pragma* shared = shares_loop(place);
            shared && begins(text, "statement after '#pragma omp")) {
            text = ws::about(message::shares_its_loop, shared->name);
            return true;
        }
        bool of_openmp = is_about_openmp(diagnostic);
        for (const char* word : {"OpenMP", "#pragma omp", "'omp "})
            of_openmp |= text.find(word) != std::string::npos;
        const Pragmas::Pragma* pragma = subject(sources, place,
                                       text.find("'parallel for'") != std::string::npos ||
                                           text.find("OpenMP for loop") != std::string::npos);
        if (!pragma || pragma->name.empty())
            return false;
        const bool is_error = level >= clang::DiagnosticsEngine::Error;
        // The line after a pragma is the head of its loop.
        const bool at_the_head = place.line <= pragma->last_line + 1;
        bool changed = false;
        for (const KnownMessage& known : known_messages)
            if (text.compare(0, strlen(known.beginning), known.beginning) == 0 &&
                (of_openmp || place.line <= pragma->last_line + 1 ||
                 inside_construct(sources, pragma->place.end, diagnostic.getLocation()))) {
                of_openmp = true;
                if (known.instead) {
                    text = ws::about(known.instead, pragma->name);
                    return true;
                }
            }
        if (begins(text, "passing '") && ends(text, "to parameter of incompatible type 'long'") &&
            place.line <= pragma->last_line && is_error) {
            text = ws::about(message::integer_chunk, pragma->name);
            return true;
        }
        // The marks around these are none of the user's business.
        for (const auto& [kind, name] : {std::pair(ws::DirectiveKind::atomic, "omp atomic"),
                                         std::pair(ws::DirectiveKind::taskgroup, "omp taskgroup"),
                                         std::pair(ws::DirectiveKind::taskloop, "omp taskloop")})
            if (pragma->name == ws::full_name(kind))
                changed |= ws::replace_all(text, "omp critical", name);
        if (of_openmp)
            changed |= rename(text);
        changed |= ws::replace_all(text, " having the same name '__ws_critical'", " without a name");
        changed |= ws::replace_all(text, ws::critical_prefix, "");
        if (is_error && (of_openmp || at_the_head) && text.find("#pragma ws") == std::string::npos) {
            text = "in '" + pragma->name + "': " + text;
            changed = true;
        }
        return changed;
    }

    clang::DiagnosticConsumer* next_;
    std::unique_ptr<clang::DiagnosticConsumer> own_;
    std::pair<clang::SourceLocation, std::string> last_;
};

} // namespace

void note_pragma(const clang::SourceManager& sources, clang::SourceLocation from, clang::SourceLocation to,
                 const std::string& name)
{
    const SourceLine first = place_of(sources, from), last = place_of(sources, to);
    pragmas.note(first.file, first.line, last.line, name, {from, to});
}

bool has_pragma_between(const clang::SourceManager& sources, clang::SourceLocation from, clang::SourceLocation to)
{
    const SourceLine first = place_of(sources, from), last = place_of(sources, to);
    if (first.file != last.file)
        return true; // spread over files by #include: look closely
    for (const auto* pragma = pragmas.above(last.file, last.line); pragma && pragma->first_line >= first.line;
         pragma = pragmas.above(last.file, pragma->first_line - 1))
        if (!pragma->name.empty())
            return true;
    return false;
}

bool is_ours(const clang::SourceManager& sources, clang::SourceLocation at)
{
    const SourceLine place = place_of(sources, at);
    const Pragmas::Pragma* pragma = pragmas.above(place.file, place.line);
    return pragma && !pragma->name.empty();
}

void take_over_diagnostics(clang::DiagnosticsEngine& diagnostics)
{
    diagnostics.setClient(new Renamer(diagnostics), /*ShouldOwnClient=*/true);
}

void error_about(clang::DiagnosticsEngine& diagnostics, clang::SourceLocation at, const std::string& text)
{
    diagnostics.Report(at, diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Error, "%0")) << text;
}

} // namespace ws_clang
