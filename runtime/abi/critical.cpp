// SPDX-License-Identifier: MIT
//
// `ws critical`, after "MPI Workshare": one thread of one rank of the node at a time, by name. The locks lie in the
// node's window between MPI_Init and MPI_Finalize, before and after in the process.
#include "abi/critical.h"

#include "abi/abi.h"
#include "abi/forked.h"
#include "mpi/end_job.h"
#include "base/atomics.h"
#include "base/os.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace ws::abi {

using window::Lock;
using window::LockTable;

namespace {

alignas(64) char process_memory[LockTable::bytes];
LockTable process_locks(process_memory);
LockTable* locks = &process_locks;
uint32_t generation = 1; // counts the changes of `locks`
int world_rank = -1;
pid_t own_pid = getpid(); // named in the message if we die

// What ws_critical::lock remembers: the table's generation and the index in it, +1.
void* remembered(unsigned index) { return reinterpret_cast<void*>(uintptr_t(generation) << 32 | (index + 1)); }

[[noreturn]] __attribute__((cold, noinline)) void fail(const ws_critical& critical, const char* what)
{
    const bool named = *critical.name;
    std::fprintf(stderr, "workshare: error: critical section%s%s%s: %s; ending the job\n", named ? " '" : "",
                 critical.name, named ? "'" : " without a name", what);
    mpi::end_job();
}

__attribute__((cold, noinline)) void holder_died(const ws_critical& critical, const Lock& lock)
{
    char what[160];
    std::snprintf(what, sizeof what, "rank %d (pid %d) died inside it and may have left its work half done",
                  lock.holder_rank, int(lock.holder_pid));
    fail(critical, what);
}

Lock& lock_of(ws_critical& critical)
{
    // Racy and harmless: all threads find the same. Relaxed: the table itself orders what is in it.
    // Acquire: another thread may have found it, and made it. Pairs with the store below.
    uintptr_t known = uintptr_t(base::load_acquire(critical.lock));
    if (WS_LIKELY(known >> 32 == generation))
        return (*locks)[uint32_t(known) - 1];
    unsigned index = locks->find(critical.name);
    if (index == LockTable::none)
        fail(critical, "the program has more than 256 names of critical sections");
    base::store_release(critical.lock, remembered(index));
    return (*locks)[index];
}

} // namespace

void use_node_locks(LockTable* node, int rank)
{
    locks = node ? node : &process_locks;
    generation++;
    world_rank = rank;
    own_pid = getpid();
}

void use_fresh_locks()
{
    std::memset(process_memory, 0, sizeof process_memory);
    use_node_locks(nullptr, world_rank);
}

} // namespace ws::abi

using namespace ws::abi;
using ws::window::Lock;
using ws::base::cpu_relax;

WS_EXPORT void ws_critical_start(ws_critical* critical)
{
    Lock& lock = lock_of(*critical);
    int error = EBUSY;
    // A section is short: sleeping and waking costs more than waiting for most.
    for (unsigned turn = 0; turn < 200 && (error = pthread_mutex_trylock(&lock.mutex)) == EBUSY; turn++)
        cpu_relax();
    if (error == EBUSY)
        error = pthread_mutex_lock(&lock.mutex);
    if (WS_UNLIKELY(error == EOWNERDEAD))
        holder_died(*critical, lock);
    if (WS_UNLIKELY(error == EDEADLK))
        fail(*critical, "the thread that is inside entered it again");
    if (WS_UNLIKELY(error))
        fail(*critical, "its lock cannot be used any more");
    lock.holder_pid = own_pid;
    lock.holder_rank = world_rank;
}

WS_EXPORT void ws_critical_end(ws_critical* critical)
{
    // A section around MPI_Init or MPI_Finalize has lost its lock; then there is nothing to unlock here.
    uintptr_t known = uintptr_t(ws::base::load_relaxed(critical->lock));
    if (WS_LIKELY(known >> 32 == generation))
        pthread_mutex_unlock(&(*locks)[uint32_t(known) - 1].mutex);
}
