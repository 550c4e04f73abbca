// SPDX-License-Identifier: MIT
#include "mpi/mpi_t.h"

#include "loop/region.h"
#include "mpi/job.h"
#include "mpich/files/src/include/mpir_workshare.h"
#include "observe/board.h"
#include "window/spin_lock.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <type_traits>

namespace ws {

namespace {

SpinLock looking; // at the window, which goes while other threads may ask
bool window_there;

uint64_t ns(uint64_t ticks) { return uint64_t(double(ticks) / board->ticks_per_us * 1000); }

uint64_t since(uint64_t begin, uint64_t now) { return begin && now > begin ? now - begin : 0; }

// Of the home thread and the workers, which lend.
template <class Counter> uint64_t of_lenders(Counter counter)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i <= board->own_workers; i++)
        sum += counter(board->seat(i));
    return sum;
}

// Of the guests and the workers, which run iterations on other cores.
template <class Counter> uint64_t of_visitors(Counter counter)
{
    uint64_t sum = 0;
    for (unsigned i = 1; i < board->seats; i++)
        sum += counter(board->seat(i));
    return sum;
}

template <class Counter> uint64_t of_loops(Counter counter)
{
    uint64_t sum = counter(board->loop(loop_rows - 1));
    for (unsigned i = 0; i < loop_rows - 1 && board->loop(i).name[0]; i++)
        sum += counter(board->loop(i));
    return sum;
}

unsigned ranks_blocked()
{
    unsigned blocked = 0;
    looking.lock();
    for (unsigned r = 0; window_there && r < job.window.ranks(); r++)
        blocked += Hardware::load_relaxed(job.window.core(r).occupancy) == rank_blocked;
    looking.unlock();
    return blocked;
}

// The values of WS_STATE, and their names.
enum { off, computing, blocked, lent, asleep };
constexpr const char* state_names[] = {"off", "computing", "blocked", "lent", "asleep", nullptr};

uint64_t state()
{
    const Seat& home = board->seat(0);
    if (SeatKind(Hardware::load_relaxed(home.kind)) == SeatKind::none)
        return off;
    switch (Seated(Hardware::load_relaxed(home.state))) {
    case Seated::blocked: return blocked;
    case Seated::lent: return lent;
    case Seated::asleep: return asleep;
    default: return computing;
    }
}

template <Seated state> uint64_t so_far(const Seat& seat, uint64_t now)
{
    return Seated(Hardware::load_relaxed(seat.state)) == state ? since(seat.since, now) : 0;
}

// ---- the performance variables

constexpr int level = MPI_T_PVAR_CLASS_LEVEL, counter = MPI_T_PVAR_CLASS_COUNTER, timer = MPI_T_PVAR_CLASS_TIMER;

