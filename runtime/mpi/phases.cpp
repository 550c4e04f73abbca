// SPDX-License-Identifier: MIT
#include "mpi/phases.h"

#include "abi/name_text.h"
#include "loop/region.h"
#include "observe/calls.h"
#include "observe/phases.h"
#include "base/atomics.h"
#include "workshare/ws.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <vector>

namespace ws::mpi {

using base::Flag;
using base::Hardware;
using base::load_relaxed;
using observe::PhaseFaults;
using observe::no_row;

namespace {

Job* of_program; // null: libws is not active

// What phases do besides being counted. Written before `of_program` is set.
const char* only_phase;             // WS_ONLY_PHASE, or null
int (*caliper_begin)(const char*), (*caliper_end)(const char*); // or null
bool with_more;               // any of these

bool is_enabled = true;               // what ws_enable() was told

bool is_home() { return observe::own_seat && observe::own_seat == &of_program->board->seat(0); }

void let_share()
{
    const bool shares = is_enabled && (!only_phase || observe::is_open(only_phase));
    if (of_program->inactive)
        return;
    loop::let_share(shares);
    of_program->lending->let_lend(shares);
}

// A phase began, or ended, in this row of the board.
__attribute__((noinline)) void follow(Flag row, int (*caliper)(const char*))
{
    if (row == no_row)
        return;
    if (caliper)
        caliper(of_program->board->phase_row(row).name);
    if (only_phase)
        let_share();
}

void level_changed(int level)
{
    observe::phase_level(level);
    if (only_phase && is_home())
        let_share();
}

// ---- ws_metrics

void fill_metrics(Job& job, struct ws_metrics& m)
{
    const observe::Board& b = *job.board;
    const uint64_t now = base::ticks();
    const observe::Seat& home = job.board->seat(0);
    const auto seconds = [&](uint64_t t) { return job.clock.seconds(t); };
    const uint64_t waits_since = load_relaxed(home.waits_since);
    m.size = sizeof m;
    m.elapsed_s = seconds(now - b.attached_at);
    m.blocked_s = seconds(home.lend.blocked_ticks + (waits_since && now > waits_since ? now - waits_since : 0));
    m.mpi_s = b.observed ? seconds(b.process.mpi_ticks + (is_home() ? observe::in_call_until(now) : 0)) : m.blocked_s;
    m.lent_s = seconds(home.lend.lent_ticks);
    m.borrowed_s = seconds(load_relaxed(b.sums.borrowed_ticks));
    m.close_wait_s = seconds(load_relaxed(b.sums.close_wait_ticks));
    m.computing_s = std::max(0.0, m.elapsed_s - m.mpi_s - m.close_wait_s);
    m.iterations_stolen = double(load_relaxed(b.sums.iterations_stolen));
    m.transfer_efficiency = m.elapsed_s > 0 ? 1 - std::min(1.0, m.mpi_s / m.elapsed_s) : 1;
    m.node_ranks = b.node_ranks;
    m.load_balance = 1;
    double work = m.computing_s + m.borrowed_s, most = work, cores = 1;
    if (!job.inactive) {
        job.meter.load(now); // brings this rank's own row up to date
        work = most = 0;
        cores = 0;
        for (unsigned r = 0; r < job.window.ranks(); r++) {
            window::Load load;
            if (!job.window.load(r).read(load, 4) || !load.at)
                continue; // it is being written: another rank's share of the mean
            const double useful = seconds(load.brought_to(now).useful);
            work += useful;
            most = std::max(most, useful);
            cores++;
        }
        m.load_balance = most > 0 ? work / (most * cores) : 1;
        cores = job.window.cores();
    }
    m.parallel_efficiency = m.elapsed_s > 0 ? std::min(1.0, work / (m.elapsed_s * cores)) : 1;
}

// ---- the end of the job

std::string some(uint64_t n, const char* one) { return std::to_string(n) + " " + one + (n == 1 ? "" : "s"); }

void print_fault(const Job& job, unsigned ranks, const char* text)
{
    const std::string more = ranks > 1 ? ", and on " + some(ranks - 1, "other rank") : "";
    std::fprintf(stderr, "workshare: warning: %s (on rank %d%s)\n", text, job.rank, more.c_str());
}

struct PhaseFault {
    bool any; // on this rank
    std::string text;
};

// Prints each fault of the first rank that has it. Collective.
template <int n> void tell_faults(const Job& job, const PhaseFault (&faults)[n])
{
    int first[n];
    unsigned ranks[n];
    for (int i = 0; i < n; i++) {
        first[i] = faults[i].any ? job.rank : job.size;
        ranks[i] = faults[i].any;
    }
    PMPI_Allreduce(MPI_IN_PLACE, first, n, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    PMPI_Allreduce(MPI_IN_PLACE, ranks, n, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        if (first[i] == job.rank)
            print_fault(job, ranks[i], faults[i].text.c_str());
}

std::string in_quotes(const char* name) { return '\'' + abi::one_line(name) + '\''; }

// A few of the phases that began, for the message that another never did.
std::string names_of_phases(Job& job)
{
    constexpr Flag most = 5;
    std::string names;
    Flag shown = 0;
    const Flag made = Hardware::load_relaxed(job.board->phases_made);
    for (Flag row = 1; row < made && shown < most; row++, shown++)
        names += (shown ? ", " : "") + in_quotes(job.board->phase_row(row).name);
    return names.empty() ? "no phase ever began" : "phases are " + names + (made > most + 1 ? ", ..." : "");
}

} // namespace

void start_phases(Job& job)
{
    only_phase = job.options.only_phase.empty() ? nullptr : job.options.only_phase.c_str();
    caliper_begin = reinterpret_cast<int (*)(const char*)>(dlsym(RTLD_DEFAULT, "cali_begin_region"));
    caliper_end = reinterpret_cast<int (*)(const char*)>(dlsym(RTLD_DEFAULT, "cali_end_region"));
    if (!caliper_begin || !caliper_end)
        caliper_begin = caliper_end = nullptr;
    with_more = only_phase || caliper_begin;
    job.hooks->pcontrol = level_changed;
    base::store_release(of_program, &job); // pairs with programs' calls, of any thread
    if (only_phase)
        let_share();
}

void stop_phases(Job& job)
{
    job.hooks->pcontrol = nullptr;
    of_program = nullptr;
}

void report_phases(Job& job)
{
    const PhaseFaults f = observe::phase_faults();
    tell_faults(
        job,
        {{f.left_open != 0, "phase " + in_quotes(f.open) + " is open at MPI_Finalize" +
                                (f.left_open > 1 ? ", inside " + some(f.left_open - 1, "other") : "") +
                                "; each ws_phase_begin needs a ws_phase_end"},
         {f.ends != 0,
          "ws_phase_end was called " + (f.ends == 1 ? "once" : some(f.ends, "time")) + " while no phase was open, " +
              (f.ends == 1 ? "" : "the first time ") +
              (*f.ended_before ? "after the end of phase " + in_quotes(f.ended_before) : "before any phase had begun")},
         {f.other_threads != 0, "ignoring " + some(f.other_threads, "call") + " of ws_phase_begin and ws_phase_end" +
                                    (*f.called_with ? " (phase " + in_quotes(f.called_with) + ")" : "") +
                                    " by threads that did not call MPI_Init"}});
    if (!only_phase)
        return;
    bool began = false, anywhere = false;
    const Flag made = Hardware::load_relaxed(job.board->phases_made);
    for (Flag row = 1; row < made && !began; row++)
        began = observe::is_called(job.board->phase_row(row), only_phase);
    PMPI_Allreduce(&began, &anywhere, 1, MPI_CXX_BOOL, MPI_LOR, MPI_COMM_WORLD);
    if (!anywhere && job.rank == 0)
        std::fprintf(stderr,
                     "workshare: warning: phase %s of -workshare-only-phase never began, so nothing was shared; %s\n",
                     in_quotes(only_phase).c_str(), names_of_phases(job).c_str());
}

} // namespace ws::mpi

WS_EXPORT void ws_phase_begin(const char* name)
{
    if (!ws::base::load_acquire(ws::mpi::of_program)) // pairs with start_phases()
        return;
    const ws::base::Flag row = ws::observe::begin_phase(name);
    if (WS_UNLIKELY(ws::mpi::with_more))
        ws::mpi::follow(row, ws::mpi::caliper_begin);
}

WS_EXPORT void ws_phase_end(void)
{
    if (!ws::base::load_acquire(ws::mpi::of_program)) // pairs with start_phases()
        return;
    const ws::base::Flag row = ws::observe::end_phase();
    if (WS_UNLIKELY(ws::mpi::with_more))
        ws::mpi::follow(row, ws::mpi::caliper_end);
}

WS_EXPORT int ws_enable(int on)
{
    if (!ws::base::load_acquire(ws::mpi::of_program)) // pairs with start_phases()
        return 0;
    const int before = ws::mpi::is_enabled;
    if (ws::mpi::is_home()) {
        ws::mpi::is_enabled = on != 0;
        ws::mpi::let_share();
    }
    return before;
}

WS_EXPORT int ws_metrics(struct ws_metrics* out, size_t size)
{
    ws::mpi::Job* const job = ws::base::load_acquire(ws::mpi::of_program); // pairs with start_phases()
    if (!job || !out || size < sizeof out->size)
        return -1;
    struct ws_metrics all = {};
    ws::mpi::fill_metrics(*job, all);
    all.size = std::min(size, sizeof all);
    std::memset(out, 0, size);
    std::memcpy(out, &all, all.size);
    return 0;
}

// Fortran's names, through the module workshare (include/workshare/workshare.F90). A name comes with its length.
WS_EXPORT void ws_phase_begin_(const char* name, size_t length)
{
    char text[sizeof ws::observe::PhaseRow::name];
    while (length && name[length - 1] == ' ')
        length--;
    length = std::min(length, sizeof text - 1);
    std::memcpy(text, name, length);
    text[length] = '\0';
    ws_phase_begin(text);
}

WS_EXPORT void ws_phase_end_() { ws_phase_end(); }

WS_EXPORT int ws_enable_(const int* on) { return ws_enable(*on); }
