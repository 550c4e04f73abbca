// SPDX-License-Identifier: MIT
//
// How the runtime attaches to the forked MPICH: the node's window, the locks in it, the hooks, and the end of the job with
// its verdict.
#include "directive/critical.h"
#include "directive/openmp.h"
#include "lend/lend.h"
#include "loop/chaos.h"
#include "loop/participant.h"
#include "mpi/end_job.h"
#include "mpi/options.h"
#include "mpich/files/src/include/mpir_workshare.h"
#include "observe/verdict.h"
#include "window/os.h"
#include "window/registry.h"
#include "window/window.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <optional>
#include <sys/statvfs.h>
#include <vector>

namespace ws {

namespace {

// Reasons why a rank runs without stealing, in the verdict's words. Reduced by maximum, so a number.
enum Inactive { is_active, window_refused, shm_too_small, too_many_ranks };
const char* inactive_text(int why)
{
    switch (why) {
    case window_refused: return "MPI refused the node's shared window";
    case shm_too_small: return "/dev/shm is too small for the node's shared window";
    case too_many_ranks: return "there are more than 1023 ranks and workers on a node";
    default: return "";
    }
}

struct Job {
    Options options;
    Clock clock;
    MPI_Comm node = MPI_COMM_NULL; // a duplicate, for this runtime alone
    MPI_Win mpi_window = MPI_WIN_NULL;
    Window window;
    std::optional<LockTable> locks;
    Inactive inactive = is_active;
    uint64_t attached_at = 0; // ticks
    int rank = 0, size = 1;   // in MPI_COMM_WORLD
    std::vector<int> node_rank_of; // world rank -> node rank, -1 on other nodes
    MPIR_Workshare_hooks* hooks = nullptr;
};
Job job;

// A window in a /dev/shm that is too small is mapped without complaint and kills the rank at the first touch.
bool shm_has_room(size_t bytes)
{
    struct statvfs fs;
    return statvfs("/dev/shm", &fs) < 0 || uint64_t(fs.f_bavail) * fs.f_frsize >= 2 * uint64_t(bytes);
}

bool agree(bool mine)
{
    int all = mine;
    return PMPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, job.node) == MPI_SUCCESS && all;
}

// The workers of this rank, and of all ranks of the node.
struct Crew {
    unsigned own = 0, before = 0, all = 0; // before: of the ranks with lower numbers
    std::vector<int> cpus;                 // for each its own, if there are enough and no other rank may use them
};

// Collective over the node.
Crew hire(int ranks, int me)
{
    const char* refused = job.options.workers ? watch_openmp(nullptr) : nullptr;
    struct Claim {
        int wanted;
        bool refused;
        cpu_set_t mask;
    } mine = {refused ? 0 : job.options.workers, refused != nullptr, {}};
    if (sched_getaffinity(0, sizeof mine.mask, &mine.mask) < 0)
        CPU_ZERO(&mine.mask);
    std::vector<Claim> all(static_cast<size_t>(ranks));
    PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, job.node);

    Crew crew;
    if (refused && !std::any_of(all.begin(), all.begin() + me, [](const Claim& c) { return c.refused; }))
        std::fprintf(stderr, "workshare: no workers in rank %d%s: %s\n", job.rank, ranks > 1 ? " (and perhaps others)" : "",
                     refused);
    unsigned sharers = 0; // this rank included
    for (const Claim& c : all) {
        cpu_set_t both;
        CPU_AND(&both, &c.mask, &mine.mask);
        sharers += CPU_COUNT(&both) != 0;
    }
    if (mine.wanted)
        crew.cpus = spare_cpus(mine.mask, sched_getcpu());
    crew.own = unsigned(mine.wanted);
    if (mine.wanted == all_spare_cores) {
        unsigned cores = job.options.cores ? job.options.cores / unsigned(ranks) : unsigned(crew.cpus.size() + 1) / (sharers ? sharers : 1);
        crew.own = cores > 1 ? cores - 1 : 0;
    }
    if (crew.own == 0)
        stop_watching_openmp();
    if (sharers > 1 || crew.own > crew.cpus.size())
        crew.cpus.clear();
    std::vector<unsigned> counts(static_cast<size_t>(ranks));
    PMPI_Allgather(&crew.own, 1, MPI_UNSIGNED, counts.data(), 1, MPI_UNSIGNED, job.node);
    for (int r = 0; r < ranks; r++) {
        crew.before += r < me ? counts[size_t(r)] : 0;
        crew.all += counts[size_t(r)];
    }
    return crew;
}

