// SPDX-License-Identifier: MIT
//
// The user wrote `ws`; clang's OpenMP front end speaks of `omp`. Each diagnostic passes here before it is printed: if
// it is about one of our pragmas, its text is put into our words.
#include "front.h"

#include <map>

namespace ws_clang {

namespace {

struct Pragma {
    int last_line;
    std::string name; // "#pragma ws for"; empty: not ours
    clang::SourceLocation at, end;
};
std::map<std::pair<clang::FileID, int>, Pragma> pragmas; // by file and first line

struct Place {
    clang::FileID file;
    int line;
};

// Where the user looks for it: outside of macros.
Place place_of(const clang::SourceManager& sources, clang::SourceLocation at)
{
    const auto [file, offset] = sources.getDecomposedExpansionLoc(at);
    return {file, int(sources.getLineNumber(file, offset))};
}

bool replace_all(std::string& text, const std::string& from, const std::string& to)
{
    bool found = false;
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
        text.replace(at, from.size(), to);
        found = true;
    }
    return found;
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
struct Known {
    const char* beginning;
    const char* instead;
};
constexpr const char* must_be_a_loop = "'%s' must be followed by a 'for' loop";
constexpr const char* shares_its_loop = "'%s' and another directive cannot share a loop";
constexpr const char* integer_chunk = "the chunk size in a schedule clause of '%s' must be an integer";
// Those that need not be about a directive at all are, if they stand inside its block.
constexpr Known known_messages[] = {
    {"statement after '#pragma omp", must_be_a_loop},
    {"no matching function for call to '__ws_mark'", integer_chunk},
    {"'break' statement cannot be used in OpenMP for loop", "in '%s': 'break' must not leave the loop"},
    {"cannot return from OpenMP region", "in '%s': the loop must not be left by 'return' or 'goto'"},
    {"cannot 'co_return' from", "in '%s': the loop must not be left by 'return' or 'goto'"},
    {"'break' statement not in loop or switch", "in '%s': 'break' must not leave the block"},
    {"'continue' statement not in loop", "in '%s': 'continue' must not leave the block"},
    {"OpenMP constructs may not be nested inside a simd region", "'%s' cannot stand in a simd loop"},
    {"orphaned 'omp section' directives", "'%s' must stand in the block of '#pragma ws sections'"},
    {"'omp section' directive must be closely nested", "'%s' must stand in the block of '#pragma ws sections'"},
    {"the statement for '#pragma omp parallel sections' must be a compound statement",
     "'%s' must be followed by a block"},
    {"cannot jump from this", nullptr},
    {"use of undeclared label", nullptr}, // of one outside or inside
};

// What clang calls the constructs that ours have become. In this order.
constexpr const char* words[][2] = {
    {"#pragma omp parallel for", "#pragma ws for"},
    {"'parallel for'", "'#pragma ws for'"},
    {"'omp parallel for'", "'#pragma ws for'"},
    {"'omp parallel sections'", "'#pragma ws sections'"},
    {"'#pragma omp parallel sections", "'#pragma ws sections"},
    {"'#pragma omp parallel", "'#pragma ws for"},
    {"'omp declare reduction'", "'#pragma ws declare reduction'"},
    {"'omp atomic'", "'#pragma ws atomic'"},
    {"'omp critical'", "'#pragma ws critical'"},
    {"'atomic'", "'#pragma ws atomic'"},
    {"'critical'", "'#pragma ws critical'"},
    {"#pragma omp", "#pragma ws"},
    {"OpenMP", "ws"},
};

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
        // Of the declaration of our mark.
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
    static const Pragma* subject(const clang::SourceManager& sources, const Place& place, bool about_loop)
    {
        for (auto next = pragmas.upper_bound({place.file, place.line}); next != pragmas.begin();) {
            --next;
            const auto& [where, pragma] = *next;
            if (where.first != place.file)
                return nullptr;
            if (!about_loop || pragma.name == "#pragma ws for" ||
                (pragma.name.empty() && is_parallel_for(sources, pragma.at)))
                return &pragma;
        }
        return nullptr;
    }

