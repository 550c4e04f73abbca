// SPDX-License-Identifier: MIT
//
// What the launcher and the user set: the WS_ environment. Read once, when a rank attaches. struct Options and the
// table that it is read by are made of options.txt, where each option is written once. Knows no MPI.
#pragma once

#include "options/options_table.h"
#include "options/spelling.h"
#include <string>
#include <vector>

namespace ws::option {

// Fills `options`; false with a one-line message in `error` that names the variable and its value. `unknown`: variables
// that begin with WS_ or WORKSHARE_, and items of WORKSHARE ("WORKSHARE=quantm"), that mean nothing here (misspelt,
// most likely). After settle_names().
bool read_options(Options& options, std::string& error, std::vector<std::string>& unknown);

// A mode of WS_OPENMP that there is not only costs speed: then it is off from here on, in this process and those that
// it starts, and the message says so. Else no message. (mpirun refuses one that it is given itself.)
std::string without_unknown_mode();

// The variable that is nearest to such a one, or nothing.
std::string meant_option(const std::string& misspelt);
std::string with_meant_options(const std::vector<std::string>& misspelt); // for a message

// The names of all options, for settle_names().
std::vector<Spelling> spellings();

// What settle_names() had to say when this process's libws was loaded (settle.cpp).
const std::vector<std::string>& notes_on_names();

// Whether the report and the trace could be written, before the program has computed for hours; else a message. For the
// rank that will write them. Leaves nothing behind.
bool can_write_files(const Options& options, std::string& error);

// The row of a variable that there is.
constexpr const OptionRow& option_row(const char* variable)
{
    for (const OptionRow& row : option_rows) {
        const char *a = row.variable, *b = variable;
        while (*a && *a == *b)
            a++, b++;
        if (*a == *b)
            return row;
    }
    throw "no such option"; // in a constant expression: does not compile
}

} // namespace ws::option