// `stealing`: with what lending needs, not only the locks.
Inactive make_window(bool stealing)
{
    int ranks, me;
    PMPI_Comm_rank(job.node, &me);
    PMPI_Comm_size(job.node, &ranks);
    Crew crew;
    if (stealing)
        crew = hire(ranks, me);
    const unsigned cores = unsigned(ranks) + crew.all;
    if (cores > max_node_cores)
        return too_many_ranks;
    size_t bytes = Window::bytes(unsigned(ranks), cores);
    if (!agree(me != 0 || shm_has_room(bytes)))
        return shm_too_small;
    void* base = nullptr;
    MPI_Aint size;
    int unit, error = PMPI_Win_allocate_shared(me == 0 ? MPI_Aint(bytes) : 0, 1, MPI_INFO_NULL, job.node, &base,
                                               &job.mpi_window);
    if (!agree(error == MPI_SUCCESS))
        return window_refused;
    PMPI_Win_shared_query(job.mpi_window, 0, &size, &unit, &base);
    job.window.map(base, unsigned(ranks), cores, unsigned(me));
    job.window.init_own(job.rank, unsigned(ranks) + crew.before, crew.own, crew.cpus);
    bool registry = me == 0 && registry_create(job.window.registry());
    PMPI_Barrier(job.node); // every row is written
    if (me == 0) {
        fill_places(job.window);
        if (job.options.cores)
            job.window.node().cpus = job.options.cores;
    } else
        registry = registry_open(job.window.registry());
    (void)registry; // without it the verdict names no loop
    return is_active;
}

void map_ranks()
{
    MPI_Group world, node;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Comm_group(job.node, &node);
    std::vector<int> ranks(size_t(job.size));
    for (int r = 0; r < job.size; r++)
        ranks[size_t(r)] = r;
    job.node_rank_of.resize(size_t(job.size));
    PMPI_Group_translate_ranks(world, job.size, ranks.data(), node, job.node_rank_of.data());
    for (int& r : job.node_rank_of)
        if (r == MPI_UNDEFINED)
            r = -1;
    PMPI_Group_free(&world);
    PMPI_Group_free(&node);
}

void ring_world_rank(int world_rank)
{
    // An MPI_Comm_spawn'ed peer has no row here: its number lies outside the world.
    if (unsigned(world_rank) >= job.node_rank_of.size())
        return;
    int r = job.node_rank_of[size_t(world_rank)];
    if (r >= 0)
        ring(unsigned(r));
}

void start_stealing()
{
    const Options& o = job.options;
    if (o.chaos)
        chaos.seed(o.chaos * 0x9E3779B97F4A7C15ull + uint64_t(job.rank));
    job.clock.calibrate();
    Row& row = job.window.mine();
    loop_host.row = &row;
    loop_host.open = &job.window.open(job.window.me());
    loop_host.sleepers = &job.window.node().sleepers;
    loop_host.running_on = &job.window.own_core().running_on;
    loop_host.participants = job.window.cores();
    loop_host.has_workers = job.window.workers() > 0;
    loop_host.any_thread = job.hooks->thread_level_asked == MPI_THREAD_MULTIPLE;
    loop_host.steal_all = o.steal_all;
    loop_host.schedule = o.schedule;
    loop_host.steal_schedule = o.steal_schedule;
    loop_host.ticks_per_us = job.clock.ticks_per_us();
    loop_host.chunk_ticks = job.clock.from_us(o.chunk_us);
    loop_host.publish_ticks[asleep_hungry] = job.clock.from_us(100);
    loop_host.publish_ticks[newly_hungry] = job.clock.from_us(12);
    loop_host.publish_ticks[long_hungry] = job.clock.from_us(5);
    loop_host.least_ticks = job.clock.from_us(0.7);
    loop_host.short_ticks = job.clock.from_us(20);
    if (o.chaos || o.steal_all) // every loop is shared that can be
        loop_host.short_ticks = loop_host.publish_ticks[newly_hungry] = loop_host.publish_ticks[long_hungry] = 0;
    loop_host.let_threads_in = job.hooks->let_threads_in;
    loop_host.make_guests = guests_make;
    loop_host.somebody_waits = somebody_waits;
    loop_host.wake = wake_sleepers;
    loop_host.long_wait = check_peers;
    if (job.window.cores() > 1)
        set_owner_thread();
    LendOptions lending = {};
    lending.policy = o.victim;
    lending.pretended_cores = o.cores;
    lending.times.spin_ticks = job.clock.from_us(o.spin_us);
    lending.times.patience_ticks = job.clock.from_us(20);
    lending.times.linger_ticks = job.clock.from_us(o.linger_us);
    lending.times.yield_ticks = job.clock.from_us(4000); // a wake-up, 5 to 30 us, is within 0.5 % or so of that
    lending.times.peers_ticks = job.clock.from_us(1e6);
    lending.times.short_ticks = job.clock.from_us(10);
    // With all ranks on this node whatever a rank waits for rings, and looking oneself is a precaution against one race in the
    // first moment: it can be had for less of the guest's time (a look costs 30 us on a virtual machine).
    const bool all_ring = int(job.window.ranks()) == job.size;
    lending.times.quantum_us = o.quantum_us * (all_ring ? 8u : 1u);
    lending.times.longest_quantum_us = o.quantum_us * (all_ring ? 32u : 1u);
#if MPIR_WORKSHARE_VERSION >= 4
    lending.events = &job.hooks->events;
#else
    static unsigned no_events;
    lending.events = &no_events;
#endif
    lending.sends_open = &job.hooks->sends_open;
    lend_start(job.window, lending);
}

