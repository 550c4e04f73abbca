// SPDX-License-Identifier: MIT
#include "mpi/turns.h"

#include "loop/region.h"
#include "measure/meter.h"
#include "mpi/call_arguments.h"
#include "mpi/job.h"

#include <cstring>

__thread uint64_t ws_call_arguments;

namespace ws::mpi {

namespace {

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

// Which call of the program it is: the function, and what it is about or where it is.
uint32_t event_of(const char* name, uint64_t what)
{
    const uint64_t bits = reinterpret_cast<uintptr_t>(name) * 0x9E3779B97F4A7C15ull ^ what;
    return uint32_t(bits >> 32);
}

void watch_call(const char* name, int enter)
{
    if (enter && watched && !loop::thread_in_region() && !is_look_again(name)) {
        const uint64_t place = reinterpret_cast<uintptr_t>(call_site()) * 0xD6E8FEB86659FD93ull;
        const uint64_t about = ws_call_arguments ? ws_call_arguments * 0xFF51AFD7ED558CCDull : place;
        meter->called(event_of(name, about), event_of(name, place), base::ticks());
    }
    ws_call_arguments = 0; // those of MPICH's own calls in this one, too
    if (called_before)
        called_before(name, enter);
}

} // namespace

void watch_turns(Job& job)
{
    watched = true;
    meter = &job.meter;
    call_site = job.hooks->call_site;
    called_before = job.hooks->called;
    job.hooks->called = watch_call;
}

} // namespace ws::mpi
