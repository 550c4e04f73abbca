// SPDX-License-Identifier: MIT
//
// What libws knows of OpenMP's threads, and whether a loop of OpenMP's is right with guests.
//
// The rule: thread numbers stay below what omp_get_max_threads() answers, for arrays are made for as many threads. So
// where somebody may ask for them in a loop, or the program itself has said how many threads it wants, no more take
// part at a time. Who may ask: what a program wants of its OpenMP library is in the tables by which it was linked.
#include "directive/openmp_threads.h"

#include "directive/next.h"
#include "directive/openmp.h"
#include "directive/references.h"
#include "loop/numbers.h"
#include "window/atomics.h"
#include "window/spin_lock.h"
#include "window/times.h"

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

namespace ws::directive {

using loop::Allowed;
using observe::Kept;

namespace {

// ---- the library

bool brought; // nothing that we can see needs an OpenMP library

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
    if (void* loaded = loaded_openmp())
        return loaded;
    // All of the program's loops are ours: the linker may have left the library out.
    brought = true;
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

// ---- who asks

bool starts(const char* name, const char* with) { return std::strncmp(name, with, std::strlen(with)) == 0; }

struct Scan {
    bool asks;          // for thread numbers
    bool own_variables; // threadprivate, thread_local: of the program itself; libraries have them for themselves
    bool sets;          // calls omp_set_num_threads()
    bool first;
    unsigned long long loaded, unloaded;
};

int look_at(dl_phdr_info* info, size_t, void* data)
{
    Scan& scan = *static_cast<Scan*>(data);
    each_reference(*info, [&](const char* name, uintptr_t) {
        if (!starts(name, "omp_"))
            return;
        scan.asks |= is_openmp_question(name);
        scan.sets |= starts(name, "omp_set_num_threads");
    });
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr)& part = info->dlpi_phdr[i];
        scan.own_variables |= scan.first && part.p_type == PT_TLS && part.p_memsz;
    }
    scan.first = false;
    return 0;
}

int count_libraries(dl_phdr_info* info, size_t, void* data)
{
    Scan& scan = *static_cast<Scan*>(data);
    scan.loaded = info->dlpi_adds;
    scan.unloaded = info->dlpi_subs;
    return 1;
}

// Looks anew if a library was loaded since, and at the first time.
Scan who_asks(bool anew)
{
    static window::SpinLock lock;
    static Scan known;
    Scan now = {};
    lock.lock();
    if (anew || !known.loaded) {
        dl_iterate_phdr(count_libraries, &now);
        if (now.loaded != known.loaded || now.unloaded != known.unloaded) {
            now.first = true;
            dl_iterate_phdr(look_at, &now);
            known = now;
        }
    }
    now = known;
    lock.unlock();
    return now;
}

} // namespace

const OpenMP* openmp_found;

const OpenMP& find_openmp(void* caller)
{
    static const OpenMP found = find_library(caller);
    window::store_release(openmp_found, &found); // pairs with openmp()
    return found;
}

int openmp_level()
{
    const OpenMP& library = openmp(nullptr);
    return library.level ? library.level() : 0;
}

unsigned own_threads_beside_guests(const OpenMP& library, const Allowed& allowed)
{
    const unsigned threads = unsigned(library.max_threads());
    if (allowed.participants == Allowed::all)
        return threads;
    static const unsigned cpus = unsigned(library.num_procs()); // libgomp asks the system each time
    return cpus && cpus < threads ? cpus : threads;
}

Allowed allow_openmp(const ws_site* site, unsigned own, bool anew)
{
    const OpenMP& library = openmp(nullptr);
    const Scan who = who_asks(anew);
    static const bool all_come = openmp_questions_come();
    const bool may_ask = (site->kinds & WS_SITE_UNSEEN) && (who.asks || brought);
    if ((site->kinds & WS_SITE_UNSEEN) && who.own_variables)
        return {1, Kept::own_variables, false};
    if (may_ask && (brought || !all_come || !library.level))
        return {1, Kept::unanswered, false};
    // In a parallel region that is open its threads have the numbers.
    if (may_ask && own == 1 && library.in_parallel())
        return {1, Kept::asked, true};
    const bool set = openmp_threads_set() || (who.sets && !all_come);
    Allowed allowed;
    const auto at_most = [&](unsigned participants, Kept why) {
        if (participants < allowed.participants) {
            allowed.participants = participants;
            allowed.why = why;
        }
    };
    if (library.thread_limit) {
        const int limit = library.thread_limit();
        if (limit > 0 && unsigned(limit) < loop::host().participants + own)
            at_most(unsigned(limit), Kept::limited);
    }
    if (may_ask || set)
        at_most(unsigned(library.max_threads()), set ? Kept::count_set : Kept::asked);
    if (may_ask)
        at_most(loop::Numbers::most, Kept::asked);
    allowed.numbered = may_ask;
    return allowed;
}

} // namespace ws::directive
