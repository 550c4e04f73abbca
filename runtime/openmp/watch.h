// SPDX-License-Identifier: MIT
//
// The first executions of a region are OpenMP's, and watched: which functions of the library's it calls, and where.
// What was seen is kept in its site.
#pragma once

#include "directive/openmp.h"
#include "openmp/site.h"
#include "openmp/unit.h"

namespace ws::openmp {

// A watched execution.
struct Watch {
    RegionSite& site;
    const directive::RegionCall& region;
    void note(Flag use);
    static void note_late(RegionSite& site, Flag use);
    void note_barrier(Unit& unit, const void* caller);
    void note_unknown(const char* name, Flag also = 0); // what is not right for virtual threads, and what it is besides
    void note_deal(Flag use, void* caller); // the first one must follow the region's begin
    void note_question(directive::Question question, void* caller);
    void end(Unit& unit);
    volatile Flag barriers = 0; // of one of its threads
};
// A thread's part in it: OpenMP runs this in place of the region's function. `data` is a Watch.
void run_watched(void* watch);

} // namespace ws::openmp
