// SPDX-License-Identifier: MIT
//
// What all tools written in C++ say of themselves and of mistakes on their command lines.
#pragma once

#include "options/nearest.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace ws::tools {

// An option's value, which must be `what`: a number of seconds, say, from `least` to `most`.
inline CLI::Validator number(const char* what, double least, double most, bool whole = true)
{
    const auto wrong = [=](const std::string& text) -> std::string {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        const bool is_number = !text.empty() && (whole ? text.find_first_not_of("0123456789") == text.npos : !*end);
        if (is_number && value >= least && value <= most)
            return "";
        char bounds[64];
        std::snprintf(bounds, sizeof bounds, " from %.10g to %.10g", least, most);
        return "'" + text + "' is not " + what + bounds;
    };
    return CLI::Validator(wrong, "");
}

// The name of a file or folder: an empty one is a variable that a script has not set.
inline CLI::Validator name_of(const char* what)
{
    return CLI::Validator(
        [=](const std::string& text) { return text.empty() ? std::string("'' is not the name of ") + what : ""; }, "");
}

inline CLI::Validator folder()
{
    const auto wrong = [](const std::string& text) -> std::string {
        struct stat of;
        return stat(text.c_str(), &of) == 0 && S_ISDIR(of.st_mode) ? "" : "'" + text + "' is not a folder";
    };
    return CLI::Validator(wrong, "");
}

// "; did you mean --json or --list?", of the two options that are spelt most alike; empty if none is.
inline std::string meant_options(const CLI::App& app, const std::string& misspelt)
{
    constexpr int most = 4; // letters apart
    std::vector<std::string> all;
    for (const CLI::Option* const option : app.get_options())
        for (const std::string& name : option->get_lnames())
            all.push_back("--" + name);
    return option::did_you_mean(option::nearest(all, misspelt, most));
}

// Returns CLI11's words of a mistake as other messages put it, and words that are no such as they are.
inline std::string in_our_words(const std::string& said)
{
    std::string before, behind;
    const auto has = [&](const std::string& between) {
        const size_t at = said.find(between);
        if (at == said.npos)
            return false;
        before = said.substr(0, at);
        behind = said.substr(at + between.size());
        return true;
    };
    if (const std::string end = " missing"; has(": 1 required ") && behind.size() > end.size())
        return before + " requires a value: " + behind.substr(0, behind.size() - end.size());
    if (has(": At Most 1 required but received "))
        return before + " is given " + behind + " times; once is the most";
    if (has(": At Most "))
        return before + ": " + behind.substr(0, behind.find(' ')) + " are the most, and " +
               behind.substr(behind.rfind(' ') + 1) + " are given";
    if (has("Could not convert: ")) {
        const size_t equals = behind.find(" = ");
        return behind.substr(0, equals) + ": '" + (equals == behind.npos ? "" : behind.substr(equals + 3)) +
               "' cannot be read";
    }
    if (has(" was given a disallowed flag override"))
        return "--" + option::without_dashes(before) + " takes no value";
    return said;
}

// --version, and one line for each mistake.
inline void set_up(CLI::App& app, const std::string& version)
{
    app.set_version_flag("--version", version);
    app.failure_message([](const CLI::App* a, const CLI::Error& error) {
        std::string what = in_our_words(error.what()), end = "; see " + a->get_name() + " --help";
        const std::vector<std::string> left = a->remaining();
        if (error.get_exit_code() == int(CLI::ExitCodes::ExtrasError) && !left.empty()) {
            const std::string option = left[0].substr(0, left[0].find('='));
            const bool is_option = option.size() > 1 && option[0] == '-';
            what = is_option ? "unknown option " + option : "unexpected argument " + left[0];
            if (const std::string meant = is_option ? meant_options(*a, option) : ""; !meant.empty())
                end = meant;
        } else if (what.find("; ") != what.npos) // it says itself what to do
            end.clear();
        return a->get_name() + ": error: " + what + end + "\n";
    });
}

} // namespace ws::tools
