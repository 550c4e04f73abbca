// SPDX-License-Identifier: MIT
//
// Whether this process is in a parallel region of OpenMP: then its spare cores belong to OpenMP's threads, and workers
// sleep. Counted only while there are workers, as openmp.cpp describes.
#pragma once

#include "window/atomics.h"
#include "window/os.h"

namespace ws {

// Parallel regions open in this process, of all its threads, nested ones too. Those of one thread do not count.
extern volatile Hardware::Flag openmp_regions;
inline unsigned openmp_regions_open() { return Hardware::load_relaxed(openmp_regions); }

// A region that is open when this changes is counted at both ends or at neither.
extern volatile Hardware::Flag watching_openmp;
void openmp_begins();
void openmp_ends();

// Counts a region that libws itself begins.
class OpenMPRegion {
public:
    OpenMPRegion() : counts_(Hardware::load_relaxed(watching_openmp))
    {
        if (WS_UNLIKELY(counts_))
            openmp_begins();
    }
    ~OpenMPRegion()
    {
        if (WS_UNLIKELY(counts_))
            openmp_ends();
    }
    OpenMPRegion(const OpenMPRegion&) = delete;

private:
    const bool counts_;
};

// How many threads a region shall ask for that asks for so many; 0: for the usual number. Null: as it asks. Known where libgomp's entries
// come here first (see openmp.cpp) and the region is one call; called by the thread that opens it.
extern unsigned (*volatile openmp_threads)(unsigned asked);

// From here on regions are counted; before the first worker runs. `opened` is called by the thread that opens a region
// where none was open, before OpenMP's threads run: to ask for lent cores. Null, or why this process can have no workers: it
// has an OpenMP library whose regions cannot be seen, or whose threads never leave their cores.
const char* watch_openmp(void (*opened)());
// Also ends every wait.
void stop_watching_openmp();

// Sleeps while regions are open. Their end wakes nobody, for a program may open thousands a second: the caller finds out
// by itself within 50 ms, or at once by end_openmp_wait().
void wait_for_openmp();
// Wakes those in wait_for_openmp() if no region is open. One load when nobody waits.
void end_openmp_wait();

} // namespace ws
