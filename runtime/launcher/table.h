// SPDX-License-Identifier: MIT
//
// mpiexec's options -workshare and those that begin so. Which there are is read, when one is used, from a file of the
// installation, share/workshare/options: completion reads the same one. A line of it is a key and a value; `variable`
// begins an option. What the keys mean stands in runtime/options/options.txt, of which the file is made; keys and kinds
// that are not known here are passed over.
#pragma once

#include "options/spelling.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ws::launcher {

struct Option {
    std::string variable;          // of the environment, that it sets
    std::string name, placeholder; // -workshare-quantum, " {usec}"; empty if mpiexec has no such option
    std::string kind;
    uint64_t least = 0, most = 0; // of a number, also of that behind a word
    std::string numbered;         // the word that may have a number behind it, as in share:8
    std::vector<std::string> words, endings, help;
    bool any_ending = false; // after '=' a file may end in another way
    std::string alone;       // the value if none is given; empty: there must be one
    std::string needs;       // the option without which it has no meaning
    std::vector<std::string> needs_words; // of the values of that option those that it needs; empty: any
    std::string former_name, former_variable; // till the next release; empty: none
    std::vector<option::FormerWord> former_words;
    bool enables = false, calms = false;
    std::string preloads, wanted = "a text";
    std::string linked, linked_preloads; // its value, and what is loaded, where the job has a program with OpenMP

    std::optional<std::string> value; // as given to mpiexec
    bool in_config_file = false;      // it was given there

    bool is_file() const { return kind == "file"; }
};

struct Table {
    std::string path; // of the file
    int error = 0;    // errno if it cannot be read; ENODATA if there is nothing in it
    std::vector<Option> options;
};

// Reads the file `options` in the folder `share`.
Table read_table(const std::string& share);

// True if `text` is a decimal number, and nothing else, from `least` to `most`.
bool is_number(const std::string& text, uint64_t least, uint64_t most);

// The names of these options, for settle_names().
std::vector<option::Spelling> spellings(const std::vector<Option>& options);

bool is_valid(const Option& option, const std::string& value);
bool ends_well(const Option& file, const std::string& value);

// Returns the names of the options, two at most, that differ from `misspelt`, which has no dashes, in fewer than `most`
// letters; the nearest first.
constexpr int near = 4, any_distance = 41;
std::vector<std::string> nearest(const std::vector<Option>& options, const std::string& misspelt, int most = near);

} // namespace ws::launcher
