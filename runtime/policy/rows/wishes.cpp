// SPDX-License-Identifier: MIT
#include "policy/rows/wishes.h"

#include "policy/info.h"

#include <algorithm>
#include <climits>

namespace ws::policy::rows {

namespace {

// As take_number(), or "auto": -1.
bool take_number_or_auto(MPI_Info info, const char* key, uint64_t most, long& value)
{
    if (info_value(info, key) != "auto")
        return take_number(info, key, 1, most, value);
    value = -1;
    return true;
}

} // namespace

std::string read_wishes(MPI_Info info, const option::Options* options, Wishes& w)
{
    const option::Options defaults, &o = options ? *options : defaults;
    long th1 = o.rows_cpu_loss, th2 = o.rows_imbalance, k = o.rows_patience, interval = o.rows_interval, iterations = 0;
    static_assert(option::Options::rows_patience_auto == -1 && option::Options::rows_interval_auto == -1,
                  "as take_number_or_auto() has it");
    if (info != MPI_INFO_NULL) {
        if (!take_number(info, "ws_flex_th1", 0, 100, th1))
            return "info key ws_flex_th1 is not a number from 0 to 100";
        if (!take_number(info, "ws_flex_th2", 0, 100, th2))
            return "info key ws_flex_th2 is not a number from 0 to 100";
        if (!take_number_or_auto(info, "ws_flex_k", 1000, k))
            return "info key ws_flex_k is neither auto nor a number from 1 to 1000";
        if (!take_number_or_auto(info, "ws_flex_interval", 1000000, interval))
            return "info key ws_flex_interval is neither auto nor a number from 1 to 1000000";
        if (!take_number(info, "ws_flex_iterations", 1, LONG_MAX, iterations))
            return "info key ws_flex_iterations is not a number of at least 1";
        const std::optional<std::string> domain = info_value(info, "ws_flex_domain");
        if (domain && *domain != "all" && *domain != "node")
            return "info key ws_flex_domain is neither all nor node";
        w.by_node = domain == "node";
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
