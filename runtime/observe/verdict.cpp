// SPDX-License-Identifier: MIT
#include "observe/verdict.h"

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace ws {

namespace {

__attribute__((format(printf, 1, 2))) std::string format(const char* f, ...)
{
    char text[512];
    va_list args;
    va_start(args, f);
    std::vsnprintf(text, sizeof text, f, args);
    va_end(args);
    return text;
}

// The first cause that explains that nothing was stolen, the most basic one first.
std::string why_not(const Totals& t, const std::string& why_inactive)
{
    if (t.inactive == t.ranks)
        return why_inactive;
    if (t.ranks == 1 && t.workers == 0)
        return "there is one rank";
    if (t.alone_on_node == t.ranks && t.workers == 0)
        return "every rank is alone on its node";
    if (t.regions == 0)
        return t.regions_off > 0 ? "its ws loops ran on other threads than the one that called MPI_Init, without MPI_THREAD_MULTIPLE"
                                 : "no ws loop ran (is the program compiled with -fws?)";
    if (t.idle < 0.002 * t.wall * t.ranks && t.workers == 0)
        return "no rank had to wait";
    if (t.guests_refused > 0 && t.lends == 0)
        return "the system refused the guest threads (thread limit?)";
    if (t.guests_barred > 0 && t.lends == 0)
        return "the ranks may not use each other's cores (cpusets)";
    if (t.refusals > 0 && t.lends == 0)
        return "no core was free: there are more ranks than cores";
    if (t.unpaid_regions > 0.5 * t.regions)
        return "sharing its loops did not pay (memory-bound, or too short), and was stopped";
    if (t.regions_shared < 0.01 * t.regions) // some: their first execution, when their cost was not known
        return "its loops are too short, or ran while nobody waited";
    return "the shared loops were over before a blocked rank could help";
}

} // namespace

Verdict judge(const Totals& t, const std::string& top_loop, const std::string& why_inactive)
{
    Verdict v;
    double total = t.wall * t.ranks, idle = total > 0 ? 100 * t.idle / total : 0;
    std::string head = format("workshare: %.0f rank%s on %.0f node%s, %.3f s: ", t.ranks, t.ranks == 1 ? "" : "s",
                              t.nodes, t.nodes == 1 ? "" : "s", t.wall);
    if (t.iterations_stolen > 0) {
        const double spare = t.idle + t.workers * t.wall; // workers have nothing of their own to do
        double used = spare > 0 ? 100 * t.stolen / spare : 0;
        v.line = head + format("ranks waited in MPI %.1f %% of the time", idle);
        if (t.workers > 0)
            v.line += format(" and had %.0f worker%s", t.workers, t.workers == 1 ? "" : "s");
        v.line += format("; stealing computed in %.0f %% of that (%.0f chunks, %.3f s)", used > 100 ? 100 : used,
                         t.chunks_stolen, t.stolen);
        if (!top_loop.empty())
            v.line += ", most of it from " + top_loop;
        if (used < 1) { // next to nothing: the user asks why as well
            v.reason = why_not(t, why_inactive);
            v.line += "; " + v.reason;
        }
        if (t.inactive > 0)
            v.line += format("; %.0f ranks ran without it: %s", t.inactive, why_inactive.c_str());
        return v;
    }
    v.reason = why_not(t, why_inactive);
    v.line = head;
    if (t.inactive < t.ranks)
        v.line += format("ranks waited in MPI %.1f %% of the time; ", idle);
    v.line += "nothing was stolen: " + v.reason;
    return v;
}

std::string to_json(const Totals& t, const Verdict& v, const std::string& top_loop)
{
    auto count = [](double x) { return int64_t(x); };
    auto text = [](const std::string& s) { return s.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(s); };
    nlohmann::ordered_json j = {
        {"ranks", count(t.ranks)},
        {"nodes", count(t.nodes)},
        {"wall_s", t.wall},
        {"idle_s", t.idle},
        {"lent_s", t.lent},
        {"stolen_s", t.stolen},
        {"close_wait_s", t.close_wait},
        {"regions", count(t.regions)},
        {"regions_off", count(t.regions_off)},
        {"regions_shared", count(t.regions_shared)},
        {"regions_joined", count(t.regions_joined)},
        {"iterations_stolen", count(t.iterations_stolen)},
        {"chunks_stolen", count(t.chunks_stolen)},
        {"lends", count(t.lends)},
        {"lost", count(t.lost)},
        {"recalls", count(t.recalls)},
        {"rings", count(t.rings)},
        {"refusals", count(t.refusals)},
        {"moves", count(t.moves)},
        {"guests_refused", count(t.guests_refused)},
        {"guests_barred", count(t.guests_barred)},
        {"sleeps", count(t.sleeps)},
        {"sleep_s", t.sleep},
        {"wakes", count(t.wakes)},
        {"workers", count(t.workers)},
        {"worker_chunks", count(t.worker_chunks)},
        {"unpaid_regions", count(t.unpaid_regions)},
        {"inactive", count(t.inactive)},
        {"loop", text(top_loop)},
        {"reason", text(v.reason)},
    };
    // A loop's name is a file name, which need not be UTF-8.
    return j.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace ws
