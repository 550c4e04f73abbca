// SPDX-License-Identifier: MIT
#include "observe/phases.h"

#include "observe/calls.h"
#include "observe/recorder.h"
#include "base/atomics.h"
#include "base/spin_lock.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ws::observe {

using base::load_relaxed;
using base::ticks;

void (*phase_changed)(Flag row, uint64_t now);

namespace {

struct Open {
    Flag row;
    bool is_level;  // of MPI_Pcontrol
    uint64_t began; // ticks
};

constexpr unsigned table_bits = 15, recent_bits = 14;
static_assert(phase_rows <= 1u << (table_bits - 1), "the table is never more than half full");

// The phases of a rank. All zero at the start: only what is used of the tables takes memory.
struct Phases {
    Board* board;
    unsigned depth;  // of the present phase in `open`; 0: the run
    unsigned deeper; // phases that are open and found no room in there
    CountersAt before;  // the counters when the present phase's row was brought up to date
    LendCounters causes; // of waits; then
    bool has_ended;  // some phase, the last one in this row
    Flag last_ended;
    PhaseFaults faults;
    Open open[most_open_phases];
    // The last row that a name's address led to.
    struct RecentName {
        const char* name;
        Flag parent, row;
    } recent[1u << recent_bits];
    // Rows by their parent and name: a hash table of which only free entries, 0, are ever written.
    Flag table[1u << table_bits];
};
Phases* of_rank; // null: there are none. Never freed, because other threads may look at it
Phases* volatile ended; // so it is not lost, either

// ---- the row of a path

constexpr uint64_t spread = 0x9E3779B97F4A7C15ull;
constexpr size_t name_bytes = sizeof PhaseRow::name - 1;

Flag make_row(Board& board, Flag parent, const char* name, int64_t level)
{
    const Flag made = Hardware::load_relaxed(board.phases_made);
    const Flag row = made + 1 < phase_rows ? made : phase_rows - 1;
    PhaseRow& r = board.phase_row(row);
    if (row == phase_rows - 1) {
        std::strcpy(r.name, other_phases);
        base::store_relaxed(r.parent, 0);
        base::store_relaxed(r.level, named_phase);
    } else {
        std::strncpy(r.name, name, name_bytes);
        base::store_relaxed(r.parent, int32_t(parent));
        base::store_relaxed(r.level, level);
        Hardware::store_release(board.phases_made, made + 1); // after the name: who sees the number may read it
    }
    return row;
}

__attribute__((noinline)) Flag find_row(Phases& p, Flag parent, const char* name, int64_t level)
{
    uint64_t hash = parent;
    for (size_t i = 0; i < name_bytes && name[i]; i++)
        hash = (hash ^ static_cast<unsigned char>(name[i])) * spread;
    for (unsigned i = unsigned(hash >> (64 - table_bits));; i = (i + 1) % (1u << table_bits)) {
        if (p.table[i] == 0) {
            const Flag row = make_row(*p.board, parent, name, level);
            if (row != phase_rows - 1)
                p.table[i] = row;
            return row;
        }
        const PhaseRow& row = p.board->phase_row(p.table[i]);
        if (Flag(row.parent) == parent && is_called(row, name))
            return p.table[i];
    }
}

inline Flag row_of(Phases& p, Flag parent, const char* name, int64_t level)
{
    const uint64_t hash = (reinterpret_cast<uintptr_t>(name) ^ uint64_t(parent) << 4) * spread;
    Phases::RecentName& r = p.recent[hash >> (64 - recent_bits)];
    // The text is compared, too: the program may have written another one to the same place.
    if (WS_LIKELY(r.name == name && r.parent == parent && is_called(p.board->phase_row(r.row), name)))
        return r.row;
    const Flag row = find_row(p, parent, name, level);
    if (row != phase_rows - 1) // which has another name
        r = {name, parent, row};
    return row;
}

// ---- what was counted

static_assert(offsetof(PhaseRow, entered) % 64 == 0, "what each phase changes is one cache line");

// Adds what was counted since the last time to the present phase.
inline void settle(Phases& p, uint64_t now)
{
    const CountersAt c = counted_at(*p.board, now), &before = p.before;
    PhaseRow& row = p.board->phase_row(p.open[p.depth].row);
    bump(row.wall_ticks, c.at - before.at);
    bump(row.mpi_ticks, c.mpi - before.mpi);
    bump(row.borrowed_ticks, c.borrowed - before.borrowed);
    bump(row.close_wait_ticks, c.close_wait - before.close_wait);
    bump(row.loops_ticks, c.loops - before.loops);
    // What follows is on other cache lines of the row, which most phases need not touch.
    if (WS_UNLIKELY(c.executions != before.executions || c.executions_shared != before.executions_shared ||
                    c.iterations_stolen != before.iterations_stolen)) {
        bump(row.executions, c.executions - before.executions);
        bump(row.executions_shared, c.executions_shared - before.executions_shared);
        bump(row.executions_helped, c.executions_helped - before.executions_helped);
        bump(row.iterations_stolen, c.iterations_stolen - before.iterations_stolen);
    }
    if (WS_UNLIKELY(c.lag != before.lag))
        base::store_relaxed(row.lag_ticks, row.lag_ticks + int64_t(c.lag - before.lag));
    if (WS_UNLIKELY(c.blocked != before.blocked)) { // else no wait has ended, and its causes are as they were
        bump(row.blocked_ticks, c.blocked - before.blocked);
        bump(row.lent_ticks, c.lent - before.lent);
        const LendCounters& home = p.board->seat(0).lend;
        for (unsigned k = 0; k < refusal_kinds; k++) {
            bump(row.refused[k], home.refused[k] - p.causes.refused[k]);
            bump(row.refused_ticks[k], home.refused_ticks[k] - p.causes.refused_ticks[k]);
        }
        p.causes = home;
    }
    p.before = c;
}

// ---- which are open

inline void show_present(Phases& p, Flag row, uint64_t now)
{
    Hardware::store_relaxed(p.board->phase, row);
    if (WS_UNLIKELY(phase_changed != nullptr))
        phase_changed(row, now);
}

inline void push(Phases& p, Flag row, bool is_level, uint64_t now)
{
    p.open[++p.depth] = {row, is_level, now};
    bump(p.board->phase_row(row).entered);
    show_present(p, row, now);
}

inline Flag pop(Phases& p, uint64_t now)
{
    const Open ended = p.open[p.depth--];
    if (WS_UNLIKELY(recording))
        record(EventKind::phase, ended.began, now, ended.row,
               uint64_t(load_relaxed(p.board->phase_row(ended.row).level)));
    show_present(p, p.open[p.depth].row, now);
    return ended.row;
}

bool is_home(const Phases& p) { return own_seat && own_seat == &p.board->seat(0); }

// Another thread's call. Several may come at once.
__attribute__((cold, noinline)) Flag note_other_thread(PhaseFaults& faults, const char* name)
{
    static base::SpinLock noting;
    noting.lock();
    if (faults.other_threads++ == 0 && name)
        std::strncpy(faults.called_with, name, name_bytes);
    noting.unlock();
    return no_row;
}

__attribute__((cold, noinline)) Flag note_end(Phases& p)
{
    if (p.faults.ends++ == 0 && p.has_ended)
        std::memcpy(p.faults.ended_before, p.board->phase_row(p.last_ended).name, sizeof p.faults.ended_before);
    return no_row;
}

PhaseFaults faults_at_end;

PhaseFaults faults_of(const Phases& p)
{
    PhaseFaults f = p.faults;
    f.left_open = p.deeper;
    for (unsigned i = 1; i <= p.depth; i++)
        if (!p.open[i].is_level) {
            f.left_open++;
            std::memcpy(f.open, p.board->phase_row(p.open[i].row).name, sizeof f.open);
        }
    return f;
}

} // namespace

