// SPDX-License-Identifier: MIT
//
// OpenMP's threads, as the program has them: how many a region gets, how one is begun, who can tell threads apart, and
// so guests from threads, and what they are told.
#pragma once

#include "directive/abi.h"
#include "loop/participant.h"
#include "window/atomics.h"

namespace ws::directive {

// The functions of the program's OpenMP library. Without one `max_threads` is all there is.
struct OpenMP {
    int (*max_threads)();
    int (*num_threads)();
    int (*thread_num)();
    int (*in_parallel)();
    int (*thread_limit)();
    int (*level)();
    int (*num_procs)();
    void (*parallel)(void (*fn)(void*), void* data, unsigned threads, unsigned flags); // GOMP_parallel, libomp's too
};
extern const OpenMP* openmp_found;
const OpenMP& find_openmp(void* caller);
// `caller`: where in the program. Looked up once.
inline const OpenMP& openmp(void* caller)
{
    // Acquire: what it points to was written before.
    const OpenMP* found = window::load_acquire(openmp_found);
    return WS_LIKELY(found != nullptr) ? *found : find_openmp(caller);
}

// Who may take part in an execution of a loop of OpenMP's: LoopHost::allow. And its openmp_level.
loop::Allowed allow_openmp(const ws_site* site, unsigned own, bool anew);
int openmp_level();

// How many threads of its own a team has that is to have guests besides: as many as it gets, but no more than CPUs
// where guests may make up the number that the program expects.
unsigned own_threads_beside_guests(const OpenMP& library, const loop::Allowed& allowed);

// ---- what the program has said and is told (openmp_questions.cpp)

// The program has called omp_set_num_threads().
bool openmp_threads_set();
// What omp_get_max_threads() answers beyond what OpenMP has: WS_OPENMP_GUESTS, or for openmp_most().
unsigned openmp_guests();
// The calling thread's number of threads is one that the program has said, and not what it was told.
bool openmp_threads_set_here();
// Whether libomp's regions begin in libws, if there is a libomp.
bool sees_forks();
// From here on none passes by.
void see_all_forks();
// Whether the program's questions come to libws, and its calls of omp_set_num_threads().
bool openmp_questions_come();
// What is asked: of a name in a symbol table. Fortran's end with _.
bool is_openmp_question(const char* name);

// ---- regions that are shared as they are (runtime/openmp/)

// What a program can ask of its thread. `number` and `threads` are those by which static loops of libgomp are dealt.
// `setting`: it asks nothing, and says what the thread's own regions are to have.
enum class Question { number, threads, other, setting, harmless };
// Hears of the calling thread's questions before they are answered, and may change what the thread's numbers are; null:
// nobody does. `caller`: where in the program.
extern __thread void (*openmp_asked)(Question question, void* caller) __attribute__((tls_model("initial-exec")));

// A region that the sharer would only pass on (openmp_sharer): for a while the calling thread opens it without asking.
// The sharer's code and data lie elsewhere, and after a system call, as libgomp makes one for a task, none of their
// pages may be in the TLB.
struct LeftAlone {
    const void* site; // RegionCall::site
    uint64_t until;   // ticks
};
constexpr unsigned most_left_alone = 4; // at a time
extern __thread LeftAlone openmp_left_alone[most_left_alone] __attribute__((tls_model("initial-exec")));
// Where the region is kept, or another one: then the sharer is asked each time.
inline LeftAlone& left_alone(const void* site) { return openmp_left_alone[uintptr_t(site) / 64 % most_left_alone]; }
inline bool opens_alone(const void* site)
{
    const LeftAlone& left = left_alone(site);
    // Not where questions are heard: in a virtual thread, or a watched region, the sharer is to see what is opened.
    return left.site == site && WS_LIKELY(openmp_asked == nullptr) && window::ticks() < left.until;
}

// As many threads as OpenMP had before the program said how many it wants.
unsigned openmp_own();
// The same, as far as it is known without waking a library that has not read its variables yet.
unsigned openmp_own_so_far();
// As many threads as omp_get_max_threads() has told the program from the start that a region can have; 0: none is
// shared.
unsigned openmp_told();
// Regions are shared, but the program is told what OpenMP has: -workshare-openmp=unseen.
bool openmp_unseen();

// Whether the library can have threads beyond the rank's own that its user has not asked for, without harm: as large a
// stack as that of the rank's own thread, where that has been alone; and asleep soon after a region, as they are on the
// cores of others. The first call sees to it where it can: in MPI_Init, or before the first region if
// openmp_reads_later().
bool openmp_may_grow();
// Regions that are OpenMP's may have such threads on lent cores: under -workshare-openmp=help the user has asked.
inline bool openmp_may_lend() { return openmp_may_grow() || !openmp_unseen(); }

// The calling thread is in an iteration of a loop whose participants are told apart, and in no region of OpenMP's
// within.
inline bool is_numbered(const loop::Participant& p) { return WS_UNLIKELY(p.numbers != 0) && openmp_level() == p.level; }

} // namespace ws::directive
