// SPDX-License-Identifier: MIT
//
// What the SPMD programs with XMPI share: a loop of iterations over rows that may move, processors of pretended speeds,
// foreign load, and the comparison with a run in which nothing moves.
#pragma once

#include "flex_random.h"
#include "work.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>
#include <workshare/xmpi.hpp>

namespace flex {

struct Load { // of a rank's processor, in iterations [begin, end): the share that others have
    long rank, begin, end;
    double share;
};

struct Options {
    const char* program;
    long rows = 400, iterations = 400;
    bool plain = false, json = false, check = true, split = false;
    double unit = 0;            // seconds that a unit of work sleeps on a processor of speed 1; 0: no sleep
    std::vector<double> speeds; // by rank, the last for the rest
    std::vector<Load> loads;
    const char* file = nullptr;
    const char* kind = nullptr;
    const char* domain = nullptr;
    long in_turn = 0; // iterations with XMPI's calls, and as many without; 0: all with them

    double speed(int rank) const { return speeds.empty() ? 1 : speeds[std::min(size_t(rank), speeds.size() - 1)]; }
};

inline std::vector<double> numbers(const Options& o, const char* name, const char* text)
{
    std::vector<double> values;
    for (const char* at = text;; at++) {
        char* end;
        values.push_back(std::strtod(at, &end));
        if (end == at || !(values.back() > 0) || (*end && *end != ','))
            bench_fail(2, "%s: --%s takes positive numbers with commas between, not '%s'", o.program, name, text);
        if (!*end)
            return values;
        at = end;
    }
}

inline void add_load(Options& o, const char* text)
{
    Load l = {};
    char rest;
    if (std::sscanf(text, "%ld:%ld-%ld:%lf%c", &l.rank, &l.begin, &l.end, &l.share, &rest) != 4 ||
        !(l.share > 0 && l.share < 1))
        bench_fail(2, "%s: --load takes RANK:FIRST-LAST:SHARE, not '%s'", o.program, text);
    o.loads.push_back(l);
}

// Rank R joins a control group: all threads that it has, and starts later, are subject to its limits from here on.
// Collective.
inline void join_group(const Options& o, const char* text)
{
    char* end;
    const long rank = std::strtol(text, &end, 10);
    if (end == text || rank < 0 || *end != ':' || !end[1])
        bench_fail(2, "%s: --group takes RANK:FOLDER, not '%s'", o.program, text);
    const std::string path = std::string(end + 1) + "/cgroup.procs";
    int problem = 0;
    if (rank == bench_rank) {
        FILE* const f = std::fopen(path.c_str(), "w");
        const bool written = f && std::fprintf(f, "%d\n", int(getpid())) > 0;
        if (!f || std::fclose(f) != 0 || !written)
            problem = errno;
    }
    MPI_Allreduce(MPI_IN_PLACE, &problem, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (problem)
        bench_fail(1, "%s: %s: %s", o.program, path.c_str(), std::strerror(problem));
}

inline void usage(const Options& o, const char* about, const char* more)
{
    if (bench_rank == 0)
        std::printf(
            "%s: %s\n"
            "  --rows N           rows of the whole (%ld)\n"
            "  --iterations N     (%ld)\n"
            "  --unit TIME        each unit of work also sleeps so long, on a processor of speed 1\n"
            "  --speeds A,B,...   of the ranks' processors, the last for the rest (1)\n"
            "  --load R:F-L:S     in iterations F to L - 1 others have the share S of rank R's processor; several\n"
            "  --group R:FOLDER   rank R joins the control group with that folder, for its CPU quota\n"
            "  --domain D         all or node: what shares are of (all)\n"
            "  --split            rows move between XMPI_Monitor_end_begin and _finish\n"
            "  --plain            without XMPI\n"
            "  --in-turn N        N iterations with the calls of XMPI and N without, in turn; each pair's times\n"
            "  --no-check         does not compare with a run in which nothing moves\n%s"
            "  --json             one JSON object instead of text\n",
            o.program, about, o.rows, o.iterations, more);
}

inline void read_options(Options& o, int argc, char** argv, const char* about, const char* more)
{
    enum {
        ROWS = 1,
        ITERATIONS,
        UNIT,
        SPEEDS,
        LOAD,
        GROUP,
        DOMAIN_,
        SPLIT,
        PLAIN,
        NO_CHECK,
        FILE_,
        KIND,
        IN_TURN,
        JSON,
        HELP
    };
    static const struct option options[] = {{"rows", required_argument, nullptr, ROWS},
                                            {"iterations", required_argument, nullptr, ITERATIONS},
                                            {"unit", required_argument, nullptr, UNIT},
                                            {"speeds", required_argument, nullptr, SPEEDS},
                                            {"load", required_argument, nullptr, LOAD},
                                            {"group", required_argument, nullptr, GROUP},
                                            {"domain", required_argument, nullptr, DOMAIN_},
                                            {"split", no_argument, nullptr, SPLIT},
                                            {"plain", no_argument, nullptr, PLAIN},
                                            {"no-check", no_argument, nullptr, NO_CHECK},
                                            {"file", required_argument, nullptr, FILE_},
                                            {"kind", required_argument, nullptr, KIND},
                                            {"in-turn", required_argument, nullptr, IN_TURN},
                                            {"json", no_argument, nullptr, JSON},
                                            {"help", no_argument, nullptr, HELP},
                                            {nullptr, 0, nullptr, 0}};
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case ROWS: o.rows = bench_count(o.program, "rows", optarg, 1, 100000000); break;
        case ITERATIONS: o.iterations = bench_count(o.program, "iterations", optarg, 1, 100000000); break;
        case UNIT: o.unit = bench_seconds(o.program, "unit", optarg); break;
        case SPEEDS: o.speeds = numbers(o, "speeds", optarg); break;
        case LOAD: add_load(o, optarg); break;
        case GROUP: join_group(o, optarg); break;
        case DOMAIN_: o.domain = optarg; break;
        case SPLIT: o.split = true; break;
        case PLAIN: o.plain = true; break;
        case NO_CHECK: o.check = false; break;
        case FILE_: o.file = optarg; break;
        case KIND: o.kind = optarg; break;
        case IN_TURN: o.in_turn = bench_count(o.program, "in-turn", optarg, 1, 100000000); break;
        case JSON: o.json = true; break;
        case HELP:
            usage(o, about, more);
            MPI_Finalize();
            std::exit(0);
        }
}

// The rows of all processes, as MPI's collective operations want them.
struct Rows {
    MPI_Count count = 0, displ = 0;
    std::vector<int> counts, displs;
};
inline void share(Rows& rows, const std::vector<MPI_Count>& counts)
{
    rows.counts.assign(counts.begin(), counts.end());
    rows.displs.assign(counts.size(), 0);
    for (size_t r = 1; r < counts.size(); r++)
        rows.displs[r] = rows.displs[r - 1] + rows.counts[r - 1];
    rows.count = rows.counts[size_t(bench_rank)];
    rows.displ = rows.displs[size_t(bench_rank)];
}

inline void list(const char* name, const std::vector<double>& values)
{
    std::printf(", \"%s\": [", name);
    for (size_t i = 0; i < values.size(); i++)
        std::printf("%s%.1f", i ? ", " : "", values[i]);
    std::printf("]");
}

// What XMPI costs, within one run: blocks of iterations with its calls and without, in the order with, without,
// without, with.
class Turns {
public:
    explicit Turns(long each) : each_(each) {}
    bool has_calls(long iteration) const
    {
        const long block = each_ ? iteration / each_ % 4 : 0;
        return block == 0 || block == 3;
    }
    void add(long iteration, double seconds)
    {
        if (!each_)
            return;
        const auto pair = size_t(iteration / each_ / 2);
        std::vector<double>& sums = has_calls(iteration) ? with_ : without_;
        sums.resize(std::max(sums.size(), pair + 1));
        sums[pair] += seconds * 1e6;
    }
    // In whole pairs.
    void print(long iterations)
    {
        if (!each_ || bench_rank != 0)
            return;
        with_.resize(size_t(iterations / each_ / 2));
        without_.resize(with_.size());
        list("with_us", with_);
        list("without_us", without_);
    }

private:
    long each_;
    std::vector<double> with_, without_;
};

// A run in equal parts, for curves. For each part: the time of an iteration, how far apart the processes' own times
// are, and what an iteration would take if all finished together at their speeds in it. Also the rows of one process,
// that of the first --load.
class Profile {
public:
    explicit Profile(const Options& o)
        : parts_(std::min(o.iterations, 80L)), iterations_(o.iterations), who_(o.loads.empty() ? 0 : o.loads[0].rank),
          all_(size_t(parts_)), own_(size_t(parts_)), units_(size_t(parts_)), rows_(size_t(parts_))
    {
    }
    // `own`: the part of it that the process did not spend in MPI, for `units` of work.
    void add(long iteration, double all, double own, double units, MPI_Count rows)
    {
        const auto part = size_t(iteration * parts_ / iterations_);
        all_[part] += all;
        own_[part] += own;
        units_[part] += units;
        rows_[part] = bench_rank == who_ ? double(rows) : 0;
    }
    // Collective.
    void print(bool json)
    {
        const int n = int(parts_);
        std::vector<double> most(own_), speeds(own_), best(all_);
        for (size_t i = 0; i < speeds.size(); i++)
            speeds[i] = own_[i] > 0 ? units_[i] / own_[i] : 0;
        MPI_Allreduce(MPI_IN_PLACE, speeds.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, units_.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, most.data(), n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, own_.data(), n, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, rows_.data(), n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (bench_rank != 0 || !json)
            return;
        const double us = 1e6 * double(parts_) / double(iterations_);
        for (size_t i = 0; i < all_.size(); i++) {
            if (speeds[i] > 0) // what is no process's own stays: the exchange
                best[i] += units_[i] / speeds[i] - most[i];
            most[i] = (most[i] - own_[i]) * us, all_[i] *= us, best[i] *= us;
        }
        list("part_us", all_);
        list("part_best_us", best);
        list("part_apart_us", most);
        list("part_rows", rows_);
    }

private:
    long parts_, iterations_, who_;
    std::vector<double> all_, own_, units_, rows_;
};

// Sleeps until this process has taken as long for `units` units as a processor of its speed does. It has computed for
// `computed` seconds, which with many processes on few cores is mostly waiting for a core.
inline void pretend(const Options& o, double units, long iteration, double computed)
{
    if (!(o.unit > 0) || !(units > 0))
        return;
    double taken = 0;
    for (const Load& l : o.loads)
        if (l.rank == bench_rank && iteration >= l.begin && iteration < l.end)
            taken = l.share;
    work_sleep(units * o.unit / o.speed(bench_rank) / (1 - taken) - computed);
}

inline std::vector<MPI_Count> equal_counts(const Options& o)
{
    std::vector<MPI_Count> counts;
    for (long r = 0; r < bench_ranks; r++)
        counts.push_back(o.rows / bench_ranks + (r < o.rows % bench_ranks));
    return counts;
}

inline std::unique_ptr<ws::partition> make_partition(const Options& o)
{
    if (o.plain)
        return nullptr;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "ws_flex_iterations", std::to_string(o.iterations).c_str());
    if (o.domain)
        MPI_Info_set(info, "ws_flex_domain", o.domain);
    auto partition = std::make_unique<ws::partition>(MPI_COMM_WORLD, o.rows, info);
    MPI_Info_free(&info);
    return partition;
}

// What a run shows of itself.
struct Course {
    explicit Course(const Options& o) : profile(o), turns(o.in_turn) {}
    long moves = 0;
    std::string moved_at;        // the iterations
    std::vector<double> samples; // seconds of each iteration
    Profile profile;
    Turns turns;
};

// Iteration `i`. `partition`: null without XMPI.
template <class Program>
void iterate(const Options& o, Program& program, Rows& rows, ws::partition* partition, bool tells_work, long i,
             Course& course)
{
    const double begin = bench_now();
    const bool calls = partition && course.turns.has_calls(i);
    if (calls)
        partition->begin_iteration();
    const double waited = program.waited;
    const double units = program.iterate(rows, i);
    pretend(o, units, i, bench_now() - begin - (program.waited - waited));
    const double own = bench_now() - begin;
    if (calls && tells_work)
        partition->set_work(units);
    program.exchange(rows);
    const MPI_Count count = rows.count;
    bool moved = false;
    if (calls && o.split) {
        partition->begin_move();
        moved = partition->finish_move();
    } else if (calls)
        moved = partition->end_iteration();
    if (moved) {
        share(rows, partition->counts(bench_ranks));
        program.moved(rows);
        course.moves++;
        course.moved_at += (course.moved_at.empty() ? "" : ", ") + std::to_string(i);
    }
    course.samples.push_back(bench_now() - begin);
    course.turns.add(i, course.samples.back());
    course.profile.add(i, course.samples.back(), own, units, count);
}

// Runs `reference` without moves and compares: "not compared", or what compare() says of equal results.
template <class Program>
const char* compare_with_unmoved(const Options& o, Program& program, Program& reference, const Rows& rows)
{
    if (!o.check)
        return "not compared";
    Rows equal;
    share(equal, equal_counts(o));
    reference.make(equal);
    for (long i = 0; i < o.iterations; i++) {
        reference.iterate(equal, i);
        reference.exchange(equal);
    }
    const char* verdict = program.compare(reference, rows, equal);
    if (!verdict)
        bench_fail(1, "%s: WRONG: the result is not that of the run in which nothing moved", o.program);
    return verdict;
}

// Collective.
inline void print_result(const Options& o, const Rows& rows, double seconds, const char* verdict, Course& course)
{
    const long late = std::max(1L, o.iterations / 3);
    const bench_times end = bench_summary(course.samples.data() + course.samples.size() - size_t(late), late);
    if (bench_rank == 0 && o.json) {
        std::printf("{\"program\": \"%s\", \"ranks\": %d, \"rows\": %ld, \"iterations\": %ld, \"seconds\": %.6f, "
                    "\"moves\": %ld, "
                    "\"moved_at\": [%s], \"result\": \"%s\"",
                    o.program, bench_ranks, o.rows, o.iterations, seconds, course.moves, course.moved_at.c_str(),
                    verdict);
        bench_json_times("late_us", end);
        std::printf(", \"counts\": [");
        for (size_t r = 0; r < rows.counts.size(); r++)
            std::printf("%s%d", r ? ", " : "", rows.counts[r]);
        std::printf("]");
    } else if (bench_rank == 0) {
        std::printf("all iterations  %.3f s, %ld moves%s%s; result: %s\n", seconds, course.moves,
                    course.moves ? " after iterations " : "", course.moved_at.c_str(), verdict);
        bench_print_times("at the end", end);
    }
    course.profile.print(o.json);
    if (o.json)
        course.turns.print(o.iterations);
    bench_json_end(o.json);
}

// A program has: make(rows) its arrays; add(partition); iterate(rows, iteration), which computes and returns its units,
// those that XMPI_Set_work is told if `tells_work`, and how long it has `waited` in MPI so far; exchange(rows) after
// it; compare() the same in all processes.
template <class Program> int run(const Options& o, Program& program, Program& reference, bool tells_work)
{
    Rows rows;
    share(rows, equal_counts(o));
    std::unique_ptr<ws::partition> partition = make_partition(o);
    program.make(rows);
    if (partition)
        program.add(*partition);
    Course course(o);
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = bench_now();
    for (long i = 0; i < o.iterations; i++)
        iterate(o, program, rows, partition.get(), tells_work, i, course);
    MPI_Barrier(MPI_COMM_WORLD);
    const double seconds = bench_now() - began;
    partition.reset();
    const char* verdict = compare_with_unmoved(o, program, reference, rows);
    print_result(o, rows, seconds, verdict, course);
    MPI_Finalize();
    return 0;
}

} // namespace flex
