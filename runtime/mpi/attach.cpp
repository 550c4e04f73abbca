// SPDX-License-Identifier: MIT
//
// How the runtime attaches to the forked MPICH and detaches: the locks in the node's window, the hooks, the order of
// the end.
#include "abi/critical.h"
#include "base/times.h"
#include "group/crew.h"
#include "check/check.h"
#include "openmp/library/regions.h"
#include "lend/rank.h"
#include "lend/victims.h"
#include "loop/chaos.h"
#include "loop/left.h"
#include "loop/participant.h"
#include "loop/site.h"
#include "measure/meter.h"
#include "mpi/children.h"
#include "mpi/end_job.h"
#include "mpi/host_node.h"
#include "mpi/job.h"
#include "mpi/mpi_t.h"
#include "mpi/phases.h"
#include "mpi/trace.h"
#include "mpi/turns.h"
#include "node/split.h"
#include "observe/calls.h"
#include "observe/recorder.h"
#include "openmp/shared/team.h"
#include "options/display.h"
#include "policy/runner.h"
#include "base/environment.h"
#include "base/quiet_writes.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace ws::mpi {

using loop::LoopHost;
using option::can_write_files;
using option::read_options;
using option::with_meant_options;
using window::asleep_hungry;
using window::long_hungry;
using window::newly_hungry;

// A chunk of a published region takes this or more: below it the claim, an atomic operation on a shared line, is felt.
constexpr double least_chunk_us = 0.7;
// A loop that takes less runs whole.
constexpr double run_whole_us = 20;
// So does a longer one that nobody came for while it ran, in many executions: cut into chunks it takes up to 2 % more.
// Not the longest, as one that comes after all waits for its end, and a loop may suddenly take many times as long.
constexpr double calm_whole_us = 500;

