// SPDX-License-Identifier: MIT
//
// The functions of the program's OpenMP library.
#include "openmp/library/threads.h"

#include "openmp/library/next.h"
#include "openmp/library/regions.h"
#include "base/atomics.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <initializer_list>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <strings.h>
#include <sys/resource.h>
#include <unistd.h>

namespace ws::openmp {

namespace {

// ---- the library

void* library_of(void* caller)
{
    Dl_info in;
    void* library = dladdr(caller, &in) ? dlopen(in.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    if (library && dlsym(library, "omp_get_max_threads"))
        return library; // kept
    if (library)
        dlclose(library);
    return nullptr;
}

// dlsym()'s first argument.
void* find_handle(void* caller)
{
    for (void* among_all : {RTLD_NEXT, RTLD_DEFAULT}) // else it stands before libws
        if (dlsym(among_all, "GOMP_parallel")) // which libws-early.so does not have, and libomp has, too
            return among_all;
    if (void* own = library_of(caller))
        return own;
    if (void* loaded = loaded_library())
        return loaded;
    // All of the program's loops are ours: the linker may have left the library out.
    void* gnu = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_LOCAL);
    return gnu ? gnu : dlopen("libomp.so.5", RTLD_LAZY | RTLD_LOCAL); // or null: looks among all, in vain
}

template <class Function>
bool look_up(Function*& function, void* handle, const char* name)
{
    function = reinterpret_cast<Function*>(dlsym(handle, name));
    return function;
}

OpenMP find_library(void* caller)
{
    void* const from = find_handle(caller);
    OpenMP found = {};
    if (look_up(found.max_threads, from, "omp_get_max_threads") &&
        look_up(found.num_threads, from, "omp_get_num_threads") &&
        look_up(found.thread_num, from, "omp_get_thread_num") && look_up(found.in_parallel, from, "omp_in_parallel") &&
        look_up(found.thread_limit, from, "omp_get_thread_limit") && look_up(found.level, from, "omp_get_level") &&
        look_up(found.num_procs, from, "omp_get_num_procs") && look_up(found.parallel, from, "GOMP_parallel")) {
        look_up(found.max_active_levels, from, "omp_get_max_active_levels");
        look_up(found.num_teams, from, "omp_get_num_teams");
        if (!look_up(found.set_default_allocator, from, "omp_set_default_allocator") ||
            !look_up(found.default_allocator, from, "omp_get_default_allocator"))
            found.default_allocator = nullptr;
        return found;
    }
    OpenMP none = {};
    none.max_threads = [] { return 1; };
    return none;
}

} // namespace

const OpenMP* found_library;

const OpenMP& find_openmp(void* caller)
{
    static const OpenMP found = find_library(caller);
    base::store_release(found_library, &found); // pairs with openmp()
    return found;
}

// ---- exit() in the middle of a region

namespace {
// A call of the library takes below a microsecond. A thread whose core others use may lose it there for a few of the
// kernel's time slices.
constexpr unsigned library_call_us = 20000;

volatile Hardware::Word process_ends;   // 1: exit() was called
volatile Hardware::Word exiting_thread; // by which thread, as the kernel numbers them: its handlers may open regions
}

void hear_of_exit()
{
    // A handler that is registered this late comes before the destructors of all libraries that the program began with.
    std::atexit([] {
        Hardware::store_relaxed(exiting_thread, Hardware::Word(gettid()));
        Hardware::store_release(process_ends, Hardware::Word(1)); // pairs with stay_if_process_ends()
        if (thread_settings) // the others go on: those that have just looked are out of the library by then
            usleep(library_call_us);
    });
}

void stay_if_process_ends()
{
    if (WS_LIKELY(Hardware::load_acquire(process_ends) == 0) || !thread_settings ||
        Hardware::load_relaxed(exiting_thread) == Hardware::Word(gettid()))
        return;
    for (;;)
        pause();
}

int nesting_level()
{
    if (WS_UNLIKELY(Hardware::load_relaxed(process_ends) != 0) && thread_settings) // relaxed: it may come a little late
        return thread_settings->library_level; // as far as is known
    const OpenMP& library = openmp(nullptr);
    return library.level ? library.level() : 0;
}

} // namespace ws::openmp
