// SPDX-License-Identifier: MIT
//
// mpiexec's command line, and its configuration file, as MPICH's hydra reads them: in sections that ':' divides (a new
// line in the file), each with options first and then a program with its own arguments.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace ws::launcher {

// Words that go on to hydra: an option with its values, a program with its arguments and the ':' behind it.
struct Piece {
    std::vector<std::string> words;
    std::string variable, value; // of -genv and -env, which set it
    bool is_global = false;      // -genv
    bool is_config_file = false; // -configfile
    std::string name;            // of the option, in lower case; empty: a program
};

struct Asked {
    bool help = false, version = false, no_cleanup = false;
    std::string config_file;   // of -configfile
    std::string wrong;         // the first thing that hydra would stumble over; empty: none
    bool has_program = false;
    bool needs_program = true; // the last section has none
};

// What is made of an option that hydra does not have: `words[at]` is it, without dashes; the function takes it and its
// value out, by moving `at` behind them. False: it goes on as it stands, and so does all that follows; hydra says that
// it does not know it.
using Unknown = std::function<bool(const std::vector<std::string>& words, size_t& at)>;

// Whether `word` is one of hydra's options or looks like one of Workshare's, with dashes in front.
bool is_option(const std::string& word);

// Returns those of `words` that are for hydra. Checks the values of hydra's options, because hydra crashes on some that
// are missing, and makes a number of any text.
std::vector<Piece> sort_out(const std::vector<std::string>& words, const Unknown& unknown, Asked& asked);

// Appends the words of a configuration file to `words`, with ':' for the end of a line; a comment begins with '#'.
// Returns "" or why the file cannot be read.
std::string read_words(const std::string& path, std::vector<std::string>& words);

// Returns "" or what is wrong with the text of a host file: hydra divides by the number of a host.
std::string wrong_hosts(const std::string& text);

// The options of hydra that are known here, as "name count", where count is the number of values that follow. For
// tests.
std::vector<std::string> known_options();

} // namespace ws::launcher
