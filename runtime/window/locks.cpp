// SPDX-License-Identifier: MIT
#include "window/locks.h"

#include "base/os.h"

namespace ws::window {

namespace {

enum LockState : base::Hardware::Flag { lock_free = 0, lock_making = 1, lock_ready = 2 };

// FNV-1a, never 0. Two names of one program with the same 64 bits are not to be expected.
uint64_t hash_of(const char* name)
{
    uint64_t hash = 14695981039346656037ull;
    for (; *name; name++)
        hash = (hash ^ uint8_t(*name)) * 1099511628211ull;
    return hash ? hash : 1;
}

void make(Lock& lock, uint64_t hash)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&lock.mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    lock.hash = hash;
    base::Hardware::store_release(lock.state, lock_ready); // pairs with the load in find()
}

bool wait_until_ready(const Lock& lock)
{
    for (unsigned turn = 0; turn < 20000; turn++) {
        if (base::Hardware::load_acquire(lock.state) == lock_ready) // pairs with the store in make()
            return true;
        if (turn > 1000)
            usleep(50);
        else
            base::cpu_relax();
    }
    return false;
}

} // namespace

unsigned LockTable::find(const char* name)
{
    const uint64_t hash = hash_of(name);
    for (unsigned probe = 0; probe < max_names; probe++) {
        const unsigned index = unsigned((hash + probe) % max_names);
        Lock& lock = locks_[index];
        // Full: of two that want the slot one makes it, and the other sees that it is taken.
        if (base::Hardware::load_acquire(lock.state) == lock_free &&
            base::Hardware::cas_full(lock.state, lock_free, lock_making)) {
            make(lock, hash);
            return index;
        }
        if (!wait_until_ready(lock))
            return none;
        if (lock.hash == hash)
            return index;
    }
    return none;
}

} // namespace ws::window