CountersAt counted_at(Board& board, uint64_t now)
{
    const LendCounters& home = board.seat(0).lend;
    const Sums& s = board.sums;
    return {now,
            board.process.mpi_ticks + in_call_until(now),
            home.blocked_ticks,
            home.lent_ticks,
            load_relaxed(board.lag_ticks),
            load_relaxed(s.borrowed_ticks),
            load_relaxed(s.close_wait_ticks),
            load_relaxed(s.loops_ticks),
            load_relaxed(s.executions),
            load_relaxed(s.executions_shared),
            load_relaxed(s.executions_helped),
            load_relaxed(s.iterations_stolen)};
}

void first_phase(Board& board, uint64_t now)
{
    own_seat = &board.seat(0); // of a rank without a window, too, which has calls and phases but lends nothing
    Phases* const p = static_cast<Phases*>(std::calloc(1, sizeof(Phases)));
    if (!p)
        return;
    p->board = &board;
    p->before = counted_at(board, now);
    p->causes = board.seat(0).lend;
    p->open[0] = {0, false, now};
    board.phase_row(0).parent = no_parent;
    board.phase_row(0).level = 1;
    bump(board.phase_row(0).entered);
    Hardware::store_release(board.phases_made, 1);
    base::store_release(of_rank, p); // pairs with the loads of other threads
}

