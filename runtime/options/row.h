// SPDX-License-Identifier: MIT
//
// A row of the table of options (options.txt), as libws and ws-doctor have it.
#pragma once

#include <cstdint>
#include <string>

namespace ws::option {

enum class OptionKind { flag, number, words, size, schedule, file, text };
enum class OptionScope { none, readonly, local, all, all_eq }; // MPI_T's; none: not shown there

struct OptionRow {
    const char* variable;
    OptionKind kind;
    uint64_t least, most; // of a number
    const char* unit;
    const char* words[12];   // ended by null; beside a number the first stands for -1, the next for -2
    struct {
        const char* word; // that may have a number behind it, as in "share:8"; null: none
        unsigned least, most;
    } numbered;
    const char* endings[5]; // of a file's name, ended by null
    bool any_ending;
    const char* standard; // the default
    const char* policy;
    OptionScope scope;
    bool live, tests;
    const char* help;
    const char* option; // of mpiexec; "": it has none
    bool takes_value;   // that option does
    const char* alone;  // its value if none is given; "": there must be one
    const char *former_option, *former_variable; // "": none
    struct {
        const char *word, *now, *with;
    } former_words[6]; // ended by null; as in FormerWord
};

// In OMP_SCHEDULE's syntax.
struct OptionSchedule {
    unsigned kind = 0; // auto, static, dynamic, guided: as in ws_schedule
    long chunk = 0;    // 0: none given
};

} // namespace ws::option
