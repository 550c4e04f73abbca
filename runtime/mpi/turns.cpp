// SPDX-License-Identifier: MIT
#include "mpi/turns.h"

#include "loop/region.h"
#include "measure/meter.h"
#include "measure/period.h"
#include "mpi/job.h"

#include <cstring>

namespace ws::mpi {

namespace {

measure::Period* period;
measure::Meter* meter;
WS_THREAD_LOCAL bool watched; // the home thread
void (*called_before)(const char* name, int enter);
const void* (*call_site)(); // MPICH's

// Left out: how often a program polls, or reads the clock, depends on chance.
bool is_look(const char* name)
{
    for (const char* look :
         {"MPI_Test", "MPI_Iprobe", "MPI_Improbe", "MPI_Request_get_status", "MPI_Wtime", "MPI_Wtick"})
        if (!std::strncmp(name, look, std::strlen(look)))
            return true;
    return false;
}

// The same, by the address of the name, which is always the same.
bool is_look_again(const char* name)
{
    static struct {
        const char* name;
        bool look;
    } known[64];
    auto& row = known[(reinterpret_cast<uintptr_t>(name) * 0x9E3779B97F4A7C15ull) >> 58];
    if (row.name != name)
        row = {name, is_look(name)};
    return row.look;
}

// Which call of the program it is: the function, and from where.
uint32_t event_of(const char* name)
{
    const uint64_t bits = reinterpret_cast<uintptr_t>(name) * 0x9E3779B97F4A7C15ull ^
                          reinterpret_cast<uintptr_t>(call_site()) * 0xD6E8FEB86659FD93ull;
    return uint32_t(bits >> 32);
}

void watch_call(const char* name, int enter)
{
    if (enter && watched && !loop::thread_in_region() && !is_look_again(name)) {
        const uint64_t turns = period->turns();
        const bool some = period->length() != 0;
        period->feed(event_of(name), window::ticks());
        if (period->turns() != turns)
            meter->turned(period->last_turn(), period->turns());
        else if (some && period->length() == 0)
            meter->turned(0, turns);
    }
    if (called_before)
        called_before(name, enter);
}

} // namespace

void watch_turns(Job& job)
{
    period = new measure::Period; // as long as the process: a thread may be in the hook at its end
    watched = true;
    meter = &job.meter;
    call_site = job.hooks->call_site;
    called_before = job.hooks->called;
    job.hooks->called = watch_call;
}

} // namespace ws::mpi