Totals own_totals()
{
    Totals t = {};
    const LoopCounters& l = loop_counters;
    const LendCounters n = lend_totals();
    OwnerCounters o = {};
    for (const OwnerCounters& slot : owner_counters) {
        o.regions += slot.regions;
        o.regions_shared += slot.regions_shared;
        o.regions_joined += slot.regions_joined;
        o.close_wait += slot.close_wait;
    }
    auto s = [](uint64_t ticks) { return job.clock.seconds(ticks); };
    int node_rank;
    PMPI_Comm_rank(job.node, &node_rank);
    int node_ranks;
    PMPI_Comm_size(job.node, &node_ranks);
    t.ranks = 1;
    t.nodes = node_rank == 0;
    t.alone_on_node = node_ranks == 1;
    t.inactive = job.inactive != is_active;
    t.wall = s(ticks() - job.attached_at);
    t.idle = s(n.blocked_ticks);
    t.lent = s(n.lent_ticks);
    t.stolen = s(l.guest_busy);
    t.regions = double(o.regions);
    t.regions_off = double(l.regions_off);
    t.regions_shared = double(o.regions_shared);
    t.regions_joined = double(o.regions_joined);
    t.iterations_stolen = double(l.guest_iterations);
    t.chunks_stolen = double(l.guest_chunks);
    t.lends = double(n.lends);
    t.lost = double(n.lost);
    t.recalls = double(n.recalls);
    t.rings = job.inactive ? 0 : double(Hardware::load_relaxed(job.window.own_core().rings));
    t.refusals = double(n.refusals);
    t.moves = double(n.moves);
    t.guests_refused = double(n.guests_refused);
    t.guests_barred = double(n.guests_barred);
    t.sleeps = double(n.sleeps);
    t.sleep = s(n.sleep_ticks);
    t.wakes = double(n.wakes);
    t.workers = job.inactive ? 0 : double(job.window.workers());
    t.worker_chunks = double(l.worker_chunks);
    t.unpaid_regions = double(unpaid_regions());
    t.close_wait = s(o.close_wait);
    return t;
}

