// SPDX-License-Identifier: MIT
#include "observe/calls.h"

#include "observe/cpu_counters.h"
#include "observe/moments.h"
#include "observe/phases.h"
#include "observe/recorder.h"
#include "base/atomics.h"
#include "base/spin_lock.h"
#include <algorithm>
#include <cstring>

namespace ws::observe {

using base::ticks;

namespace {

Board* board; // of the process that MPICH's hooks tell of

// Rows by the address of the name: a hash table of which only free entries are ever written.
constexpr unsigned table_size = 4 * call_rows;
struct CallEntry {
    const char* name;
    base::Flag row;
} table[table_size];
unsigned rows_made;
base::SpinLock making_rows;

unsigned place(const char* name) { return unsigned((reinterpret_cast<uintptr_t>(name) * 0x9E3779B97F4A7C15ull) >> 54); }
static_assert(table_size == 1u << 10, "place() gives ten bits");

base::Flag make_row(const char* name)
{
    base::Flag row = no_row;
    making_rows.lock();
    unsigned i = place(name);
    while (table[i].name && table[i].name != name)
        i = (i + 1) % table_size;
    if (table[i].name)
        row = table[i].row;
    else if (rows_made < call_rows) {
        row = rows_made++;
        CallRow& r = board->call(row);
        std::strncpy(r.name, name, sizeof r.name - 1);
        table[i].row = row;
        base::store_release(table[i].name, name); // pairs with the load in call_row()
    }
    making_rows.unlock();
    return row;
}

// The calling thread's outermost call.
struct OutermostCall {
    const char* name;
    uint64_t begin;
};
WS_THREAD_LOCAL OutermostCall under_way;

// MPI_Wtime and MPI_Wtick do not communicate, and timing them would take longer than they take.
bool is_clock(const char* name) { return name[4] == 'W' && name[5] == 't'; }

bool is_home() { return own_seat && own_seat == &board->seat(0); }

Moments moments;

CpuCounters counters;
ComputingCount<CpuCounters> computing;

void add_computed(base::Flag phase, uint64_t ticks, const CpuCount& count)
{
    PhaseRow& row = board->phase_row(phase);
    bump(row.counted_ticks, ticks);
    bump(row.instructions, uint64_t(std::max(0.0, count.instructions)));
    bump(row.cycles, uint64_t(std::max(0.0, count.cycles)));
}

void change_phase(base::Flag phase, uint64_t now) { computing.change(phase, now); }

Moment now_spent(uint64_t now)
{
    const CountersAt c = counted_at(*board, now);
    return {c.at, c.mpi, c.lent, c.close_wait, c.borrowed};
}

} // namespace

void show_calls_on(Board& own) { board = &own; }

base::Flag call_row(const char* name)
{
    if (!name)
        return no_row;
    for (unsigned i = place(name);; i = (i + 1) % table_size) {
        const char* found = base::load_acquire(table[i].name);
        if (found == name)
            return table[i].row;
        if (!found)
            return make_row(name);
    }
}

void called(const char* name, int enter)
{
    OutermostCall& call = under_way;
    if (enter) {
        if (!is_clock(name)) {
            call = {name, ticks()};
            note_moment(call.begin);
            if (WS_UNLIKELY(computing.is_started()) && is_home())
                computing.enter(call.begin);
        }
        return;
    }
    if (!call.name) // it began before the hook was there
        return;
    const uint64_t now = ticks(), took = now - call.begin;
    const base::Flag row = call_row(call.name);
    call.name = nullptr;
    if (is_home()) {
        bump(board->process.mpi_ticks, took);
        note_moment(now);
        if (WS_UNLIKELY(computing.is_started()))
            computing.leave(now);
    }
    if (row == no_row)
        return;
    add(board->call(row).calls, 1);
    add(board->call(row).time_ticks, took);
    if (WS_UNLIKELY(recording))
        record(EventKind::mpi, now - took, now, row);
}

void start_moments(double ticks_per_us)
{
    constexpr double step_us = 1000;
    moments.start(now_spent(board->attached_at), uint64_t(step_us * ticks_per_us));
}

std::string start_counting()
{
    const std::string refused = counters.open();
    if (!refused.empty())
        return refused;
    uint64_t cost = UINT64_MAX;
    for (int i = 0; i < 8; i++) {
        const uint64_t began = ticks();
        counters.read();
        cost = std::min(cost, ticks() - began);
    }
    computing.start(counters, ticks(), cost, board->phase, phase_rows, add_computed);
    phase_changed = change_phase;
    return refused;
}

void note_moment(uint64_t now)
{
    if (WS_UNLIKELY(moments.due(now)) && is_home())
        moments.add(now_spent(now));
}

std::vector<TimeSlice> time_spent(uint64_t end) { return slices_of(moments, now_spent(end)); }

uint64_t in_call_until(uint64_t now) { return under_way.name && now > under_way.begin ? now - under_way.begin : 0; }
uint64_t mpi_ticks_now() { return board->process.mpi_ticks + in_call_until(ticks()); }

} // namespace ws::observe
