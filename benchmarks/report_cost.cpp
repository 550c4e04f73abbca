// SPDX-License-Identifier: MIT
//
// What the report of a job of --ranks ranks costs: the runtime's own code, which packs the figures of a rank, and on
// rank 0 puts all of them together and writes them. Simulated: the figures are made up, and no rank and no MPI is here.
#include "observe/report.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/resource.h>

namespace {

using ws::observe::RankFigures;

double seconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double peak_mib()
{
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return double(usage.ru_maxrss) / 1024;
}

// A rank whose waiting grows with its number.
RankFigures rank(long number, long ranks, long per_node, long loops, long calls)
{
    RankFigures r = {};
    r.rank = number;
    r.node = number / per_node;
    r.node_rank = number % per_node;
    r.host = "node" + std::to_string(r.node);
    r.program = "simulated";
    r.counts.wall_s = 100;
    r.counts.mpi_s = r.counts.blocked_s = 50 * double(number) / double(ranks);
    r.counts.computing_s = r.counts.wall_s - r.counts.mpi_s;
    for (long i = 0; i < loops; i++) {
        r.loops.push_back({"program.c:" + std::to_string(i) + ":loop", {}});
        r.loops.back().counts.executions = 1000;
        r.loops.back().counts.computing_s = r.counts.computing_s / double(loops);
    }
    for (long i = 0; i < calls; i++) {
        r.calls.push_back({"MPI_Call_" + std::to_string(i), {}});
        r.calls.back().counts.calls = 1000;
        r.calls.back().counts.time_s = r.counts.mpi_s / double(calls);
    }
    return r;
}

} // namespace

int main(int argc, char** argv)
{
    long ranks = 4096, per_node = 64, loops = 100;
    constexpr long calls = 20;
    bool json = false;
    for (int i = 1; i < argc; i++) {
        long* const number = !std::strcmp(argv[i], "--ranks")   ? &ranks
                             : !std::strcmp(argv[i], "--node")  ? &per_node
                             : !std::strcmp(argv[i], "--loops") ? &loops
                                                                : nullptr;
        if (!std::strcmp(argv[i], "--json"))
            json = true;
        else if (number && i + 1 < argc && std::atol(argv[i + 1]) >= 1 && std::atol(argv[i + 1]) <= 1'000'000)
            *number = std::atol(argv[++i]);
        else {
            std::fprintf(stderr, "report_cost [--ranks N (4096)] [--node RANKS (64)] [--loops N (100)] [--json]: "
                                 "the report of a job; each number from 1 to 1,000,000\n");
            return 2;
        }
    }

    const double before_mib = peak_mib();
    double pack_s = 0, add_s = 0;
    ws::observe::ReportBuilder builder;
    for (long r = 0; r < ranks; r++) {
        const RankFigures figures = rank(r, ranks, per_node, loops, calls);
        const double begin = seconds();
        const std::string bytes = ws::observe::pack(figures);
        const double packed = seconds();
        builder.add(ws::observe::unpack_rank(bytes));
        pack_s += packed - begin;
        add_s += seconds() - packed;
    }
    const double begin = seconds();
    const ws::observe::Report report = builder.finish();
    const double finished = seconds();
    const std::string text = ws::observe::report_text(report);
    const double written = seconds();
    const std::string as_json = ws::observe::report_json(report);
    const double json_s = seconds() - written;

    // Ranks wait from 0 s to almost 50 s, evenly: a quarter of all cores' time.
    const double wanted = 0.75, found = report.as_is.parallel;
    if (long(report.ranks) != ranks || report.rank.size() != size_t(ranks) || report.loops.size() != size_t(loops) ||
        std::abs(found - wanted) > 0.25 / double(ranks) + 1e-9) {
        std::fprintf(stderr, "report_cost: WRONG: %.0f ranks, %zu loops, parallel efficiency %.4f instead of %.4f\n",
                     report.ranks, report.loops.size(), found, wanted);
        return 1;
    }
    std::printf(json ? "{\"program\": \"report_cost\", \"ranks\": %ld, \"pack_us\": %.1f, \"add_us\": %.1f, "
                       "\"total_ms\": %.1f, \"text_ms\": %.1f, \"json_ms\": %.1f, \"peak_mib\": %.1f}\n"
                     : "the report of %ld ranks: a rank packs its figures in %.1f us, rank 0 adds them in %.1f us; all "
                       "of it takes %.1f ms there, the text %.1f ms of it, JSON %.1f ms; memory: %.1f MiB\n",
                ranks, 1e6 * pack_s / double(ranks), 1e6 * add_s / double(ranks),
                1e3 * (add_s + (finished - begin) + (written - finished) + json_s), 1e3 * (written - finished),
                1e3 * json_s, peak_mib() - before_mib);
    return 0;
}