// The loop that most was stolen from in the whole job.
std::string top_loop()
{
    struct {
        double stolen;
        int rank;
    } mine = {0, job.rank}, most = {};
    LoopRecord top;
    if (!job.inactive) {
        for_each_shared_site(registry_add);
        PMPI_Barrier(job.node); // every rank's loops are in
        top = registry_top();
        mine.stolen = double(top.stolen);
    }
    PMPI_Allreduce(&mine, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    char name[256] = "";
    std::snprintf(name, sizeof name, "%s", top.where.c_str());
    PMPI_Bcast(name, sizeof name, MPI_CHAR, most.rank, MPI_COMM_WORLD);
    return most.stolen > 0 ? name : "";
}

void report()
{
    std::string top = top_loop();
    Totals mine = own_totals(), all = mine;
    double wall = 0;
    int why = job.inactive, any_why = 0;
    PMPI_Reduce(&mine, &all, totals_count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Reduce(&mine.wall, &wall, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    PMPI_Reduce(&why, &any_why, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (job.rank != 0)
        return;
    all.wall = wall;
    Verdict verdict = judge(all, top, inactive_text(any_why));
    if (!job.options.quiet)
        std::fprintf(stderr, "%s\n", verdict.line.c_str());
    if (job.options.stats_file.empty())
        return;
    FILE* f = std::fopen(job.options.stats_file.c_str(), "w");
    std::string json = to_json(all, verdict, top);
    bool written = f && std::fputs(json.c_str(), f) >= 0;
    if (f && std::fclose(f) != 0)
        written = false;
    if (!written)
        std::fprintf(stderr, "workshare: cannot write WS_STATS_FILE=%s\n", job.options.stats_file.c_str());
}

void free_window()
{
    use_node_locks(nullptr, job.rank);
    if (job.mpi_window != MPI_WIN_NULL)
        PMPI_Win_free(&job.mpi_window);
    if (job.node != MPI_COMM_NULL)
        PMPI_Comm_free(&job.node);
}

// While libws itself uses MPI, before and after stealing: ranks that share cores must not spin through each other's time.
void yield(unsigned) { sched_yield(); }

// MPI_Finalize: one more blocking call that steals; then everything goes in the order in which it came.
void finalize()
{
    PMPI_Barrier(MPI_COMM_WORLD);
    // The others may still wait in that barrier: the hooks act until this rank has left it, no longer.
    job.hooks->blocked = yield;
    job.hooks->unblocked = nullptr;
    job.hooks->polled = nullptr;
    if (!job.inactive) {
        stop_sharing();
        lend_stop();
        PMPI_Barrier(job.node); // nobody lends to our guests any more
        guests_stop();
    }
    job.hooks->ring = nullptr;
    job.hooks->senders_waiting = nullptr;
    report();
    free_window();
}

// The locks of `ws critical` lie in the node's window.
void start_locks()
{
    job.locks.emplace(job.window.locks());
    use_node_locks(&*job.locks, job.rank);
}

// Without a window ranks would not exclude each other: wrong results, so the job ends if it has critical sections.
void refuse_locks()
{
    int first = ws_used_features & WS_USES_CRITICAL ? job.rank : job.size;
    PMPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == job.rank) {
        std::fprintf(stderr, "workshare: %s: no critical sections between ranks; ending the job\n",
                     inactive_text(job.inactive));
        end_job();
    }
    if (first < job.size)
        PMPI_Barrier(MPI_COMM_WORLD); // until the job ends
}

// MPI_Finalize of a job that does not steal.
void finalize_locks()
{
    PMPI_Barrier(job.node); // no rank's thread is inside a critical section any more
    free_window();
}

int attach(int version, unsigned what, MPIR_Workshare_hooks* hooks)
{
    if (version == MPIR_WORKSHARE_VERSION && (what & MPIR_WORKSHARE_STEAL))
        hooks->blocked = yield;
    PMPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &job.size);
    if (version != MPIR_WORKSHARE_VERSION) {
        if (job.rank == 0)
            std::fprintf(stderr, "workshare: libmpich speaks version %d, libws %d; running without stealing\n", version,
                         MPIR_WORKSHARE_VERSION);
        return 1;
    }
    std::string error, warning;
    if (!read_options(job.options, error, warning)) {
        if (job.rank == 0)
            std::fprintf(stderr, "workshare: %s\n", error.c_str());
        PMPI_Barrier(MPI_COMM_WORLD); // the message is written
        end_job();
    }
    if (job.rank == 0 && !warning.empty())
        std::fprintf(stderr, "workshare: unknown in the environment, without effect: %s\n", warning.c_str());

    job.clock.start();
    job.hooks = hooks;
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &job.node);
    PMPI_Comm_set_errhandler(job.node, MPI_ERRORS_RETURN);
    job.inactive = make_window(what & MPIR_WORKSHARE_STEAL);
    if (!job.inactive)
        start_locks();
    else
        refuse_locks();
    settle_alone(hooks->thread_level_asked);
    if (!(what & MPIR_WORKSHARE_STEAL)) {
        hooks->finalize = finalize_locks;
        return 0;
    }
    map_ranks();
    hooks->finalize = finalize;
    if (!job.inactive)
        start_stealing();
    PMPI_Barrier(job.node); // the core table is complete
    job.attached_at = ticks();
    if (!job.inactive) {
        hooks->ring = ring_world_rank;
        hooks->unblocked = unblocked;
        hooks->blocked = blocked;
        hooks->polled = job.options.poll ? polled : nullptr;
        hooks->senders_waiting = &job.window.node().senders_waiting;
    } else
        hooks->blocked = nullptr;
    return 0;
}

} // namespace

} // namespace ws

WS_EXPORT int ws_fork_attach(int version, unsigned what, MPIR_Workshare_hooks* hooks)
{
    return ws::attach(version, what, hooks);
}
