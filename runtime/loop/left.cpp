// SPDX-License-Identifier: MIT
#include "loop/left.h"

#include "base/atomics.h"

#include <cstdio>
#include <pthread.h>

namespace ws::loop {

namespace {

pthread_key_t key;
pthread_once_t key_made = PTHREAD_ONCE_INIT;
char owner, helper; // values of the key

const char* name_of(const ws_site* site) { return site ? site->where : "that it was in"; }

// The key's destructor. No cleanup handler, and no C++ one: whichever way the stack was unwound, or not, this is
// called.
void thread_ends(void* value)
{
    if (!self.in_region && value == &owner)
        return;
    if (self.in_region)
        std::fprintf(
            stderr,
            "workshare: error: pthread_exit or pthread_cancel ended a thread in an iteration of the ws loop %s; "
            "ending the job\n",
            name_of(self.site));
    else
        std::fprintf(stderr, "workshare: error: pthread_cancel ended a helper thread; ending the job\n");
    host().end_job();
}

} // namespace

void watch_thread(bool helps)
{
    pthread_once(&key_made, [] { pthread_key_create(&key, thread_ends); });
    pthread_setspecific(key, helps ? &helper : &owner);
}

void forget_thread() { pthread_setspecific(key, nullptr); }

void left_by_jump(const Participant& p, const char* now)
{
    std::fprintf(stderr,
                 "workshare: error: %s, but an iteration of the ws loop %s has not ended (did longjmp leave it?); "
                 "ending the job\n",
                 now, name_of(p.site));
    host().end_job();
    __builtin_unreachable();
}

void waits_in_iteration(int rank, unsigned seconds)
{
    if (self.in_region)
        std::fprintf(stderr,
                     "workshare: note: rank %d has waited %u s for an MPI call in an iteration of the ws loop %s; if "
                     "longjmp has left that iteration, the job hangs\n",
                     rank, seconds, name_of(self.site));
}

void waits_for_guests(const ws_site* site, unsigned seconds)
{
    static unsigned said;
    unsigned before = 0;
    if (base::exchange_if_acq_rel(said, before, 1u))
        std::fprintf(stderr,
                     "workshare: note: a rank has waited %u s for an iteration of the ws loop %s that a helper thread "
                     "runs; if longjmp has left that iteration, the job hangs\n",
                     seconds, name_of(site));
}

void beyond_the_end(const ws_site* site)
{
    std::fprintf(stderr,
                 "workshare: error: the shared memory of this node's ranks is damaged (it counts more iterations of "
                 "the ws loop %s than there are); ending the job\n",
                 name_of(site));
    host().end_job();
    __builtin_unreachable();
}

void left_in_child(const ws_site* site)
{
    std::fprintf(
        stderr,
        "workshare: error: a child of fork() reached the end of an iteration of the ws loop %s, but the loop is "
        "shared and goes on only in its parent; ending the child; call exec or _exit in the iteration\n",
        name_of(site));
    host().end_job();
    __builtin_unreachable();
}

} // namespace ws::loop
