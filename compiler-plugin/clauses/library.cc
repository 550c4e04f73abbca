// SPDX-License-Identifier: MIT
#include "library.h"

#include <set>

namespace ws {

bool is_library_function(const std::string &symbol) {
    // C++'s: std::, operator new and delete, the support of exceptions. Fortran's. Our own.
    for (const char *begin : {"_ZSt", "_ZNSt", "_ZNKSt", "_ZNSo", "_ZNSi", "_ZNSs", "_ZNKSs", "_Znw", "_Zna", "_Zdl",
                              "_Zda", "__cxa_", "__gxx_", "__dynamic_cast", "__atomic_", "_gfortran_", "__ws_", "ws_"})
        if (symbol.compare(0, std::string(begin).size(), begin) == 0)
            return true;
    static const std::set<std::string> of_c = {
        "bsearch",   "clock",    "clock_gettime", "clock_nanosleep", "close",     "drand48",
        "drand48_r", "erand48",  "erand48_r",     "fclose",          "fflush",    "fgets",
        "fopen",     "fread",    "fseek",         "ftell",           "getenv",    "gettimeofday",
        "jrand48",   "lrand48",  "lrand48_r",     "mrand48",         "nanosleep", "nrand48",
        "open",      "pread",    "pwrite",        "qsort",           "rand",      "rand_r",
        "random",    "random_r", "read",          "sched_yield",     "sleep",     "strtod",
        "strtof",    "strtol",   "strtold",       "strtoll",         "strtoul",   "strtoull",
        "time",      "usleep",   "write"};
    return of_c.count(symbol) != 0;
}

}  // namespace ws
