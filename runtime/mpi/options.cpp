// SPDX-License-Identifier: MIT
#include "mpi/options.h"

#include <cstdlib>
#include <cstring>

extern char** environ;

namespace ws {

namespace {

constexpr const char* known[] = {"WS_ENABLE", "WS_QUIET",      "WS_QUANTUM", "WS_SPIN",
                                 "WS_LINGER", "WS_CHUNK_TIME", "WS_CHAOS",   "WS_STATS_FILE"};

bool number(const char* name, uint64_t least, uint64_t most, uint64_t& value, std::string& error)
{
    const char* text = std::getenv(name);
    if (!text)
        return true;
    char* end;
    unsigned long long v = std::strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || v < least || v > most) {
        error = std::string(name) + "=" + text + " is not a number from " + std::to_string(least) + " to " +
                std::to_string(most);
        return false;
    }
    value = v;
    return true;
}

bool number(const char* name, unsigned least, unsigned most, unsigned& value, std::string& error)
{
    uint64_t v = value;
    bool ok = number(name, uint64_t(least), uint64_t(most), v, error);
    value = unsigned(v);
    return ok;
}

} // namespace

bool read_options(Options& o, std::string& error, std::string& warning)
{
    unsigned quiet = 0;
    if (!number("WS_QUIET", 0, 1, quiet, error) || !number("WS_QUANTUM", 1, 1000000, o.quantum_us, error) ||
        !number("WS_SPIN", 0, 1000000, o.spin_us, error) || !number("WS_LINGER", 0, 1000000, o.linger_us, error) ||
        !number("WS_CHUNK_TIME", 1, 1000000, o.chunk_us, error) ||
        !number("WS_CHAOS", uint64_t(0), ~uint64_t(0), o.chaos, error))
        return false;
    o.quiet = quiet;
    if (const char* file = std::getenv("WS_STATS_FILE"))
        o.stats_file = file;

    for (char** e = environ; *e; e++) {
        if (std::strncmp(*e, "WS_", 3) != 0)
            continue;
        std::string name(*e, std::strcspn(*e, "="));
        bool found = false;
        for (const char* k : known)
            found |= name == k;
        if (!found)
            warning += (warning.empty() ? "" : ", ") + name;
    }
    return true;
}

} // namespace ws
