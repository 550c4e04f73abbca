// SPDX-License-Identifier: MIT
#include "mpi/mpi_t.h"

#include "loop/participant.h"
#include "mpi/job.h"
#include "mpich/files/src/include/mpir_workshare.h"
#include "observe/report.h"
#include "base/atomics.h"
#include "base/environment.h"
#include "base/spin_lock.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace ws::mpi {

using lend::LendTimes;
using observe::LendCounters;
using observe::LoopRow;
using observe::Seat;
using observe::SeatKind;
using observe::Seated;
using observe::loop_counts;
using option::OptionKind;
using option::OptionRow;
using option::OptionScope;
using option::option_rows;
using base::Hardware;

// Blocked for longer, a thread counts as long_hungry: it will most likely go on waiting. An MPI_Test in vain counts as
// a wait for as long.
constexpr double patience_us = 20;
// A thread that has found nothing to help with for this long goes to sleep, if its core is its own. Waking it takes
// 5 to 30 us, about 0.5 % of this time.
constexpr double yield_us = 4000;
// A blocked rank that has nothing to lend for looks this often whether the others live.
constexpr double peers_us = 1e6;
// What MPI_Test may take for a chunk: the program has other things to do.
constexpr double test_chunk_us = 10;

namespace {

Job* watched_job; // from mpi_t_begin() on: before that nobody asks for what it has
base::SpinLock looking; // held while somebody looks at the window, which goes away while other threads may ask
bool window_there;

uint64_t ns(uint64_t ticks) { return uint64_t(double(ticks) / watched_job->board->ticks_per_us * 1000); }

uint64_t since(uint64_t begin, uint64_t now) { return begin && now > begin ? now - begin : 0; }

unsigned ranks_blocked()
{
    unsigned blocked = 0;
    looking.lock();
    for (unsigned r = 0; window_there && r < watched_job->window.ranks(); r++)
        blocked += Hardware::load_relaxed(watched_job->window.home(r).occupancy) == window::rank_blocked;
    looking.unlock();
    return blocked;
}

uint64_t guests_at_work()
{
    uint64_t guests = 0;
    for (unsigned i = 1; i < watched_job->board->seats; i++)
        guests += Seated(Hardware::load_relaxed(watched_job->board->seat(i).state)) == Seated::visiting;
    return guests;
}

// The values of WS_STATE, and their names.
enum { off, computing, blocked, lent, asleep };
constexpr const char* state_names[] = {"off", "computing", "blocked", "lent", "asleep", nullptr};

uint64_t state()
{
    const Seat& home = watched_job->board->seat(0);
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

// A time counter is added to at the end of a wait or a visit: this is the part that is under way. 0 for most counters.
template <auto field> struct UnderWay {
    static uint64_t of(const Seat&, uint64_t) { return 0; }
};
template <> struct UnderWay<&LendCounters::lent_ticks> {
    static uint64_t of(const Seat& s, uint64_t now) { return so_far<Seated::lent>(s, now); }
};
template <> struct UnderWay<&LendCounters::naps_ticks> {
    static uint64_t of(const Seat& s, uint64_t now) { return so_far<Seated::asleep>(s, now); }
};
template <> struct UnderWay<&LendCounters::blocked_ticks> {
    static uint64_t of(const Seat& s, uint64_t now) { return since(s.waits_since, now); }
};
template <> struct UnderWay<&observe::VisitCounters::borrowed_ticks> {
    static uint64_t of(const Seat& s, uint64_t now) { return so_far<Seated::visiting>(s, now); }
};

// From the home thread alone: workers always want more, so what they wait is no waiting.
template <auto field> uint64_t of_home(uint64_t now)
{
    const Seat& home = watched_job->board->seat(0);
    return home.lend.*field + UnderWay<field>::of(home, now);
}

// From the home thread and the workers.
template <auto field> uint64_t of_lenders(uint64_t now)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < 1 + watched_job->board->own_workers; i++)
        sum += watched_job->board->seat(i).lend.*field + UnderWay<field>::of(watched_job->board->seat(i), now);
    return sum;
}

// Sums a counter over the guests and the workers, which run iterations on other cores.
template <auto field> uint64_t of_visitors(uint64_t now)
{
    uint64_t sum = 0;
    for (unsigned i = 1; i < watched_job->board->seats; i++)
        sum += watched_job->board->seat(i).visit.*field + UnderWay<field>::of(watched_job->board->seat(i), now);
    return sum;
}