namespace {

Job* attached;          // MPICH's hooks are about it
policy::Runner* runner; // of the policies

// Job::home_of of that job: each send looks there.
window::Home* const* bells;
unsigned bell_count;

// For who rings.
void map_ranks(Job& job)
{
    MPI_Group world, node;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Comm_group(job.node, &node);
    std::vector<int> ranks(size_t(job.size)), node_ranks(size_t(job.size));
    for (int r = 0; r < job.size; r++)
        ranks[size_t(r)] = r;
    PMPI_Group_translate_ranks(world, job.size, ranks.data(), node, node_ranks.data());
    job.home_of.resize(size_t(job.size));
    for (size_t r = 0; r < job.home_of.size(); r++)
        job.home_of[r] = node_ranks[r] == MPI_UNDEFINED ? nullptr : &job.window.home(unsigned(node_ranks[r]));
    bells = job.home_of.data();
    bell_count = unsigned(job.home_of.size());
    PMPI_Group_free(&world);
    PMPI_Group_free(&node);
}

void ring_world_rank(int world_rank)
{
    // An MPI_Comm_spawn'ed peer has no row here: its number lies outside the world.
    if (unsigned(world_rank) >= bell_count)
        return;
    if (window::Home* const core = bells[world_rank])
        attached->lending->posted_for(*core);
}

static_assert(option::option_row("WS_WORKERS").most == window::max_node_cores);

void start_stealing(Job& job)
{
    const option::Options& o = job.options;
    if (o.chaos)
        loop::chaos.seed(o.chaos * 0x9E3779B97F4A7C15ull + uint64_t(job.rank));
    LoopHost& host = loop::host();
    host.row = &job.window.mine();
    host.open = &job.window.open(job.window.me());
    host.lag = &job.window.lag(job.window.me());
    host.sleepers = &job.window.node().sleepers;
    host.running_on = &job.window.own_home().running_on;
    host.participants = job.window.cores();
    host.has_workers = job.window.workers() > 0;
    host.share_all = o.chaos || o.steal_all || o.check;
    host.steal_all = o.steal_all;
    host.check = o.check != 0;
    if (host.share_all)
        host.checks = &check::checks();
    // ranks begin differently, so that loops that run once are tried in several
    host.first_order = o.check - 1 + uint64_t(job.rank);
    host.schedule = {ws_schedule(o.schedule.kind), o.schedule.chunk};
    host.steal_schedule = {ws_schedule(o.steal_schedule.kind), o.steal_schedule.chunk};
    host.ticks_per_us = job.clock.ticks_per_us();
    host.chunk_ticks = job.clock.from_us(o.chunk_time);
    host.publish_ticks[asleep_hungry] = job.clock.from_us(base::times::publish_asleep_us);
    host.publish_ticks[newly_hungry] = job.clock.from_us(base::times::publish_newly_us);
    host.publish_ticks[long_hungry] = job.clock.from_us(base::times::publish_long_us);
    host.least_ticks = job.clock.from_us(least_chunk_us);
    host.short_ticks = job.clock.from_us(run_whole_us);
    host.calm_ticks = job.clock.from_us(calm_whole_us);
    if (host.share_all)
        host.calm_ticks = host.short_ticks = host.publish_ticks[asleep_hungry] = host.publish_ticks[newly_hungry] =
            host.publish_ticks[long_hungry] = 0;
    host.let_threads_in = job.hooks->let_threads_in;
    host.stack_bytes = o.stacksize;
    host.end_job = end_job;
    host.leave_job = become_no_rank;
    if (host.check)
        watch_status();
    if (job.window.cores() > 1)
        loop::set_owner_thread();
    lend::LendOptions lending = {};
    lending.score = lend::victims[o.victim];
    lending.spare_time = runner;
    lending.pretended_cores = o.cores;
    lending.stack_bytes = o.stacksize;
    lending.times = lend_times(o, job.clock, int(job.window.ranks()) == job.size);
    lending.book = &job.book;
    lending.events = &job.hooks->events;
    lending.sends_open = &job.hooks->sends_open;
    lending.sends_to = &job.hooks->sends_to;
    lending.call_name = job.hooks->call_name;
    host.lending = job.lending = new lend::Rank(job.window, host, lending);
    host.any_thread = job.hooks->thread_level_asked == MPI_THREAD_MULTIPLE; // from here on all else is there
    job.lending->start();
    watch_calls(job);
}

void attach_policies(Job& job)
{
    policy::Job of_policies;
    of_policies.window = job.inactive ? nullptr : &job.window;
    of_policies.node = job.node;
    of_policies.rank = job.rank;
    of_policies.node_number = job.board->node;
    of_policies.board = job.board;
    of_policies.meter = &job.meter;
    of_policies.ticks_per_us = job.clock.ticks_per_us();
    of_policies.options = &job.options;
    of_policies.book = &job.book;
    runner = new policy::Runner(policy::policies(), loop::host().chunk_ticks);
    runner->attach(of_policies);
    if (!openmp::region_cores)
        openmp::tell_usual_threads();
}

// While libws itself uses MPI, before and after stealing: ranks that share cores must not spin while others could
// compute. If many share one core, a rank that yields is back after a few microseconds, and each time costs a switch:
// after some yields it naps.
void yield(unsigned polls)
{
    constexpr unsigned yields = 50, nap_us = 300;
    static const bool many = attached->size > 2 * sysconf(_SC_NPROCESSORS_ONLN);
    if (many && polls > yields)
        usleep(nap_us);
    else
        sched_yield();
}

// MPI_Finalize: first one more blocking call, in which ranks steal; then everything is taken down in an order that
// matters.
void finalize()
{
    Job& job = *attached;
    group::end();
    if (loop::thread_in_region())
        loop::left_by_jump(loop::self, "MPI_Finalize is called");
    PMPI_Barrier(MPI_COMM_WORLD);
    // The others may still wait in that barrier. This rank has left it, so its hooks must act no longer.
    job.hooks->blocked = yield;
    job.hooks->unblocked = nullptr;
    job.hooks->polled = nullptr;
    runner->end();
    if (!job.inactive) {
        loop::stop_sharing();
        job.lending->stop();
        PMPI_Barrier(job.node); // nobody lends to our guests any more
        job.lending->stop_guests();
    }
    job.hooks->ring = nullptr;
    job.hooks->senders_waiting = nullptr; // before `taken`, which it guards
    job.hooks->taken = nullptr;
    stop_phases(job);
    show_ended(job);
    // Another thread may end MPI than began it, and the kernel counts by thread.
    job.kept_off_s = std::max(0.0, 1e-9 * double(measure::scheduled().kept_off) - job.kept_off_s);
    {
        const base::QuietWrites quiet; // a full disk or a reader that has gone is no reason to end the job
        write_trace(job);
        report_check(job);
        report_phases(job);
        report(job);
    }
    mpi_t_end();
    job.book.leave();
    runner->detach();
    free_window(job);
}

// The locks of `ws critical` lie in the node's window.
void start_locks(Job& job)
{
    job.locks.emplace(job.window.locks());
    abi::use_node_locks(&*job.locks, job.rank);
}

// Without a window ranks would not exclude each other: wrong results, so the job ends if it has critical sections.
void refuse_locks(Job& job)
{
    int first = ws_used_features & WS_USES_CRITICAL ? job.rank : job.size;
    PMPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == job.rank) {
        std::fprintf(stderr, "workshare: error: no critical sections between ranks: %s; ending the job\n",
                     inactive_text(job.inactive));
        end_job();
    }
    if (first < job.size)
        PMPI_Barrier(MPI_COMM_WORLD); // until the job ends
}

