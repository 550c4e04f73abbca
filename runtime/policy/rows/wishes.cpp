// SPDX-License-Identifier: MIT
#include "policy/rows/wishes.h"

#include <cerrno>
#include <climits>
#include <cstdlib>

namespace ws::policy::rows {

namespace {

// The number of a key; -1 for "auto", where there is such a word. False: its value is none.
bool number(MPI_Info info, const char* key, long least, long most, bool has_auto, long& value)
{
    char text[MPI_MAX_INFO_VAL + 1], *end;
    int found = 0;
    PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &found);
    if (!found)
        return true;
    if (has_auto && std::string(text) == "auto") {
        value = -1;
        return true;
    }
    errno = 0;
    const long given = std::strtol(text, &end, 10);
    if (errno || end == text || *end || given < least || given > most)
        return false;
    value = given;
    return true;
}

} // namespace

std::string read_wishes(MPI_Info info, const option::Options* options, Wishes& w)
{
    const option::Options defaults, &o = options ? *options : defaults;
    long th1 = o.rows_cpu_loss, th2 = o.rows_imbalance, k = o.rows_patience, interval = o.rows_interval, iterations = 0;
    static_assert(option::Options::rows_patience_auto == -1 && option::Options::rows_interval_auto == -1,
                  "as number() has it");
    if (info != MPI_INFO_NULL) {
        if (!number(info, "ws_flex_th1", 0, 100, false, th1))
            return "info key ws_flex_th1 is no number from 0 to 100";
        if (!number(info, "ws_flex_th2", 0, 100, false, th2))
            return "info key ws_flex_th2 is no number from 0 to 100";
        if (!number(info, "ws_flex_k", 1, 1000, true, k))
            return "info key ws_flex_k is neither auto nor a number from 1 to 1000";
        if (!number(info, "ws_flex_interval", 1, 1000000, true, interval))
            return "info key ws_flex_interval is neither auto nor a number from 1 to 1000000";
        if (!number(info, "ws_flex_iterations", 1, LONG_MAX, false, iterations))
            return "info key ws_flex_iterations is no number from 1 on";
        char text[MPI_MAX_INFO_VAL + 1];
        int found = 0;
        PMPI_Info_get(info, "ws_flex_domain", MPI_MAX_INFO_VAL, text, &found);
        if (found && std::string(text) != "all" && std::string(text) != "node")
            return "info key ws_flex_domain is neither all nor node";
        w.by_node = found && std::string(text) == "node";
    }
    w.settings.th1 = double(th1) / 100;
    w.settings.th2 = double(th2) / 100;
    w.settings.k = unsigned(std::max(k, 0L));
    w.settings.interval = unsigned(std::max(interval, 0L));
    w.iterations = iterations;
    w.spare = int(o.spare);
    return "";
}

} // namespace ws::policy::rows