// Of the calling rank, since MPI_Init. Timers are ticks here, with the part that is under way.
constexpr struct {
    MPIR_Workshare_pvar_t shown;
    uint64_t (*value)(uint64_t now);
} variables[] = {
    {{"WS_STATE", "what this rank's core does now", MPI_T_PVAR_CLASS_STATE}, [](uint64_t) { return state(); }},
    {{"WS_RANKS_BLOCKED", "ranks of the node that wait in MPI now, with their core lent or not", level}, [](uint64_t) { return uint64_t(ranks_blocked()); }},
    {{"WS_GUESTS", "threads that run iterations of this rank on cores lent to it, now", level},
     [](uint64_t) { return of_visitors([](const Seat& s) { return Seated(Hardware::load_relaxed(s.state)) == Seated::visiting; }); }},
    {{"WS_REGIONS", "ws loops that this rank ran", counter}, [](uint64_t) { return of_loops([](const LoopRow& l) { return l.whole_regions + l.cut_regions; }); }},
    {{"WS_REGIONS_CUT", "of them those that it ran in chunks; the others were too short to be worth that", counter},
     [](uint64_t) { return of_loops([](const LoopRow& l) { return l.cut_regions; }); }},
    {{"WS_REGIONS_SHARED", "of them those that it offered to ranks that wait", counter},
     [](uint64_t) { return of_loops([](const LoopRow& l) { return l.shared_regions; }); }},
    {{"WS_REGIONS_JOINED", "of them those that another core worked on", counter},
     [](uint64_t) { return of_loops([](const LoopRow& l) { return l.joined_regions; }); }},
    {{"WS_CHUNKS_KEPT", "chunks that this rank ran of its own loops", counter},
     [](uint64_t) { return of_loops([](const LoopRow& l) { return l.whole_regions + l.kept_chunks; }); }},
    {{"WS_CHUNKS_STOLEN", "chunks of this rank's loops that ran on other cores", counter}, [](uint64_t) { return of_visitors([](const Seat& s) { return s.visit.chunks; }); }},
    {{"WS_ITERATIONS_STOLEN", "iterations in them", counter}, [](uint64_t) { return of_visitors([](const Seat& s) { return s.visit.iterations; }); }},
    {{"WS_LENDS", "how often this rank lent its core", counter}, [](uint64_t) { return of_lenders([](const Seat& s) { return s.lend.lends; }); }},
    {{"WS_RECALLS", "how often it asked for it back", counter}, [](uint64_t) { return of_lenders([](const Seat& s) { return s.lend.recalls; }); }},
    {{"WS_CLAIMS_LOST", "chunks that another rank was faster to claim", counter}, [](uint64_t) { return of_lenders([](const Seat& s) { return s.lend.lost; }); }},
    {{"WS_REFUSALS", "waits in which the core was not free to lend, as other ranks compute on it", counter},
     [](uint64_t) { return of_lenders([](const Seat& s) { return s.lend.refusals; }); }},
    {{"WS_SLEEPS", "how often this rank slept in a wait, for want of work to help with", counter}, [](uint64_t) { return of_lenders([](const Seat& s) { return s.lend.sleeps; }); }},
    {{"WS_TIME_BLOCKED", "seconds that this rank waited in MPI, lent time included", timer},
     [](uint64_t now) { return board->seat(0).lend.blocked_ticks + since(board->seat(0).waits_since, now); }},
    {{"WS_TIME_LENT", "seconds that this rank's core was lent", timer},
     [](uint64_t now) { return of_lenders([&](const Seat& s) { return s.lend.lent_ticks + so_far<Seated::lent>(s, now); }); }},
    {{"WS_TIME_ASLEEP", "seconds that this rank slept in waits", timer},
     [](uint64_t now) { return of_lenders([&](const Seat& s) { return s.lend.sleep_ticks + so_far<Seated::asleep>(s, now); }); }},
    {{"WS_TIME_BORROWED", "seconds that other cores computed for this rank, added up", timer},
     [](uint64_t now) { return of_visitors([&](const Seat& s) { return s.visit.busy_ticks + so_far<Seated::visiting>(s, now); }); }},
};
constexpr int variable_count = sizeof variables / sizeof *variables;

bool begun, ended;             // the board is there; the values do not change any more
uint64_t last[variable_count]; // then
uint64_t shown[variable_count];

