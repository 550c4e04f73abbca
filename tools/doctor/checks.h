// SPDX-License-Identifier: MIT
//
// The checks: what is judged of the machines and the program, in which words. Each has a number that stays, and gives
// one finding for each node, or one for the job.
#pragma once

#include "machine.h"
#include "program.h"

#include <optional>

namespace doctor {

enum class Level { skipped, ok, note, warning, problem };
const char* name(Level level);

struct Finding {
    Level level = Level::ok;
    std::string number, title;
    std::string measured, cause, fix; // cause and fix: only if something is wrong
    std::vector<std::string> nodes;   // where; empty: the job
};

// The ranks of a job, or those that are planned on this machine.
struct Job {
    bool planned = false;           // no job: `machines` has this machine alone, and `ranks` are to come
    int ranks = 1;                  // of the job
    std::vector<Machine> machines;  // by rank; planned: one
    std::optional<Program> program; // the first rank's
    std::vector<std::string> arguments;      // the program's
    std::vector<std::string> other_programs; // how the programs of other nodes differ
    std::vector<std::string> more_programs;  // those that other ranks are to run
};

struct Check {
    const char* number; // "WS101"
    const char* title;
    const char* about; // what is looked at, and why it matters
    void (*judge)(const Job&, std::vector<Finding>&, const char* number, const char* title);
};
const std::vector<Check>& checks();

// Those of one check or of all, worst first; findings that only differ in the node are one.
std::vector<Finding> judge(const Job& job, const std::string& only);

} // namespace doctor
