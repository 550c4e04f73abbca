// SPDX-License-Identifier: MIT
//
// What the ranks counted, put together at the end of the job: for the verdict by reductions, for the report by rank 0,
// which asks the ranks one after the other.
#include "openmp/library/regions.h"
#include "openmp/library/region_cores.h"
#include "measure/others.h"
#include "lend/lend.h"
#include "lend/victims.h"
#include "mpi/job.h"
#include "observe/calls.h"
#include "observe/verdict.h"
#include "openmp/library/threads.h"
#include "openmp/shared/site.h"
#include "policy/policy.h"
#include "base/environment.h"
#include "base/open_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <string_view>
#include <unistd.h>

namespace ws::mpi {

using observe::Facts;
using observe::RankCounts;
using observe::RankFigures;
using observe::Report;
using observe::Totals;
using observe::Verdict;
using observe::rank_figures;
using observe::report_as;
using observe::report_format;
using option::Options;

namespace {
volatile uint64_t polls_in_vain;
}

namespace {
double seconds(const Job& job, const volatile base::Hardware::Word& ticks)
{
    return job.clock.seconds(base::Hardware::load_relaxed(ticks));
}

double cpu_time(clockid_t clock)
{
    timespec t = {};
    clock_gettime(clock, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}
} // namespace

void note_cpus(Job& job)
{
    if (job.board->node_rank == 0)
        job.cpu_s_before = measure::cpu_seconds();
    job.process_s_before = cpu_time(CLOCK_PROCESS_CPUTIME_ID);
    job.thread_s_before = cpu_time(CLOCK_THREAD_CPUTIME_ID);
}

void count_poll() { observe::bump(polls_in_vain); }

const char* inactive_text(int why)
{
    switch (why) {
    case window_refused: return "MPI refused the node's shared window";
    case shm_too_small:
        return "/dev/shm is too small for the node's shared window; make it larger, or move UCX's queues elsewhere: "
               "UCX_POSIX_DIR=/tmp or "
               "UCX_TLS=sysv,self,tcp";
    case too_many_ranks: return "there are more than 1023 ranks and workers on a node";
    default: return "";
    }
}

namespace {

// The time without a CPU is divided between computing and the rest as the time in which this rank's thread did not
// sleep is.
double kept_off_computing(Job& job, const RankCounts& c)
{
    const double computing = std::max(0.0, c.wall_s - c.blocked_s - c.close_wait_s), slept = c.naps_s + c.lent_s;
    return computing > 0 ? std::min(computing, job.kept_off_s * computing / std::max(computing, c.wall_s - slept)) : 0;
}

// Only a few of the short executions are timed, and one of those may have been without a CPU for long: hence the upper
// bound.
double in_loops(const RankCounts& c)
{
    return std::min(c.loops_s, std::max(0.0, c.wall_s - c.blocked_s - c.close_wait_s));
}

Totals own_totals(Job& job, const RankFigures& figures)
{
    Totals t = {};
    const RankCounts& c = figures.counts;
    observe::LendCounters n = {};
    observe::VisitCounters v = {};
    for (unsigned i = 0; i < job.board->seats; i++) {
        const observe::Seat& seat = job.board->seat(i);
        n.refusals += seat.lend.refusals;
        n.moves += seat.lend.moves;
        n.wakes += seat.lend.wakes;
        v.chunks += seat.visit.chunks;
        v.iterations += seat.visit.iterations;
    }
    t.ranks = 1;
    t.nodes = job.board->node_rank == 0;
    t.alone_on_node = job.board->node_ranks == 1;
    t.inactive = job.inactive != is_active;
    t.wall = c.wall_s;
    t.idle = c.blocked_s;
    t.outside_mpi = c.waits_program_s + c.waits_gpu_s + c.waits_io_s;
    t.lent = c.lent_s;
    t.stolen = c.borrowed_s;
    t.regions = c.executions;
    t.regions_off = c.executions_plain;
    t.regions_shared = c.executions_shared;
    t.regions_joined = c.executions_helped;
    t.iterations_stolen = double(v.iterations);
    t.chunks_stolen = double(v.chunks);
    t.lends = c.lends;
    t.lost = c.claims_lost;
    t.recalls = c.recalls;
    t.rings = job.inactive ? 0 : double(base::Hardware::load_relaxed(job.window.own_home().rings));
    t.refusals = double(n.refusals);
    t.moves = double(n.moves);
    t.guests_refused = c.guests_refused;
    t.guests_barred = c.guests_barred;
    t.sleeps = c.naps;
    t.sleep = c.naps_s;
    t.wakes = double(n.wakes);
    t.workers = job.inactive ? 0 : double(job.window.workers());
    t.worker_chunks = double(job.board->process.worker_chunks);
    t.unpaid_regions = c.executions_unpaid;
    t.close_wait = c.close_wait_s;
    t.computing = std::max(0.0, c.wall_s - c.blocked_s - c.close_wait_s);
    t.loops = in_loops(c);
    t.kept_off = kept_off_computing(job, c);
    for (const auto& [core, busy] : figures.borrowed_on)
        if (core < unsigned(job.board->node_ranks))
            t.stolen_home += busy;
    std::copy(c.refused_s, c.refused_s + observe::refusal_kinds, t.refused);
    t.polls = double(polls_in_vain);
    t.crowded = !job.inactive && job.window.ranks() > (job.options.cores ? job.options.cores : job.window.node().cpus);
    return t;
}

// The longest message. UCX from 1.18 on reads messages of more than some kB from the sender's memory by the process's
// number. It ends the job if the sender's main thread has left (pthread_exit), which programs that send little have
// never noticed.
constexpr size_t piece = 2048;

// The rows of all ranks, added up by their names. First which of them count most: only these fit, as a table of fixed
// size can be reduced in a tree, and one that is dropped on the way may come back later, with the weight of the other
// ranks only. Then what all ranks counted under these names.
template <class Counts> class Best {
public:
    struct NamedCounts {
        char name[192];
        Counts counts;
    };

    void add(const char* name, double weight, const Counts& counts)
    {
        WeightedCounts& e = mine_[std::hash<std::string_view>()(name)];
        std::snprintf(e.row.name, sizeof e.row.name, "%s", name);
        e.weight += weight;
        observe::add_counts(e.row.counts, counts);
    }

    // At rank 0 the whole job's, those that count most first. Collective over MPI_COMM_WORLD.
    std::vector<NamedCounts> reduce() const
    {
        Top top = {};
        for (const auto& [key, e] : mine_)
            top.add({key, e.weight});
        Top all = top;
        reduce_by(merge_tops, &top, &all, 1);
        std::stable_sort(all.keys, all.keys + Top::size,
                         [](const Key& a, const Key& b) { return a.weight > b.weight; });
        PMPI_Bcast(&all, int(sizeof all), MPI_BYTE, 0, MPI_COMM_WORLD);
        std::vector<NamedCounts> mine, sums;
        for (const Key& k : all.keys)
            if (k.weight > 0) {
                const auto at = mine_.find(k.key);
                mine.push_back(at == mine_.end() ? NamedCounts{} : at->second.row);
            }
        sums = mine;
        constexpr size_t at_once = std::max<size_t>(1, piece / sizeof(NamedCounts));
        for (size_t i = 0; i < mine.size(); i += at_once)
            reduce_by(add_rows, &mine[i], &sums[i], std::min(at_once, mine.size() - i));
        return sums;
    }

private:
    struct WeightedCounts {
        double weight;
        NamedCounts row;
    };
    struct Key {
        uint64_t key; // of the name
        double weight; // 0: none
    };
    struct Top {
        static constexpr unsigned size = 16;
        Key keys[size];

        void add(const Key& k)
        {
            Key* least = keys;
            for (Key& mine : keys) {
                if (mine.weight > 0 && mine.key == k.key) {
                    mine.weight += k.weight;
                    return;
                }
                if (mine.weight < least->weight)
                    least = &mine;
            }
            if (k.weight > least->weight)
                *least = k;
        }
    };
    static_assert(sizeof(Top) <= piece && sizeof(NamedCounts) <= piece);

    static void merge_tops(void* from, void* to, int*, MPI_Datatype*)
    {
        for (const Key& k : static_cast<Top*>(from)->keys)
            if (k.weight > 0)
                static_cast<Top*>(to)->add(k);
    }

    static void add_rows(void* from, void* to, int* rows, MPI_Datatype*)
    {
        for (int i = 0; i < *rows; i++) {
            const NamedCounts& row = static_cast<NamedCounts*>(from)[i];
            NamedCounts& sum = static_cast<NamedCounts*>(to)[i];
            if (!row.name[0])
                continue;
            std::memcpy(sum.name, row.name, sizeof sum.name);
            observe::add_counts(sum.counts, row.counts);
        }
    }

    template <class T> static void reduce_by(MPI_User_function* how, const T* mine, T* all, size_t count)
    {
        MPI_Op op;
        MPI_Datatype type;
        PMPI_Op_create(how, 1, &op);
        PMPI_Type_contiguous(int(sizeof(T)), MPI_BYTE, &type);
        PMPI_Type_commit(&type);
        PMPI_Reduce(mine, all, int(count), type, op, 0, MPI_COMM_WORLD);
        PMPI_Type_free(&type);
        PMPI_Op_free(&op);
    }

    std::map<uint64_t, WeightedCounts> mine_;
};

// What other programs used of the CPUs, on the node where that was most. Collective; rank 0 gets the answer.
Facts::Others gather_others(Job& job, const RankFigures& r)
{
    measure::Others here;
    if (!job.inactive && !job.options.cores) {
        const base::CpuMask mask = job.window.mask(job.window.me());
        const double lent = job.clock.seconds(job.board->seat(0).lend.lent_ticks);
        const double process = cpu_time(CLOCK_PROCESS_CPUTIME_ID) - job.process_s_before;
        // The rank's own threads are on its CPU, guests are not.
        const double there =
            std::max(cpu_time(CLOCK_THREAD_CPUTIME_ID) - job.thread_s_before, process - r.counts.borrowed_s) + lent;
        // threads of regions go where cores are lent
        const auto mode = job.options.openmp;
        const bool stays = mask.count() == 1 && !job.board->process.openmp_lent &&
                           mode != Options::openmp_lend && mode != Options::openmp_balance &&
                           mode != Options::openmp_auto;
        const measure::Used mine = {stays ? double(mask.first()) : -1, there, process};
        std::vector<measure::Used> all(job.board->node_rank == 0 ? size_t(job.board->node_ranks) : 0);
        PMPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0, job.node);
        if (job.board->node_rank == 0) {
            base::CpuSet cpus;
            for (unsigned n = 0; n < job.window.ranks(); n++)
                cpus.add(job.window.mask(n));
            here = measure::others(job.cpu_s_before, measure::cpu_seconds(), r.counts.wall_s, cpus, all);
        }
    }
    struct {
        double share;
        int rank;
    } own = {here.share, job.rank}, most = {};
    PMPI_Allreduce(&own, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    Facts::Others others = {here.share, double(here.cpu), double(here.cpus)};
    PMPI_Bcast(&others, 3, MPI_DOUBLE, most.rank, MPI_COMM_WORLD);
    return others;
}

int number_in(const char* variable)
{
    const char* const text = std::getenv(variable);
    return text ? std::atoi(text) : 0;
}

// Read before MPI_Init: Open MPI sets the variable itself if no launcher that it knows has started the process.
const bool started_by_pmix = std::getenv("PMIX_RANK") != nullptr;

// A process whose MPI does not know its launcher is an MPI job of its own. Open MPI knows PMIx; MPICH knows PMI, and
// PMIx only if it was configured for that instead.
void gather_launcher(const Job& job, Facts& f)
{
    const bool by_pmi = std::getenv("PMI_FD") || std::getenv("PMI_PORT");
#ifdef OPEN_MPI
    f.is_open_mpi = true;
#endif
    if (job.size > 1 || (f.is_open_mpi ? started_by_pmix : by_pmi))
        return;
    f.pmix = started_by_pmix;
    if (std::getenv("SLURM_STEP_NUM_TASKS"))
        f.jobs_of_one = number_in("SLURM_STEP_NUM_TASKS");
    else if (f.pmix)
        f.jobs_of_one = observe::unknown_jobs;
    else if (by_pmi) {
        f.pmi = true;
        f.jobs_of_one = number_in("PMI_SIZE");
    }
    if (f.jobs_of_one == 1)
        f.jobs_of_one = 0;
}

// What became of the parallel regions, in the words of the rank that has most to say. Collective.
std::string gather_regions(Job& job)
{
    const openmp::RegionsTold mine = openmp::tell_regions();
    struct {
        int weight, rank;
    } own = {mine.weight, job.rank}, most = {};
    PMPI_Allreduce(&own, &most, 1, MPI_2INT, MPI_MAXLOC, MPI_COMM_WORLD);
    if (most.weight == 0)
        return "";
    char text[1024] = "";
    static_assert(sizeof text <= piece);
    if (most.rank == job.rank)
        std::snprintf(text, sizeof text, "%s", mine.text.c_str());
    PMPI_Bcast(text, sizeof text, MPI_BYTE, most.rank, MPI_COMM_WORLD);
    return (most.rank ? "on rank " + std::to_string(most.rank) + ": " : std::string()) + text;
}

Facts gather_facts(Job& job, const RankFigures& r)
{
    Facts f;
    gather_launcher(job, f);
    f.others = gather_others(job, r);
    bool other_jobs = !job.inactive && job.lending->had_neighbours();
    PMPI_Reduce(&other_jobs, &f.other_jobs, 1, MPI_CXX_BOOL, MPI_LOR, 0, MPI_COMM_WORLD);
    Best<observe::LoopCounts> loops;
    Best<observe::CallCounts> calls;
    const double computing = std::max(0.0, r.counts.wall_s - r.counts.blocked_s - r.counts.close_wait_s);
    // outside of loops, in unshared ones
    double mine[] = {std::max(0.0, computing - in_loops(r.counts) - kept_off_computing(job, r.counts)), 0};
    for (const observe::LoopFigures& l : r.loops) {
        loops.add(l.name.c_str(), l.counts.computing_s + l.counts.borrowed_s, l.counts);
        if (l.counts.executions > 0)
            mine[1] += l.counts.computing_s * (1 - l.counts.executions_shared / l.counts.executions);
    }
    for (const observe::CallFigures& c : r.calls)
        calls.add(c.name.c_str(), c.counts.blocked_s - c.counts.lent_s, c.counts);
    for (const auto& l : loops.reduce())
        f.loops.push_back({l.name, l.counts});
    for (const auto& c : calls.reduce())
        f.calls.push_back({c.name, c.counts});
    double sum[2] = {}, least[2] = {};
    PMPI_Reduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Reduce(mine, least, 2, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    f.outside = sum[0] - job.size * least[0];
    f.unshared = sum[1] - job.size * least[1];
    struct {
        double outside;
        int rank;
    } own = {mine[0], job.rank}, most = {};
    PMPI_Allreduce(&own, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    f.serial = {double(most.rank), most.outside, computing};
    PMPI_Bcast(&f.serial.computing, 1, MPI_DOUBLE, most.rank, MPI_COMM_WORLD);
    PMPI_Reduce(&r.lag_s, &f.lag, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    int why = job.inactive, any_why = 0;
    PMPI_Reduce(&why, &any_why, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    f.why_inactive = inactive_text(any_why);
    const double regions_s[] = {r.counts.openmp_regions_s, r.counts.openmp_tasks_s};
    double all_regions_s[2] = {};
    PMPI_Reduce(regions_s, all_regions_s, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    f.parallel_s = all_regions_s[0];
    f.parallel_tasks_s = all_regions_s[1];
    f.helps_nobody = !lend::victims[job.options.victim];
    for (const policy::Policy* p : policy::policies())
        p->tell(f);
    const unsigned threads = openmp::sharer ? openmp::openmp_usual() : 0;
    PMPI_Reduce(&threads, &f.virtual_threads, 1, MPI_UNSIGNED, MPI_MAX, 0, MPI_COMM_WORLD);
    bool unknown = openmp::gain_is_unknown();
    PMPI_Reduce(&unknown, &f.gain_is_unknown, 1, MPI_CXX_BOOL, MPI_LOR, 0, MPI_COMM_WORLD);
    if (std::string regions = gather_regions(job); !regions.empty())
        f.policies.push_back(std::move(regions));
    return f;
}

bool write_file(const std::string& name, const std::string& text)
{
    const int fd = base::open_to_write(name.c_str());
    FILE* f = fd < 0 ? nullptr : fdopen(fd, "w");
    if (!f)
        return false;
    const bool written = std::fwrite(text.data(), 1, text.size(), f) == text.size();
    const int error = errno; // fclose may change it
    if (std::fclose(f) != 0)
        return false;
    errno = error;
    return written;
}

// Rank 0 gets the ranks' figures, one rank's at a time and only when it asks: it never holds more than they come to.
Report gather_report(Job& job, const RankFigures& mine)
{
    enum { tag_go, tag_size, tag_figures };
    MPI_Comm comm; // no message of the program's may be taken for one of these
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    Report report;
    if (job.rank == 0) {
        observe::ReportBuilder builder;
        builder.add(RankFigures(mine));
        for (int r = 1; r < job.size; r++) {
            uint64_t size = 0;
            PMPI_Send(nullptr, 0, MPI_BYTE, r, tag_go, comm);
            PMPI_Recv(&size, 1, MPI_UINT64_T, r, tag_size, comm, MPI_STATUS_IGNORE);
            std::string bytes(size, '\0');
            for (size_t at = 0; at < size; at += piece)
                PMPI_Recv(&bytes[at], int(std::min(piece, size - at)), MPI_BYTE, r, tag_figures, comm,
                          MPI_STATUS_IGNORE);
            builder.add(observe::unpack_rank(bytes));
        }
        report = builder.finish();
    } else {
        const std::string bytes = observe::pack(mine);
        const uint64_t size = bytes.size();
        PMPI_Recv(nullptr, 0, MPI_BYTE, 0, tag_go, comm, MPI_STATUS_IGNORE);
        PMPI_Send(&size, 1, MPI_UINT64_T, 0, tag_size, comm);
        for (size_t at = 0; at < size; at += piece)
            PMPI_Send(&bytes[at], int(std::min(piece, size - at)), MPI_BYTE, 0, tag_figures, comm);
    }
    PMPI_Comm_free(&comm);
    return report;
}

// The words of the command line behind the program.
std::vector<std::string> own_arguments()
{
    std::string line;
    base::read_whole("/proc/self/cmdline", line); // nothing if it cannot be read
    std::vector<std::string> words;
    for (size_t at = 0, end; at < line.size(); at = end + 1) {
        end = std::min(line.find('\0', at), line.size());
        words.push_back(line.substr(at, end - at));
    }
    if (!words.empty())
        words.erase(words.begin());
    return words;
}

observe::Conditions own_conditions(const Job& job, const Facts& facts)
{
    observe::Conditions c;
    c.arguments = own_arguments();
    const char* const mode = base::own_variable("WS_OPENMP"); // the environment has it no longer
    c.openmp = mode ? mode : option::option_row("WS_OPENMP").standard;
    c.victim = option::option_row("WS_VICTIM").words[job.options.victim];
    c.openmp_threads = openmp::own_threads();
    if (!job.inactive) {
        c.cpus = job.options.cores ? job.options.cores : job.window.node().cpus;
        c.rank_cpus = job.window.mask(job.window.me()).count();
    }
    c.others = facts.others.share;
    c.counters = job.counters_refused;
    return c;
}

void write_report(Job& job, Report& report, const Verdict& verdict, const Facts& facts)
{
    const Options& o = job.options;
    report.workshare = WS_VERSION;
    report.conditions = own_conditions(job, facts);
    report.verdict = verdict.line();
    report.reason = !verdict.reason.empty() ? verdict.reason : verdict.rest;
    bool on_stderr = o.report;
    if (!o.report_file.empty() && !write_file(o.report_file, report_as(report_format(o.report_file), report))) {
        std::fprintf(stderr, "workshare: error: cannot write the report to %s: %s; it follows as text\n",
                     o.report_file.c_str(), std::strerror(errno));
        on_stderr = true;
    }
    if (!on_stderr)
        return;
    report.verdict.clear(); // it ends the job's output
    std::fputs(observe::report_text(report).c_str(), stderr);
}

} // namespace

void report(Job& job)
{
    RankFigures figures =
        rank_figures(*job.board, job.board->ended_at, job.clock.ticks_per_us(), inactive_text(job.inactive));
    figures.counts.kept_off_s = kept_off_computing(job, figures.counts);
    figures.counts.openmp_regions = double(base::Hardware::load_relaxed(openmp::region_count));
    figures.counts.openmp_regions_s = seconds(job, openmp::region_ticks);
    figures.counts.openmp_tasks_s = seconds(job, openmp::task_region_ticks);
    figures.counts.openmp_threads_s = seconds(job, openmp::thread_ticks);
    figures.counts.openmp_scheduling_s = seconds(job, openmp::scheduling_ticks);
    figures.counts.openmp_imbalance_s = seconds(job, openmp::imbalance_ticks);
    Totals mine = own_totals(job, figures), all = mine;
    double wall = 0;
    PMPI_Reduce(&mine, &all, observe::totals_count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Reduce(&mine.wall, &wall, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    const Facts facts = gather_facts(job, figures);
    figures.cores = facts.cores;
    figures.over_time = observe::time_spent(job.board->ended_at);
    int wanted = job.options.report || !job.options.report_file.empty(); // by rank 0, which writes it
    PMPI_Bcast(&wanted, 1, MPI_INT, 0, MPI_COMM_WORLD);
    Report gathered;
    if (wanted)
        gathered = gather_report(job, figures);
    if (job.rank != 0)
        return;
    all.wall = wall;
    const Verdict verdict = observe::judge(all, facts);
    if (wanted)
        write_report(job, gathered, verdict, facts);
    // Under WS_CHECK helpers share the cores and loops run in unusual orders: its times do not say what stealing wins.
    // In one write: what fprintf prints to stderr glibc writes in pieces of 128 bytes, from 2.37 on, and what other
    // ranks print comes between them.
    if (!job.options.quiet && !job.options.check)
        std::fputs((verdict.text() + (job.book_problem.empty() ? "" : "workshare: warning: " + job.book_problem + "\n"))
                       .c_str(),
                   stderr);
    if (!job.options.stats_file.empty() &&
        !write_file(job.options.stats_file, observe::to_json(all, verdict, facts, WS_VERSION)))
        std::fprintf(stderr, "workshare: error: cannot write WS_STATS_FILE=%s: %s\n", job.options.stats_file.c_str(),
                     std::strerror(errno));
}

} // namespace ws::mpi
