// SPDX-License-Identifier: MIT
#include "wording.h"

#include <algorithm>

namespace doctor {

namespace {

constexpr char flag[] = "-workshare", comment[] = "     #";

bool starts(const std::string& text, const std::string& with) { return text.compare(0, with.size(), with) == 0; }

// Option names outside of commands; not the ends of other words, such as paths.
std::string options_renamed(std::string text)
{
    for (size_t at = 0; (at = text.find(flag, at)) != std::string::npos; at++) {
        if (at > 0 && text[at - 1] != ' ' && text[at - 1] != '(')
            continue;
        if (text.compare(at + sizeof flag - 1, 1, "-") == 0)
            text.replace(at, sizeof flag, "--");
        else
            text.erase(at, 1);
    }
    return text;
}

// Moves Workshare's options of an mpirun behind its own, to `workshare` before the program. `line` begins with the
// first word after mpirun.
std::string options_moved(const std::string& line)
{
    std::string own, other, notes;
    bool is_shared = false;
    size_t at = 0;
    const auto next = [&] {
        const size_t end = std::min(line.find(' ', at), line.size());
        const std::string word = line.substr(at, end - at);
        at = std::min(end + 1, line.size());
        return word;
    };
    while (at < line.size() && line[at] == '-') {
        const std::string word = next();
        const bool is_own = starts(word, flag);
        is_shared |= is_own;
        if (is_own && word.size() > sizeof flag)
            own += " --" + word.substr(sizeof flag);
        std::string value;
        for (const char* name : {"-n", "-ppn", "-bind-to", "-hosts", "-workshare-victim"})
            if (word == name)
                value = next();
        // Each MPI has another option for these.
        if (word == "-ppn")
            notes += (notes.empty() ? "" : ", ") + value + " ranks on each node";
        else if (word == "-bind-to" && starts(value, "core:"))
            notes += (notes.empty() ? "" : ", ") + std::string("each bound to ") + value.substr(5) + " cores";
        else if (word == "-bind-to")
            other += " --bind-to " + value; // which each mpirun takes
        else
            (is_own ? own : other) += (is_own ? "" : " " + word) + (value.empty() ? "" : " " + value);
    }
    const std::string program = line.substr(at);
    return other + (is_shared ? " workshare" + own : "") + (program.empty() ? "" : " " + program) +
           (notes.empty() ? "" : (program.find(comment) == std::string::npos ? comment : ";") + (" " + notes));
}

} // namespace

std::string for_any_mpi(const std::string& given)
{
    std::string text = given;
    for (const char* compiler : {"mpicc", "mpicxx", "mpifort"})
        if (const std::string call = std::string(compiler) + " -fws "; starts(text, call)) {
            text.replace(0, call.size(), std::string(compiler) + " $(workshare --cflags) ");
            text.insert(std::min(text.find(comment), text.size()), " $(workshare --libs)");
        }
    if (const size_t at = text.find("mpirun -"); at == 0 || (at != std::string::npos && text[at - 1] == ' '))
        return options_renamed(text.substr(0, at)) + "mpirun" + options_moved(text.substr(at + 7));
    return options_renamed(text);
}

void word(Counsel& counsel)
{
    if (has_own_mpi)
        return;
    const auto change = [](std::string& text) { text = for_any_mpi(text); };
    for (Advice& a : counsel.advice) {
        for (std::string* text : {&a.what, &a.basis, &a.assumes})
            change(*text);
        for (std::string& command : a.commands)
            change(command);
    }
    for (NotAdvised& n : counsel.not_advised) {
        change(n.what);
        change(n.why);
    }
    for (Unknown& u : counsel.unknown)
        for (std::string* text : {&u.about, &u.because, &u.command})
            change(*text);
}

} // namespace doctor