// The part of a time that is under way is counted at its end: both at once may be seen for a moment, or neither. A timer does not go back.
uint64_t not_back(uint64_t& highest, uint64_t value)
{
    uint64_t before = __atomic_load_n(&highest, __ATOMIC_RELAXED);
    while (before < value && !__atomic_compare_exchange_n(&highest, &before, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return std::max(before, value);
}

uint64_t value_now(int which)
{
    const uint64_t value = variables[which].value(ticks());
    return variables[which].shown.varclass == timer ? not_back(shown[which], ns(value)) : value;
}

unsigned long long value_of(int which)
{
    if (__atomic_load_n(&ended, __ATOMIC_ACQUIRE)) // pairs with mpi_t_end()
        return last[which];
    return __atomic_load_n(&begun, __ATOMIC_ACQUIRE) ? value_now(which) : 0; // pairs with mpi_t_begin()
}

// ---- the control variables

constexpr unsigned cvars_most = sizeof option_rows / sizeof *option_rows;

int mpi_scope(OptionScope scope)
{
    switch (scope) {
    case OptionScope::readonly: return MPI_T_SCOPE_READONLY;
    case OptionScope::local: return MPI_T_SCOPE_LOCAL;
    case OptionScope::all_eq: return MPI_T_SCOPE_ALL_EQ;
    default: return MPI_T_SCOPE_ALL;
    }
}

// Words and schedules are texts there, in so much room; 0: a number.
int length_of(const OptionRow& row) { return row.kind == OptionKind::schedule ? 64 : row.words[0] ? 16 : 0; }

std::string described(const OptionRow& row)
{
    return (row.kind == OptionKind::flag ? "1: " : *row.unit ? row.unit + std::string(": ") : "") + row.help +
           (row.live ? "; can be changed at any time" : "");
}

struct ControlVariables {
    MPIR_Workshare_cvar_t shown[cvars_most];
    const OptionRow* rows[cvars_most];
    std::string texts[cvars_most];
    int count = 0;

    ControlVariables()
    {
        for (const OptionRow& row : option_rows) {
            if (row.scope == OptionScope::none)
                continue;
            texts[count] = described(row);
            rows[count] = &row;
            const int length = length_of(row);
            shown[count] = {row.variable, texts[count].c_str(), mpi_scope(row.scope), length ? 0 : unsigned(std::atoi(row.standard)), unsigned(row.least),
                            unsigned(row.most), row.standard, length};
            count++;
        }
    }
};

const ControlVariables& cvars()
{
    static const ControlVariables* const all = new ControlVariables; // never destroyed: MPI_T may be asked at the very end
    return *all;
}

void set_number(const OptionRow& row, unsigned value)
{
    each_option(job.options, [&](const OptionRow& r, auto& field) {
        if constexpr (std::is_same_v<std::decay_t<decltype(field)>, unsigned>)
            if (&r == &row)
                field = value;
    });
}

int set_cvar(int which, unsigned value)
{
    const OptionRow& row = *cvars().rows[which];
    if (!row.live || !__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
        return 1; // has been acted upon, or never will be
    set_number(row, value);
    if (job.inactive)
        return 0;
    __atomic_store_n(&loop_host.chunk_ticks, job.clock.from_us(job.options.chunk_time), __ATOMIC_RELAXED);
    lend_retime(lend_times(job.options, int(job.window.ranks()) == job.size));
    return 0;
}

} // namespace

LendTimes lend_times(const Options& options, bool all_ring)
{
    LendTimes t = {};
    t.spin_ticks = job.clock.from_us(options.spin);
    t.patience_ticks = job.clock.from_us(20);
    t.linger_ticks = job.clock.from_us(options.linger);
    t.yield_ticks = job.clock.from_us(4000); // a wake-up, 5 to 30 us, is within 0.5 % or so of that
    t.peers_ticks = job.clock.from_us(1e6);
    t.short_ticks = job.clock.from_us(10);
    // With all ranks on this node whatever a rank waits for rings, and looking oneself is a precaution against one race in the
    // first moment: it can be had for less of the guest's time (a look costs 30 us on a virtual machine).
    t.quantum_us = options.quantum * (all_ring ? 8u : 1u);
    t.longest_quantum_us = options.quantum * (all_ring ? 32u : 1u);
    return t;
}

void mpi_t_begin()
{
    window_there = !job.inactive;
    __atomic_store_n(&begun, true, __ATOMIC_RELEASE); // pairs with value_of(): the board and the clock are there
}

void mpi_t_end()
{
    looking.lock();
    window_there = false;
    looking.unlock();
    for (int i = 0; i < variable_count; i++)
        last[i] = value_now(i);
    __atomic_store_n(&ended, true, __ATOMIC_RELEASE); // pairs with value_of(): the last values are there
}

} // namespace ws

WS_EXPORT const MPIR_Workshare_variables_t* ws_fork_variables(int version)
{
    using namespace ws;
    static MPIR_Workshare_pvar_t pvars[variable_count];
    static const MPIR_Workshare_variables_t all = {cvars().shown, pvars, cvars().count, variable_count, state_names, value_of, set_cvar};
    if (version != MPIR_WORKSHARE_VERSION)
        return nullptr;
    for (int i = 0; i < variable_count; i++)
        pvars[i] = variables[i].shown;
    return &all;
}
