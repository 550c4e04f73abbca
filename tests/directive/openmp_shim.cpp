// SPDX-License-Identifier: MIT
//
// runtime/directive/openmp.cpp as a library of its own, for openmp_regions.c: what libws keeps to itself is shown as C.
#include "directive/openmp.h"
#include "directive/openmp_threads.h"

#include <cstdlib>

// Of openmp_threads.cpp, openmp_questions.cpp and openmp_fork.cpp, which need the loops: here nobody chooses threads,
// so none of it is asked.
namespace ws::directive {
const OpenMP* openmp_found;
const OpenMP& find_openmp(void*) { std::abort(); }
int openmp_level() { std::abort(); }
bool sees_forks() { std::abort(); }
void see_all_forks() { std::abort(); }
RuntimeSchedule runtime_schedule() { std::abort(); }
}

extern "C" {
__attribute__((visibility("default"))) int ws_test_openings;
__attribute__((visibility("default"))) int ws_test_watch()
{
    static struct : ws::directive::OpenMPWatcher {
        void openmp_opens() override { __atomic_fetch_add(&ws_test_openings, 1, __ATOMIC_RELAXED); }
    } watcher;
    return !ws::directive::watch_openmp(&watcher);
}
__attribute__((visibility("default"))) void ws_test_stop() { ws::directive::stop_watching_openmp(); }
__attribute__((visibility("default"))) unsigned ws_test_open() { return ws::directive::openmp_regions_open(); }
__attribute__((visibility("default"))) void ws_test_wait() { ws::directive::wait_for_openmp(); }
__attribute__((visibility("default"))) void ws_test_end_wait() { ws::directive::end_openmp_wait(); }
}
