// SPDX-License-Identifier: MIT
//
// The result of a run under WS_CHECK, by loop: which were exercised and how, and which were not and why.
#include "openmp/library/regions.h"
#include "check/check.h"
#include "mpi/job.h"
#include "observe/format.h"
#include "observe/report.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace ws::mpi {

using check::CheckedLoop;
using check::check_orders;
using observe::format;

namespace {

// A loop on the way to rank 0.
struct Sent {
    char name[WS_NAME_MAX + 1];
    uint64_t counts[13 + check_orders];
    char why_not[112];
};

std::vector<Sent> own_loops()
{
    std::vector<Sent> sent;
    for (const CheckedLoop& l : check::checked_loops()) {
        Sent s = {{},
                  {l.runs, l.empty, l.single, l.plain, l.refused, l.one_chunk, l.nobody, l.shared, l.iterations,
                   l.helped, l.compared, l.differ, l.uncompared},
                  {}};
        std::snprintf(s.name, sizeof s.name, "%s", l.name.c_str());
        std::snprintf(s.why_not, sizeof s.why_not, "%s", l.why_not.c_str());
        std::copy(l.orders, l.orders + check_orders, s.counts + 13);
        sent.push_back(s);
    }
    return sent;
}

CheckedLoop received(const Sent& s)
{
    CheckedLoop l;
    l.name = s.name;
    l.why_not = s.why_not;
    uint64_t* to[] = {&l.runs,   &l.empty,      &l.single, &l.plain,    &l.refused, &l.one_chunk, &l.nobody,
                      &l.shared, &l.iterations, &l.helped, &l.compared, &l.differ,  &l.uncompared};
    for (unsigned i = 0; i < 13; i++)
        *to[i] = s.counts[i];
    std::copy(s.counts + 13, s.counts + 13 + check_orders, l.orders);
    return l;
}

// At rank 0 the loops of all ranks.
std::vector<CheckedLoop> gather(Job& job)
{
    const std::vector<Sent> mine = own_loops();
    const int bytes = int(mine.size() * sizeof(Sent));
    std::vector<int> sizes(size_t(job.rank == 0 ? job.size : 0)), at(sizes.size());
    PMPI_Gather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    int all = 0;
    for (size_t r = 0; r < sizes.size(); r++) {
        at[r] = all;
        all += sizes[r];
    }
    std::vector<Sent> sent(size_t(all) / sizeof(Sent));
    PMPI_Gatherv(mine.data(), bytes, MPI_BYTE, sent.data(), sizes.data(), at.data(), MPI_BYTE, 0, MPI_COMM_WORLD);
    std::map<std::string, CheckedLoop> by_name;
    for (const Sent& s : sent) {
        CheckedLoop& l = by_name[s.name];
        l.name = s.name;
        l.add(received(s));
    }
    std::vector<CheckedLoop> loops;
    for (auto& entry : by_name)
        loops.push_back(std::move(entry.second));
    return loops;
}

std::string count(uint64_t n, const char* what) { return format("%.0f %s%s", double(n), what, n == 1 ? "" : "s"); }

// Why executions were not exercised.
std::string why_not(const CheckedLoop& l)
{
    std::string text;
    auto add = [&](uint64_t n, const char* why) {
        if (n)
            text += (text.empty() ? "" : ", ") + format("%.0f ", double(n)) + why;
    };
    if (!l.runs)
        return "never run";
    add(l.empty, "without iterations");
    add(l.single, "of one iteration");
    add(l.one_chunk, "of one chunk, which its schedule clause fixes");
    add(l.plain, "run plainly (inside another shared loop, on a thread that may not share, before MPI_Init or after "
                 "MPI_Finalize)");
    add(l.refused, "left unshared by its if clause");
    add(l.nobody, "without a helper (no thread for one, or a core that is never free)");
    return text;
}

// How the results of a loop's reductions were compared.
std::string comparison_of(const CheckedLoop& l)
{
    std::string text;
    if (l.compared) {
        text = "; reductions compared " + count(l.compared, "time") +
               (l.differ ? format(", %.0f DIFFER", double(l.differ)) : ", none differs");
        if (l.uncompared)
            text += ", " + count(l.uncompared, "time") + " not: " + l.why_not;
        else if (!l.why_not.empty())
            text += ", not all: " + l.why_not;
    } else if (!l.why_not.empty())
        text = "; reductions not compared: " + l.why_not;
    return text;
}

std::string text_of(const std::vector<CheckedLoop>& loops)
{
    uint64_t exercised = 0;
    size_t width = 0;
    for (const CheckedLoop& l : loops) {
        exercised += l.shared > 0;
        width = std::max(width, l.name.size());
    }
    std::string text = format("workshare check: %.0f of %s exercised: run by several threads in orders that change\n",
                              double(exercised), count(loops.size(), "loop").c_str());
    for (const CheckedLoop& l : loops) {
        if (!l.shared)
            continue;
        text += format("  %-*s  %s, %.0f shared, helpers ran %.0f of %s;", int(width), l.name.c_str(),
                       count(l.runs, "execution").c_str(), double(l.shared), double(l.helped),
                       count(l.iterations, "iteration").c_str());
        const char* gap = " ";
        for (unsigned i = 0; i < check_orders; i++)
            if (l.orders[i]) {
                text += format("%s%s %.0f", gap, check::order_name(i), double(l.orders[i]));
                gap = ", ";
            }
        text += comparison_of(l);
        const std::string rest = why_not(l);
        text += rest.empty() ? "\n" : "; not shared: " + rest + "\n";
    }
    if (exercised < loops.size())
        text += "  not exercised:\n";
    for (const CheckedLoop& l : loops)
        if (!l.shared)
            text += format("  %-*s  %s\n", int(width), l.name.c_str(), why_not(l).c_str());
    uint64_t compared = 0, differ = 0;
    for (const CheckedLoop& l : loops) {
        compared += l.compared > 0;
        differ += l.differ > 0;
    }
    if (differ)
        text += format("  Reductions of %s of %.0f compared with one thread DIFFER: the exit status is 1.\n",
                       count(differ, "loop").c_str(), double(compared));
    else if (compared)
        text += format("  Reductions of %s were compared with one thread: none differs.\n",
                       count(compared, "loop").c_str());
    text += exercised ? "  Compare the program's other results with those of a run without -workshare.\n" : "";
    return text;
}

// A function that exit() runs may call exit() itself: then the rest is still done, and the status is the new one.
void fail_instead(int status, void*)
{
    if (status == 0 && check::results_differ())
        std::exit(1);
}

} // namespace

void watch_status() { on_exit(fail_instead, nullptr); }

void report_check(Job& job)
{
    int wanted = job.options.check != 0; // by rank 0: options may differ
    PMPI_Bcast(&wanted, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!wanted)
        return;
    const std::vector<CheckedLoop> loops = gather(job);
    int mine[] = {job.inactive != is_active, job.inactive}, off = 0, why = 0;
    PMPI_Reduce(&mine[0], &off, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Reduce(&mine[1], &why, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    int regions = base::Hardware::load_relaxed(openmp::region_ticks) != 0, any_regions = 0;
    PMPI_Reduce(&regions, &any_regions, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (job.rank != 0)
        return;
    if (off)
        std::fprintf(stderr, "workshare check: %s exercised nothing: %s\n", count(uint64_t(off), "rank").c_str(),
                     inactive_text(why));
    if (off < job.size)
        std::fputs(text_of(loops).c_str(), stderr);
    if (off < job.size && any_regions)
        std::fputs("  OpenMP's parallel regions are exercised with -workshare-openmp=share.\n", stderr);
}

} // namespace ws::mpi