template <class F> auto over_loops(F f)
{
    auto sum = f(watched_job->board->loop(observe::loop_rows - 1));
    for (unsigned i = 0; i < observe::loop_rows - 1 && watched_job->board->loop(i).name[0]; i++)
        sum += f(watched_job->board->loop(i));
    return sum;
}

// What a rank's figure is the sum of, as counts or ticks.
template <auto figure> uint64_t of_loops(bool time)
{
    const double tick = 1e-6 / watched_job->board->ticks_per_us;
    return uint64_t(over_loops([&](const LoopRow& row) { return loop_counts(row, tick).*figure; }) / (time ? tick : 1));
}

struct Variable {
    std::string name, desc;
    int varclass;
    uint64_t (*value)(uint64_t now); // timers: ticks
    uint64_t highest = 0, last = 0;
};

// Former names, which stay for one release, and today's.
constexpr struct {
    const char *former, *name;
} former_names[] = {
    {"WS_REGIONS", "WS_EXECUTIONS"},
    {"WS_REGIONS_CUT", "WS_EXECUTIONS_CUT"},
    {"WS_REGIONS_SHARED", "WS_EXECUTIONS_SHARED"},
    {"WS_REGIONS_JOINED", "WS_EXECUTIONS_HELPED"},
};

// Three that are no counters, then those of observe/counters.h that have a name in MPI_T, then former names.
std::vector<Variable> make_variables()
{
    // as the kinds there
    constexpr int COUNT = MPI_T_PVAR_CLASS_COUNTER, TIME = MPI_T_PVAR_CLASS_TIMER, level = MPI_T_PVAR_CLASS_LEVEL;
    std::vector<Variable> all = {
        {"WS_STATE", "what this rank's core does now", MPI_T_PVAR_CLASS_STATE, [](uint64_t) { return state(); }},
        {"WS_RANKS_BLOCKED", "ranks of the node that wait in MPI now, with their core lent or not", level,
         [](uint64_t) { return uint64_t(ranks_blocked()); }},
        {"WS_GUESTS", "threads that run iterations of this rank on cores lent to it, now", level,
         [](uint64_t) { return guests_at_work(); }},
    };
    const auto add = [&](const char* mpi_t, const char* name, const char* help, int varclass,
                         uint64_t (*value)(uint64_t)) {
        if (std::strcmp(mpi_t, "NONE") != 0)
            all.push_back({mpi_t, name + std::string(": ") + help, varclass, value});
    };
#define WS_HOME(kind, name, where, mpi_t, help) \
    add(#mpi_t, WS_NAME_##kind(name), help, kind, of_home<&LendCounters::WS_FIELD_##kind(name)>);
#define WS_LENDERS(kind, name, where, mpi_t, help) \
    add(#mpi_t, WS_NAME_##kind(name), help, kind, of_lenders<&LendCounters::WS_FIELD_##kind(name)>);
#define WS_VISITORS(kind, name, where, mpi_t, help) \
    add(#mpi_t, WS_NAME_##kind(name), help, kind, of_visitors<&observe::VisitCounters::WS_FIELD_##kind(name)>);
#define WS_PROCESS(kind, name, where, mpi_t, help) \
    add(#mpi_t, WS_NAME_##kind(name), help, kind, \
        [](uint64_t) { return watched_job->board->process.WS_FIELD_##kind(name); });
#define WS_LOOPS(kind, name, where, mpi_t, help) \
    add(#mpi_t, WS_NAME_##kind(name), help, kind, \
        [](uint64_t) { return of_loops<&observe::LoopCounts::WS_FIGURE_##kind(name)>(kind == TIME); });
#define WS_ROWS(kind, name, where, mpi_t, help) \
    add(#mpi_t, WS_NAME_##kind(name), help, kind, \
        [](uint64_t) { return over_loops([](const LoopRow& row) { return uint64_t(row.WS_FIELD_##kind(name)); }); });
    WS_RANK_COUNTERS(WS_LENDERS, WS_HOME, WS_VISITORS, WS_PROCESS, WS_LOOPS, WS_NO)
    WS_LOOP_COUNTERS(WS_ROWS, WS_NO)
    for (const auto& f : former_names) {
        Variable v = *std::find_if(all.begin(), all.end(), [&](const Variable& v) { return v.name == f.name; });
        v.name = f.former;
        v.desc = std::string("former name of ") + f.name;
        all.push_back(std::move(v));
    }
    return all;
}

std::vector<Variable>& variables()
{
    // never destroyed: MPI_T may be asked at the very end
    static std::vector<Variable>* const all = new std::vector<Variable>(make_variables());
    return *all;
}

bool begun, ended; // the board is there; the values do not change any more

// The part of a time that is under way is moved into the counter at its end: for a moment both, or neither, may be
// seen. But a timer must never go back.
uint64_t not_back(uint64_t& highest, uint64_t value)
{
    uint64_t before = base::load_relaxed(highest);
    while (before < value && !base::exchange_if_relaxed(highest, before, value))
        ;
    return std::max(before, value);
}

uint64_t value_now(Variable& v)
{
    const uint64_t value = v.value(base::ticks());
    return v.varclass == MPI_T_PVAR_CLASS_TIMER ? not_back(v.highest, ns(value)) : value;
}

unsigned long long value_of(int which)
{
    Variable& v = variables()[size_t(which)];
    if (base::load_acquire(ended)) // pairs with mpi_t_end()
        return v.last;
    return base::load_acquire(begun) ? value_now(v) : 0; // pairs with mpi_t_begin()
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

// Returns the room for texts, which words, schedules and sizes are there; 0: a number.
int length_of(const OptionRow& row)
{
    return row.kind == OptionKind::schedule || row.kind == OptionKind::size || row.words[0] ? 64 : 0;
}

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
            // MPICH looks into the environment, from which MPI_Init has taken it out.
            const char* const value =
                base::is_taken_out(row.variable) ? base::own_variable(row.variable) : row.standard;
            shown[count] = {row.variable,         texts[count].c_str(),
                            mpi_scope(row.scope), length ? 0 : unsigned(std::strtoul(value, nullptr, 10)),
                            unsigned(row.least),  unsigned(row.most),
                            value,                length};
            count++;
        }
    }
};

const ControlVariables& cvars()
{
    // never destroyed: MPI_T may be asked at the very end
    static const ControlVariables* const all = new ControlVariables;
    return *all;
}

void set_number(const OptionRow& row, unsigned value)
{
    option::each_option(watched_job->options, [&](const OptionRow& r, auto& field) {
        if constexpr (std::is_same_v<std::decay_t<decltype(field)>, unsigned>)
            if (&r == &row)
                field = value;
    });
}

int set_cvar(int which, unsigned value)
{
    const OptionRow& row = *cvars().rows[which];
    if (!row.live || !base::load_acquire(begun))
        return 1; // has been acted upon, or never will be
    set_number(row, value);
    if (watched_job->inactive)
        return 0;
    base::store_relaxed(loop::host().chunk_ticks, watched_job->clock.from_us(watched_job->options.chunk_time));
    watched_job->lending->retime(
        lend_times(watched_job->options, watched_job->clock, int(watched_job->window.ranks()) == watched_job->size));
    return 0;
}

} // namespace

LendTimes lend_times(const option::Options& options, const base::Clock& clock, bool all_ring)
{
    LendTimes t = {};
    t.spin_ticks = clock.from_us(options.spin);
    t.patience_ticks = clock.from_us(patience_us);
    t.linger_ticks = clock.from_us(options.linger);
    t.yield_ticks = clock.from_us(yield_us);
    t.peers_ticks = clock.from_us(peers_us);
    t.short_ticks = clock.from_us(test_chunk_us);
    // With all ranks on this node whatever a rank waits for rings, and looking oneself is a precaution against one race
    // in the first moment: it can be had for less of the guest's time (a look costs 30 us on a virtual machine).
    t.quantum_us = options.quantum * (all_ring ? 8u : 1u);
    t.longest_quantum_us = options.quantum * (all_ring ? 32u : 1u);
    return t;
}

void mpi_t_begin(Job& job)
{
    watched_job = &job;
    window_there = !watched_job->inactive;
    base::store_release(begun, true); // pairs with value_of(): the board and the clock are there
}

void mpi_t_end()
{
    looking.lock();
    window_there = false;
    looking.unlock();
    for (Variable& v : variables())
        v.last = value_now(v);
    base::store_release(ended, true); // pairs with value_of(): the last values are there
}

} // namespace ws::mpi

WS_EXPORT const MPIR_Workshare_variables_t* ws_fork_variables(int version)
{
    using namespace ws::mpi;
    if (version != MPIR_WORKSHARE_VERSION)
        return nullptr;
    static MPIR_Workshare_variables_t all;
    auto* pvars = new std::vector<MPIR_Workshare_pvar_t>; // asked for once, and kept
    for (const Variable& v : variables())
        pvars->push_back({v.name.c_str(), v.desc.c_str(), v.varclass});
    all = {cvars().shown, pvars->data(), cvars().count, int(pvars->size()), state_names, value_of, set_cvar};
    return &all;
}
