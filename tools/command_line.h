// SPDX-License-Identifier: MIT
//
// What all tools written in C++ say of themselves and of mistakes on their command lines.
#pragma once

#include "options/nearest.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ws::tools {

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

// --version, and one line for each mistake.
inline void set_up(CLI::App& app, const std::string& version)
{
    app.set_version_flag("--version", version);
    app.failure_message([](const CLI::App* a, const CLI::Error& error) {
        std::string what = error.what(), end = "; see " + a->get_name() + " --help";
        const std::vector<std::string> left = a->remaining();
        if (error.get_exit_code() == int(CLI::ExitCodes::ExtrasError) && !left.empty()) {
            const std::string option = left[0].substr(0, left[0].find('='));
            const bool is_option = option.size() > 1 && option[0] == '-';
            what = is_option ? "unknown option " + option : "unexpected argument " + left[0];
            if (const std::string meant = is_option ? meant_options(*a, option) : ""; !meant.empty())
                end = meant;
        }
        return a->get_name() + ": error: " + what + end + "\n";
    });
}

} // namespace ws::tools