// MPI_Finalize of a job that does not steal.
void finalize_locks()
{
    Job& job = *attached;
    PMPI_Barrier(job.node); // no rank's thread is inside a critical section any more
    free_window(job);
}

// Programs ask for numbers of threads before MPI_Init. Where libws is loaded first it is there before them.
__attribute__((constructor)) void look_at_mode()
{
    const char* rank = std::getenv("PMI_RANK");
    if (!base::is_turned_on() || !rank)
        return;
    if (const std::string said = option::without_unknown_mode(); !said.empty() && std::strcmp(rank, "0") == 0)
        std::fprintf(stderr, "workshare: warning: %s\n", said.c_str());
}

// All ranks have options that make sense, and the same mode of OpenMP; else the job ends with one message. Which ranks
// are a node is settled on the way. Collective.
void agree(Job& job)
{
    if (const std::string said = option::without_unknown_mode(); !said.empty() && job.rank == 0)
        std::fprintf(stderr, "workshare: warning: %s\n", said.c_str());
    std::string error;
    std::vector<std::string> unknown;
    const bool fine =
        read_options(job.options, error, unknown) && (job.rank != 0 || can_write_files(job.options, error));
    // Chooses the rank that prints the message. Options may differ between ranks, by MPI_T or mpirun's -env, but the
    // OpenMP mode may not, because its policy shares memory.
    int node_ranks;
    PMPI_Comm_size(job.node, &node_ranks);
    int agreed[] = {fine ? job.size : job.rank, int(job.options.openmp), -int(job.options.openmp),
                    -int(job.options.verbose), -node_ranks};
    PMPI_Allreduce(MPI_IN_PLACE, agreed, 5, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    int first = agreed[0];
    job.options.verbose = agreed[3] < 0; // all ranks take part
    if (first == job.size && agreed[1] != -agreed[2]) {
        error = "WS_OPENMP differs between the ranks";
        first = 0;
    }
    if (first < job.size) {
        if (job.rank == first)
            std::fprintf(stderr, "workshare: error: %s\n", error.c_str());
        PMPI_Barrier(MPI_COMM_WORLD); // the message is written
        end_job();
    }
    if (agreed[4] == -1 && job.size > 1)
        node::without_mpi(MPI_COMM_WORLD, 0, &job.node);
    if (job.rank == 0)
        for (const std::string& note : option::notes_on_names())
            std::fprintf(stderr, "workshare: note: %s\n", note.c_str());
    if (job.rank == 0 && !unknown.empty())
        std::fprintf(stderr, "workshare: warning: ignoring unknown settings: %s\n",
                     with_meant_options(unknown).c_str());
    if (job.rank == 0 && job.options.display_env)
        std::fputs(option::settings_text(WS_VERSION).c_str(), stderr);
}

// What libmpich calls from here on.
void set_hooks(Job& job, MPIR_Workshare_hooks& hooks)
{
    if (job.inactive) {
        hooks.blocked = nullptr;
        return;
    }
    hooks.ring = ring_world_rank;
    hooks.unblocked = [] {
        openmp::note_mpi_wait(false);
        const openmp::AsCarrier carrier;
        attached->lending->unblocked();
    };
    hooks.blocked = [](unsigned polls) {
        openmp::note_mpi_wait(true);
        const openmp::AsCarrier carrier;
        attached->lending->blocked(polls);
    };
    hooks.polled = job.options.poll ? [] {
        const openmp::AsCarrier carrier;
        attached->lending->polled();
    } : count_poll;
    hooks.taken = [] { attached->lending->taken(); };
    hooks.senders_waiting = &job.window.node().senders_waiting;
}

int attach(Job& job, int version, unsigned what, MPIR_Workshare_hooks* hooks)
{
    PMPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &job.size);
    if (version == MPIR_WORKSHARE_VERSION && (what & MPIR_WORKSHARE_STEAL))
        hooks->blocked = yield;
    if (version != MPIR_WORKSHARE_VERSION) {
        if (job.rank == 0)
            std::fprintf(
                stderr,
                "workshare: warning: libmpich has interface version %d, libws %d, so the job runs without sharing\n",
                version, MPIR_WORKSHARE_VERSION);
        return 1;
    }
    node::split_by_mpi(MPI_COMM_WORLD, 0, &job.node);
    agree(job);
    job.hooks = hooks;
    follow_forks(job);
    PMPI_Comm_set_errhandler(job.node, MPI_ERRORS_RETURN);
    host_node.comm = job.node;
    job.inactive = make_window(job, what & MPIR_WORKSHARE_STEAL);
    if (!job.inactive)
        start_locks(job);
    else
        refuse_locks(job);
    loop::settle_alone(hooks->thread_level_asked);
    if (!(what & MPIR_WORKSHARE_STEAL)) {
        hooks->finalize = finalize_locks;
        return 0;
    }
    if (!show_rank(job)) {
        if (job.rank == 0)
            std::fprintf(stderr, "workshare: error: a rank has no memory for its counters; ending the job\n");
        end_job();
    }
    LoopHost& host = loop::host();
    host.board = job.board;
    host.meter = &job.meter;
    prepare_trace(job);
    if (!job.inactive)
        map_ranks(job);
    hooks->finalize = finalize;
    attach_policies(job);
    if (!job.inactive) {
        if (job.window.me() == 0)
            join_book(job);
        start_stealing(job);
    }
    PMPI_Barrier(job.node); // the core table is complete
    if (!job.inactive && job.window.me() != 0)
        join_book(job);
    hooks->crowded = !job.inactive && job.window.ranks() > job.window.node().cpus;
    job.attached_at = base::ticks();
    job.meter.start(job.inactive ? nullptr : &job.window.load(job.window.me()), job.attached_at,
                         job.clock.ticks_per_us());
    job.kept_off_s = 1e-9 * double(measure::scheduled().kept_off);
    note_cpus(job);
    show_attached(job);
    mpi_t_begin(job);
    if (observe::recording || job.options.report || !job.options.report_file.empty()) {
        base::Hardware::store_relaxed(job.board->observed, 1);
        loop::measure_every = 1;
        observe::start_moments(job.clock.ticks_per_us());
        job.counters_refused = observe::start_counting();
        openmp::times_threads = openmp::counts_regions;
        hooks->called = observe::called;
    }
    set_hooks(job, *hooks);
    start_phases(job);
    if (runner->job().wants_periods)
        watch_turns(job);
    if (job.options.verbose)
        print_ranks(job);
    return 0;
}

} // namespace

} // namespace ws::mpi

// Called by the hosts.
extern "C" void ws_let_woken_run()
{
    if (ws::mpi::attached && ws::mpi::attached->lending)
        ws::mpi::attached->lending->let_woken_run();
}
extern "C" void ws_has_waited(uint64_t began)
{
    if (ws::mpi::attached && ws::mpi::attached->lending)
        ws::mpi::attached->lending->has_waited(began);
}

WS_EXPORT int ws_fork_attach(int version, unsigned what, MPIR_Workshare_hooks* hooks)
try {
    using namespace ws::mpi;
    attached = new Job; // never destroyed: exit() may be called while it lends
    const int refused = attach(*attached, version, what, hooks);
    if (what & MPIR_WORKSHARE_STEAL)
        begin_children();
    return refused;
} catch (const std::bad_alloc&) { // others wait for this rank in MPI_Init
    std::fputs("workshare: error: MPI_Init: no memory; ending the job\n", stderr);
    ws::mpi::end_job();
}