void end_phases(uint64_t now)
{
    Phases* const p = of_rank;
    if (!p)
        return;
    settle(*p, now);
    faults_at_end = faults_of(*p);
    while (p->depth)
        pop(*p, p->before.at);
    ended = p;
    base::store_release(of_rank, nullptr);
}

Flag begin_phase(const char* name)
{
    Phases* const p = base::load_acquire(of_rank); // pairs with first_phase()
    if (WS_UNLIKELY(!p))
        return no_row;
    if (WS_UNLIKELY(!is_home(*p)))
        return note_other_thread(p->faults, name);
    if (WS_UNLIKELY(p->depth + 1 == most_open_phases)) {
        p->deeper++;
        return no_row;
    }
    if (WS_UNLIKELY(!name || !*name))
        name = "(no name)";
    const uint64_t now = ticks();
    settle(*p, now);
    const Flag row = row_of(*p, p->open[p->depth].row, name, named_phase);
    push(*p, row, false, now);
    return row;
}

Flag end_phase()
{
    Phases* const p = base::load_acquire(of_rank); // pairs with first_phase()
    if (WS_UNLIKELY(!p))
        return no_row;
    if (WS_UNLIKELY(!is_home(*p)))
        return note_other_thread(p->faults, nullptr);
    if (WS_UNLIKELY(p->deeper)) {
        p->deeper--;
        return no_row;
    }
    const bool in_level = p->open[p->depth].is_level;
    if (WS_UNLIKELY(p->depth == unsigned(in_level)))
        return note_end(*p);
    const uint64_t now = ticks();
    settle(*p, now);
    if (WS_UNLIKELY(in_level))
        pop(*p, now);
    p->has_ended = true;
    return p->last_ended = pop(*p, now);
}

void phase_level(int level)
{
    Phases* const p = base::load_acquire(of_rank); // pairs with first_phase()
    if (!p || !is_home(*p))
        return;
    const bool in_level = p->open[p->depth].is_level;
    if (level == (in_level ? int(p->board->phase_row(p->open[p->depth].row).level) : 1))
        return;
    const uint64_t now = ticks();
    settle(*p, now);
    if (in_level)
        pop(*p, now);
    if (level == 1 || p->depth + 1 == most_open_phases)
        return;
    char name[32];
    std::snprintf(name, sizeof name, "phase %d", level);
    push(*p, find_row(*p, p->open[p->depth].row, name, level), true, now);
}

void settle_phases()
{
    if (of_rank && is_home(*of_rank))
        settle(*of_rank, ticks());
}

bool is_called(const PhaseRow& row, const char* name) { return std::strncmp(row.name, name, name_bytes) == 0; }

bool is_open(const char* name)
{
    const Phases* const p = of_rank;
    for (unsigned i = 1; p && i <= p->depth; i++)
        if (is_called(p->board->phase_row(p->open[i].row), name))
            return true;
    return false;
}

PhaseFaults phase_faults() { return of_rank ? faults_of(*of_rank) : faults_at_end; }

} // namespace ws::observe
