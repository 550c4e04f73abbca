// SPDX-License-Identifier: MIT
#include "rewrite.h"

#include "directive.h"
#include "marks.h"
#include "openmp.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

namespace ws_fortran {

namespace {

std::vector<std::string> split_lines(const std::string& text)
{
    std::vector<std::string> lines;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

// The rewritten text, and where the compiler will think it is.
class Output {
public:
    void line(const std::string& file, int number, const std::string& text)
    {
        if (file != file_ || number != next_) {
            marker(number, file, "");
            file_ = file;
        }
        text_ += text;
        text_ += '\n';
        next_ = number + 1;
    }
    // flag: "1" enters an included file, "2" returns from one
    void enter(const std::string& file, int number, const char* flag)
    {
        marker(number, file, flag);
        file_ = file;
        next_ = number;
    }
    void marker_as_written(const std::string& text, const std::string& file, int next)
    {
        text_ += text;
        text_ += '\n';
        file_ = file;
        next_ = next;
    }
    const std::string& text() const { return text_; }

private:
    void marker(int number, const std::string& file, const std::string& flag)
    {
        std::string name;
        for (char c : file) {
            if (c == '"' || c == '\\')
                name += '\\';
            name += c;
        }
        text_ += "# " + std::to_string(number) + " \"" + name + "\"" + (flag.empty() ? "" : " ") + flag + "\n";
    }

    std::string text_;
    std::string file_;
    int next_ = 0;
};

// Lays out one directive: words at their columns, in as many lines as that takes.
class Layout {
public:
    Layout(Output& out, Form form, size_t length) : out_(out), form_(form), length_(length ? length : 1000) {}

    // What the user wrote, at its place.
    void word(const Place& place, const std::string& text)
    {
        if (place.file != file_ || place.line != line_ || size_t(place.column) + shift_ <= text_.size() + blank_)
            next_line(place.file, place.line);
        const size_t room = length_ - (form_ == Form::free ? 2 : 0);
        if (size_t(place.column) + shift_ + text.size() > room + 1 && text_.size() > head_size)
            next_line(place.file, place.line);
        // Our sentinel is longer than the user's.
        if (text_.size() == head_size && size_t(place.column) <= head_size)
            shift_ = head_size + 1 - size_t(place.column);
        if (size_t(place.column) + shift_ + text.size() <= room + 1)
            while (text_.size() + 1 < size_t(place.column) + shift_)
                text_ += ' ';
        text_ += text;
        blank_ = 0;
    }
    // What it becomes, for the line of `place`.
    void made(const Place& place, const std::string& text)
    {
        if (place.file != file_ || place.line != line_ ||
            text_.size() + 1 + text.size() > length_ - (form_ == Form::free ? 2 : 0))
            next_line(place.file, place.line);
        if (text_.size() > head_size)
            text_ += ' ';
        text_ += text;
        blank_ = 1;
    }
    // The next piece starts a line.
    void break_line() { file_.clear(); }
    void finish() { flush(false); }

private:
    static constexpr size_t head_size = 6;

    void next_line(const std::string& file, int line)
    {
        if (!text_.empty())
            flush(true);
        file_ = file;
        line_ = line;
        from_file_ = file;
        from_line_ = line;
        text_ = started_ ? "!$omp&" : "!$omp ";
        started_ = true;
        shift_ = blank_ = 0;
    }
    void flush(bool more)
    {
        out_.line(from_file_, from_line_, text_ + (more && form_ == Form::free ? " &" : ""));
        text_.clear();
    }

    Output& out_;
    Form form_;
    size_t length_;
    size_t shift_ = 0; // of this line's words against their columns
    size_t blank_ = 0; // between what was made and the next word
    std::string text_, file_, from_file_;
    int line_ = 0, from_line_ = 0;
    bool started_ = false;
};

class Rewriter {
public:
    explicit Rewriter(const Options& options) : options_(options) {}

    Result run(const std::string& text, const std::string& name)
    {
        // Whatever follows is about this name: with -fpreprocessed gfortran takes the file's name from here.
        const bool preprocessed = text.compare(0, 2, "# ") == 0;
        // only right at the beginning
        const size_t byte_order_mark = text.compare(0, 3, "\xEF\xBB\xBF") == 0 ? 3 : 0;
        if (!preprocessed)
            out_.enter(name, 1, "");
        lines_of(split_lines(text.substr(byte_order_mark)), name, 0);
        Result result;
        result.any = any_;
        result.messages = std::move(messages_);
        // f951 takes the source's name from the first line if -fpreprocessed, and spoils the second if it is no marker.
        const std::string& rewritten = out_.text();
        const std::string head = rewritten.substr(0, rewritten.find('\n') + 1);
        result.text = any_ ? head + head + marks_ + rewritten
                           : head + head + (preprocessed ? "" : head) + text.substr(byte_order_mark);
        return result;
    }

private:
    struct SourceReading {
        const std::vector<std::string>& lines;
        std::string file; // as the compiler will name it
        int number; // of lines[index] in it
        size_t index = 0;
    };

    void lines_of(const std::vector<std::string>& lines, const std::string& file, int depth)
    {
        SourceReading in{lines, file, 1};
        for (; in.index < lines.size(); in.index++, in.number++) {
            const std::string& line = lines[in.index];
            if (!line.empty() && line[0] == '#') {
                read_marker(in, line);
                continue;
            }
            const SentinelLine sentinel = classify(line, options_.form);
            switch (sentinel.kind) {
            case Sentinel::ws: directive(in, sentinel); break;
            case Sentinel::glued:
                complain({in.file, in.number, int(sentinel.dollar)}, line,
                         "'!$ws' starts a comment here, because no blank follows it", true);
                out_.line(in.file, in.number, line);
                break;
            case Sentinel::conditional:
                out_.line(in.file, in.number, without_openmp(line, sentinel, {in.file, in.number, 1}));
                break;
            case Sentinel::none:
                if (!include(in, line, depth))
                    out_.line(in.file, in.number, line);
            }
        }
    }

    // `# 12 "file" flags`: of the preprocessor.
    void read_marker(SourceReading& in, const std::string& line)
    {
        char* after = nullptr;
        const long number = strtol(line.c_str() + 1, &after, 10);
        const char* open = after == line.c_str() + 1 ? nullptr : strchr(after, '"');
        if (!open) {
            out_.line(in.file, in.number, line);
            return;
        }
        std::string file;
        for (open++; *open && *open != '"'; open++)
            file += *open == '\\' && open[1] ? *++open : *open;
        in.file = file;
        in.number = int(number) - 1;
        out_.marker_as_written(line, file, int(number));
    }

    // The plugin turns OpenMP on in gfortran: without -fopenmp its lines become comments for good.
    std::string without_openmp(std::string line, const SentinelLine& sentinel, const Place& place)
    {
        if (options_.openmp) {
            if (sentinel.dollar + 1 < line.size() &&
                std::isalpha(static_cast<unsigned char>(line[sentinel.dollar + 1])))
                mark("omp", place, place.line);
            return line;
        }
        if (options_.openmp_simd) {
            std::string words;
            for (char c : line.substr(std::min(line.size(), sentinel.dollar + 4)))
                if (!strchr(" \t&", c))
                    words += char(std::tolower(static_cast<unsigned char>(c)));
            const bool simd = words.compare(0, 4, "simd") == 0 || words.compare(0, 7, "endsimd") == 0 ||
                              words.compare(0, 11, "declaresimd") == 0;
            if (simd || (simd_before_ && line.find('&') < sentinel.dollar + 8)) {
                simd_before_ = true;
                return line;
            }
            simd_before_ = false;
        }
        line[sentinel.dollar] = options_.form == Form::free ? '!' : ' ';
        return line;
    }

    // An included file is put in place of its line if anything in it needs rewriting.
    bool include(const SourceReading& in, const std::string& line, int depth)
    {
        const std::string name = include_name(line, options_.form);
        if (name.empty() || depth > 50)
            return false;
        std::string path;
        const std::vector<std::string>* lines = find_included(name, path);
        if (!lines || !interesting(*lines, depth + 1))
            return false;
        out_.enter(path, 1, "1");
        lines_of(*lines, path, depth + 1);
        out_.enter(in.file, in.number + 1, "2");
        return true;
    }

    const std::vector<std::string>* find_included(const std::string& name, std::string& path)
    {
        std::vector<std::string> candidates;
        if (name[0] == '/')
            candidates.push_back(name);
        else
            for (const std::string& folder : options_.include_folders)
                candidates.push_back(folder == "." ? name : folder + "/" + name);
        for (const std::string& candidate : candidates) {
            auto known = included_.find(candidate);
            if (known == included_.end()) {
                std::ifstream file(candidate, std::ios::binary);
                if (!file)
                    continue;
                std::ostringstream text;
                text << file.rdbuf();
                known = included_.emplace(candidate, split_lines(text.str())).first;
            }
            path = candidate;
            return &known->second;
        }
        return nullptr;
    }

    bool interesting(const std::vector<std::string>& lines, int depth)
    {
        for (const std::string& line : lines) {
            const Sentinel kind = classify(line, options_.form).kind;
            if (kind == Sentinel::ws || kind == Sentinel::glued || (kind == Sentinel::conditional && !options_.openmp))
                return true;
            const std::string name = include_name(line, options_.form);
            std::string path;
            if (name.empty() || depth > 50)
                continue;
            const std::vector<std::string>* included = find_included(name, path);
            if (included && interesting(*included, depth + 1))
                return true;
        }
        return false;
    }

    // The text of a line that counts: in fixed form no more than its length.
    std::string cut(const std::string& line) const
    {
        return options_.form == Form::fixed && options_.length && line.size() > options_.length
                   ? line.substr(0, options_.length)
                   : line;
    }

    void complain(const Place& place, const std::string& line, const std::string& text, bool warning = false)
    {
        messages_.push_back({place, text, line, warning});
    }

    void directive(SourceReading& in, const SentinelLine& first)
    {
        any_ = true;
        const Place start{in.file, in.number, int(first.dollar)};
        const std::string first_line = in.lines[in.index];
        if (first.continues) {
            complain(start, first_line, "this '!$ws' line continues no directive");
            return;
        }
        LexedTokens in_directive;
        std::map<int, std::string>& lines = lines_of_directive_;
        lines = {{in.number, first_line}};
        bool continued = lex(cut(first_line), first.body, options_.form, start, in_directive);
        for (;;) {
            size_t next = in.index + 1;
            while (next < in.lines.size() && in.lines[next][0] != '#' &&
                   is_comment_or_blank(in.lines[next], options_.form) &&
                   classify(in.lines[next], options_.form).kind == Sentinel::none)
                next++;
            SentinelLine follows;
            if (next < in.lines.size())
                follows = classify(in.lines[next], options_.form);
            const bool joins =
                follows.kind == Sentinel::ws && (options_.form == Form::free ? continued : follows.continues);
            if (!joins) {
                if (continued && options_.form == Form::free)
                    complain({in.file, in.number, int(cut(in.lines[in.index]).rfind('&')) + 1}, in.lines[in.index],
                             "no '!$ws' line follows to continue this one");
                break;
            }
            in.number += int(next - in.index);
            in.index = next;
            lines[in.number] = in.lines[next];
            continued = lex(cut(in.lines[next]), follows.body, options_.form, {in.file, in.number, 0}, in_directive);
        }

        const auto complain_at = [&](int origin, const std::string& text) {
            const Place& place = origin < 0 ? start : in_directive.places[size_t(origin)];
            complain(place, lines[place.line], text);
        };
        for (const ws::Token& token : in_directive.tokens)
            if (token.text == "&") {
                complain_at(token.origin, options_.form == Form::free
                                              ? "a '&' may only end a line, or begin one that continues another"
                                              : "a '&' may only be the mark of a line that continues another");
                return;
            }
        if (!in_directive.tokens.empty() && in_directive.tokens[0].text.compare(0, 3, "end") == 0 &&
            end_of(in_directive, start, complain_at))
            return;
        ws::Problems problems;
        const ws::Directive parsed = ws::parse(in_directive.tokens, -1, problems, ws::fortran_language);
        for (const ws::Problem& problem : problems)
            complain_at(problem.origin, problem.text);
        if (parsed.kind != ws::DirectiveKind::none)
            write(parsed, in_directive, start);
    }

    // `end do`, `end atomic`, `end critical (name)`; in one word too. False if it is something else.
    template <class Complain> bool end_of(const LexedTokens& lexed, const Place& start, const Complain& complain_at)
    {
        const ws::Tokens& tokens = lexed.tokens;
        std::string what = tokens[0].text.substr(3);
        size_t next = 1;
        if (what.empty() && tokens.size() > 1)
            what = tokens[next++].text;
        const bool loop = what == ws::fortran_language.loop;
        const bool tasks = what == "task" || what == "taskloop" || what == "taskgroup";
        if (!loop && !tasks && what != "sections" && what != "atomic" && what != "critical") {
            const std::string meant =
                ws::did_you_mean("end " + what, {"end do", "end sections", "end atomic", "end critical", "end task",
                                                 "end taskloop", "end taskgroup"});
            complain_at(
                tokens[0].origin,
                "unknown directive '!$ws " + tokens[0].text + (next > 1 ? " " + what : "") + "'" +
                    (meant.empty()
                         ? "; known are 'end do', 'end sections', 'end atomic', 'end critical', 'end task', 'end "
                           "taskloop' and 'end taskgroup'"
                         : meant));
            return true;
        }
        const bool simd = loop && next < tokens.size() && tokens[next].is("simd");
        next += simd;
        if (next < tokens.size() && what != "critical") {
            complain_at(tokens[next].origin, "expected nothing after '!$ws end " + what + (simd ? " simd'" : "'"));
            return true;
        }
        Layout layout(out_, options_.form, options_.length);
        const Place last = end_of_token(lexed, next - 1);
        if (loop || what == "sections") {
            layout.made(start, simd ? "end parallel do" : "end parallel");
            layout.break_line();
            const std::string word = simd ? "simd" : what;
            layout.word({last.file, last.line, last.column + 1 - int(word.size())}, word);
        } else {
            for (size_t i = 0; i < next; i++)
                layout.word(lexed.places[i], lexed.texts[i]);
        }
        if (what == "critical") {
            ws::Tokens rest(tokens.begin() + long(next) - 1, tokens.end());
            rest[0].text = what;
            ws::Problems problems;
            const ws::Token name = ws::parse(rest, -1, problems, ws::fortran_language).name;
            for (const ws::Problem& problem : problems)
                complain_at(problem.origin, problem.text);
            write_name(layout, name, lexed);
        }
        layout.finish();
        mark("other", start, lexed.places.back().line);
        return true;
    }

    void mark(const std::string& kind, const Place& first, int last_line, int kinds = 0, const std::string& name = "")
    {
        std::string coded = name.empty() ? "-" : "";
        for (unsigned char byte : name)
            for (int digit : {byte >> 4, byte & 15})
                coded += "0123456789abcdef"[digit];
        number_of_marks_++;
        marks_ += ws::fortran_mark + kind + " " + std::to_string(first.line) + " " +
                  std::to_string(last_line) + " " + std::to_string(kinds) + " " + coded + " " + first.file + "\n";
    }

    // Where a token's last character stands: gfortran places a statement at its end.
    static Place end_of_token(const LexedTokens& lexed, size_t token)
    {
        Place place = lexed.places[token];
        place.column += int(lexed.texts[token].size()) - 1;
        return place;
    }

    void write_name(Layout& layout, const ws::Token& token, const LexedTokens& lexed)
    {
        const std::string& name = token.text;
        const std::string full = ws::fortran_critical + std::string(name.empty() ? "" : "_") + name;
        const Place last = end_of_token(lexed, lexed.places.size() - 1);
        constexpr size_t longest = 63; // Fortran's limit
        if (full.size() > longest)
            complain(lexed.places[size_t(token.origin)], lines_of_directive_[lexed.places[size_t(token.origin)].line],
                     "the name of a '!$ws critical' has at most " +
                         std::to_string(longest - full.size() + name.size()) + " characters");
        layout.made(last, "(" + full);
        layout.break_line();
        layout.word(last, ")");
    }

    // The clauses without `priority`, a hint of which libws makes nothing.
    static ws::Tokens without_priority(const ws::Tokens& clauses)
    {
        ws::Tokens out;
        for (size_t i = 0, depth = 0; i < clauses.size(); i++) {
            if (!depth && clauses[i].is("priority")) {
                while (!(clauses[++i].is(")") && depth == 1))
                    depth += size_t(clauses[i].is("(")) - size_t(clauses[i].is(")"));
                depth = 0;
                continue;
            }
            depth += size_t(clauses[i].is("(")) - size_t(clauses[i].is(")"));
            out.push_back(clauses[i]);
        }
        return out;
    }

    void write(const ws::Directive& parsed, const LexedTokens& lexed, const Place& start)
    {
        Layout layout(out_, options_.form, options_.length);
        const auto copy = [&](const ws::Tokens& tokens) {
            for (const ws::Token& token : tokens)
                layout.word(lexed.places[size_t(token.origin)], lexed.texts[size_t(token.origin)]);
        };
        switch (parsed.kind) {
        case ws::DirectiveKind::atomic:
        case ws::DirectiveKind::taskgroup:
        case ws::DirectiveKind::taskwait:
        case ws::DirectiveKind::declare_reduction:
            for (size_t i = 0; i < lexed.places.size(); i++)
                layout.word(lexed.places[i], lexed.texts[i]);
            mark(parsed.kind == ws::DirectiveKind::declare_reduction ? "other" : lexed.tokens[0].text, start,
                 lexed.places.back().line);
            break;
        case ws::DirectiveKind::critical:
            layout.word(lexed.places[0], lexed.texts[0]);
            write_name(layout, parsed.name, lexed);
            mark("critical", start, lexed.places.back().line);
            break;
        case ws::DirectiveKind::section:
            layout.word(lexed.places[0], lexed.texts[0]);
            mark("section", start, lexed.places.back().line);
            break;
        case ws::DirectiveKind::loop:
        case ws::DirectiveKind::sections: {
            const bool loop = parsed.kind == ws::DirectiveKind::loop;
            // A clause that we write around what the user wrote.
            const auto around = [&](int origin, const char* head, const ws::Tokens& tokens) {
                layout.made(lexed.places[size_t(origin)], head);
                layout.break_line();
                copy(tokens);
                layout.break_line();
                layout.made(start, ")");
            };
            layout.made(start, !loop ? "parallel sections" : parsed.simd ? "parallel do simd" : "parallel do");
            copy(parsed.rest);
            layout.break_line();
            if (!parsed.schedule.chunk.empty())
                around(parsed.schedule.origin, "schedule(dynamic,", parsed.schedule.chunk);
            else if (loop)
                layout.made(start, "schedule(dynamic,1)");
            if (!parsed.steal_schedule.chunk.empty())
                around(parsed.steal_schedule.origin, "num_threads(", parsed.steal_schedule.chunk);
            if (!parsed.condition.empty())
                around(parsed.condition_origin, "if(parallel:", parsed.condition);
            // A second sign that the construct is ours. Its end gives the construct its place: that of our `do`.
            layout.made(start, "proc_bind(close");
            layout.break_line();
            layout.word(end_of_token(lexed, 0), ")");
            mark(loop ? "loop" : "sections", start, lexed.places.back().line, ws::site_kinds(parsed), parsed.loop_name);
            break;
        }
        case ws::DirectiveKind::task:
        case ws::DirectiveKind::taskloop:
            layout.word(lexed.places[0], lexed.texts[0]);
            copy(without_priority(parsed.rest));
            layout.break_line();
            if (!parsed.condition.empty()) {
                layout.made(lexed.places[size_t(parsed.condition_origin)], "if(");
                layout.break_line();
                copy(parsed.condition);
                layout.break_line();
                layout.made(start, ")");
            }
            // A sign that the construct is ours, and which one.
            layout.made(start, "priority(" + std::to_string(ws::fortran_task_priority + number_of_marks_) + ")");
            mark(lexed.tokens[0].text, start, lexed.places.back().line, ws::site_kinds(parsed), parsed.loop_name);
            break;
        case ws::DirectiveKind::none: break;
        }
        layout.finish();
    }

    const Options& options_;
    Output out_;
    std::string marks_;
    int number_of_marks_ = 0;
    std::vector<Message> messages_;
    std::map<std::string, std::vector<std::string>> included_;
    std::map<int, std::string> lines_of_directive_;
    bool any_ = false;
    bool simd_before_ = false;
};

} // namespace

Result rewrite(const std::string& text, const std::string& name, const Options& options)
{
    return Rewriter(options).run(text, name);
}

} // namespace ws_fortran
