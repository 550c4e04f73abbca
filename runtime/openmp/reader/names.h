// SPDX-License-Identifier: MIT
//
// What is known of functions by their names.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace ws::openmp {

enum class Question : uint8_t { none, number, threads, more };
inline Question question_of(const char* name)
{
    const auto begins = [&](const char* with) { return std::strncmp(name, with, std::strlen(with)) == 0; };
    return !std::strcmp(name, "omp_get_thread_num") || !std::strcmp(name, "omp_get_thread_num_") ? Question::number
           : !std::strcmp(name, "omp_get_num_threads") || !std::strcmp(name, "omp_get_num_threads_")
               ? Question::threads
           : begins("omp_get_max_threads") || begins("omp_get_ancestor") || begins("omp_get_team_size")
               ? Question::more
               : Question::none;
}
inline bool is_question(const char* name) { return question_of(name) != Question::none; }
inline bool is_openmp(const char* name)
{
    for (const char* begin : {"GOMP_", "__kmpc_", "omp_", "kmp_", "GOACC_"})
        if (std::strncmp(name, begin, std::strlen(begin)) == 0)
            return true;
    return false;
}

// One thread after the other, and nobody waits for one that does not come.
inline bool excludes(const char* name)
{
    for (const char* part : {"_critical", "GOMP_atomic_", "_lock"})
        if (std::strstr(name, part))
            return true;
    return false;
}

inline bool has_no_arguments(const char* name)
{
    for (const char* begin : {"GOMP_barrier", "GOMP_loop_end", "GOMP_single_start", "GOMP_sections_end",
                              "GOMP_sections_next", "GOMP_critical_start", "GOMP_critical_end", "GOMP_atomic_"})
        if (std::strncmp(name, begin, std::strlen(begin)) == 0)
            return true;
    return false;
}

// Functions of libm's that have no integers among their arguments.
inline bool takes_reals(const char* name)
{
    std::string plain = name;
    if (!plain.empty() && plain.back() == 'f' && plain != "erf")
        plain.pop_back();
    for (const char* f :
         {"sqrt", "exp",  "exp2",  "expm1", "log",   "log2",  "log10", "log1p",  "pow",    "sin",   "cos",
          "tan",  "asin", "acos",  "atan",  "atan2", "sinh",  "cosh",  "tanh",   "cbrt",   "hypot", "erf",
          "erfc", "fmod", "floor", "ceil",  "round", "trunc", "rint",  "tgamma", "lgamma", "fma"})
        if (plain == f)
            return true;
    return false;
}

} // namespace ws::openmp