    // Ours, of two pragmas that follow each other, if the second stands at the place.
    static const Pragma* shares_loop(const Place& place)
    {
        const auto second = pragmas.find({place.file, place.line});
        if (second == pragmas.end() || second == pragmas.begin())
            return nullptr;
        const auto first = std::prev(second);
        if (first->first.first != place.file || first->second.last_line + 1 != place.line)
            return nullptr;
        return !first->second.name.empty() ? &first->second : !second->second.name.empty() ? &second->second : nullptr;
    }

    static bool put_into_our_words(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& diagnostic,
                                   std::string& text)
    {
        const clang::SourceManager& sources = diagnostic.getSourceManager();
        const Place place = place_of(sources, diagnostic.getLocation());
        if (const Pragma* shared = shares_loop(place); shared && begins(text, "statement after '#pragma omp")) {
            text = shares_its_loop;
            replace_all(text, "%s", shared->name);
            return true;
        }
        bool of_openmp = is_about_openmp(diagnostic);
        for (const char* word : {"OpenMP", "#pragma omp", "'omp "})
            of_openmp |= text.find(word) != std::string::npos;
        const Pragma* pragma = subject(sources, place,
                                       text.find("'parallel for'") != std::string::npos ||
                                           text.find("OpenMP for loop") != std::string::npos);
        if (!pragma || pragma->name.empty())
            return false;
        const bool is_error = level >= clang::DiagnosticsEngine::Error;
        // The line after a pragma is the head of its loop.
        const bool at_the_head = place.line <= pragma->last_line + 1;
        bool changed = false;
        for (const Known& known : known_messages)
            if (text.compare(0, strlen(known.beginning), known.beginning) == 0 &&
                (of_openmp || place.line <= pragma->last_line + 1 ||
                 inside_construct(sources, pragma->end, diagnostic.getLocation()))) {
                of_openmp = true;
                if (known.instead) {
                    text = known.instead;
                    replace_all(text, "%s", pragma->name);
                    if (begins(pragma->name, ws::full_name(ws::DirectiveKind::section)))
                        replace_all(text, "the loop", "the section");
                    return true;
                }
            }
        if (begins(text, "passing '") && ends(text, "to parameter of incompatible type 'long'") &&
            place.line <= pragma->last_line && is_error) {
            text = integer_chunk;
            replace_all(text, "%s", pragma->name);
            return true;
        }
        // The mark around an atomic is none of the user's business.
        if (pragma->name == ws::full_name(ws::DirectiveKind::atomic))
            changed |= replace_all(text, "omp critical", "omp atomic");
        if (of_openmp)
            for (const auto& word : words)
                changed |= replace_all(text, word[0], word[1]);
        changed |= replace_all(text, " having the same name '__ws_critical'", " without a name");
        changed |= replace_all(text, ws::critical_prefix, "");
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
    const Place first = place_of(sources, from), last = place_of(sources, to);
    pragmas[{first.file, first.line}] = {std::max(first.line, last.line), name, from, to};
}

bool has_pragma_between(const clang::SourceManager& sources, clang::SourceLocation from, clang::SourceLocation to)
{
    const Place first = place_of(sources, from), last = place_of(sources, to);
    if (first.file != last.file)
        return true; // spread over files by #include: look closely
    for (auto pragma = pragmas.lower_bound({first.file, first.line});
         pragma != pragmas.end() && pragma->first.first == last.file && pragma->first.second <= last.line; ++pragma)
        if (!pragma->second.name.empty())
            return true;
    return false;
}

bool is_ours(const clang::SourceManager& sources, clang::SourceLocation at)
{
    const Place place = place_of(sources, at);
    auto next = pragmas.upper_bound({place.file, place.line});
    return next != pragmas.begin() && (--next)->first.first == place.file && !next->second.name.empty();
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
