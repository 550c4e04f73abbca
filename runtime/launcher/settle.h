// SPDX-License-Identifier: MIT
//
// What mpiexec and `workshare` do alike with options. `is_set(variable)`: the user has said it; `set(variable, value)`:
// the processes get it.
#pragma once

#include "launcher/table.h"
#include "base/openmp_waits.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <sys/auxv.h>
#include <unistd.h>

namespace ws::launcher {

// The installation that this program lies in; empty: errno says why. From the kernel's own note of this program's file,
// which there is without /proc, too.
inline std::string installation()
{
    char self[PATH_MAX];
    const char* const file = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
    if (!file || !realpath(file, self))
        return "";
    const std::string path = self;
    return path.substr(0, path.rfind('/', path.rfind('/') - 1));
}

// Processes may run in other folders, so they are given the whole path.
inline std::string whole_path(const std::string& path)
{
    char folder[PATH_MAX];
    return path[0] == '/' || !getcwd(folder, sizeof folder) ? path : folder + ("/" + path);
}

// After a parallel region OpenMP's threads spin for milliseconds on the cores that others are to use. Its runtimes
// read how long before main, so it has to come from here, unless the user has said it. Where there are more threads
// than CPUs at the start, as there are with lent cores, libgomp's sleep almost at once, and waking one for the next
// region takes longer than a short region: "active" makes that 1000 spins, some 20 us; what is said beside it holds.
template <class IsSet, class Set> void calm_openmp(IsSet is_set, Set set)
{
    for (const base::OpenMPWait& wait : base::openmp_waits)
        if (is_set(wait.variable))
            return;
    for (const base::OpenMPWait& wait : base::openmp_waits)
        set(wait.variable, wait.value);
    set("WS_CALMED", "1"); // for children of ranks, which are to have none of them (mpi/children.cpp)
}

// The word of an option's value, without the number behind it.
inline std::string word_of(const Option& o, const std::string& value)
{
    return o.numbered.empty() ? value : value.substr(0, value.find(':'));
}

// Places in the processes' environment for what libws-early.so says (runtime/openmp/library/early.c), if the option has
// the value with a number, as in share:8.
template <class IsSet, class Set> void make_room(const Option& o, const std::string& value, IsSet is_set, Set set)
{
    if (o.numbered.empty() || word_of(o, value) != o.numbered)
        return;
    set("WS_OPENMP_OWN", "?");
    set("WS_OPENMP_WHY", "");
    if (!is_set("OMP_NUM_THREADS"))
        set("OMP_NUM_THREADS", "");
}

// What an option that is given has no meaning without: the name of another one, by `name(option)`, with the values that
// it needs. Empty: nothing is missing. `value(option)` is an optional string.
template <class Name, class Value>
std::string missing_for(const Option& o, const std::vector<Option>& all, Name name, Value value)
{
    const auto other = std::find_if(all.begin(), all.end(),
                                    [&](const Option& one) { return !o.needs.empty() && one.name == o.needs; });
    if (!o.value || other == all.end())
        return "";
    const std::string now = word_of(*other, value(*other).value_or(""));
    const auto& words = o.needs_words;
    if (words.empty() ? !now.empty() : std::find(words.begin(), words.end(), now) != words.end())
        return "";
    std::string needed;
    for (const std::string& word : words)
        needed += (needed.empty() ? "=" : word == words.back() ? " or " : ", ") + word;
    return name(*other) + needed;
}

} // namespace ws::launcher
