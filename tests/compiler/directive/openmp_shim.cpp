// SPDX-License-Identifier: MIT
//
// runtime/openmp/library/regions.cpp as a library of its own, for openmp_regions.c: what libws keeps to itself is shown
// as C.
#include "openmp/library/regions.h"
#include "openmp/library/threads.h"
#include "openmp/shared/share.h"
#include "openmp/tool/tool.h"

#include <cstdlib>

// Stand-ins for what threads.cpp, questions.cpp, fork.cpp, share.cpp and attach.cpp define. Those files need the loops.
// Nobody chooses threads in this library, and it shares no region, so none of the other functions is called.
namespace ws::openmp {
const OpenMP* found_library;
const OpenMP& find_openmp(void*) { std::abort(); }
int nesting_level() { std::abort(); }
bool sees_forks() { std::abort(); }
void see_all_forks() { std::abort(); }
OmpSchedule omp_schedule() { std::abort(); }
bool shares_regions() { return false; }
namespace tool {
ompt::Start* wrap(ompt::Start*, unsigned, const char*) { std::abort(); }
} // namespace tool
}

extern "C" {
__attribute__((visibility("default"))) int ws_test_openings;
__attribute__((visibility("default"))) int ws_test_watch()
{
    static struct : ws::openmp::Watcher {
        void openmp_opens() override { __atomic_fetch_add(&ws_test_openings, 1, __ATOMIC_RELAXED); }
    } watcher;
    return !ws::openmp::watch(&watcher);
}
__attribute__((visibility("default"))) void ws_test_stop() { ws::openmp::stop_watching(); }
__attribute__((visibility("default"))) unsigned ws_test_open() { return ws::openmp::regions_open(); }
__attribute__((visibility("default"))) void ws_test_wait() { ws::openmp::wait_for_regions(); }
__attribute__((visibility("default"))) void ws_test_end_wait() { ws::openmp::end_wait_for_regions(); }
}
